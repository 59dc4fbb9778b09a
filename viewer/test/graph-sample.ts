/** Networks for the tests: a small one that can be read, and large ones that are always the same. */
import type { GraphData } from "../src/data/types.ts";

type Row = [ref: string, kind: string, verdict: string, live: 0 | 1];
type Tie = [source: number, target: number, predicate: string, live: 0 | 1];

export function sample(rows: Row[], ties: Tie[]): GraphData {
  const kinds = [...new Set(rows.map(([, kind]) => kind))];
  const verdicts = [...new Set(rows.map(([, , verdict]) => verdict).filter(Boolean))];
  const predicates = [...new Set(ties.map(([, , predicate]) => predicate))];
  return {
    words: {
      layer: ["graph"],
      kind: kinds,
      status: ["active", "stale"],
      stage: [],
      verdict: verdicts,
      folder: ["src"],
      predicate: predicates,
    },
    refs: rows.map(([ref]) => ref),
    titles: rows.map(([ref]) => `Title of ${ref}`),
    layer: rows.map(() => 0),
    kind: rows.map(([, kind]) => kinds.indexOf(kind)),
    status: rows.map(([, , , live]) => 1 - live),
    stage: rows.map(() => -1),
    verdict: rows.map(([, , verdict]) => verdicts.indexOf(verdict)),
    folder: rows.map(() => 0),
    live: rows.map(([, , , live]) => live),
    edges: {
      source: ties.map(([source]) => source),
      target: ties.map(([, target]) => target),
      predicate: ties.map(([, , predicate]) => predicates.indexOf(predicate)),
      live: ties.map(([, , , live]) => live),
    },
    total: rows.length,
    cut: false,
  };
}

/** a - b - c - d, e beside c, f and g a part of their own, h alone. */
export function small(): GraphData {
  return sample(
    [
      ["a", "feature", "fresh", 1],
      ["b", "feature", "changed", 1],
      ["c", "decision", "", 1],
      ["d", "decision", "fresh", 0],
      ["e", "gotcha", "orphaned", 1],
      ["f", "feature", "fresh", 1],
      ["g", "decision", "fresh", 1],
      ["h", "question", "", 1],
    ],
    [
      [0, 1, "depends_on", 1],
      [2, 1, "affects", 1],
      [2, 3, "supersedes", 0],
      [4, 2, "affects", 1],
      [6, 5, "affects", 1],
    ],
  );
}

export function seeded(seed = 1): () => number {
  let state = seed;
  return () => (state = (1664525 * state + 1013904223) % 4294967296) / 4294967296;
}
