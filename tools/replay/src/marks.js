// Shapes of voters: each kind has its own, so that kinds differ without colours.

const corners = (n, turn, size) =>
  Array.from({ length: n }, (_, k) => [
    size * Math.cos(turn + (2 * Math.PI * k) / n),
    size * Math.sin(turn + (2 * Math.PI * k) / n),
  ]);

const UP = -Math.PI / 2;
const STAR = corners(10, UP, 1).map(([x, y], k) => (k % 2 ? [0.62 * x, 0.62 * y] : [1.28 * x, 1.28 * y]));
const [ARM, REACH] = [0.4, 1.08];
const PLUS = [
  [-ARM, -REACH], [ARM, -REACH], [ARM, -ARM], [REACH, -ARM], [REACH, ARM], [ARM, ARM],
  [ARM, REACH], [-ARM, REACH], [-ARM, ARM], [-REACH, ARM], [-REACH, -ARM], [-ARM, -ARM],
];

/** Corners of the shapes, in units of the radius; null is a circle. */
const SHAPES = [
  null,
  corners(3, UP, 1.28),
  corners(4, Math.PI / 4, 1.22),
  corners(4, UP, 1.22),
  corners(6, UP, 1.08),
  STAR,
  corners(3, -UP, 1.28),
  PLUS,
];

/** The shape of a kind; a ninth kind has the colour of the first, but not its shape. */
const shapeOf = (kind) => SHAPES[(kind + Math.floor(kind / SHAPES.length)) % SHAPES.length];

/** Add the mark of a kind to the current path. */
export function addMark(context, kind, x, y, radius) {
  const shape = shapeOf(kind);
  if (!shape) {
    context.moveTo(x + radius, y);
    context.arc(x, y, radius, 0, 2 * Math.PI);
    return;
  }
  shape.forEach(([dx, dy], k) => context[k ? "lineTo" : "moveTo"](x + radius * dx, y + radius * dy));
  context.closePath();
}

/** The mark of a kind as SVG, for legends. */
export function markSvg(kind, colour, size = 14) {
  const shape = shapeOf(kind);
  const content = shape
    ? `<polygon points="${shape.map(([x, y]) => `${x.toFixed(3)},${y.toFixed(3)}`).join(" ")}"/>`
    : '<circle r="1"/>';
  return `<svg class="mark" aria-hidden="true" width="${size}" height="${size}" viewBox="-1.4 -1.4 2.8 2.8" fill="${colour}">${content}</svg>`;
}
