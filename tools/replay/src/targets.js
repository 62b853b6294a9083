// Where everything belongs at a time: drops, and voters in them. What is on the stage follows.

import { delegatorsOf } from "./graph.js";
import { centresAfter } from "./layout.js";
import { DELEGATOR, placeVoters, representativeRadius } from "./slots.js";
import { momentAt, stateAt } from "./timeline.js";

/**
 * Arrays with one number per voter: `x` and `y` of its mark, the radius `mark` of it, and `dropX` and
 * `dropY` of its drop, which for delegators are where their mark is.
 */
export class Target {
  /** @param {import("./record.js").Stop[]} stops */
  constructor(stops, layout) {
    const n = stops[0].delegation.length;
    Object.assign(this, { stops, layout, moment: null, time: NaN });
    for (const name of ["slotX", "slotY", "x", "y", "dropX", "dropY", "mark"]) this[name] = new Float64Array(n);
  }

  /** Move to a time. */
  seek(time) {
    const moment = momentAt(this.stops, time);
    const isStart = time === 0;
    const isSame = moment.stop === this.moment?.stop && moment.begun === this.moment.begun && isStart === this.isStart;
    Object.assign(this, { moment, time, isStart });
    if (isSame) return;
    this.state = stateAt(this.stops, moment);
    this.#fillDrops(this.state);
    const centres = isStart ? this.layout.start : centresAfter(this.layout, moment);
    this.state.gurus.forEach((guru, voter) => guru === voter && this.#placeDrop(guru, centres));
    this.state.gurus.forEach((guru, voter) => this.#placeVoter(voter, guru));
  }

  #fillDrops({ delegation, weights }) {
    const delegators = delegatorsOf(delegation);
    weights.forEach((weight, guru) => {
      this.mark[guru] = weight ? representativeRadius(weight) : DELEGATOR;
      if (weight) placeVoters(guru, delegators, weight, this.layout.homes, this.slotX, this.slotY);
    });
  }

  #placeDrop(guru, centres) {
    const { x, y } = centres.get(guru) ?? this.layout.homes[guru];
    [this.dropX[guru], this.dropY[guru]] = [x, y];
  }

  #placeVoter(voter, guru) {
    this.x[voter] = this.dropX[guru] + this.slotX[voter];
    this.y[voter] = this.dropY[guru] + this.slotY[voter];
    if (voter !== guru) [this.dropX[voter], this.dropY[voter]] = [this.x[voter], this.y[voter]];
  }
}
