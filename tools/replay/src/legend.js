// The legend: estimators with their marks, or the scale of competence.

import { markSvg } from "./marks.js";
import { decimal } from "./sentences.js";

/** Fill the legend for the present colours. */
export function showLegend(legend, record, colouring, palette) {
  legend.replaceChildren(...(colouring.mode === "estimator" ? estimators(record, (k) => palette.estimator(k)) : competence(record, colouring, palette)));
}

function estimators(record, colourOf) {
  return record.estimators.map((name, k) => entry(markSvg(record.marks[k], colourOf(k)), name));
}

function competence(record, { low, high }, palette) {
  const ramp = `<span class="ramp" style="background:linear-gradient(90deg,${palette.levels.join(",")})"></span>`;
  const shapes = record.estimators.length > 1 ? estimators(record, () => palette.faint) : [];
  const [from, to] = [low, high].map((value) => decimal(value, record.competenceDigits));
  const scale = entry(ramp, `competence ${from} to ${to}${record.competenceUnit && ` (${record.competenceUnit})`}`);
  return [scale, ...shapes];
}

function entry(picture, text) {
  const item = document.createElement("span");
  item.innerHTML = picture;
  item.append(text);
  return item;
}
