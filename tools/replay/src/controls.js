// Buttons, slider and keys.

import { SPEEDS } from "./player.js";
import { changesOf, nameOf, sentenceOf } from "./sentences.js";

export class Controls {
  /** @param {import("./player.js").Player} player */
  constructor(root, record, player, isStill) {
    Object.assign(this, { record, player });
    const byId = (id) => root.querySelector(`#${id}`);
    [this.playButton, this.slider, this.speed] = ["play", "slider", "speed"].map(byId);
    this.playButton.addEventListener("click", () => player.toggle());
    byId("back").addEventListener("click", () => player.step(-1, isStill()));
    byId("forward").addEventListener("click", () => player.step(1, isStill()));
    byId("first").addEventListener("click", () => player.seek(0));
    byId("last").addEventListener("click", () => player.seek(player.end));
    this.slider.max = String(player.end);
    this.slider.addEventListener("input", () => {
      player.pause();
      player.seek(Number(this.slider.value));
    });
    this.speed.append(...SPEEDS.map((speed) => new Option(`${speed}×`, speed, speed === 1, speed === 1)));
    this.speed.addEventListener("change", () => player.setSpeed(Number(this.speed.value)));
    player.addEventListener("change", () => this.#showState());
    byId("events").append(...eventsOf(record.stops));
    this.#showState();
  }

  #showState() {
    const { isPlaying, speed } = this.player;
    this.playButton.classList.toggle("playing", isPlaying);
    this.playButton.setAttribute("aria-label", isPlaying ? "Pause" : "Play");
    this.playButton.title = isPlaying ? "Pause (space)" : "Play (space)";
    this.speed.value = String(speed);
  }

  /** Put the slider at the present time. */
  show(time) {
    this.slider.value = String(time);
    this.slider.style.setProperty("--share", String(time / this.player.end));
    const place = Math.ceil(time - 1e-6);
    if (place === this.place) return;
    this.place = place;
    const stop = this.record.stops[place];
    this.slider.setAttribute("aria-valuetext", `${nameOf(this.record, stop)}. ${sentenceOf(this.record, place)}`);
  }
}

/** A bar for each increment with delegations, and one below it where votes were taken back. */
function eventsOf(stops) {
  const changes = stops.map(changesOf);
  const most = Math.max(1, ...changes.map(({ delegated }) => delegated.length));
  return changes.flatMap(({ delegated, returned }, stop) => {
    const place = `left:${(100 * stop) / (stops.length - 1)}%;--width:${100 / stops.length}%`;
    const height = 3 + 12 * Math.sqrt(delegated.length / most);
    return [
      ...(delegated.length ? [bar("delegated", `${place};height:${height}px`)] : []),
      ...(returned.length ? [bar("returned", place)] : []),
    ];
  });
}

function bar(name, style) {
  const made = document.createElement("span");
  made.className = name;
  made.style.cssText = style;
  return made;
}

/** What the keys do; keys typed into a field are the field's. */
export function listenToKeys(actions) {
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input[type=search], select");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const isOnButton = event.target.matches("button") && (event.key === " " || event.key === "Enter");
    const action = actions[event.key];
    if (!action || isOnButton) return;
    event.preventDefault();
    action();
  });
}
