// How the layout is put on the canvas, and which voter is at a place.

const LARGEST_UNIT = 104; // pixels
const MARGIN = 14;
const REACH = 22; // pixels within which a voter is found

/** A scale and a shift, with which the bounds of the layout fill the canvas. */
export function viewOf({ left, right, top, bottom }, width, height) {
  const scale = Math.min(
    (width - 2 * MARGIN) / (right - left),
    (height - 2 * MARGIN) / (bottom - top),
    LARGEST_UNIT,
  );
  return { scale, x: width / 2 - (scale * (left + right)) / 2, y: height / 2 - (scale * (top + bottom)) / 2 };
}

/** The voter nearest to a place on the canvas, or null. */
export function voterAt(motion, view, x, y) {
  let [nearest, found] = [REACH, null];
  for (let voter = 0; voter < motion.x.length; voter++) {
    const distance = Math.hypot(motion.x[voter] * view.scale + view.x - x, motion.y[voter] * view.scale + view.y - y);
    const beyond = Math.max(distance - motion.mark[voter] * view.scale, 0) + distance / 1e3;
    if (beyond < nearest) [nearest, found] = [beyond, voter];
  }
  return found;
}
