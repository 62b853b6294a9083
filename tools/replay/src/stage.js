// The stage: the canvas, its size, and what a pointer does on it.

import { chainOf } from "./graph.js";
import { layOut } from "./layout.js";
import { drawChain, drawRing, drawVoters } from "./drawing.js";
import { Motion } from "./motion.js";
import { Target } from "./targets.js";
import { viewOf, voterAt } from "./view.js";

const MOST_PIXELS = 2; // per CSS pixel

export class Stage {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas, record, selection, wake) {
    Object.assign(this, { canvas, record, selection, wake });
    this.onClick = (voter) => selection.pin(voter);
    this.context = canvas.getContext("2d");
    this.everyone = record.voters.map((_, voter) => voter);
    this.estimators = record.voters.map(({ estimator }) => estimator);
    this.layout = layOut(record.stops, record.homes);
    this.target = new Target(record.stops, this.layout);
    this.target.seek(0);
    this.motion = new Motion(this.target);
    this.#fit();
    new ResizeObserver(() => this.#fit()).observe(canvas);
    this.#listen();
  }

  #fit() {
    const [width, height] = [this.canvas.clientWidth || 640, this.canvas.clientHeight || 480]; // frames may be hidden at first
    const pixels = Math.min(devicePixelRatio || 1, MOST_PIXELS);
    [this.canvas.width, this.canvas.height] = [Math.round(width * pixels), Math.round(height * pixels)];
    Object.assign(this, { width, height, pixels });
    this.views = this.layout.bounds.map((bounds) => viewOf(bounds, width, height));
    this.view = { ...this.#goal };
    this.wake();
  }

  #listen() {
    const find = ({ offsetX, offsetY }) => voterAt(this.motion, this.view, offsetX, offsetY);
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse") this.selection.hover(find(event));
    });
    this.canvas.addEventListener("pointerleave", () => this.selection.hover(null));
    this.canvas.addEventListener("click", (event) => this.onClick(find(event)));
  }

  /**
   * Go on to a time; return whether anything still moves.
   * @param {boolean} isStill whether the user wants no motion
   */
  advance(time, seconds, lag, isStill) {
    this.target.seek(time);
    const isZooming = this.#zoom(isStill ? 1 : 1 - Math.exp((-2 * seconds) / lag));
    if (!isStill) return this.motion.advance(seconds, lag) || isZooming;
    this.motion.jump();
    return false;
  }

  /** The view of the start, or of all that follows. */
  get #goal() {
    return this.views[this.target.isStart ? 0 : 1];
  }

  /** Bring the view nearer to its goal by a share; return whether it still moves. */
  #zoom(share) {
    const gaps = Object.entries(this.#goal).map(([name, value]) => [name, value - this.view[name]]);
    const isFar = gaps.some(([, gap]) => Math.abs(gap) > 0.05);
    for (const [name, gap] of gaps) this.view[name] += isFar ? gap * share : gap;
    return isFar && share < 1;
  }

  /** Where a voter is on the canvas, in pixels. */
  placeOf(voter) {
    const { motion, view } = this;
    return { x: motion.x[voter] * view.scale + view.x, y: motion.y[voter] * view.scale + view.y };
  }

  /** Where a voter would be hidden by its card: on the right of the stage, low on the screen. */
  sidesOf(voter) {
    const { x, y } = this.placeOf(voter);
    return { isRight: x > 0.6 * this.width, isLow: y + this.canvas.getBoundingClientRect().top > 0.5 * innerHeight };
  }

  draw(palette, colours, dropColours) {
    const { context, motion, view, record, estimators, everyone } = this;
    const scene = { motion, view, palette, colours, dropColours, estimators, marks: record.marks };
    context.setTransform(this.pixels, 0, 0, this.pixels, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    drawVoters(context, scene, everyone);
    const { focus, matches } = this.selection;
    if (matches) this.#drawMatches(scene, matches);
    else if (focus !== null) this.#drawFocus(scene, focus);
  }

  #drawFocus(scene, voter) {
    const { delegation, gurus } = this.target.state;
    const chain = chainOf(delegation, voter);
    const shown = this.everyone.filter((other) => gurus[other] === gurus[voter]);
    this.#veil(scene);
    drawVoters(this.context, scene, shown);
    drawChain(this.context, scene, chain);
    drawVoters(this.context, { ...scene, marksOnly: true }, shown);
    drawRing(this.context, scene, voter);
  }

  #drawMatches(scene, matches) {
    this.#veil(scene);
    drawVoters(this.context, { ...scene, marksOnly: true }, matches);
    if (matches.length <= 30) for (const voter of matches) drawRing(this.context, scene, voter);
  }

  #veil({ palette }) {
    this.context.globalAlpha = 0.72;
    this.context.fillStyle = palette.background;
    this.context.fillRect(0, 0, this.width, this.height);
    this.context.globalAlpha = 1;
  }
}
