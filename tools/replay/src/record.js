// The record of a training, as Python wrote it, made convenient: a list of stops in time.

import { gurusOf, representativesOf, weightsOf } from "./graph.js";

/**
 * @typedef {object} Stop the state after an increment, or before the first, or after the final fit
 * @property {"start" | "increment" | "fit"} type
 * @property {number} increment its number, counted from 1
 * @property {number} since the number of the first increment since the stop before
 * @property {Int32Array} delegation
 * @property {Int32Array} gurus
 * @property {Int32Array} weights
 * @property {number[]} representatives
 * @property {{voter: number, to: number}[]} moves what happened since the stop before, in order
 * @property {Float64Array} competence of each voter, NaN where it was not measured
 * @property {number | null} evalAccuracy
 * @property {number} minimumMajority
 * @property {number} visits
 * @property {number} visitsOfAll
 */

/** Read the data of the page. */
export function readRecord(data) {
  const stops = [firstStop(data)];
  data.increment.forEach((_, k) => stops.push(nextStop(data, k, stops[k])));
  if (data.final_fit) stops.push(finalFit(data, stops[stops.length - 1]));
  return {
    nVoters: data.n_voters,
    nIncrements: data.n_increments,
    nKept: data.n_kept,
    nShown: data.increment.length,
    stopped: data.stopped,
    competenceDigits: Math.max(data.competence_digits - 1, 3),
    visitsElsewhere: data.visits_elsewhere,
    estimators: data.estimators.length ? data.estimators : ["voter"],
    marks: data.marks.map((corners) => corners && pairs(corners).map(([x, y]) => [x, -y])),
    homes: pairs(data.positions).map(([x, y]) => ({ x, y: -y })), // on a canvas, y grows downwards
    competenceUnit: data.competence_unit,
    voters: Array.from({ length: data.n_voters }, (_, voter) => description(data, voter)),
    stops,
  };
}

const pairs = (flat) => Array.from({ length: flat.length / 2 }, (_, k) => flat.slice(2 * k, 2 * k + 2));

function description(data, voter) {
  return {
    estimator: data.estimator[voter] ?? 0,
    featureMap: data.feature_maps[data.feature_map[voter]] ?? "",
    hyperparameters: Object.entries(data.hyperparameters[voter] ?? {}),
  };
}

function state(delegation) {
  const gurus = gurusOf(delegation);
  return { delegation, gurus, weights: weightsOf(gurus), representatives: representativesOf(delegation) };
}

function firstStop(data) {
  const start = state(Int32Array.from(data.start ?? Array(data.n_voters).keys()));
  return {
    type: "start",
    increment: data.increment[0] - 1,
    since: data.increment[0],
    ...start,
    moves: [],
    competence: new Float64Array(data.n_voters).fill(NaN),
    evalAccuracy: null,
    minimumMajority: minimumMajority(start.weights),
    nTrained: 0,
    nRows: 0,
    visits: 0,
    visitsOfAll: 0,
  };
}

function nextStop(data, k, before) {
  const moves = pairs(data.moves[k]).map(([voter, to]) => ({ voter, to }));
  const delegation = before.delegation.slice();
  for (const { voter, to } of moves) delegation[voter] = to;
  const competence = new Float64Array(data.n_voters).fill(NaN);
  (data.judged[k] ?? before.representatives).forEach((voter, place) => {
    const value = data.competence[k][place];
    if (value !== null) competence[voter] = value / 10 ** data.competence_digits;
  });
  return {
    type: "increment",
    increment: data.increment[k],
    since: before.increment + 1,
    ...(moves.length ? state(delegation) : same(before)),
    moves,
    competence,
    evalAccuracy: data.eval_accuracy[k],
    minimumMajority: data.minimum_majority[k],
    nTrained: data.n_trained[k],
    nRows: data.n_rows[k],
    visits: data.visits[k],
    visitsOfAll: data.visits_of_all[k],
  };
}

function same({ delegation, gurus, weights, representatives }) {
  return { delegation, gurus, weights, representatives };
}

function finalFit(data, last) {
  return {
    ...last,
    type: "fit",
    moves: [],
    competence: new Float64Array(data.n_voters).fill(NaN),
    evalAccuracy: data.final_eval_accuracy,
    visits: last.visits + data.final_fit,
    visitsOfAll: last.visitsOfAll + data.final_fit_of_all,
  };
}

/** The fewest representatives that hold more than half of the weight. */
function minimumMajority(weights) {
  const sorted = Array.from(weights).sort((a, b) => b - a);
  let [held, count] = [0, 0];
  while (2 * held <= weights.length) held += sorted[count++];
  return count;
}
