/** What is chosen to be shown. All of it stands in the address, so that a copied link shows the same. */
import type { GraphData } from "../../data/types.ts";
import type { Network } from "./model.ts";

export const DIMENSIONS = ["kind", "folder", "layer", "verdict"] as const;
export type Dimension = (typeof DIMENSIONS)[number];
/** What stands for "there is none" in the address and in the legend. */
export const NONE = "none";
export const PARAMETERS: Record<Dimension, string> = {
  kind: "kinds",
  folder: "folders",
  layer: "layers",
  verdict: "verdicts",
};

export interface Choices {
  /** Empty: all of them. */
  chosen: Record<Dimension, Set<string>>;
  predicates: Set<string>;
  /** Only what is said of the product as it is now. */
  live: boolean;
  by: Dimension;
  text: string;
  focus: string;
  steps: number;
  from: string;
  to: string;
  /** What is selected. */
  at: string;
  panel: string;
}

export function readChoices(query: URLSearchParams): Choices {
  const listed = (name: string) => new Set((query.get(name) ?? "").split(",").filter(Boolean));
  const by = query.get("by") as Dimension;
  const steps = Math.round(Number(query.get("steps") ?? 2));
  return {
    chosen: {
      kind: listed("kinds"),
      folder: listed("folders"),
      layer: listed("layers"),
      verdict: listed("verdicts"),
    },
    predicates: listed("predicates"),
    live: query.get("live") === "1",
    by: DIMENSIONS.includes(by) ? by : "kind",
    text: query.get("q") ?? "",
    focus: query.get("focus") ?? "",
    steps: steps >= 1 && steps <= 3 ? steps : 2,
    from: query.get("from") ?? "",
    to: query.get("to") ?? "",
    at: query.get("at") ?? "",
    panel: query.get("panel") ?? "",
  };
}

/** A list for the address, with one value more or less. */
export function toggled(values: Set<string>, value: string): string {
  const next = new Set(values);
  if (!next.delete(value)) next.add(value);
  return [...next].sort().join(",");
}

export function wordOf(data: GraphData, dimension: Dimension, node: number): string {
  return data.words[dimension][data[dimension][node]!] ?? NONE;
}

export interface Shown {
  nodes: Uint8Array;
  edges: Uint8Array;
  nodeCount: number;
  edgeCount: number;
}

/** Which nodes and edges are shown. `reach` says how far each is from the focus (-1: not near); null without one. */
export function filtered(
  net: Network,
  choices: Choices,
  reach: Int32Array | null,
  always: readonly number[] = [],
): Shown {
  const nodes = new Uint8Array(net.size);
  const edges = new Uint8Array(net.source.length);
  const allowed = DIMENSIONS.map((dimension) => allowing(net.data, dimension, choices.chosen[dimension]));
  for (let node = 0; node < net.size; node++) {
    nodes[node] = passes(net, choices, reach, node) && allowed.every((allows) => allows(node)) ? 1 : 0;
  }
  for (const node of always) nodes[node] = 1;
  const tied = choices.predicates.size ? new Uint8Array(net.size) : null;
  const words = net.data.words.predicate;
  let edgeCount = 0;
  for (let edge = 0; edge < edges.length; edge++) {
    if (!nodes[net.source[edge]!] || !nodes[net.target[edge]!]) continue;
    if (choices.live && !net.data.edges.live[edge]) continue;
    if (tied) {
      if (!choices.predicates.has(words[net.data.edges.predicate[edge]!] ?? "")) continue;
      tied[net.source[edge]!] = tied[net.target[edge]!] = 1;
    }
    edges[edge] = 1;
    edgeCount++;
  }
  // Whoever asks for some ties asks for what they tie.
  if (tied) {
    for (const node of always) tied[node] = 1;
    for (let node = 0; node < net.size; node++) nodes[node]! &= tied[node]!;
  }
  let nodeCount = 0;
  for (let node = 0; node < net.size; node++) nodeCount += nodes[node]!;
  return { nodes, edges, nodeCount, edgeCount };
}

export interface Counted {
  word: string;
  count: number;
}

/** How many there are of each word of a dimension, within the other choices; the most first, "none" last. */
export function legendOf(net: Network, choices: Choices, dimension: Dimension, reach: Int32Array | null): Counted[] {
  const others = DIMENSIONS.filter((other) => other !== dimension);
  const allowed = others.map((other) => allowing(net.data, other, choices.chosen[other]));
  const counts = new Map<string, number>(net.data.words[dimension].map((word) => [word, 0]));
  for (let node = 0; node < net.size; node++) {
    if (!passes(net, choices, reach, node) || !allowed.every((allows) => allows(node))) continue;
    const word = wordOf(net.data, dimension, node);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const all = [...counts].map(([word, count]) => ({ word, count }));
  return all.sort((a, b) => Number(a.word === NONE) - Number(b.word === NONE) || b.count - a.count);
}

/** Nodes whose title or ref holds all the words; those that begin so first, then those with most ties. */
export function matching(net: Network, text: string, shown: Uint8Array | null = null): number[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  const first: number[] = [];
  const rest: number[] = [];
  for (const node of net.ranked) {
    if (shown && !shown[node]) continue;
    if (!wanted.length) {
      rest.push(node);
      continue;
    }
    const title = net.data.titles[node]!.toLowerCase();
    const ref = net.data.refs[node]!.toLowerCase();
    if (!wanted.every((word) => title.includes(word) || ref.includes(word))) continue;
    (title.startsWith(wanted[0]!) || ref === wanted[0] ? first : rest).push(node);
  }
  return [...first, ...rest];
}

function passes(net: Network, choices: Choices, reach: Int32Array | null, node: number): boolean {
  return (!choices.live || net.data.live[node] === 1) && (!reach || reach[node]! >= 0);
}

function allowing(data: GraphData, dimension: Dimension, chosen: Set<string>): (node: number) => boolean {
  if (!chosen.size) return () => true;
  const column = data[dimension];
  const numbers = new Set(data.words[dimension].flatMap((word, number) => (chosen.has(word) ? [number] : [])));
  if (chosen.has(NONE)) numbers.add(-1);
  return (node) => numbers.has(column[node]!);
}
