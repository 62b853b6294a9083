// Shapes of voters: each estimator has its own, so that estimators differ without colours. Python has
// the table of them; a mark is a list of corners, in units of the radius, and null is a circle.

/** Add a mark to the current path. */
export function addMark(context, mark, x, y, radius) {
  if (!mark) {
    context.moveTo(x + radius, y);
    context.arc(x, y, radius, 0, 2 * Math.PI);
    return;
  }
  mark.forEach(([dx, dy], k) => context[k ? "lineTo" : "moveTo"](x + radius * dx, y + radius * dy));
  context.closePath();
}

/** A mark as SVG, for legends. */
export function markSvg(mark, colour, size = 14) {
  const content = mark
    ? `<polygon points="${mark.join(" ")}"/>`
    : '<circle r="1"/>';
  return `<svg class="mark" aria-hidden="true" width="${size}" height="${size}" viewBox="-1.5 -1.5 3 3" fill="${colour}">${content}</svg>`;
}
