/** All nodes as a list: the picture for whoever goes by keyboard or listens. Only the rows in sight are made. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { counted } from "../../parts/counted.ts";
import { type Dimension, wordOf } from "./choices.ts";
import type { Network } from "./model.ts";
import { token } from "./palette.ts";

const ROW = 34;
const BEYOND = 8;

interface Props {
  net: Network;
  nodes: number[];
  by: Dimension;
  selected: number;
  onSelect: (node: number) => void;
}

export function NodeList({ net, nodes, by, selected, onSelect }: Props) {
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  const [high, setHigh] = useState(400);
  const [active, setActive] = useState(0);
  const wantsFocus = useRef(false);
  useEffect(() => {
    const sized = new ResizeObserver(([entry]) => setHigh(entry!.contentRect.height));
    sized.observe(list.current!);
    return () => sized.disconnect();
  }, []);
  const current = Math.min(active, Math.max(0, nodes.length - 1));
  const first = Math.max(0, Math.floor(top / ROW) - BEYOND);
  const last = Math.min(nodes.length, Math.ceil((top + high) / ROW) + BEYOND);
  // The row that has the keyboard stays, wherever the list is scrolled to.
  const rows = nodes.slice(first, last).map((node, n) => ({ node, number: first + n }));
  if (nodes.length && (current < first || current >= last)) rows.push({ node: nodes[current]!, number: current });

  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    list.current?.querySelector<HTMLElement>(`[data-number="${current}"]`)?.focus({ preventScroll: true });
  });
  const pressed = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(high / ROW) - 1);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      j: 1,
      ArrowUp: -1,
      k: -1,
      PageDown: page,
      PageUp: -page,
      Home: -nodes.length,
      End: nodes.length,
    };
    const step = steps[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(nodes.length - 1, current + step));
    const box = list.current!;
    if (next * ROW < box.scrollTop) box.scrollTop = next * ROW;
    else if ((next + 1) * ROW > box.scrollTop + high) box.scrollTop = (next + 1) * ROW - high;
    wantsFocus.current = true;
    setActive(next);
    setTop(box.scrollTop);
  };
  return (
    <ul
      class="graph-list"
      aria-label="Records in the graph"
      ref={list}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={pressed}
    >
      <li class="graph-list-room" role="presentation" style={{ height: `${nodes.length * ROW}px` }} />
      {rows.map(({ node, number }) => (
        <li key={node} aria-setsize={nodes.length} aria-posinset={number + 1} style={{ top: `${number * ROW}px` }}>
          <button
            class={`graph-row quiet${net.data.live[node] ? "" : " retired"}`}
            data-row
            data-number={number}
            data-ref={net.data.refs[node]}
            tabIndex={number === current ? 0 : -1}
            aria-current={node === selected ? "true" : undefined}
            onFocus={() => setActive(number)}
            onClick={() => onSelect(node)}
          >
            <Dot net={net} node={node} by={by} />
            <span class="graph-row-title">{net.data.titles[node]}</span>
            <span class="count" aria-label={counted(net.degree[node]!, "relation")}>
              {net.degree[node] || ""}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The node's colour in the picture; hollow where it is retired. */
export function Dot({ net, node, by }: { net: Network; node: number; by: Dimension }) {
  const word = wordOf(net.data, by, node);
  return (
    <i
      class={`graph-dot${net.data.live[node] ? "" : " hollow"}`}
      style={{ color: `var(${token(by, word)})` }}
      title={word}
      aria-hidden="true"
    />
  );
}
