/** Who is next to whom, ways through the network, and what is shown of it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { filtered, legendOf, matching, readChoices, toggled } from "../src/screens/graph/choices.ts";
import { nextOf } from "../src/screens/graph/keyboard.ts";
import { neighbours, network, says, saysBack, tied } from "../src/screens/graph/model.ts";
import { sentences, shortest, within } from "../src/screens/graph/paths.ts";
import { sample, seeded, small } from "./graph-sample.ts";

const choices = (query: string) => readChoices(new URLSearchParams(query));
const shownRefs = (query: string, net = network(small())) =>
  net.data.refs.filter((_, node) => filtered(net, choices(query), null).nodes[node]).join("");

test("ties count in both directions; a tie to itself is none", () => {
  const net = network(sample([["a", "x", "", 1], ["b", "x", "", 1]], [[0, 0, "p", 1], [0, 1, "p", 1], [1, 0, "q", 1]]));
  assert.deepEqual([...net.degree], [2, 2]);
  assert.deepEqual(neighbours(net, 0), [1]);
});

test("neighbours are grouped by what ties them and which way", () => {
  const groups = tied(network(small()), 2).map(({ says, direction, nodes }) => [says, direction, nodes]);
  assert.deepEqual(groups, [
    ["affects", "out", [1]],
    ["supersedes", "out", [3]],
    ["is affected by", "in", [4]],
  ]);
});

test("predicates are said in words, also those nobody foresaw", () => {
  assert.equal(says("depends_on"), "depends on");
  assert.equal(says("related-to"), "is related to");
  assert.equal(saysBack("depends-on"), "is depended on by");
  assert.equal(saysBack("shadows"), "shadows (of the other record)");
});

test("what is within some steps", () => {
  const net = network(small());
  assert.deepEqual([...within(net, 0, 1)], [0, 1, -1, -1, -1, -1, -1, -1]);
  assert.deepEqual([...within(net, 0, 3)], [0, 1, 2, 3, 3, -1, -1, -1]);
});

test("the shortest way keeps the direction of what was said", () => {
  const net = network(small());
  const way = shortest(net, 0, 4)!;
  assert.deepEqual(way.nodes, [0, 1, 2, 4]);
  assert.deepEqual(sentences(net, way), [
    { source: 0, says: "depends on", target: 1 },
    { source: 2, says: "affects", target: 1 },
    { source: 4, says: "affects", target: 2 },
  ]);
  assert.deepEqual(shortest(net, 3, 3), { nodes: [3], edges: [] });
  assert.equal(shortest(net, 0, 5), null);
  assert.equal(shortest(net, 7, 0), null);
});

test("a way is as short as any, whatever the network", () => {
  const random = seeded(5);
  const any = () => Math.floor(random() * 200);
  const ties = Array.from({ length: 300 }, () => [any(), any(), "p", 1] as const);
  const rows = Array.from({ length: 200 }, (_, n) => [`n${n}`, "x", "", 1] as [string, string, string, 1]);
  const net = network(sample(rows, ties.map((tie) => [...tie])));
  const far = within(net, 0, 1000);
  for (let node = 0; node < net.size; node++) {
    const way = shortest(net, 0, node);
    assert.equal(way ? way.edges.length : -1, far[node]);
    for (const [n, edge] of (way?.edges ?? []).entries()) {
      const ends = [net.source[edge], net.target[edge]].sort();
      assert.deepEqual(ends, [way!.nodes[n], way!.nodes[n + 1]].sort());
    }
  }
});

test("choices are read from the address, and nonsense is not taken", () => {
  const read = choices("kinds=feature,gotcha&by=verdict&steps=3&live=1&q=some+words");
  assert.deepEqual([...read.chosen.kind], ["feature", "gotcha"]);
  assert.deepEqual([read.by, read.steps, read.live, read.text], ["verdict", 3, true, "some words"]);
  assert.equal(choices("by=colour").by, "kind");
  assert.deepEqual([choices("steps=99").steps, choices("steps=x").steps], [2, 2]);
  assert.equal(toggled(new Set(["b"]), "a"), "a,b");
  assert.equal(toggled(new Set(["a", "b"]), "a"), "b");
});

test("filters", () => {
  assert.equal(shownRefs(""), "abcdefgh");
  assert.equal(shownRefs("live=1"), "abcefgh");
  assert.equal(shownRefs("kinds=feature,gotcha"), "abef");
  assert.equal(shownRefs("verdicts=none"), "ch");
  assert.equal(shownRefs("verdicts=fresh&kinds=decision"), "dg");
  assert.equal(shownRefs("predicates=depends_on"), "ab");
  assert.equal(shownRefs("kinds=unknown"), "");
});

test("edges are shown with both their ends; what is asked for stays", () => {
  const net = network(small());
  const shown = filtered(net, choices("kinds=decision"), null, [1]);
  assert.deepEqual([...shown.edges], [0, 1, 1, 0, 0]);
  assert.equal(shown.nodeCount, 4);
  assert.deepEqual([...filtered(net, choices("live=1"), null).edges], [1, 1, 0, 1, 1]);
  assert.equal(filtered(net, choices(""), within(net, 0, 1)).nodeCount, 2);
});

test("the legend counts within the other choices", () => {
  const net = network(small());
  assert.deepEqual(legendOf(net, choices("kinds=feature"), "kind", null), [
    { word: "feature", count: 3 },
    { word: "decision", count: 3 },
    { word: "gotcha", count: 1 },
    { word: "question", count: 1 },
  ]);
  assert.deepEqual(legendOf(net, choices("kinds=question"), "verdict", null).at(-1), { word: "none", count: 1 });
});

test("text finds titles and refs, the best-tied first", () => {
  const net = network(small());
  assert.equal(matching(net, "")[0], 2);
  assert.deepEqual(matching(net, "h"), [7]);
  assert.deepEqual(matching(net, "TITLE of h"), [7]);
  assert.deepEqual(matching(net, "title", Uint8Array.from([0, 1, 0, 0, 0, 0, 0, 1])), [1, 7]);
  assert.deepEqual(matching(net, "nothing"), []);
});

test("walking goes round the neighbours of where it began", () => {
  const net = network(small());
  const all = new Uint8Array(8).fill(1);
  assert.equal(nextOf(net, all, -1, -1, 1), 2);
  const first = nextOf(net, all, 2, 2, 1);
  assert.deepEqual([first, nextOf(net, all, 2, first, 1), nextOf(net, all, 2, first, -1)], [1, 3, 4]);
  assert.equal(nextOf(net, all, 7, 7, 1), -1);
});
