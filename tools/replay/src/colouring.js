// Which colour a voter has: that of its estimator, or one for its competence at the time.

import { LEVELS } from "./palette.js";

export class Colouring {
  constructor(record) {
    this.record = record;
    this.latest = latestCompetences(record.stops);
    const values = record.stops.flatMap(({ competence }) => Array.from(competence).filter(isFinite));
    values.sort((a, b) => a - b);
    [this.low, this.high] = [0.03, 0.97].map((share) => values[Math.round(share * (values.length - 1))]);
    this.isKnown = values.length > 0;
    /** @type {"estimator" | "competence"} */
    this.mode = record.estimators.length > 1 || !this.isKnown ? "estimator" : "competence";
  }

  /** The colour of each voter at a stop. */
  coloursAt(stop, palette) {
    if (this.mode === "estimator") return this.record.voters.map(({ estimator }) => palette.estimator(estimator));
    return Array.from(this.latest[stop], (value) => this.#competenceColour(value, palette));
  }

  /** The colours of their drops: as the voters', but one for all where those show competence. */
  dropColours(colours, palette) {
    return this.mode === "estimator" ? colours : colours.map(() => palette.main);
  }

  #competenceColour(value, palette) {
    if (Number.isNaN(value)) return palette.unknown;
    const share = (value - this.low) / (this.high - this.low || 1);
    return palette.levels[Math.round(Math.min(Math.max(share, 0), 1) * (LEVELS - 1))];
  }
}

/** For each stop, the last competence of each voter that was measured until then. */
export function latestCompetences(stops) {
  let known = stops[0].competence;
  return stops.map(({ competence }) => {
    const now = known.slice();
    competence.forEach((value, voter) => Number.isNaN(value) || (now[voter] = value));
    return (known = now);
  });
}
