// The clock of the replay: playing, pausing, stepping and going to a time.

import { durationsOf } from "./timeline.js";

export const SPEEDS = [0.25, 0.5, 0.75, 1, 2, 4, 8];
const LONGEST_STEP = 1.6; // seconds that a step to the next stop may take
const STEP_BACK = 0.35;
const PAUSE_AT_ENDS = 3; // seconds, when playing in a loop

export class Player extends EventTarget {
  constructor(stops) {
    super();
    this.durations = durationsOf(stops);
    this.end = stops.length - 1;
    this.time = 0;
    this.isPlaying = false;
    this.isLooping = false;
    this.speed = 1;
    this.waiting = 0;
    this.goal = null;
  }

  /** Whether time passes by itself. */
  get isRunning() {
    return this.isPlaying || this.goal !== null;
  }

  play() {
    if (this.time >= this.end) this.#set(0);
    this.goal = null;
    this.isPlaying = true;
    this.#tell();
  }

  pause() {
    this.isPlaying = false;
    this.goal = null;
    this.#tell();
  }

  toggle() {
    this.isPlaying ? this.pause() : this.play();
  }

  /** Go to a time at once. */
  seek(time) {
    this.goal = null;
    this.#set(time);
  }

  /** Go to the next or the previous stop; on the way forward, moves are shown one by one. */
  step(direction, isAtOnce = false) {
    const from = this.goal?.to ?? this.time;
    const to = direction > 0 ? Math.floor(from + 1e-6) + 1 : Math.ceil(from - 1e-6) - 1;
    this.isPlaying = false;
    if (isAtOnce || to < 0 || to > this.end) this.seek(to);
    else this.goal = { from: this.time, to, passed: 0, seconds: this.#secondsOfStep(to) };
    this.#tell();
  }

  #secondsOfStep(to) {
    if (to < this.time) return STEP_BACK;
    return Math.min(this.durations[to - 1] / this.speed, LONGEST_STEP);
  }

  changeSpeed(direction) {
    const place = SPEEDS.indexOf(this.speed) + direction;
    this.setSpeed(SPEEDS[Math.min(Math.max(place, 0), SPEEDS.length - 1)]);
  }

  setSpeed(speed) {
    this.speed = speed;
    this.#tell();
  }

  /** The seconds of the present interval, at the present speed. */
  get pace() {
    return this.durations[Math.min(Math.floor(this.time), this.end - 1)] / this.speed;
  }

  /** The seconds of the whole replay, at normal speed. */
  get seconds() {
    return this.durations.reduce((sum, seconds) => sum + seconds, 0);
  }

  /** Let seconds pass. */
  advance(seconds) {
    if (this.goal) this.#glide(seconds);
    else if (this.isPlaying) this.#run(seconds);
  }

  #glide(seconds) {
    const { from, to, passed } = this.goal;
    this.goal.passed = passed + seconds;
    const share = Math.min(this.goal.passed / this.goal.seconds, 1);
    if (share === 1) this.goal = null;
    this.#set(from + (to - from) * share);
  }

  #run(seconds) {
    if (this.waiting > 0) {
      this.waiting -= seconds;
      if (this.waiting <= 0 && this.time >= this.end) this.#set(0);
      return;
    }
    let [left, time] = [seconds * this.speed, this.time];
    while (left > 0 && time < this.end) {
      const duration = this.durations[Math.floor(time)];
      const toNext = (Math.floor(time) + 1 - time) * duration;
      if (left < toNext) time += left / duration;
      else time = Math.floor(time) + 1;
      left -= toNext;
    }
    this.#set(time);
    if (time < this.end) return;
    if (this.isLooping) this.waiting = PAUSE_AT_ENDS;
    else this.pause();
  }

  #set(time) {
    this.time = Math.min(Math.max(time, 0), this.end);
    this.dispatchEvent(new Event("time"));
  }

  #tell() {
    this.dispatchEvent(new Event("change"));
  }
}
