// Colours: those of Okabe and Ito for estimators, which colour-blind people tell apart, and a scale that
// becomes steadily darker (on dark pages brighter) for competence.

const ESTIMATORS = {
  light: ["#0072b2", "#009e73", "#d98c00", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#6b7280"],
  dark: ["#4aa3df", "#2fc39a", "#f0b429", "#dd9abf", "#8fd0f5", "#f08a4b", "#efe36a", "#a3acb8"],
};
const SCALES = {
  light: ["#e6dfa3", "#a3d3a2", "#4bb0ab", "#1f78b4", "#1c3f94"],
  dark: ["#4a4f7d", "#3677ab", "#35a7a4", "#93cf82", "#f4efa1"],
};
export const LEVELS = 24;

/** Colours of a theme: "light" or "dark". */
export class Palette {
  constructor(theme) {
    const isDark = theme === "dark";
    this.background = isDark ? "#11161d" : "#fbfcfd";
    this.ink = isDark ? "#e8edf3" : "#18212c";
    this.faint = isDark ? "#8793a3" : "#66727f";
    this.link = isDark ? "#c4ced9" : "#2b3846";
    this.accent = isDark ? "#f08a4b" : "#d55e00";
    this.main = isDark ? "#4aa3df" : "#0072b2";
    this.unknown = isDark ? "#566270" : "#b4bec8";
    [this.inside, this.rim] = isDark ? [0.38, 0.2] : [0.1, 0.3]; // tints of drops
    this.estimators = ESTIMATORS[theme];
    this.levels = Array.from({ length: LEVELS }, (_, k) => along(SCALES[theme], k / (LEVELS - 1)));
  }

  estimator(k) {
    return this.estimators[k % this.estimators.length];
  }

  /** A colour that is opaque, and as if a share of `colour` lay on the background. */
  tint(colour, share) {
    return mix(this.background, colour, share);
  }
}

function along(colours, share) {
  const place = share * (colours.length - 1);
  const k = Math.min(Math.floor(place), colours.length - 2);
  return mix(colours[k], colours[k + 1], place - k);
}

const cache = new Map();

function mix(first, second, share) {
  const key = `${first}${second}${share}`;
  if (!cache.has(key)) {
    const [a, b] = [channels(first), channels(second)];
    cache.set(key, `#${a.map((value, k) => hex(value + (b[k] - value) * share)).join("")}`);
  }
  return cache.get(key);
}

/** A colour that can be read on another. */
export function readableOn(colour) {
  const [red, green, blue] = channels(colour);
  return 0.3 * red + 0.59 * green + 0.11 * blue > 140 ? "#0d1218" : "#ffffff";
}

const channels = (colour) => [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
const hex = (value) => Math.round(value).toString(16).padStart(2, "0");
