// The legend: kinds with their marks, or the scale of competence.

import { markSvg } from "./marks.js";
import { decimal } from "./sentences.js";

/** Fill the legend for the present colours. */
export function showLegend(legend, record, colouring, palette) {
  legend.replaceChildren(...(colouring.mode === "kind" ? kinds(record, palette) : competence(record, colouring, palette)));
}

function kinds(record, palette) {
  return record.kinds.map((kind, k) => entry(markSvg(k, palette.kind(k)), kind));
}

function competence(record, { low, high }, palette) {
  const ramp = `<span class="ramp" style="background:linear-gradient(90deg,${palette.levels.join(",")})"></span>`;
  const shapes = record.kinds.length > 1 ? record.kinds.map((kind, k) => entry(markSvg(k, palette.faint), kind)) : [];
  const [from, to] = [low, high].map((value) => decimal(value, record.competenceDigits));
  const scale = entry(ramp, `competence ${from} to ${to}`);
  return [scale, ...shapes];
}

function entry(picture, text) {
  const item = document.createElement("span");
  item.innerHTML = picture;
  item.append(text);
  return item;
}
