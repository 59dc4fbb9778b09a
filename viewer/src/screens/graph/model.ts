/** The network as the screen works with it: columns as they came, and who is next to whom. */
import type { GraphData } from "../../data/types.ts";

export interface Network {
  data: GraphData;
  /** How many nodes there are. */
  size: number;
  source: Int32Array;
  target: Int32Array;
  /** How many ties each node has; a tie to itself is none. */
  degree: Int32Array;
  /** Ties of node n are at `start[n]` up to `start[n + 1]` of `other` and `via`. */
  start: Int32Array;
  /** The node at the other end. */
  other: Int32Array;
  /** The number of the edge. */
  via: Int32Array;
  /** All nodes, those with most ties first. */
  ranked: Int32Array;
  /** Where each ref stands. */
  place: Map<string, number>;
}

export function network(data: GraphData): Network {
  const size = data.refs.length;
  const source = Int32Array.from(data.edges.source);
  const target = Int32Array.from(data.edges.target);
  const { start, other, via } = adjacency(size, source, target);
  const degree = new Int32Array(size);
  for (let node = 0; node < size; node++) degree[node] = start[node + 1]! - start[node]!;
  const ranked = Int32Array.from({ length: size }, (_, node) => node);
  ranked.sort((a, b) => degree[b]! - degree[a]! || data.live[b]! - data.live[a]! || a - b);
  const place = new Map(data.refs.map((ref, node) => [ref, node]));
  return { data, size, source, target, degree, start, other, via, ranked, place };
}

/** Ties of each node in both directions, in one array each: small and quick for thousands. */
export function adjacency(size: number, source: Int32Array, target: Int32Array) {
  const start = new Int32Array(size + 1);
  for (let edge = 0; edge < source.length; edge++) {
    const from = source[edge]!;
    const to = target[edge]!;
    if (from === to) continue;
    start[from + 1]!++;
    start[to + 1]!++;
  }
  for (let node = 0; node < size; node++) start[node + 1]! += start[node]!;
  const next = start.slice();
  const other = new Int32Array(start[size]!);
  const via = new Int32Array(start[size]!);
  for (let edge = 0; edge < source.length; edge++) {
    const from = source[edge]!;
    const to = target[edge]!;
    if (from === to) continue;
    other[next[from]!] = to;
    via[next[from]!++] = edge;
    other[next[to]!] = from;
    via[next[to]!++] = edge;
  }
  return { start, other, via };
}

/** The nodes next to one, each once, those with most ties first. */
export function neighbours(net: Network, node: number): number[] {
  const found = new Set<number>();
  for (let at = net.start[node]!; at < net.start[node + 1]!; at++) found.add(net.other[at]!);
  return [...found].sort((a, b) => net.degree[b]! - net.degree[a]! || a - b);
}

export interface Tied {
  predicate: string;
  direction: "out" | "in";
  /** Such as "depends on" or "is depended on by". */
  says: string;
  nodes: number[];
}

/** What a node is tied to, by what ties them and which way; what it says of others first. */
export function tied(net: Network, node: number): Tied[] {
  const groups = new Map<string, Tied>();
  for (let at = net.start[node]!; at < net.start[node + 1]!; at++) {
    const edge = net.via[at]!;
    const direction = net.source[edge] === node ? "out" : "in";
    const predicate = predicateOf(net, edge);
    const said = direction === "out" ? says(predicate) : saysBack(predicate);
    const group = groups.get(said) ?? { predicate, direction, says: said, nodes: [] };
    group.nodes.push(net.other[at]!);
    groups.set(said, group);
  }
  for (const group of groups.values()) {
    group.nodes = [...new Set(group.nodes)].sort((a, b) => net.degree[b]! - net.degree[a]! || a - b);
  }
  return [...groups.values()].sort(
    (a, b) => Number(a.direction === "in") - Number(b.direction === "in") || (a.says < b.says ? -1 : 1),
  );
}

export function predicateOf(net: Network, edge: number): string {
  return net.data.words.predicate[net.data.edges.predicate[edge]!] ?? "";
}

/** What is said the other way round. Words that read the same both ways stand here as themselves. */
const BACK: Record<string, string> = {
  affects: "is affected by",
  "depends on": "is depended on by",
  supersedes: "is superseded by",
  replaces: "is replaced by",
  "related to": "is related to",
  contradicts: "contradicts",
  enables: "is enabled by",
  "motivated by": "motivates",
  elaborates: "is elaborated by",
};
const OUT: Record<string, string> = { "related to": "is related to", "motivated by": "is motivated by" };

/** A predicate as people say it: `depends_on` is "depends on". */
export function says(predicate: string): string {
  const plain = predicate.replace(/[_-]+/g, " ").trim() || "is related to";
  return OUT[plain] ?? plain;
}

export function saysBack(predicate: string): string {
  const plain = predicate.replace(/[_-]+/g, " ").trim() || "is related to";
  return BACK[plain] ?? `${plain} (of the other record)`;
}
