/** From the plane of the network to the screen and back. */

export interface View {
  /** Pixels of the screen for one unit of the plane. */
  k: number;
  /** Where the origin of the plane stands on the screen. */
  x: number;
  y: number;
}

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export const LEAST = 0.02;
export const MOST = 6;

export function toScreen(view: View, x: number, y: number): [number, number] {
  return [x * view.k + view.x, y * view.k + view.y];
}

export function toPlane(view: View, x: number, y: number): [number, number] {
  return [(x - view.x) / view.k, (y - view.y) / view.k];
}

/** Nearer or further, while what is under the point stays there. */
export function zoomed(view: View, factor: number, x: number, y: number): View {
  const k = Math.min(MOST, Math.max(LEAST, view.k * factor));
  const [px, py] = toPlane(view, x, y);
  return { k, x: x - px * k, y: y - py * k };
}

/** A view that shows the whole box with a margin around it; small networks are not blown up. */
export function fitted(box: Box | null, width: number, height: number, margin = 28, most = 1.6): View {
  if (!box || width <= 0 || height <= 0) return { k: 1, x: width / 2, y: height / 2 };
  const wide = Math.max(1, box.right - box.left);
  const high = Math.max(1, box.bottom - box.top);
  const room = Math.min((width - 2 * margin) / wide, (height - 2 * margin) / high);
  const k = Math.max(LEAST, Math.min(most, room));
  return { k, x: width / 2 - (k * (box.left + box.right)) / 2, y: height / 2 - (k * (box.top + box.bottom)) / 2 };
}

export function centred(view: View, x: number, y: number, width: number, height: number, k = view.k): View {
  return { k, x: width / 2 - x * k, y: height / 2 - y * k };
}

/** What part of the plane is to be seen. */
export function seen(view: View, width: number, height: number, margin = 0): Box {
  const [left, top] = toPlane(view, -margin, -margin);
  const [right, bottom] = toPlane(view, width + margin, height + margin);
  return { left, top, right, bottom };
}

/** Around all nodes that are shown and have a place; null where there is none. */
export function bounds(positions: Float32Array, shown: Uint8Array): Box | null {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (let node = 0; node < shown.length; node++) {
    const x = positions[2 * node]!;
    const y = positions[2 * node + 1]!;
    if (!shown[node] || Number.isNaN(x)) continue;
    if (x < box.left) box.left = x;
    if (x > box.right) box.right = x;
    if (y < box.top) box.top = y;
    if (y > box.bottom) box.bottom = y;
  }
  return box.left <= box.right ? box : null;
}

/** Between two views, for `t` from 0 to 1; the zoom goes evenly to the eye. */
export function between(from: View, to: View, t: number, width: number, height: number): View {
  const eased = t < 0.5 ? 4 * t * t * t : 1 - (-2 * t + 2) ** 3 / 2;
  const k = from.k * (to.k / from.k) ** eased;
  const [ax, ay] = toPlane(from, width / 2, height / 2);
  const [bx, by] = toPlane(to, width / 2, height / 2);
  return centred(from, ax + (bx - ax) * eased, ay + (by - ay) * eased, width, height, k);
}
