// Where the voters of a drop are within it: the representative in the middle, and around it a tree of
// those that delegate to it, each beside its delegate and on the side that it comes from.

import { radiusOf } from "./layout.js";

const TURN = 2 * Math.PI;
const [EDGE, ROOM, BETWEEN_RINGS] = [0.14, 0.55, 0.48];

/** The radius of a delegator's mark, and of a representative's, which grows with its weight. */
export const DELEGATOR = 0.21;
export const representativeRadius = (weight) => Math.min(0.3 * weight ** 0.22, 0.7);

/**
 * Write the places of all voters of a drop, relative to its centre, into `x` and `y`.
 * @param {number} guru
 * @param {number[][]} delegators those of each voter
 * @param {number} weight
 * @param {{x: number, y: number}[]} homes
 */
export function placeVoters(guru, delegators, weight, homes, x, y) {
  x[guru] = y[guru] = 0;
  if (weight === 1) return;
  const members = membersOf(guru, delegators, homes);
  const angles = members.map((_, k) => (TURN * k) / members.length);
  const turn = turnOf(members, angles);
  const radii = radiiOf(members, weight);
  members.forEach(({ voter }, k) => {
    x[voter] = radii[k] * Math.cos(angles[k] + turn);
    y[voter] = radii[k] * Math.sin(angles[k] + turn);
  });
  if (weight === 2) moveAside(guru, members[0].voter, x, y);
}

/** All delegators of a drop, each followed by those that delegate to it, with their distance. */
function membersOf(guru, delegators, homes) {
  const direction = (voter) => Math.atan2(homes[voter].y - homes[guru].y, homes[voter].x - homes[guru].x);
  const nearest = [...delegators[guru]].sort((a, b) => direction(a) - direction(b) || a - b);
  const waiting = nearest.reverse().map((voter) => ({ voter, distance: 1, direction: direction(voter) }));
  const members = [];
  while (waiting.length) {
    const member = waiting.pop();
    members.push(member);
    for (const voter of delegators[member.voter]) waiting.push({ voter, distance: member.distance + 1 });
  }
  return members;
}

/** How far to turn all, so that those nearest to the representative are where they come from. */
function turnOf(members, angles) {
  let [sines, cosines] = [0, 0];
  members.forEach(({ distance, direction }, k) => {
    if (distance > 1) return;
    sines += Math.sin(direction - angles[k]);
    cosines += Math.cos(direction - angles[k]);
  });
  return Math.atan2(sines, cosines);
}

/** How far each is from the middle: the more delegations, the further, where there is room. */
function radiiOf(members, weight) {
  const rings = ringsFor(members, weight).map((radius) => ({ radius, last: -Infinity }));
  return members.map(({ distance }, k) => {
    const place = (TURN * k) / members.length;
    const preferred = [...rings.keys()].sort((a, b) => Math.abs(a + 1 - distance) - Math.abs(b + 1 - distance));
    const gap = (ring) => (place - rings[ring].last) * rings[ring].radius;
    const free = preferred.find((ring) => gap(ring) >= ROOM);
    const chosen = rings[free ?? preferred.reduce((best, ring) => (gap(ring) > gap(best) ? ring : best))];
    chosen.last = place;
    return chosen.radius;
  });
}

/** Radii of as few rings as hold all voters, or one for each distance where there is room for it. */
function ringsFor(members, weight) {
  const outer = radiusOf(weight) - DELEGATOR - EDGE;
  const inner = Math.min(outer, representativeRadius(weight) + DELEGATOR + 0.1);
  const most = 1 + Math.floor((outer - inner) / BETWEEN_RINGS);
  const rings = (n) =>
    Array.from({ length: n }, (_, k) => (n === 1 ? (inner + 2 * outer) / 3 : inner + ((outer - inner) * k) / (n - 1)));
  const room = (n) => rings(n).reduce((total, radius) => total + Math.floor((TURN * radius) / ROOM), 0);
  let n = Math.max(1, Math.min(Math.max(...members.map(({ distance }) => distance)), most));
  while (room(n) < members.length && n < 2 * most) n++;
  return rings(n);
}

/** Two voters are beside each other, neither in the middle. */
function moveAside(guru, voter, x, y) {
  x[guru] = -0.75 * x[voter];
  y[guru] = -0.75 * y[voter];
}
