/** Where nodes stand: the same every time, nothing far off, and what is known stays. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout, type LayoutInput } from "../src/screens/graph/layout.ts";
import { adjacency } from "../src/screens/graph/model.ts";
import { branching, components, packed, singles, sunflower, Taken } from "../src/screens/graph/seed.ts";
import { seeded } from "./graph-sample.ts";

function random(count: number, edges: number, linked = count): LayoutInput {
  const next = seeded(count);
  const end = () => Math.floor(next() * linked);
  const group = Int32Array.from({ length: count }, (_, node) => node % 4);
  const source = Int32Array.from({ length: edges }, end);
  const target = Int32Array.from({ length: edges }, end);
  return { count, source, target, group, root: -1, before: null };
}

function finished(input: LayoutInput, slice = Infinity): Layout {
  const layout = new Layout(input);
  for (let turns = 0; !layout.settled; turns++) {
    let pieces = 0;
    layout.run(() => ++pieces > slice);
    assert.ok(turns < 200_000, "it comes to rest");
  }
  return layout;
}

test("parts that hang together, the largest first; single ones by group", () => {
  const ties = adjacency(7, Int32Array.from([0, 1, 4]), Int32Array.from([1, 2, 5]));
  assert.deepEqual(components(7, ties).map((part) => part.sort()), [[0, 1, 2], [4, 5]]);
  assert.deepEqual(singles(7, ties, [0, 0, 0, 1, 0, 0, 1]), [[3, 6]]);
});

test("a part begins around its best-tied node, or around the one that is asked for", () => {
  const ties = adjacency(5, Int32Array.from([0, 0, 0, 3]), Int32Array.from([1, 2, 3, 4]));
  assert.equal(branching([0, 1, 2, 3, 4], ties).nodes[0], 0);
  const around = branching([0, 1, 2, 3, 4], ties, 4);
  assert.deepEqual([around.nodes[0], around.at[0], around.at[1]], [4, 0, 0]);
  assert.equal(new Set(around.nodes).size, 5);
});

test("single nodes stand close, and none on another", () => {
  const { at } = sunflower(Array.from({ length: 400 }, (_, n) => n));
  for (let a = 0; a < at.length; a += 2) {
    for (let b = 0; b < a; b += 2) assert.ok(Math.hypot(at[a]! - at[b]!, at[a + 1]! - at[b + 1]!) > 8);
  }
});

test("parts are put side by side without overlap", () => {
  const next = seeded(3);
  const radii = [400, 300, ...Array.from({ length: 120 }, () => 5 + next() * 60)];
  const at = packed(radii);
  for (let a = 0; a < radii.length; a++) {
    assert.ok(Math.hypot(at[a]!.x, at[a]!.y) < 2200, "nothing flies off");
    for (let b = 0; b < a; b++) {
      const apart = Math.hypot(at[a]!.x - at[b]!.x, at[a]!.y - at[b]!.y);
      assert.ok(apart >= radii[a]! + radii[b]! - 1e-6, `${a} and ${b}`);
    }
  }
  assert.deepEqual(packed([]), []);
});

test("there is a picture at once, and the layout comes to rest", () => {
  const input = random(300, 380, 240);
  const first = new Layout(input).positions();
  assert.ok(first.every(Number.isFinite));
  const last = finished(input).positions();
  assert.ok(last.every(Number.isFinite));
  assert.ok(Math.max(...last.map(Math.abs)) < 1500);
});

test("the same data makes the same picture, in slices of any size", () => {
  const input = random(700, 900, 600);
  assert.deepEqual(finished(input, 1).positions(), finished(input).positions());
});

test("what is tied stands nearer than what is not", () => {
  const input = random(120, 118);
  const at = finished(input).positions();
  const apart = (a: number, b: number) => Math.hypot(at[2 * a]! - at[2 * b]!, at[2 * a + 1]! - at[2 * b + 1]!);
  const tied = [...input.source].map((from, edge) => apart(from, input.target[edge]!));
  const any = Array.from({ length: 400 }, (_, n) => apart((n * 7) % 120, (n * 13 + 5) % 120));
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  assert.ok(mean(tied) < 0.5 * mean(any));
});

test("new data leaves known nodes where they are, and new ones near what they are tied to", () => {
  const old = random(200, 240, 160);
  const places = finished(old).positions();
  const before = new Float32Array(2 * 203).fill(NaN);
  before.set(places);
  const input: LayoutInput = {
    count: 203,
    source: Int32Array.from([...old.source, 200]),
    target: Int32Array.from([...old.target, 5]),
    group: Int32Array.from({ length: 203 }, (_, node) => node % 4),
    root: -1,
    before,
  };
  const now = finished(input).positions();
  for (let n = 0; n < places.length; n++) assert.ok(Math.abs(now[n]! - places[n]!) < 0.01);
  assert.ok(Math.hypot(now[400]! - now[10]!, now[401]! - now[11]!) < 120);
  assert.ok(now.every(Number.isFinite));
});

test("a node that is dragged stays under the pointer; the others give way, and rest again", () => {
  const layout = finished(random(60, 80));
  layout.hold(0, 500, 500);
  for (let n = 0; n < 20; n++) layout.run(() => true);
  const held = layout.positions();
  assert.deepEqual([held[0], held[1]], [500, 500]);
  assert.equal(layout.settled, false);
  layout.release(0);
  for (let n = 0; n < 100_000 && !layout.settled; n++) layout.run(() => false);
  assert.ok(layout.settled);
});

test("nodes in one and the same place are driven apart", () => {
  const input = random(80, 90);
  input.before = new Float32Array(160).fill(NaN).map((_, n) => (n < 100 ? 7 : NaN));
  assert.ok(finished(input).positions().every(Number.isFinite));
});

test("a free place is found outwards", () => {
  const taken = new Taken();
  for (let n = 0; n < 200; n++) {
    const [x, y] = taken.place(0, 0, 12);
    assert.ok(Math.hypot(x, y) < 260);
  }
  assert.equal(taken.free(0, 0, 12), false);
});

test("nothing at all is laid out, too", () => {
  assert.equal(finished(random(0, 0)).positions().length, 0);
  assert.equal(finished(random(1, 0)).positions().length, 2);
});
