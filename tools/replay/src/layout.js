// Where the drops are. At the start every voter has its place in the forest of the last delegations,
// which Python laid out as in the displays. Then voters gather: each has a home near its place, and a
// drop is where its voters come from. So delegations are short ways.

import { gurusOf, representativesOf, weightsOf } from "./graph.js";

const [SINGLE, GAP] = [0.6, 0.11]; // radius of the drop of one vote, and distance of drops, in units of homes
const [HOME_TICKS, STOP_TICKS] = [120, 14];
const [INWARDS_X, INWARDS_Y] = [0.02, 0.04]; // shares of the way to the middle; stages are wide
const MOST_WORK = 120_000_000; // pairs of drops looked at in all ticks, which takes less than a second

/** The radius of a drop, whose area is the votes it carries. */
export const radiusOf = (weight) => SINGLE * Math.sqrt(weight);

/**
 * Places for the drops, in units of about the distance of two voters. Each interval has a list of
 * them, one for every few moves.
 * @typedef {Map<number, {x: number, y: number}>} Centres the centre of each representative's drop
 *
 * @param {import("./record.js").Stop[]} stops
 * @param {{x: number, y: number}[]} places of voters at the start
 * @returns {{homes: {x: number, y: number}[], step: number, centres: Centres[][], bounds: object}}
 *   homes of voters; the number of moves after which there are new centres; for each stop the
 *   centres since the stop before, of which the last are its own
 */
export function layOut(stops, places) {
  const homes = homesNear(places);
  const work = stops.reduce((total, { moves, representatives }) => total + moves.length * representatives.length ** 2, 0);
  const step = Math.max(1, Math.ceil((work * STOP_TICKS) / 2 / MOST_WORK));
  const start = centresOf(stops[0], places);
  const centres = [[centresOf(stops[0], homes)]];
  for (const [before, { moves }] of pairs(stops)) {
    const last = centres[centres.length - 1];
    centres.push(centresAlong(before.delegation, moves, step, homes, last[last.length - 1]));
  }
  const ends = centres.map((known) => known[known.length - 1]);
  return { homes, step, start, centres, bounds: [boundsOf([stops[0]], [start]), boundsOf(stops, ends)] };
}

const pairs = (list) => list.slice(1).map((next, k) => [list[k], next]);

/** The centres before the moves of an interval, after some of them, and after all. */
function centresAlong(delegation, moves, step, homes, first) {
  const centres = [first];
  const now = delegation.slice();
  moves.forEach(({ voter, to }, k) => {
    now[voter] = to;
    const isDue = (k + 1) % step === 0 || k === moves.length - 1;
    if (isDue) centres.push(centresOf(stateOf(now), homes, centres[centres.length - 1]));
  });
  return centres;
}

function stateOf(delegation) {
  const gurus = gurusOf(delegation);
  return { gurus, weights: weightsOf(gurus), representatives: representativesOf(delegation) };
}

/** The centres at a moment, except at the start. */
export function centresAfter({ centres, step }, { stop, nMoves, begun }) {
  const known = centres[stop + 1] ?? [centres[stop][centres[stop].length - 1]];
  return begun === nMoves ? known[known.length - 1] : known[Math.floor(begun / step)];
}

/** Homes as close together as drops of one vote can be. */
function homesNear(places) {
  const [x, y] = ["x", "y"].map((name) => Float64Array.from(places, (place) => place[name]));
  const radii = new Float64Array(places.length).fill(SINGLE + GAP / 2);
  const middle = new Float64Array(places.length);
  const ticks = Math.min(HOME_TICKS, Math.ceil(MOST_WORK / places.length ** 2));
  for (let tick = 0; tick < ticks; tick++) {
    pull(x, middle, INWARDS_X);
    pull(y, middle, INWARDS_Y);
    pushApart(x, y, radii);
  }
  return places.map((_, k) => ({ x: x[k], y: y[k] }));
}

/** The centre of each drop: the middle of its voters' homes, with no drop on another. */
function centresOf({ representatives, gurus, weights }, homes, before) {
  const middles = middlesOf(gurus, weights, homes);
  const column = (value) => Float64Array.from(representatives, value);
  const [toX, toY] = [column((guru) => middles[guru].x), column((guru) => middles[guru].y)];
  const x = column((guru, k) => before?.get(guru)?.x ?? toX[k]);
  const y = column((guru, k) => before?.get(guru)?.y ?? toY[k]);
  const radii = column((guru) => radiusOf(weights[guru]) + GAP);
  for (let tick = 0; tick < STOP_TICKS; tick++) {
    pull(x, toX, 0.25 * (1 - tick / STOP_TICKS));
    pull(y, toY, 0.25 * (1 - tick / STOP_TICKS));
    pushApart(x, y, radii);
  }
  return new Map(representatives.map((guru, k) => [guru, { x: x[k], y: y[k] }]));
}

/** The middle of the homes of each representative's voters. */
function middlesOf(gurus, weights, homes) {
  const middles = homes.map(() => ({ x: 0, y: 0 }));
  gurus.forEach((guru, voter) => {
    middles[guru].x += homes[voter].x / weights[guru];
    middles[guru].y += homes[voter].y / weights[guru];
  });
  return middles;
}

function pull(values, towards, share) {
  for (let k = 0; k < values.length; k++) values[k] += (towards[k] - values[k]) * share;
}

/** Move drops that overlap apart, the smaller further: faster than d3's force for a few hundred. */
function pushApart(x, y, radii) {
  for (let a = 0; a < x.length; a++) {
    for (let b = a + 1; b < x.length; b++) {
      const reach = radii[a] + radii[b];
      const dx = x[b] - x[a];
      if (dx > reach || dx < -reach) continue;
      const dy = y[b] - y[a];
      const squared = dx * dx + dy * dy;
      if (squared >= reach * reach || !squared) continue;
      const excess = 0.9 * (reach / Math.sqrt(squared) - 1);
      const share = radii[b] ** 2 / (radii[a] ** 2 + radii[b] ** 2);
      x[a] -= dx * excess * share;
      y[a] -= dy * excess * share;
      x[b] += dx * excess * (1 - share);
      y[b] += dy * excess * (1 - share);
    }
  }
}

function boundsOf(stops, centres) {
  const bounds = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
  stops.forEach(({ weights }, s) => {
    for (const [guru, { x, y }] of centres[s]) {
      const radius = radiusOf(weights[guru]);
      bounds.left = Math.min(bounds.left, x - radius);
      bounds.right = Math.max(bounds.right, x + radius);
      bounds.top = Math.min(bounds.top, y - radius);
      bounds.bottom = Math.max(bounds.bottom, y + radius);
    }
  });
  return bounds;
}
