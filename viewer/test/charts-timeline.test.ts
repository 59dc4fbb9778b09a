/** Range and lanes of the timeline; the tree of the coverage. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CoverNode, Lane, Timeline } from "../src/data/types.ts";
import { DAY, HOUR } from "../src/parts/charts/time.ts";
import { gapsOf, isFile, neighbour, tilesOf, wayTo } from "../src/screens/health/tree.ts";
import { cellsOf, inRange, LANES, readLanes, sizeOf, toldOf, writeLanes } from "../src/screens/timeline/lanes.ts";
import * as ranges from "../src/screens/timeline/range.ts";

const { extentOf, isWhole, lastDays, moved, readRange, resized, SHORTEST, within, writeRange } = ranges;

const ALL = new Set(LANES.map(({ lane }) => lane));
const asked = (text: string) => new URLSearchParams(text);
const mark = (at: string, lane: Lane = "commit") =>
  ({ at, lane, layer: "", kind: lane, ref: "", title: at, commit: "" }) satisfies Timeline["marks"][number];

function timeline(days: Timeline["days"], marks: Timeline["marks"]): Timeline {
  return { from: marks[0]?.at ?? "", to: marks[marks.length - 1]?.at ?? "", lanes: [], marks, cut: false, days };
}

const data = timeline(
  [
    { day: "2026-01-01", counts: { commit: 3 } },
    { day: "2026-01-10", counts: { commit: 2, decision: 1 } },
  ],
  [
    mark("2026-01-01T20:00:00Z"),
    mark("2026-01-10T09:00:00Z", "decision"),
    mark("2026-01-10T10:00:00Z"),
    mark("2026-01-10T11:00:00Z"),
  ],
);
const extent = extentOf(data);

test("the extent is whole days around everything", () => {
  assert.deepEqual(extent, { from: Date.parse("2026-01-01"), to: Date.parse("2026-01-11") });
  assert.deepEqual(extentOf(timeline([], [])), { from: 0, to: DAY });
  assert.equal(extentOf(timeline([{ day: "2026-01-05", counts: {} }], [])).to, Date.parse("2026-01-06"));
});

test("the range comes from the address and goes there", () => {
  assert.deepEqual(readRange(asked(""), extent), extent);
  for (const text of ["from=2026-01-03", "to=2026-01-04", "from=2026-01-03&to=2026-01-05T06:30Z"]) {
    const range = readRange(asked(text), extent);
    const written = writeRange(range, extent);
    assert.deepEqual(readRange(asked(new URLSearchParams(written).toString()), extent), range, text);
  }
  assert.deepEqual(writeRange(readRange(asked("from=2026-01-03"), extent), extent), { from: "2026-01-03", to: "" });
});

test("an address that makes no sense shows everything", () => {
  for (const text of ["from=x&to=y", "from=2027-01-01", "to=2020-01-01", "from=2026-01-05&to=2026-01-02"]) {
    assert.deepEqual(readRange(asked(text), extent), extent, text);
  }
});

test("a range moves as far as there is room and stays as long as it is", () => {
  const range = { from: extent.from + DAY, to: extent.from + 3 * DAY };
  assert.deepEqual(moved(range, extent, DAY), { from: range.from + DAY, to: range.to + DAY });
  assert.deepEqual(moved(range, extent, -9 * DAY), { from: extent.from, to: extent.from + 2 * DAY });
  assert.deepEqual(moved(range, extent, 99 * DAY), { from: extent.to - 2 * DAY, to: extent.to });
  assert.deepEqual(moved(extent, extent, DAY), extent);
});

test("a range grows and shrinks, never beyond everything, never to nothing", () => {
  const range = { from: extent.from + DAY, to: extent.from + 3 * DAY };
  assert.equal(resized(range, extent, DAY).to, range.to + DAY);
  assert.equal(resized(range, extent, -9 * DAY).to, range.from + SHORTEST);
  const last = lastDays(extent, 2);
  assert.deepEqual(resized(last, extent, DAY), { from: last.from - DAY, to: extent.to });
  assert.deepEqual(resized(last, extent, -DAY), { from: last.from + DAY, to: extent.to });
  assert.deepEqual(resized(last, extent, -9 * DAY), { from: extent.to - SHORTEST, to: extent.to });
  assert.ok(isWhole(resized(last, extent, 99 * DAY), extent));
  assert.ok(isWhole(within({ from: -Infinity, to: Infinity }, extent), extent));
});

test("lanes come from the address; none is not all", () => {
  assert.deepEqual(readLanes(asked("")), ALL);
  assert.deepEqual([...readLanes(asked("lanes=commit,session,nonsense"))], ["session", "commit"]);
  assert.equal(writeLanes(ALL), "");
  assert.equal(readLanes(asked(`lanes=${writeLanes(new Set())}`)).size, 0);
  assert.equal(writeLanes(new Set<Lane>(["commit", "session"])), "session,commit");
});

test("what was counted and not sent is known as a number", () => {
  const told = toldOf(data);
  assert.deepEqual(told.untold, [{ time: Date.parse("2026-01-01T12:00:00Z"), lane: "commit", count: 2 }]);
  const whole = inRange(told.marks, extent, ALL).length + told.untold.reduce((sum, some) => sum + some.count, 0);
  assert.equal(whole, 6);
  assert.equal(inRange(told.marks, extent, new Set<Lane>(["decision"])).length, 1);
});

test("marks that cannot be placed are left out", () => {
  assert.equal(toldOf(timeline([], [mark("never"), mark("2026-01-01T00:00:00Z")])).marks.length, 1);
});

test("cells hold every mark of a lane once, in order", () => {
  const moment = (number: number) => new Date(extent.from + number * 150_000).toISOString();
  const marks = Array.from({ length: 5_000 }, (_, number) => mark(moment(number)));
  const told = toldOf(timeline([], marks));
  const cells = cellsOf(told, "commit", extent, 400, 8);
  assert.ok(cells.length <= 50);
  assert.equal(cells.reduce((sum, cell) => sum + sizeOf(cell), 0), 5_000);
  assert.ok(cells.every((cell) => cell.x > 0 && cell.x < 400));
  assert.ok(cells.every((cell) => cell.marks.every((one) => one.time >= cell.from - 1 && one.time < cell.to + 1)));
  assert.equal(cellsOf(told, "decision", extent, 400, 8).length, 0);
  assert.equal(cellsOf(told, "commit", { from: extent.from, to: extent.from + HOUR }, 1, 8).length, 1);
});

// -- coverage -------------------------------------------------------------------------------------

function node(path: string, children: CoverNode[], own: Partial<CoverNode> = {}): CoverNode {
  const sum = (of: "files" | "covered" | "bytes") => children.reduce((all, child) => all + child[of], 0);
  const sums = { files: sum("files"), covered: sum("covered"), bytes: sum("bytes") };
  return { name: path.split("/").pop()!, path, ...sums, verdict: "", refs: [], children, ...own };
}
const file = (path: string, covered = 0, bytes = 100) => node(path, [], { files: 1, covered, bytes });

const tree = node("", [
  node("src", [
    file("src/a.ts", 1, 500),
    file("src/b.ts", 0, 50),
    node("src/deep/er", [file("src/deep/er/c.ts", 0, 900)]),
  ]),
  node("tools", [file("tools/x.py", 0, 10), file("tools/y.py", 0, 10)]),
  file("setup.py", 1, 40),
]);

test("the way to a folder goes over folders that were put together", () => {
  assert.deepEqual(wayTo(tree, "src/deep/er").map((one) => one.path), ["", "src", "src/deep/er"]);
  assert.deepEqual(wayTo(tree, "").map((one) => one.path), [""]);
  assert.deepEqual(wayTo(tree, "not/there"), [tree]);
  assert.deepEqual(wayTo(tree, "sr"), [tree]);
});

test("gaps are as large folders as can be, and files right in a folder together", () => {
  assert.deepEqual(gapsOf(tree, "bytes"), [
    { path: "src/deep/er", partly: false, files: 1, bytes: 900 },
    { path: "src", partly: true, files: 1, bytes: 50 },
    { path: "tools", partly: false, files: 2, bytes: 20 },
  ]);
  assert.equal(gapsOf(tree, "files")[0]!.path, "tools");
  assert.equal(gapsOf(tree, "bytes").reduce((sum, gap) => sum + gap.files, 0), tree.files - tree.covered);
  assert.deepEqual(gapsOf(node("", [file("a", 1)]), "bytes"), []);
});

test("what the server folded is counted, too", () => {
  const folded = node("", [file("a.ts", 1)], { files: 11, covered: 4, bytes: 1_100 });
  assert.deepEqual(gapsOf(folded, "files"), [{ path: "", partly: true, files: 7, bytes: 700 }]);
  const tiles = tilesOf(folded, "files", 400, 300);
  assert.deepEqual(tiles.map((tile) => tile.node.name), ["10 more", "a.ts"]);
});

test("tiles fill the map, those of a folder inside of it", () => {
  const tiles = tilesOf(tree, "bytes", 800, 400);
  const group = tiles.find((tile) => tile.node.path === "src")!;
  assert.ok(group.group);
  for (const tile of tiles) {
    assert.ok(tile.x >= 0 && tile.y >= 0 && tile.x + tile.width <= 800 && tile.y + tile.height <= 400);
    if (tile.depth === 2 && tile.node.path.startsWith("src/")) {
      assert.ok(tile.x >= group.x && tile.y >= group.y && tile.x + tile.width <= group.x + group.width);
    }
  }
  assert.deepEqual(tilesOf(tree, "bytes", 0, 400), []);
  assert.ok(isFile(tree.children[2]!) && !isFile(tree.children[0]!));
});

test("a file alone is one tile over everything", () => {
  const alone = file("a.ts", 1);
  const tiles = tilesOf(alone, "bytes", 100, 80);
  assert.deepEqual(tiles.map((tile) => [tile.node, tile.width, tile.height]), [[alone, 100, 80]]);
});

test("arrows reach every tile", () => {
  const tiles = tilesOf(tree, "files", 800, 400);
  const reached = new Set([0]);
  for (const from of reached) {
    for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) reached.add(neighbour(tiles, from, key));
  }
  assert.equal(reached.size, tiles.length);
  assert.equal(neighbour(tiles, 0, "End"), tiles.length - 1);
  assert.equal(neighbour(tiles, 0, "x"), -1);
  assert.equal(neighbour([], 0, "Home"), -1);
});

test("thousands of tiles are laid out quickly", () => {
  const folders = Array.from({ length: 40 }, (_, folder) =>
    node(
      `d${folder}`,
      Array.from({ length: 60 }, (_, number) => file(`d${folder}/f${number}`, number % 2, number * 7 + 1)),
    ),
  );
  const began = performance.now();
  const tiles = tilesOf(node("", folders), "bytes", 1_100, 420);
  assert.ok(tiles.length > 100);
  assert.ok(performance.now() - began < 250);
});
