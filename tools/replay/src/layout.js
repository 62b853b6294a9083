// Where the drops are: every voter has a home near those it will share a representative with, and
// a drop is where its voters come from. So delegations are short ways, and drops do not run around.

import { forceCollide, forceLink, forceSimulation, forceX, forceY } from "d3-force";
import { gurusOf, representativesOf, weightsOf } from "./graph.js";

const SINGLE = 0.48; // radius of the drop of one vote; homes are about 1.25 apart
const [HOME_RADIUS, GAP] = [0.63, 0.11];
const [HOME_TICKS, STOP_TICKS] = [140, 14];
const MOST_WORK = 120_000_000; // pairs of drops looked at in all ticks, which takes less than a second
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

/** The radius of a drop, whose area is the votes it carries. */
export const radiusOf = (weight) => SINGLE * Math.sqrt(weight);

/**
 * Places for the drops, in units of about the distance of two voters. Each interval has a list of
 * them, one for every few moves.
 * @typedef {Map<number, {x: number, y: number}>} Centres the centre of each representative's drop
 *
 * @param {import("./record.js").Stop[]} stops
 * @param {number} aspect width of the stage divided by its height
 * @returns {{homes: {x: number, y: number}[], step: number, centres: Centres[][], bounds: object}}
 *   homes of voters; the number of moves after which there are new centres; for each stop the
 *   centres since the stop before, of which the last are its own
 */
export function layOut(stops, aspect) {
  const homes = homesOf(stops[stops.length - 1], aspect);
  const work = stops.reduce((total, { moves, representatives }) => total + moves.length * representatives.length ** 2, 0);
  const step = Math.max(1, Math.ceil((work * STOP_TICKS) / 2 / MOST_WORK));
  const centres = [[centresOf(stops[0], homes)]];
  for (const [before, { moves }] of pairs(stops)) {
    const last = centres[centres.length - 1];
    centres.push(centresAlong(before.delegation, moves, step, homes, last[last.length - 1]));
  }
  return { homes, step, centres, bounds: boundsOf(stops, centres) };
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

/** The centres at a moment. */
export function centresAfter({ centres, step }, { stop, nMoves, begun }) {
  const known = centres[stop + 1] ?? [centres[stop][centres[stop].length - 1]];
  return begun === nMoves ? known[known.length - 1] : known[Math.floor(begun / step)];
}

function homesOf(last, aspect) {
  const families = familiesOf(last, aspect);
  const nodes = Array.from(last.gurus, (guru) => ({ family: families.get(guru) }));
  const members = new Map(last.representatives.map((guru) => [guru, [guru]]));
  last.gurus.forEach((guru, voter) => guru !== voter && members.get(guru).push(voter));
  for (const family of members.values()) family.forEach((voter, k) => sunflower(nodes[voter], k));
  const links = Array.from(last.delegation, (target, source) => ({ source, target }));
  run(nodes, HOME_TICKS, {
    link: forceLink(links.filter(({ source, target }) => source !== target)).distance(1.25).strength(0.25),
    collide: forceCollide(HOME_RADIUS).iterations(2),
    x: forceX((node) => node.family.x).strength(0.12),
    y: forceY((node) => node.family.y).strength(0.12),
  });
  return nodes.map(({ x, y }) => ({ x, y }));
}

/** Where the voters of each final representative live; the whole is as wide as the stage. */
function familiesOf({ representatives, weights }, aspect) {
  const sorted = [...representatives].sort((a, b) => weights[b] - weights[a] || a - b);
  const nodes = sorted.map((guru, k) => {
    const node = { radius: HOME_RADIUS * (0.45 + 0.6 * Math.sqrt(weights[guru])), family: { x: 0, y: 0 } };
    sunflower(node, k, 1.5);
    [node.x, node.y] = [node.x * Math.sqrt(aspect), node.y / Math.sqrt(aspect)];
    return node;
  });
  run(nodes, 2 * HOME_TICKS, {
    collide: forceCollide((node) => node.radius).iterations(2),
    x: forceX(0).strength(0.09 / aspect),
    y: forceY(0).strength(0.09 * aspect),
  });
  return new Map(sorted.map((guru, k) => [guru, nodes[k]]));
}

function sunflower(node, k, spacing = 0.7) {
  node.x = node.family.x + spacing * Math.sqrt(k) * Math.cos(k * GOLDEN_ANGLE);
  node.y = node.family.y + spacing * Math.sqrt(k) * Math.sin(k * GOLDEN_ANGLE);
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

function run(nodes, ticks, forces) {
  const simulation = forceSimulation(nodes).stop().alphaDecay(1 - 0.05 ** (1 / ticks)).velocityDecay(0.5);
  for (const [name, force] of Object.entries(forces)) simulation.force(name, force);
  simulation.tick(ticks);
}

function boundsOf(stops, centres) {
  const bounds = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
  stops.forEach(({ weights }, s) => {
    for (const [guru, { x, y }] of centres[s][centres[s].length - 1]) {
      const radius = radiusOf(weights[guru]);
      bounds.left = Math.min(bounds.left, x - radius);
      bounds.right = Math.max(bounds.right, x + radius);
      bounds.top = Math.min(bounds.top, y - radius);
      bounds.bottom = Math.max(bounds.bottom, y + radius);
    }
  });
  return bounds;
}
