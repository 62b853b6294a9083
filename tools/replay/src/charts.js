// Curves over the stops, with a cursor that shows the time and can be dragged.

import { count, decimal } from "./sentences.js";

const SVG = "http://www.w3.org/2000/svg";
const [HEIGHT, TOP, BOTTOM] = [72, 6, 6];
const [LEFT, RIGHT] = [5, 42]; // margins; on the right is room for numbers

/** The curves that the record has something for. */
export function chartsOf(record) {
  const { stops } = record;
  const bands = stops.map(({ competence }) => quantiles(competence));
  const total = stops[stops.length - 1].visitsOfAll;
  return [
    {
      name: "Representatives",
      lines: [{ values: stops.map(({ representatives }) => representatives.length), colour: "a" }],
      from: 0,
      text: (s) => count(stops[s].representatives.length),
      ends: count,
    },
    {
      name: "Competence",
      hint: record.competenceUnit.split(",")[0] || "median, middle 80 %",
      lines: [{ values: bands.map((band) => band?.[1] ?? null), colour: "b" }],
      band: { low: bands.map((band) => band?.[0] ?? null), high: bands.map((band) => band?.[2] ?? null), colour: "b" },
      text: (s) => decimal(bands[s]?.[1] ?? null, record.competenceDigits),
      ends: (value) => decimal(value, record.competenceDigits),
    },
    {
      name: "Accuracy",
      hint: "on the evaluation set",
      lines: [{ values: stops.map(({ evalAccuracy }) => evalAccuracy), colour: "c" }],
      text: (s) => decimal(stops[s].evalAccuracy),
      ends: (value) => decimal(value),
    },
    {
      name: "Visits in increments",
      hint: "dashed: all voters",
      lines: [
        { values: inIncrements(stops, "visitsOfAll"), colour: "faint", isDashed: true },
        { values: inIncrements(stops, "visits"), colour: "d" },
      ],
      band: { low: inIncrements(stops, "visits"), high: inIncrements(stops, "visitsOfAll"), colour: "d" },
      from: 0,
      isEmpty: !total,
      text: (s) => count(inIncrements(stops, "visits")[s] ?? stops[s - 1].visits),
      ends: compact,
    },
    {
      name: "Minimum majority",
      hint: "hold over half of the votes",
      lines: [{ values: stops.map(({ minimumMajority }) => minimumMajority), colour: "e" }],
      from: 0,
      text: (s) => count(stops[s].minimumMajority),
      ends: count,
    },
  ].filter(({ lines, isEmpty }) => !isEmpty && lines.some(({ values }) => values.some((value) => value !== null)));
}

/** Visits until each stop; the final fit would leave the rest of a curve without height. */
const inIncrements = (stops, name) => stops.map((stop) => (stop.type === "fit" ? null : stop[name]));

const compact = (value) => new Intl.NumberFormat("en-US", { notation: "compact" }).format(value);

/** The 10th, 50th and 90th percentile of the numbers there are, or null. */
function quantiles(values) {
  const known = Array.from(values).filter((value) => !Number.isNaN(value));
  if (!known.length) return null;
  known.sort((a, b) => a - b);
  return [0.1, 0.5, 0.9].map((share) => {
    const place = share * (known.length - 1);
    const k = Math.floor(place);
    return known[k] + (place - k) * ((known[k + 1] ?? known[k]) - known[k]);
  });
}

export class Charts {
  /** @param {HTMLElement} parent */
  constructor(parent, record, onSeek) {
    this.end = record.stops.length - 1;
    this.charts = chartsOf(record).map((chart) => ({ ...chart, ...figureOf(parent, chart) }));
    for (const chart of this.charts) this.#listen(chart.svg, onSeek);
    new ResizeObserver(() => this.#draw()).observe(parent);
    this.#draw();
  }

  #listen(svg, onSeek) {
    const seek = (event) => {
      const { left, width } = svg.getBoundingClientRect();
      const share = (event.clientX - left - LEFT) / (width - LEFT - RIGHT);
      onSeek(Math.min(Math.max(share, 0), 1) * this.end);
    };
    svg.addEventListener("pointerdown", (event) => {
      svg.setPointerCapture(event.pointerId);
      seek(event);
    });
    svg.addEventListener("pointermove", (event) => svg.hasPointerCapture(event.pointerId) && seek(event));
  }

  #draw() {
    for (const chart of this.charts) {
      chart.width = chart.svg.clientWidth || 300;
      chart.svg.setAttribute("viewBox", `0 0 ${chart.width} ${HEIGHT}`);
      chart.scale = scaleOf(chart, this.end);
      chart.svg.replaceChildren(...contentOf(chart), (chart.cursor = cursorOf(chart)));
    }
    if (this.time !== undefined) this.show(this.time);
  }

  /** Move the cursors to a time. */
  show(time) {
    this.time = time;
    const stop = Math.floor(time + 1e-6);
    for (const { cursor, scale, value, text, shown } of this.charts) {
      cursor.setAttribute("transform", `translate(${scale.x(time).toFixed(1)},0)`);
      if (shown.stop !== stop) [value.textContent, shown.stop] = [text(stop), stop];
      cursor.dots.forEach(({ dot, values }) => placeDot(dot, values, time, scale));
    }
  }
}

function figureOf(parent, { name, hint, text }) {
  const figure = document.createElement("figure");
  figure.className = "chart";
  figure.innerHTML = `<figcaption><span class="name"></span><small></small><output></output></figcaption>`;
  figure.querySelector(".name").textContent = name;
  figure.querySelector("small").textContent = hint ?? "";
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${name} over increments`);
  figure.append(svg);
  parent.append(figure);
  return { svg, value: figure.querySelector("output"), text, shown: {} };
}

/** How stops and values become places; a curve that is flat lies in the middle. */
function scaleOf({ lines, band, from, width }, end) {
  const values = [...lines.map((line) => line.values), band?.low ?? [], band?.high ?? []].flat();
  const known = values.filter((value) => value !== null);
  const low = from ?? Math.min(...known);
  const high = Math.max(...known);
  const span = high - low || 1;
  return {
    low,
    high,
    x: (stop) => LEFT + ((width - LEFT - RIGHT) * stop) / end,
    y: (value) => (high === low ? HEIGHT / 2 : HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (value - low)) / span),
  };
}

function contentOf(chart) {
  const { lines, band, scale, width, ends } = chart;
  const content = [];
  if (band) content.push(element("path", { d: areaOf(band, scale), class: `area ${band.colour}` }));
  for (const { values, colour, isDashed } of lines) {
    content.push(element("path", { d: lineOf(values, scale), class: `line ${colour}${isDashed ? " dashed" : ""}` }));
  }
  if (scale.high !== scale.low) {
    content.push(textAt(width - 2, 11, ends(scale.high)), textAt(width - 2, HEIGHT - 3, ends(scale.low)));
  }
  return content;
}

const place = (value, stop, scale) => `${scale.x(stop).toFixed(1)},${scale.y(value).toFixed(1)}`;

function lineOf(values, scale) {
  let [path, isOpen] = ["", false];
  values.forEach((value, stop) => {
    if (value !== null) path += `${isOpen ? "L" : "M"}${place(value, stop, scale)}`;
    isOpen = value !== null;
  });
  return path;
}

function areaOf({ low, high }, scale) {
  const stops = [...low.keys()].filter((stop) => low[stop] !== null);
  if (!stops.length) return "";
  const there = stops.map((stop) => place(high[stop], stop, scale));
  const back = stops.reverse().map((stop) => place(low[stop], stop, scale));
  return `M${[...there, ...back].join("L")}Z`;
}

function cursorOf({ lines }) {
  const cursor = element("g", { class: "cursor" });
  cursor.append(element("line", { y1: 0, y2: HEIGHT }));
  cursor.dots = lines.map(({ values, colour }) => {
    const dot = element("circle", { r: 3.5, class: colour });
    cursor.append(dot);
    return { dot, values };
  });
  return cursor;
}

/** Put a dot on a curve, between two stops where both have a value. */
function placeDot(dot, values, time, scale) {
  const stop = Math.floor(time + 1e-6);
  const [from, to] = [values[stop], values[Math.min(stop + 1, values.length - 1)]];
  const value = from === null || to === null ? from : from + (to - from) * Math.max(time - stop, 0);
  dot.style.display = value === null ? "none" : "";
  if (value !== null) dot.setAttribute("cy", scale.y(value).toFixed(1));
}

function textAt(x, y, text) {
  const label = element("text", { x, y, "text-anchor": "end" });
  label.textContent = text;
  return label;
}

export function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
