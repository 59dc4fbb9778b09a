/** From the plane to the screen and back, what the pointer is on, and where names fit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { captions } from "../src/screens/graph/draw.ts";
import { grid, nearest } from "../src/screens/graph/grid.ts";
import { labelCount, placeLabels, shortened } from "../src/screens/graph/labels.ts";
import { between, bounds, centred, fitted, MOST, seen, toPlane, toScreen, zoomed } from "../src/screens/graph/view.ts";
import { network } from "../src/screens/graph/model.ts";
import { sample, seeded } from "./graph-sample.ts";

const near = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-6, `${a} is ${b}`);

test("there and back again", () => {
  const view = { k: 0.7, x: 12, y: -4 };
  const [x, y] = toPlane(view, ...toScreen(view, 30, 40));
  near(x, 30);
  near(y, 40);
});

test("zooming keeps what is under the pointer, and ends somewhere", () => {
  const view = { k: 1, x: 50, y: 60 };
  const before = toPlane(view, 200, 100);
  const after = toPlane(zoomed(view, 2.5, 200, 100), 200, 100);
  near(before[0], after[0]);
  near(before[1], after[1]);
  assert.equal(zoomed(view, 1e9, 0, 0).k, MOST);
});

test("fitting shows all of it, and does not blow up what is small", () => {
  const view = fitted({ left: -500, top: -100, right: 500, bottom: 100 }, 800, 600, 20);
  const box = seen(view, 800, 600);
  assert.ok(box.left <= -500 && box.right >= 500 && box.top <= -100 && box.bottom >= 100);
  assert.equal(fitted({ left: 0, top: 0, right: 0, bottom: 0 }, 800, 600).k, 1.6);
  assert.deepEqual(fitted(null, 800, 600), { k: 1, x: 400, y: 300 });
});

test("bounds hold what is shown and has a place", () => {
  const positions = Float32Array.from([0, 0, 10, 20, 99, 99, NaN, NaN]);
  assert.deepEqual(bounds(positions, Uint8Array.from([1, 1, 0, 1])), { left: 0, top: 0, right: 10, bottom: 20 });
  assert.equal(bounds(positions, Uint8Array.from([0, 0, 0, 1])), null);
});

test("a flight begins where it is and ends where it should", () => {
  const from = { k: 0.2, x: 10, y: 20 };
  const to = centred(from, 100, 50, 800, 600, 1.1);
  for (const [t, goal] of [[0, from], [1, to]] as const) {
    const now = between(from, to, t, 800, 600);
    near(now.k, goal.k);
    near(now.x, goal.x);
    near(now.y, goal.y);
  }
});

test("the nearest node is the one that looking at all of them finds", () => {
  const next = seeded(11);
  const positions = Float32Array.from({ length: 4000 }, () => (next() - 0.5) * 3000);
  const shown = Uint8Array.from({ length: 2000 }, () => (next() < 0.8 ? 1 : 0));
  const cells = grid(positions, shown);
  for (let n = 0; n < 300; n++) {
    const [x, y, reach] = [(next() - 0.5) * 3200, (next() - 0.5) * 3200, next() * (n % 7 ? 60 : 900)];
    let best = -1;
    let least = reach;
    for (let node = 0; node < 2000; node++) {
      const away = Math.hypot(positions[2 * node]! - x, positions[2 * node + 1]! - y);
      if (shown[node] && away < least) [best, least] = [node, away];
    }
    assert.equal(nearest(cells, x, y, reach), best);
  }
});

test("names do not stand on each other, and stay inside", () => {
  const next = seeded(2);
  const wishes = Array.from({ length: 300 }, (_, node) => ({ node, x: next() * 800, y: next() * 500, radius: 5 }));
  const room = { width: 800, height: 500, obstacles: [], most: 60 };
  const labels = placeLabels(wishes, (node) => `Name number ${node}`, (text) => text.length * 7, room);
  assert.ok(labels.length > 20 && labels.length <= 60);
  assert.equal(labels[0]!.node, 0);
  const boxes = labels.map(({ x, y, text }) => [x, y - 7, x + text.length * 7, y + 7] as const);
  for (const [n, a] of boxes.entries()) {
    assert.ok(a[0] >= 0 && a[2] <= 800);
    for (const b of boxes.slice(0, n)) assert.ok(a[0] >= b[2] || a[2] <= b[0] || a[1] >= b[3] || a[3] <= b[1]);
  }
});

test("a node among many is named where no other node is covered", () => {
  const obstacles = [[422, 200], [378, 200], [430, 216], [370, 184]].map(
    ([x, y]): [number, number, number, number] => [x! - 4, y! - 4, x! + 4, y! + 4],
  );
  const room = { width: 800, height: 400, obstacles, most: 9 };
  const [label] = placeLabels([{ node: 0, x: 400, y: 200, radius: 7 }], () => "Availability", () => 70, room);
  assert.ok(label);
  for (const [left, top, right, bottom] of obstacles)
    assert.ok(label.x >= right || label.x + 70 <= left || label.y - 7 >= bottom || label.y + 7 <= top);
});

test("what much leads to is named first, even where that covers a node, but no other name", () => {
  const obstacles = Array.from({ length: 400 }, (_, n): [number, number, number, number] => {
    const [x, y] = [300 + (n % 20) * 10, 100 + Math.floor(n / 20) * 10];
    return [x - 4, y - 4, x + 4, y + 4];
  });
  const room = { width: 800, height: 400, obstacles, most: 9 };
  const hubs = [0, 1].map((node) => ({ node, x: 400, y: 200, radius: 7, hub: true }));
  const placed = placeLabels([...hubs, { node: 2, x: 400, y: 200, radius: 4 }], String, () => 70, room);
  assert.deepEqual(placed.map(({ node }) => node), [0, 1]);
  assert.ok(Math.abs(placed[0]!.y - placed[1]!.y) >= 15 || Math.abs(placed[0]!.x - placed[1]!.x) >= 76);
});

test("the name of a group stands below it, and is not cut off by what it stands for", () => {
  const room = { width: 400, height: 300, obstacles: [], most: 9 };
  const [label] = placeLabels([{ node: 3, x: 200, y: 100, radius: 40, hub: true, caption: "fact 109" }], String, () => 60, room);
  assert.deepEqual([label!.text, label!.caption, label!.x], ["fact 109", true, 170]);
  assert.ok(label!.y > 140);
});

test("groups without relations are named, where they are large enough to be seen", () => {
  const kinds = ["fact", "preference"];
  const rows = Array.from({ length: 25 }, (_, n): [string, string, string, 1] => [`r${n}`, kinds[n < 20 ? 0 : 1]!, "", 1]);
  const net = network(sample(rows, []));
  const scene = {
    net,
    positions: Float32Array.from(rows.flatMap((_, n) => [(n % 5) * 10, Math.floor(n / 5) * 10])),
    nodes: new Uint8Array(25).fill(1),
    edges: new Uint8Array(0),
    classes: Uint8Array.from(net.data.kind),
    names: [...kinds, "none"],
    bright: null,
    strong: [],
    way: false,
    selected: -1,
    hovered: -1,
  };
  assert.deepEqual(captions(scene, { k: 1, x: 0, y: 0 }).map(({ caption, x, y }) => [caption, x, y]), [["fact 20", 20, 15]]);
  assert.deepEqual(captions(scene, { k: 0.1, x: 0, y: 0 }), []);
});

test("names are cut at words, and there are more of them from nearby", () => {
  assert.equal(shortened("short"), "short");
  assert.equal(shortened("one two three four five six", 16), "one two three…");
  assert.ok(shortened("x".repeat(99)).length <= 34);
  assert.ok(labelCount(1000, 700, 0.1) < labelCount(1000, 700, 1));
});
