// What happened to one voter: its competence over time, and its delegations.

import { shortNameOf } from "./sentences.js";

/**
 * The events of a voter's life, in order; `others` are the voters that it delegates to, or that
 * delegate to it.
 * @returns {{stop: number, when: string, type: "returns" | "delegates" | "receives", others: number[]}[]}
 */
export function historyOf(record, voter) {
  const events = [];
  record.stops.forEach((stop, place) => {
    for (const { voter: who, to } of stop.moves) {
      if (who !== voter && to !== voter) continue;
      const type = who !== voter ? "receives" : to === voter ? "returns" : "delegates";
      const last = events[events.length - 1];
      if (type === "receives" && last?.type === type && last.stop === place) last.others.push(who);
      else events.push({ stop: place, when: shortNameOf(stop), type, others: type === "returns" ? [] : [type === "receives" ? who : to] });
    }
  });
  return events;
}

/** The competence of a voter at each stop, null where it was not measured. */
export function competenceOf(record, voter) {
  return record.stops.map(({ competence }) => (Number.isNaN(competence[voter]) ? null : competence[voter]));
}

/** How a voter is found: its estimator, feature map and hyperparameters as text. */
export function textOf(record, voter) {
  const { estimator, featureMap, hyperparameters } = record.voters[voter];
  const values = hyperparameters.map(([name, value]) => `${name}=${value}`);
  return [record.estimators[estimator], featureMap, ...values].filter(Boolean).join(" ");
}
