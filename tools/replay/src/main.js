// The replay: reads the record, and lets clock, stage, curves and words go together.
//
// - what there is to show: record, graph, history, sentences;
// - time: timeline (what happens when), player (the clock);
// - places: layout (of drops), slots (of voters in them), targets (at a time), motion (on the way);
// - the stage: stage, view, drawing, marks, palette, colouring;
// - around it: charts, visits, voter_card, search, selection, legend, controls.

import { Charts } from "./charts.js";
import { Colouring } from "./colouring.js";
import { Controls, listenToKeys } from "./controls.js";
import { followersOf } from "./graph.js";
import { showLegend } from "./legend.js";
import { Palette } from "./palette.js";
import { Player } from "./player.js";
import { readRecord } from "./record.js";
import { Search } from "./search.js";
import { Selection } from "./selection.js";
import { factsOf, moveSentence, nameOf, sentenceOf } from "./sentences.js";
import { Stage } from "./stage.js";
import { Visits } from "./visits.js";
import { VoterCard } from "./voter_card.js";

const LONGEST_FRAME = 0.1; // seconds that pass at most between two frames
const [SHORTEST_LAG, LONGEST_LAG] = [0.1, 0.4]; // seconds that things are behind their targets
const [EMBEDDED_SPEED, EMBEDDED_SECONDS] = [0.75, 10]; // slow, but at the end after these seconds

const byId = (id) => document.getElementById(id);
const prefersStill = matchMedia("(prefers-reduced-motion: reduce)");
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

class Replay {
  constructor(record) {
    this.record = record;
    this.player = new Player(record.stops);
    this.selection = new Selection();
    this.colouring = new Colouring(record);
    this.theme = prefersDark.matches ? "dark" : "light";
    this.palette = new Palette(this.theme);
    this.frames = 0;
    this.wake = this.wake.bind(this);
    const seek = (time) => {
      this.player.pause();
      this.player.seek(time);
    };
    this.stage = new Stage(byId("canvas"), record, this.selection, this.wake);
    this.charts = new Charts(byId("charts"), record, seek);
    this.visits = new Visits(byId("visits"), record);
    this.card = new VoterCard(byId("card"), record, this.selection, seek);
    this.controls = new Controls(document, record, this.player, () => prefersStill.matches);
    this.search = new Search(byId("search"), byId("found"), record, this.selection);
    byId("facts").textContent = factsOf(record);
    this.#listen();
    this.#setTheme(this.theme);
  }

  #listen() {
    const { player, selection } = this;
    for (const name of ["time", "change"]) player.addEventListener(name, this.wake);
    selection.addEventListener("change", this.wake);
    byId("theme").addEventListener("click", () => this.#setTheme(this.theme === "dark" ? "light" : "dark"));
    prefersDark.addEventListener("change", ({ matches }) => this.#setTheme(matches ? "dark" : "light"));
    byId("to-panel").addEventListener("click", () => byId("panel").scrollIntoView());
    byId("colour").value = this.colouring.mode;
    byId("colour").disabled = !this.colouring.isKnown;
    byId("colour").addEventListener("change", ({ target }) => this.#setColours(target.value));
    const step = (direction) => () => player.step(direction, prefersStill.matches);
    listenToKeys({
      " ": () => player.toggle(),
      ArrowRight: step(1),
      ArrowLeft: step(-1),
      Home: () => player.seek(0),
      End: () => player.seek(player.end),
      "+": () => player.changeSpeed(1),
      "=": () => player.changeSpeed(1),
      "-": () => player.changeSpeed(-1),
      "/": () => byId("search").focus(),
      Escape: () => selection.clear(),
    });
  }

  #setTheme(theme) {
    this.theme = theme;
    this.palette = new Palette(theme);
    document.documentElement.dataset.theme = theme;
    byId("theme").setAttribute("aria-pressed", String(theme === "dark"));
    this.#setColours(this.colouring.mode);
  }

  #setColours(mode) {
    this.colouring.mode = mode;
    this.coloured = null;
    showLegend(byId("legend"), this.record, this.colouring, this.palette);
    this.wake();
  }

  /** Draw again, and go on as long as anything moves. */
  wake() {
    if (this.isAwake) return;
    this.isAwake = true;
    this.before = null;
    requestAnimationFrame((now) => this.#frame(now));
  }

  #frame(now) {
    const seconds = this.before === null ? 1 / 60 : Math.min((now - this.before) / 1000, LONGEST_FRAME);
    this.before = now;
    this.frames++;
    this.player.advance(seconds);
    const lag = Math.min(Math.max(this.player.pace / 3, SHORTEST_LAG), LONGEST_LAG);
    const isMoving = this.stage.advance(this.player.time, seconds, lag, prefersStill.matches);
    this.#show();
    this.isAwake = isMoving || this.player.isRunning;
    if (this.isAwake) requestAnimationFrame((next) => this.#frame(next));
  }

  #show() {
    const { time } = this.player;
    const place = Math.ceil(time - 1e-6);
    const key = `${place} ${this.colouring.mode} ${this.theme}`;
    if (key !== this.coloured) {
      this.colours = this.colouring.coloursAt(place, this.palette);
      this.dropColours = this.colouring.dropColours(this.colours, this.palette);
    }
    this.coloured = key;
    this.stage.draw(this.palette, this.colours, this.dropColours);
    this.charts.show(time);
    this.visits.show(time);
    this.controls.show(time);
    this.card.show(this.stage.target, this.palette, (voter) => this.stage.sidesOf(voter));
    this.#tell(place);
  }

  /** Say what happens. */
  #tell(place) {
    const { isPlaying, time, end } = this.player;
    byId("sentence").setAttribute("aria-live", isPlaying ? "off" : "polite");
    byId("progress").style.transform = `scaleX(${time / end})`;
    write(byId("move"), this.#moveText());
    if (place === this.told) return;
    this.told = place;
    const [name, sentence] = [nameOf(this.record, this.record.stops[place]), sentenceOf(this.record, place)];
    write(byId("moment"), name);
    write(byId("sentence"), sentence);
    byId("canvas").setAttribute("aria-label", `${name}. ${sentence}`);
  }

  /** The move that is going on, if there is time to read it. */
  #moveText() {
    const { stop, begun, share } = this.stage.target.moment;
    const moves = this.record.stops[stop + 1]?.moves ?? [];
    const isReadable = this.player.pace / (moves.length + 1) > 0.22;
    if (!begun || share >= 1 || !isReadable || !this.player.isRunning) return "";
    const move = moves[begun - 1];
    return moveSentence(move, followersOf(this.stage.target.state.delegation, move.voter).length);
  }

  /** Show the voters alone, in a loop; a click pauses it. */
  embed() {
    document.documentElement.classList.add("embed");
    this.player.isLooping = true;
    this.player.setSpeed(Math.max(EMBEDDED_SPEED, this.player.seconds / EMBEDDED_SECONDS));
    this.stage.onClick = () => this.player.toggle();
    if (prefersStill.matches) this.player.seek(this.player.end);
    else this.player.play();
  }
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const replay = new Replay(readRecord(JSON.parse(byId("record").textContent)));
if (location.hash === "#embed" || new URLSearchParams(location.search).has("embed")) replay.embed();
window.replay = replay;
