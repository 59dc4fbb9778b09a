/** Places for the nodes of a network, as the layout finds them. What is known keeps its place when data comes anew. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Dimension } from "./choices.ts";
import type { LayoutInput } from "./layout.ts";
import type { Network } from "./model.ts";
import { type Runner, runner } from "./runner.ts";

interface Kept {
  net: Network;
  positions: Float32Array;
  settled: boolean;
}

export interface Laid {
  settled: boolean;
  drag: (node: number, x: number, y: number) => void;
  drop: (node: number) => void;
}

/**
 * `reach` says which nodes are laid out (-1: not), around `root`; null: all. Nodes that nothing is tied to stand
 * together by the dimension `by`. `heard` gets places for all nodes.
 */
export function useLayout(
  net: Network,
  reach: Int32Array | null,
  root: number,
  by: Dimension,
  heard: (positions: Float32Array) => void,
): Laid {
  const [settled, setSettled] = useState(false);
  const kept = useRef(new Map<string, Kept>());
  const running = useRef<{ runner: Runner; nodes: Int32Array; local: Int32Array } | null>(null);
  const dragged = useRef<{ node: number; x: number; y: number } | null>(null);
  const told = useRef(heard);
  told.current = heard;
  const scope = reach ? `${net.data.refs[root]} ${reach.reduce((most, step) => Math.max(most, step), 0)}` : by;

  useEffect(() => {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    let pictures = 0;
    const made = runner((found, done) => {
      // Whoever wants no motion sees the first picture and the last.
      if (calm && !done && pictures++ && !dragged.current) return;
      const now = running.current;
      if (!now || found.length !== 2 * now.nodes.length) return;
      const positions = spread(found, now.nodes, net.size);
      const held = dragged.current;
      if (held) (positions[2 * held.node] = held.x), (positions[2 * held.node + 1] = held.y);
      kept.current.set(scope, { net, positions, settled: done });
      told.current(positions);
      setSettled(done);
    });
    const nodes = chosenNodes(net, reach);
    const { input, local } = inputOf(net, nodes, by, reach ? root : -1, before(net, nodes, kept.current.get(scope)));
    running.current = { runner: made, nodes, local };
    // Only the whole is worth remembering beside what is shown.
    for (const other of kept.current.keys()) if (other !== by && other !== scope) kept.current.delete(other);
    setSettled(false);
    made.start(input);
    return () => {
      running.current = null;
      dragged.current = null;
      made.end();
    };
  }, [net, scope]);

  return {
    settled,
    drag(node, x, y) {
      const now = running.current;
      if (!now || now.local[node]! < 0) return;
      dragged.current = { node, x, y };
      now.runner.hold(now.local[node]!, x, y);
    },
    drop(node) {
      dragged.current = null;
      const now = running.current;
      if (now && now.local[node]! >= 0) now.runner.release(now.local[node]!);
    },
  };
}

function chosenNodes(net: Network, reach: Int32Array | null): Int32Array {
  const all = Int32Array.from({ length: net.size }, (_, node) => node);
  return reach ? all.filter((node) => reach[node]! >= 0) : all;
}

function inputOf(net: Network, nodes: Int32Array, by: Dimension, root: number, before: Float32Array | null) {
  const local = new Int32Array(net.size).fill(-1);
  nodes.forEach((node, n) => (local[node] = n));
  const edges: number[] = [];
  for (let edge = 0; edge < net.source.length; edge++) {
    if (local[net.source[edge]!]! >= 0 && local[net.target[edge]!]! >= 0) edges.push(edge);
  }
  const input: LayoutInput = {
    count: nodes.length,
    source: Int32Array.from(edges, (edge) => local[net.source[edge]!]!),
    target: Int32Array.from(edges, (edge) => local[net.target[edge]!]!),
    group: Int32Array.from(nodes, (node) => net.data[by][node]!),
    root: root < 0 ? -1 : local[root]!,
    before,
  };
  return { input, local };
}

/** Where the nodes stood in an earlier picture of the same; null where there is none that was finished. */
function before(net: Network, nodes: Int32Array, kept: Kept | undefined): Float32Array | null {
  if (!kept?.settled) return null;
  const found = new Float32Array(2 * nodes.length).fill(NaN);
  nodes.forEach((node, n) => {
    const old = kept.net.place.get(net.data.refs[node]!);
    if (old === undefined) return;
    found[2 * n] = kept.positions[2 * old]!;
    found[2 * n + 1] = kept.positions[2 * old + 1]!;
  });
  return found;
}

function spread(found: Float32Array, nodes: Int32Array, size: number): Float32Array {
  if (nodes.length === size) return found;
  const positions = new Float32Array(2 * size).fill(NaN);
  nodes.forEach((node, n) => {
    positions[2 * node] = found[2 * n]!;
    positions[2 * node + 1] = found[2 * n + 1]!;
  });
  return positions;
}
