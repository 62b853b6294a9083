// What is on the stage: drops, the liquid between two that merge, links, marks and numbers.

import { addMark } from "./marks.js";
import { readableOn } from "./palette.js";

const TURN = 2 * Math.PI;
const SMALLEST_NUMBER = 7.5; // pixels; smaller ones could not be read

/**
 * @typedef {object} Scene what is drawn
 * @property {import("./motion.js").Motion} motion
 * @property {{scale: number, x: number, y: number}} view
 * @property {import("./palette.js").Palette} palette
 * @property {string[]} colours of voters
 * @property {string[]} dropColours
 * @property {number[]} estimators of voters, as positions in `marks`
 * @property {(number[][] | null)[]} marks
 * @property {boolean} [marksOnly] without drops and links
 */

/** Draw voters: all, or some of them. */
export function drawVoters(context, scene, voters) {
  context.save();
  context.translate(scene.view.x, scene.view.y);
  context.scale(scene.view.scale, scene.view.scale);
  if (!scene.marksOnly) {
    drawDrops(context, scene, voters);
    drawLinks(context, scene, voters);
    drawFlights(context, scene, voters);
  }
  drawMarks(context, scene, voters);
  context.restore();
  drawNumbers(context, scene, voters);
}

/** Those of representatives, and above them what is left of drops that have just merged. */
function drawDrops(context, scene, voters) {
  const { motion } = scene;
  const { gurus } = motion.target.state;
  const drops = voters.filter((voter) => motion.radius[voter] > 0.02 && !motion.flying[voter]);
  drops.sort((a, b) => (gurus[a] !== a) - (gurus[b] !== b));
  for (const voter of drops) drawDrop(context, scene, voter);
}

function drawDrop(context, { motion, palette, dropColours, view }, voter) {
  const isRepresentative = motion.target.state.gurus[voter] === voter;
  const [x, y] = isRepresentative ? [motion.dropX, motion.dropY] : [motion.x, motion.y];
  context.beginPath();
  context.arc(x[voter], y[voter], motion.radius[voter], 0, TURN);
  context.fillStyle = liquid(context, x[voter], y[voter], motion.radius[voter], dropColours[voter], palette);
  context.fill();
  context.lineWidth = 1.25 / view.scale;
  context.strokeStyle = palette.tint(dropColours[voter], 0.55);
  context.stroke();
}

function groupedBy(list, keyOf) {
  const groups = new Map();
  for (const one of list) {
    const key = keyOf(one);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(one);
  }
  return groups;
}

/** Light falls on a drop from above. */
function liquid(context, x, y, radius, colour, palette) {
  const light = context.createRadialGradient(x - 0.3 * radius, y - 0.45 * radius, 0, x, y, radius);
  light.addColorStop(0, palette.tint(colour, palette.inside));
  light.addColorStop(1, palette.tint(colour, palette.rim));
  return light;
}

function drawLinks(context, { motion, palette, view }, voters) {
  const { delegation } = motion.target.state;
  context.beginPath();
  for (const voter of voters) {
    if (delegation[voter] === voter || !motion.hasArrived[voter]) continue;
    context.moveTo(motion.x[voter], motion.y[voter]);
    context.lineTo(motion.x[delegation[voter]], motion.y[delegation[voter]]);
  }
  context.lineWidth = Math.min(Math.max(0.7, view.scale * 0.03), 1.4) / view.scale;
  context.strokeStyle = palette.link;
  context.globalAlpha = 0.38;
  context.stroke();
  context.globalAlpha = 1;
}

/** Voters on their way to their delegate, with the votes they bring, and a line that shows it. */
function drawFlights(context, scene, voters) {
  const { motion, palette, dropColours: colours, view } = scene;
  const { delegation, gurus } = motion.target.state;
  for (const voter of voters) {
    if (!motion.flying[voter]) continue;
    const to = delegation[voter];
    context.beginPath();
    context.moveTo(motion.x[voter], motion.y[voter]);
    context.lineTo(motion.x[to], motion.y[to]);
    context.lineWidth = 2 / view.scale;
    context.strokeStyle = palette.tint(colours[voter], 0.6);
    context.stroke();
    drawDrop(context, scene, voter);
    drawNeck(context, circle(motion, voter, "x", "y"), circle(motion, gurus[voter], "dropX", "dropY"), palette, [
      colours[voter],
      colours[gurus[voter]],
    ]);
  }
}

const circle = (motion, voter, x, y) => ({ x: motion[x][voter], y: motion[y][voter], radius: motion.radius[voter] });
const pointOn = ({ x, y, radius }, angle) => [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];

/** The liquid between two drops that touch soon: the nearer they are, the wider it is. */
function drawNeck(context, a, b, palette, colours) {
  const smaller = Math.min(a.radius, b.radius);
  const distance = Math.hypot(b.x - a.x, b.y - a.y);
  const gap = (distance - a.radius - b.radius) / smaller;
  if (gap > 1 || gap < -0.5 || !smaller) return;
  const nearness = gap > 0 ? 1 - gap : 1 + 2 * gap;
  const angle = Math.atan2(b.y - a.y, b.x - a.x);
  const [openA, openB] = [a, b].map(({ radius }) => (0.15 + 0.65 * nearness) * Math.min(1, smaller / radius));
  const corners = [angle + openA, angle - openA].map((turn) => pointOn(a, turn));
  const far = [angle + Math.PI - openB, angle + Math.PI + openB].map((turn) => pointOn(b, turn));
  const middle = pointOn({ ...a, radius: (a.radius + distance - b.radius) / 2 }, angle);
  const light = context.createLinearGradient(...pointOn(a, angle), ...pointOn(b, angle + Math.PI));
  colours.forEach((colour, k) => light.addColorStop(k, palette.tint(colour, 0.25)));
  context.beginPath();
  context.moveTo(...corners[0]);
  context.quadraticCurveTo(...towards(middle, corners[0], far[0], nearness), ...far[0]);
  context.lineTo(...far[1]);
  context.quadraticCurveTo(...towards(middle, corners[1], far[1], nearness), ...corners[1]);
  context.fillStyle = light;
  context.fill();
}

/** A point between the middle of a neck and its side. */
const towards = ([x, y], [x1, y1], [x2, y2], share) => [
  x + ((x1 + x2) / 2 - x) * 0.85 * share,
  y + ((y1 + y2) / 2 - y) * 0.85 * share,
];

/** Marks are drawn as one path for each colour and shape. */
function drawMarks(context, { motion, colours, estimators, marks, palette, view }, voters) {
  const { gurus } = motion.target.state;
  const batches = groupedBy(voters, (voter) => `${colours[voter]} ${estimators[voter]} ${gurus[voter] !== voter}`);
  for (const [key, batch] of batches) {
    const [colour, estimator, isDelegator] = key.split(" ");
    context.beginPath();
    for (const voter of batch) {
      addMark(context, marks[Number(estimator)], motion.x[voter], motion.y[voter], motion.mark[voter]);
    }
    context.fillStyle = isDelegator === "true" ? palette.tint(colour, 0.78) : colour;
    context.fill();
    context.lineWidth = 1 / view.scale;
    context.strokeStyle = palette.background;
    context.stroke();
  }
}

function drawNumbers(context, { motion, colours, view }, voters) {
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const voter of voters) {
    const text = String(voter);
    const size = view.scale * motion.mark[voter] * Math.min(0.85, 2.2 / (text.length + 0.4));
    if (size < SMALLEST_NUMBER) continue;
    context.fillStyle = readableOn(colours[voter]);
    context.font = `600 ${Math.min(size, 17).toFixed(1)}px system-ui, sans-serif`;
    const [x, y] = [motion.x[voter] * view.scale + view.x, motion.y[voter] * view.scale + view.y];
    context.fillText(text, x, y + 0.5);
  }
}

/** Draw the way of a voter's vote to its representative. */
export function drawChain(context, { motion, view, palette }, chain) {
  context.save();
  context.translate(view.x, view.y);
  context.scale(view.scale, view.scale);
  context.beginPath();
  chain.forEach((voter, k) => context[k ? "lineTo" : "moveTo"](motion.x[voter], motion.y[voter]));
  context.lineWidth = 3 / view.scale;
  context.lineJoin = "round";
  context.strokeStyle = palette.accent;
  context.stroke();
  context.restore();
}

/** Draw a ring around a voter. */
export function drawRing(context, { motion, view, palette }, voter) {
  const radius = view.scale * motion.mark[voter] * 1.3 + 3;
  context.beginPath();
  context.arc(motion.x[voter] * view.scale + view.x, motion.y[voter] * view.scale + view.y, radius, 0, TURN);
  context.lineWidth = 2.5;
  context.strokeStyle = palette.accent;
  context.stroke();
}
