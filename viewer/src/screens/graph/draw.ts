/** Draws the network: what is seen of it, colour by colour, and no more than the eye can use. */
import { labelCount, type LabelWish, placeLabels, type Room } from "./labels.ts";
import type { Network } from "./model.ts";
import type { Palette } from "./palette.ts";
import { type Box, seen, type View } from "./view.ts";

type Context = CanvasRenderingContext2D;

export interface Scene {
  net: Network;
  positions: Float32Array;
  nodes: Uint8Array;
  edges: Uint8Array;
  /** Which colour each node has. */
  classes: Uint8Array;
  /** What each colour stands for. */
  names: readonly string[];
  /** The nodes that matter now; the others stand back. Null: all are alike. */
  bright: Uint8Array | null;
  /** Edges that matter now, drawn above the others with their direction. */
  strong: readonly number[];
  /** Whether those are a way that was asked for. */
  way: boolean;
  selected: number;
  hovered: number;
}

/** So many lines at once: one path of all of them takes the browser far longer. */
const BATCH = 256;
const MOST_EDGES = 9000;
/** From this nearness on every edge shows its direction. */
const ARROWS = 1.05;
const DIM = 0.13;
const MOST_OBSTACLES = 4000;
/** So many of those with most relations are named before all others, if they have at least so many. */
const HUBS = 12;
const BUSY = 4;
/** A group of nodes without relations has a caption, if it has so many and is so large on the screen. */
const GROUP = 8;
const GROUP_RADIUS = 14;

function nodeRadius(net: Network, node: number, k: number): number {
  const size = 3.6 + Math.min(9, 1.25 * Math.sqrt(net.degree[node]!));
  return Math.max(1.1, size * Math.min(1.5, k ** 0.72));
}

export function draw(ctx: Context, scene: Scene, view: View, width: number, height: number, colours: Palette): void {
  ctx.globalAlpha = 1;
  ctx.fillStyle = colours.paper;
  ctx.fillRect(0, 0, width, height);
  const box = seen(view, width, height, 16);
  const buckets = visible(scene, box, colours.classes.length);
  drawEdges(ctx, scene, view, box, colours);
  for (const bright of scene.bright ? [false, true] : [true]) {
    if (bright) drawStrong(ctx, scene, view, colours);
    buckets.forEach((nodes, number) => drawNodes(ctx, scene, view, nodes, colours, number, bright));
  }
  drawRing(ctx, scene, view, scene.hovered, colours.strong, 1.5);
  drawRing(ctx, scene, view, scene.selected, colours.accent, 2.5);
  const most = labelCount(width, height, view.k);
  drawLabels(ctx, scene, view, box, { width, height, obstacles: obstacles(scene, view, buckets), most }, colours);
}

function visible(scene: Scene, box: Box, classes: number): number[][] {
  const buckets: number[][] = Array.from({ length: classes }, () => []);
  const { positions, nodes } = scene;
  for (let node = 0; node < nodes.length; node++) {
    const x = positions[2 * node]!;
    const y = positions[2 * node + 1]!;
    if (!nodes[node] || !(x > box.left && x < box.right && y > box.top && y < box.bottom)) continue;
    buckets[scene.classes[node]!]!.push(node);
  }
  return buckets;
}

function drawEdges(ctx: Context, scene: Scene, view: View, box: Box, colours: Palette): void {
  const { net, positions, edges } = scene;
  const { k, x, y } = view;
  let count = 0;
  for (let edge = 0; edge < edges.length; edge++) count += edges[edge]!;
  // From far away a part of them tells the same story.
  const stride = k < 0.5 ? Math.max(1, Math.round(count / MOST_EDGES)) : 1;
  ctx.strokeStyle = colours.faint;
  ctx.globalAlpha = (scene.bright ? 0.3 : 1) * Math.min(0.5, 0.2 + k * 0.3);
  ctx.lineWidth = Math.min(1.4, Math.max(0.6, k));
  const arrows: number[] = [];
  for (const live of [1, 0]) {
    // What is no longer said is dashed, where that can be seen.
    ctx.setLineDash(live || k < 0.6 ? [] : [4, 4]);
    let open = 0;
    ctx.beginPath();
    for (let edge = 0; edge < edges.length; edge++) {
      if (!edges[edge] || net.data.edges.live[edge] !== live || (stride > 1 && edge % stride)) continue;
      const from = 2 * net.source[edge]!;
      const to = 2 * net.target[edge]!;
      const ax = positions[from]!;
      const ay = positions[from + 1]!;
      const bx = positions[to]!;
      const by = positions[to + 1]!;
      if ((ax < box.left && bx < box.left) || (ax > box.right && bx > box.right)) continue;
      if ((ay < box.top && by < box.top) || (ay > box.bottom && by > box.bottom)) continue;
      ctx.moveTo(ax * k + x, ay * k + y);
      ctx.lineTo(bx * k + x, by * k + y);
      if (k > ARROWS) arrows.push(edge);
      if (++open === BATCH) {
        ctx.stroke();
        ctx.beginPath();
        open = 0;
      }
    }
    if (open) ctx.stroke();
  }
  ctx.setLineDash([]);
  if (k > ARROWS && arrows.length < 1500) {
    ctx.fillStyle = colours.faint;
    ctx.beginPath();
    for (const edge of arrows) arrow(ctx, scene, view, edge, 4 + k);
    ctx.fill();
  }
}

function drawStrong(ctx: Context, scene: Scene, view: View, colours: Palette): void {
  if (!scene.strong.length) return;
  const { net, positions } = scene;
  const { k, x, y } = view;
  ctx.globalAlpha = scene.way ? 1 : 0.75;
  ctx.strokeStyle = ctx.fillStyle = scene.way ? colours.accent : colours.strong;
  ctx.lineWidth = scene.way ? 2.6 : 1.3;
  for (let first = 0; first < scene.strong.length; first += BATCH) {
    ctx.beginPath();
    for (const edge of scene.strong.slice(first, first + BATCH)) {
      const from = 2 * net.source[edge]!;
      const to = 2 * net.target[edge]!;
      ctx.moveTo(positions[from]! * k + x, positions[from + 1]! * k + y);
      ctx.lineTo(positions[to]! * k + x, positions[to + 1]! * k + y);
    }
    ctx.stroke();
  }
  ctx.beginPath();
  for (const edge of scene.strong) arrow(ctx, scene, view, edge, scene.way ? 9 : 7);
  ctx.fill();
}

/** A head at the node that the edge leads to, just outside of it. */
function arrow(ctx: Context, { net, positions }: Scene, { k, x, y }: View, edge: number, size: number): void {
  const from = 2 * net.source[edge]!;
  const to = 2 * net.target[edge]!;
  const tx = positions[to]! * k + x;
  const ty = positions[to + 1]! * k + y;
  const dx = tx - (positions[from]! * k + x);
  const dy = ty - (positions[from + 1]! * k + y);
  const long = Math.hypot(dx, dy);
  const radius = nodeRadius(net, to / 2, k) + 1.5;
  if (!(long > radius + size + 4)) return;
  const ux = dx / long;
  const uy = dy / long;
  const hx = tx - ux * radius;
  const hy = ty - uy * radius;
  ctx.moveTo(hx, hy);
  ctx.lineTo(hx - ux * size - uy * size * 0.45, hy - uy * size + ux * size * 0.45);
  ctx.lineTo(hx - ux * size + uy * size * 0.45, hy - uy * size - ux * size * 0.45);
  ctx.closePath();
}

function drawNodes(
  ctx: Context,
  scene: Scene,
  view: View,
  nodes: number[],
  colours: Palette,
  number: number,
  bright: boolean,
): void {
  const { net, positions } = scene;
  const { k, x, y } = view;
  // Thousands of small circles take long; at that size squares look the same.
  const round = nodes.length < 500 ? 0 : 1.6;
  ctx.globalAlpha = bright ? 1 : DIM;
  ctx.fillStyle = ctx.strokeStyle = colours.classes[number]!;
  const hollow: number[] = [];
  let open = 0;
  ctx.beginPath();
  for (const node of nodes) {
    if (scene.bright && (scene.bright[node] === 1) !== bright) continue;
    const radius = nodeRadius(net, node, k);
    if (!net.data.live[node] && radius > 1.8) {
      hollow.push(node);
      continue;
    }
    const cx = positions[2 * node]! * k + x;
    const cy = positions[2 * node + 1]! * k + y;
    if (radius < round) ctx.fillRect(cx - radius, cy - radius, 2 * radius, 2 * radius);
    else {
      ctx.moveTo(cx + radius, cy);
      ctx.arc(cx, cy, radius, 0, 2 * Math.PI);
      if (++open === BATCH) {
        ctx.fill();
        ctx.beginPath();
        open = 0;
      }
    }
  }
  if (open) ctx.fill();
  if (!hollow.length) return;
  ctx.lineWidth = Math.min(1.6, 0.7 + k * 0.5);
  ctx.setLineDash(k > 0.7 ? [2.5, 2] : []);
  ctx.fillStyle = colours.paper;
  for (let first = 0; first < hollow.length; first += BATCH) {
    ctx.beginPath();
    for (const node of hollow.slice(first, first + BATCH)) {
      const radius = nodeRadius(net, node, k) - 0.5;
      const cx = positions[2 * node]! * k + x;
      const cy = positions[2 * node + 1]! * k + y;
      ctx.moveTo(cx + radius, cy);
      ctx.arc(cx, cy, radius, 0, 2 * Math.PI);
    }
    if (bright) ctx.fill();
    ctx.stroke();
  }
  ctx.setLineDash([]);
}

function drawRing(ctx: Context, scene: Scene, view: View, node: number, stroke: string, wide: number): void {
  if (node < 0 || !scene.nodes[node] || Number.isNaN(scene.positions[2 * node]!)) return;
  ctx.globalAlpha = 1;
  ctx.strokeStyle = stroke;
  ctx.lineWidth = wide;
  ctx.beginPath();
  const radius = nodeRadius(scene.net, node, view.k) + 2.5 + wide / 2;
  const x = scene.positions[2 * node]! * view.k + view.x;
  const y = scene.positions[2 * node + 1]! * view.k + view.y;
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  ctx.stroke();
}

/** Names keep off nodes, where there are not too many of them to keep off. */
function obstacles(scene: Scene, view: View, buckets: number[][]): Room["obstacles"] {
  if (buckets.reduce((sum, nodes) => sum + nodes.length, 0) > MOST_OBSTACLES) return [];
  return buckets.flat().flatMap((node) => {
    if (scene.bright && !scene.bright[node]) return [];
    const x = scene.positions[2 * node]! * view.k + view.x;
    const y = scene.positions[2 * node + 1]! * view.k + view.y;
    const half = nodeRadius(scene.net, node, view.k) * 0.8;
    return [[x - half, y - half, x + half, y + half] as [number, number, number, number]];
  });
}

const WIDTHS = new Map<string, number>();

function drawLabels(
  ctx: Context,
  scene: Scene,
  view: View,
  box: Box,
  room: Room,
  colours: Palette,
): void {
  ctx.font = `12px ${colours.font}`;
  ctx.textBaseline = "middle";
  const measure = (text: string) => {
    const known = WIDTHS.get(text);
    if (known !== undefined) return known;
    if (WIDTHS.size > 5000) WIDTHS.clear();
    const wide = ctx.measureText(text).width;
    WIDTHS.set(text, wide);
    return wide;
  };
  const groups = scene.bright ? [] : captions(scene, view);
  const wished = function* () {
    yield* groups;
    yield* wishes(scene, view, box);
  };
  const space = { ...room, most: room.most + groups.length };
  const labels = placeLabels(wished(), (node) => scene.net.data.titles[node]!, measure, space);
  ctx.globalAlpha = 1;
  ctx.lineJoin = "round";
  ctx.lineWidth = 3.5;
  ctx.strokeStyle = colours.paper;
  // Between two pixels letters are blurred.
  const at = labels.map((label) => ({ ...label, x: Math.round(label.x), y: Math.round(label.y) }));
  for (const { text, x, y } of at) ctx.strokeText(text, x, y);
  for (const { node, text, x, y, caption } of at) {
    ctx.fillStyle = caption ? colours.strong : scene.net.data.live[node] ? colours.ink : colours.faint;
    ctx.fillText(text, x, y);
  }
}

/** What groups of nodes without relations are called: they stand together by their colour. */
export function captions({ net, nodes, positions, classes, names }: Scene, view: View): LabelWish[] {
  const groups = new Map<number, Box & { node: number; count: number }>();
  for (let node = 0; node < net.size; node++) {
    const x = positions[2 * node]!;
    const y = positions[2 * node + 1]!;
    if (!nodes[node] || net.degree[node] || Number.isNaN(x)) continue;
    const box = groups.get(classes[node]!);
    if (!box) groups.set(classes[node]!, { node, count: 1, left: x, right: x, top: y, bottom: y });
    else {
      box.count++;
      box.left = Math.min(box.left, x);
      box.right = Math.max(box.right, x);
      box.top = Math.min(box.top, y);
      box.bottom = Math.max(box.bottom, y);
    }
  }
  return [...groups].flatMap(([group, { node, count, left, right, top, bottom }]) => {
    const radius = ((bottom - top) / 2) * view.k + nodeRadius(net, node, view.k);
    if (count < GROUP || radius < GROUP_RADIUS) return [];
    const x = ((left + right) / 2) * view.k + view.x;
    const y = ((top + bottom) / 2) * view.k + view.y;
    return [{ node, x, y, radius, hub: true, caption: `${names[group]} ${count}` }];
  });
}

/** Who wants a name: the selected one, then what matters now, then those with most relations. */
function* wishes(scene: Scene, view: View, box: Box): Generator<LabelWish> {
  const { net, positions, nodes, bright } = scene;
  const wish = (node: number): LabelWish => ({
    node,
    x: positions[2 * node]! * view.k + view.x,
    y: positions[2 * node + 1]! * view.k + view.y,
    radius: nodeRadius(net, node, view.k),
  });
  const inside = (node: number) => {
    const x = positions[2 * node]!;
    const y = positions[2 * node + 1]!;
    return nodes[node] && x > box.left && x < box.right && y > box.top && y < box.bottom;
  };
  const first = [scene.hovered, scene.selected].filter((node) => node >= 0 && inside(node));
  for (const node of new Set(first)) yield { ...wish(node), must: true };
  // What nothing is tied to is named only from nearby: from afar the names would hide it.
  const least = view.k < 0.55 ? 1 : 0;
  for (const [rank, node] of net.ranked.entries()) {
    if (net.degree[node]! < least && !(bright && view.k > 0.2)) return;
    if (first.includes(node) || !inside(node) || (bright && !bright[node])) continue;
    yield { ...wish(node), hub: rank < HUBS && net.degree[node]! >= BUSY };
  }
}
