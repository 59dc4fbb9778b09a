/** Where nodes stand before any force has moved them: already a picture, and the same one every time. */
import { packSiblings } from "d3-hierarchy";

/** Between nodes of a part that hangs together, and between nodes that nothing is tied to. */
const ROOMY = 17;
const CLOSE = 8;
const CELL = 32;
const MARGIN = 26;
const GAP = 30;
const NARROWEST = 60;
/** What is at least this share of the largest stands in the middle with it. */
const LARGE = 0.35;
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

export interface Ties {
  start: Int32Array;
  other: Int32Array;
}

/** Nodes that hang together; the largest part first. Nodes with no tie are left out. */
export function components(count: number, { start, other }: Ties): number[][] {
  const seen = new Uint8Array(count);
  const found: number[][] = [];
  for (let first = 0; first < count; first++) {
    if (seen[first] || start[first] === start[first + 1]) continue;
    const part = [first];
    seen[first] = 1;
    for (let head = 0; head < part.length; head++) {
      const node = part[head]!;
      for (let at = start[node]!; at < start[node + 1]!; at++) {
        const next = other[at]!;
        if (seen[next]) continue;
        seen[next] = 1;
        part.push(next);
      }
    }
    found.push(part);
  }
  return found.sort((a, b) => b.length - a.length || a[0]! - b[0]!);
}

/** Nodes that nothing is tied to, by group. */
export function singles(count: number, { start }: Ties, group: ArrayLike<number>): number[][] {
  const found = new Map<number, number[]>();
  for (let node = 0; node < count; node++) {
    if (start[node] !== start[node + 1]) continue;
    const one = found.get(group[node]!);
    if (one) one.push(node);
    else found.set(group[node]!, [node]);
  }
  return [...found.values()].sort((a, b) => b.length - a.length || a[0]! - b[0]!);
}

export interface Placed {
  nodes: number[];
  /** x and y of each, around 0. */
  at: Float64Array;
  radius: number;
}

/** A part around its best-tied node (or around `root`): near ones inside, and each branch in a sector of its own. */
export function branching(part: number[], ties: Ties, root = -1): Placed {
  const { start, other } = ties;
  const degree = (node: number) => start[node + 1]! - start[node]!;
  let first = part.includes(root) ? root : part[0]!;
  if (first !== root) for (const node of part) if (degree(node) > degree(first)) first = node;

  const place = new Map([[first, 0]]);
  const nodes = [first];
  const parent = [-1];
  for (let head = 0; head < nodes.length; head++) {
    const node = nodes[head]!;
    for (let at = start[node]!; at < start[node + 1]!; at++) {
      const next = other[at]!;
      if (place.has(next)) continue;
      place.set(next, nodes.length);
      nodes.push(next);
      parent.push(head);
    }
  }
  // How much hangs on each: its share of the circle.
  const weight = new Float64Array(nodes.length).fill(1);
  for (let n = nodes.length - 1; n > 0; n--) weight[parent[n]!]! += weight[n]!;
  const from = new Float64Array(nodes.length);
  const wide = new Float64Array(nodes.length);
  const used = new Float64Array(nodes.length);
  wide[0] = 2 * Math.PI;
  const at = new Float64Array(2 * nodes.length);
  for (let n = 1; n < nodes.length; n++) {
    const over = parent[n]!;
    wide[n] = (wide[over]! * weight[n]!) / (weight[over]! - 1);
    from[n] = from[over]! + used[over]!;
    used[over]! += wide[n]!;
    const angle = from[n]! + wide[n]! / 2;
    const radius = ROOMY * Math.sqrt(n + 0.5);
    at[2 * n] = radius * Math.cos(angle);
    at[2 * n + 1] = radius * Math.sin(angle);
  }
  return { nodes, at, radius: ROOMY * Math.sqrt(nodes.length + 0.5) };
}

/** Nodes as the seeds of a sunflower: as close as they can stand, evenly. */
export function sunflower(nodes: number[]): Placed {
  const at = new Float64Array(2 * nodes.length);
  for (let n = 0; n < nodes.length; n++) [at[2 * n], at[2 * n + 1]] = spiral(n, CLOSE);
  return { nodes, at, radius: CLOSE * Math.sqrt(nodes.length + 0.5) };
}

/** Points that fill the plane evenly from the middle outwards. */
function spiral(n: number, spacing: number): [number, number] {
  const radius = spacing * Math.sqrt(n + 0.5);
  return [radius * Math.cos(n * GOLDEN), radius * Math.sin(n * GOLDEN)];
}

/** Without overlap: what is large in the middle, what is small in columns beside it, so that nothing flies off. */
export function packed(radii: number[]): { x: number; y: number }[] {
  const most = Math.max(0, ...radii);
  const large = radii.flatMap((radius, n) => (radius >= most * LARGE ? [n] : []));
  const small = radii.flatMap((radius, n) => (radius < most * LARGE ? [n] : []));
  const at = radii.map(() => ({ x: 0, y: 0 }));
  const circles = packSiblings(large.map((n) => ({ r: radii[n]! + MARGIN / 2, x: 0, y: 0 })));
  let right = 0;
  let high = 0;
  circles.forEach(({ x, y, r }, k) => {
    at[large[k]!] = { x, y };
    right = Math.max(right, x + r);
    high = Math.max(high, Math.abs(y) + r);
  });
  // Columns that make the whole about as high as wide, each as wide as its first and largest; what is smaller shares a row.
  const tallest = Math.max(1.7 * high, Math.sqrt(radii.reduce((sum, radius) => sum + (2 * radius + GAP) ** 2, 0)));
  small.sort((a, b) => radii[b]! - radii[a]! || a - b);
  let left = right + MARGIN;
  for (let next = 0; next < small.length; ) {
    const wide = 2 * Math.max(radii[small[next]!]!, NARROWEST);
    const rows: number[][] = [];
    let long = 0;
    while (next < small.length) {
      const row = [small[next]!];
      const tall = 2 * radii[row[0]!]! + GAP;
      if (rows.length && long + tall > tallest) break;
      for (let used = tall; ++next < small.length; row.push(small[next]!)) {
        used += 2 * radii[small[next]!]! + GAP;
        if (used > wide + GAP) break;
      }
      long += tall;
      rows.push(row);
    }
    let top = -long / 2;
    for (const row of rows) {
      const full = row.reduce((sum, n) => sum + 2 * radii[n]! + GAP, -GAP);
      let x = left + (wide - full) / 2;
      for (const n of row) {
        at[n] = { x: x + radii[n]!, y: top + radii[row[0]!]! };
        x += 2 * radii[n]! + GAP;
      }
      top += 2 * radii[row[0]!]! + GAP;
    }
    left += wide + MARGIN;
  }
  const shift = (left - right) / 2;
  for (const place of at) place.x -= shift;
  return at;
}

export function radiusOf(at: Float64Array): number {
  let most = 0;
  for (let n = 0; n < at.length; n += 2) most = Math.max(most, Math.hypot(at[n]!, at[n + 1]!));
  return most;
}

/** Where something stands already, by cells, so that a free place among thousands is found soon. */
export class Taken {
  private cells = new Map<string, [number, number][]>();

  add(x: number, y: number): void {
    const key = `${Math.floor(x / CELL)} ${Math.floor(y / CELL)}`;
    const cell = this.cells.get(key);
    if (cell) cell.push([x, y]);
    else this.cells.set(key, [[x, y]]);
  }

  free(x: number, y: number, room: number): boolean {
    for (let column = Math.floor((x - room) / CELL); column <= Math.floor((x + room) / CELL); column++) {
      for (let row = Math.floor((y - room) / CELL); row <= Math.floor((y + room) / CELL); row++) {
        const there = this.cells.get(`${column} ${row}`);
        if (there?.some(([a, b]) => Math.hypot(a - x, b - y) < room)) return false;
      }
    }
    return true;
  }

  /** The first place outwards from a point where nothing stands within `room`. */
  place(x: number, y: number, room: number): [number, number] {
    for (let n = 0; ; n++) {
      const [dx, dy] = n ? spiral(n, room * 0.6) : [0, 0];
      if (!this.free(x + dx, y + dy, room)) continue;
      this.add(x + dx, y + dy);
      return [x + dx, y + dy];
    }
  }
}
