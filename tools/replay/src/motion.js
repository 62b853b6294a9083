// How things move: voters and drops follow their targets as if on springs, and a drop grows as
// voters arrive in it. So the same rules serve playing, stepping and dragging the slider.

import { radiusOf } from "./layout.js";

const STIFFNESS = 130; // of radii, which swing a little
const DAMPING = 15;
const LONGEST_STEP = 1 / 40; // seconds
const STILL = 1e-3;

export class Motion {
  /** @param {import("./targets.js").Target} target */
  constructor(target) {
    const n = target.x.length;
    this.target = target;
    this.places = {};
    for (const name of ["x", "y", "dropX", "dropY", "mark"]) {
      this.places[name] = { at: new Float64Array(n), speed: new Float64Array(n) };
    }
    this.radius = new Float64Array(n);
    this.radiusSpeed = new Float64Array(n);
    /** Whether a voter is within its representative's drop. */
    this.hasArrived = new Uint8Array(n);
    /** Of a voter on its way: how many votes fly with it; zero for its followers. */
    this.flying = new Int32Array(n);
    this.arrivedWeight = new Int32Array(n);
    this.jump();
  }

  get x() { return this.places.x.at; }
  get y() { return this.places.y.at; }
  get dropX() { return this.places.dropX.at; }
  get dropY() { return this.places.dropY.at; }
  get mark() { return this.places.mark.at; }

  /** Be where the targets are, at once. */
  jump() {
    for (const [name, { at, speed }] of Object.entries(this.places)) {
      at.set(this.target[name]);
      speed.fill(0);
    }
    this.#count();
    this.radius.forEach((_, voter) => (this.radius[voter] = this.#radiusTarget(voter)));
    this.radiusSpeed.fill(0);
  }

  /**
   * Go on for some seconds; return whether anything still moves.
   * @param {number} seconds
   * @param {number} lag about how many seconds things are behind their targets
   */
  advance(seconds, lag) {
    let isMoving = false;
    for (const [name, place] of Object.entries(this.places)) {
      isMoving = follow(place, this.target[name], seconds, lag) || isMoving;
    }
    this.#count();
    for (let left = seconds; left > 0; left -= LONGEST_STEP) {
      isMoving = this.#swing(Math.min(left, LONGEST_STEP)) || isMoving;
    }
    return isMoving;
  }

  /** Find out who has arrived, and who flies with whom. */
  #count() {
    const { gurus, delegation, weights } = this.target.state;
    this.arrivedWeight.fill(0);
    this.flying.fill(0);
    gurus.forEach((guru, voter) => {
      const distance = Math.hypot(this.x[voter] - this.dropX[guru], this.y[voter] - this.dropY[guru]);
      this.hasArrived[voter] = guru === voter || distance < 1.04 * radiusOf(weights[guru]);
      if (this.hasArrived[voter]) this.arrivedWeight[guru]++;
    });
    delegation.forEach((_, voter) => {
      if (this.hasArrived[voter]) return;
      let leader = voter;
      while (!this.hasArrived[delegation[leader]]) leader = delegation[leader];
      this.flying[leader]++;
    });
  }

  #radiusTarget(voter) {
    const weight = this.arrivedWeight[voter] || this.flying[voter];
    return weight ? radiusOf(weight) : 0;
  }

  #swing(seconds) {
    let isMoving = false;
    for (let voter = 0; voter < this.radius.length; voter++) {
      const distance = this.#radiusTarget(voter) - this.radius[voter];
      const speed = this.radiusSpeed[voter];
      if (Math.abs(distance) < STILL && Math.abs(speed) < STILL) continue;
      this.radiusSpeed[voter] = speed + (STIFFNESS * distance - DAMPING * speed) * seconds;
      this.radius[voter] = Math.max(0, this.radius[voter] + this.radiusSpeed[voter] * seconds);
      isMoving = true;
    }
    return isMoving;
  }
}

/** Bring critically damped springs nearer to their targets; return whether they still move. */
function follow({ at, speed }, target, seconds, lag) {
  const omega = 2 / lag;
  const decay = Math.exp(-omega * seconds);
  let isMoving = false;
  for (let i = 0; i < at.length; i++) {
    const offset = at[i] - target[i];
    if (Math.abs(offset) < STILL && Math.abs(speed[i]) < STILL) continue;
    const pull = (speed[i] + omega * offset) * seconds;
    speed[i] = (speed[i] - omega * pull) * decay;
    at[i] = target[i] + (offset + pull) * decay;
    isMoving = true;
  }
  return isMoving;
}
