/** Ways through the network: what is near a node, and the shortest way between two. Ties count in both directions. */
import { type Network, predicateOf, says } from "./model.ts";

/** How many steps each node is from one, up to so many; -1 for what is further away. */
export function within(net: Network, from: number, steps: number): Int32Array {
  const distance = new Int32Array(net.size).fill(-1);
  distance[from] = 0;
  let edge = [from];
  for (let step = 1; step <= steps && edge.length; step++) {
    const next: number[] = [];
    for (const node of edge) {
      for (let at = net.start[node]!; at < net.start[node + 1]!; at++) {
        const other = net.other[at]!;
        if (distance[other] !== -1) continue;
        distance[other] = step;
        next.push(other);
      }
    }
    edge = next;
  }
  return distance;
}

export interface Way {
  /** From the first to the last. */
  nodes: number[];
  /** One fewer than nodes. */
  edges: number[];
}

/** The shortest way between two; null where there is none. */
export function shortest(net: Network, from: number, to: number): Way | null {
  if (from === to) return { nodes: [from], edges: [] };
  const came = new Int32Array(net.size).fill(-1);
  const by = new Int32Array(net.size).fill(-1);
  came[from] = from;
  const queue = new Int32Array(net.size);
  queue[0] = from;
  let end = 1;
  for (let head = 0; head < end && came[to] === -1; head++) {
    const node = queue[head]!;
    for (let at = net.start[node]!; at < net.start[node + 1]!; at++) {
      const other = net.other[at]!;
      if (came[other] !== -1) continue;
      came[other] = node;
      by[other] = net.via[at]!;
      queue[end++] = other;
    }
  }
  if (came[to] === -1) return null;
  const nodes = [to];
  const edges: number[] = [];
  for (let node = to; node !== from; node = came[node]!) {
    nodes.push(came[node]!);
    edges.push(by[node]!);
  }
  return { nodes: nodes.reverse(), edges: edges.reverse() };
}

export interface Sentence {
  source: number;
  says: string;
  target: number;
}

/** A way as sentences, each as it was said: whichever way it is walked, the tie keeps its direction. */
export function sentences(net: Network, way: Way): Sentence[] {
  return way.edges.map((edge) => ({
    source: net.source[edge]!,
    says: says(predicateOf(net, edge)),
    target: net.target[edge]!,
  }));
}
