// Time: stop s is at time s, and between two stops the moves happen one after another.

import { gurusOf, weightsOf } from "./graph.js";

const LONGEST = 45; // seconds for the whole replay at normal speed
const [FIRST_MOVE, LAST_MOVE] = [0.06, 0.72]; // of an interval; the rest is for the last to arrive

/** How many seconds each interval takes at normal speed. */
export function durationsOf(stops) {
  const n = stops.length - 1;
  const quiet = Math.min(1.4, 24 / n);
  const wanted = stops.slice(1).map(({ moves }) => (moves.length ? 1.4 + 0.42 * moves.length : quiet));
  const total = wanted.reduce((sum, seconds) => sum + seconds, 0);
  const shrink = Math.min(1, LONGEST / total);
  return wanted.map((seconds) => seconds * shrink);
}

/** The number of moves of an interval that have begun at a share of it. */
export function movesBegun(nMoves, share) {
  if (share >= 1) return nMoves;
  if (!nMoves || share < FIRST_MOVE) return 0;
  if (nMoves === 1) return 1;
  return Math.min(nMoves, 1 + Math.floor(((share - FIRST_MOVE) / (LAST_MOVE - FIRST_MOVE)) * (nMoves - 1) + 1e-9));
}

/**
 * Where a time lies: the stop at or before it, the share of the interval that has passed, and the
 * number of its moves that have begun.
 */
export function momentAt(stops, time) {
  const stop = Math.min(Math.floor(time), stops.length - 1);
  const share = time - stop;
  const nMoves = stops[stop + 1]?.moves.length ?? 0;
  return { stop, share, nMoves, begun: movesBegun(nMoves, share) };
}

/** The delegations at a moment, and what follows from them. */
export function stateAt(stops, { stop, begun, nMoves }) {
  if (!begun) return stops[stop];
  if (begun === nMoves) return stops[stop + 1];
  const delegation = stops[stop].delegation.slice();
  for (const { voter, to } of stops[stop + 1].moves.slice(0, begun)) delegation[voter] = to;
  const gurus = gurusOf(delegation);
  return { delegation, gurus, weights: weightsOf(gurus) };
}
