/** The node that is selected: what it is, and what it is tied to. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { choose, recordHref } from "../../app/router.ts";
import type { VerdictState } from "../../data/types.ts";
import { usePage } from "../../data/use.ts";
import { Kind, StageMark, Status, Verdict } from "../../parts/badges.tsx";
import type { Dimension } from "./choices.ts";
import { Dot } from "./list.tsx";
import { type Network, tied, type Tied } from "./model.ts";

const FIRST = 12;

interface Props {
  net: Network;
  node: number;
  by: Dimension;
  hidden: boolean;
  onSelect: (node: number) => void;
}

export function NodePanel({ net, node, by, hidden, onSelect }: Props) {
  const { project } = usePage();
  const panel = useRef<HTMLElement>(null);
  const { data } = net;
  const ref = data.refs[node]!;
  const groups = tied(net, node);
  // Whoever chose it in the list has lost the row: go on here, before another key is pressed.
  useLayoutEffect(() => {
    const nowhere = !document.activeElement || document.activeElement === document.body;
    if (nowhere) panel.current?.focus({ preventScroll: true });
    panel.current?.scrollTo(0, 0);
  }, [node]);
  return (
    <section class="graph-node" aria-label="Selected record" tabIndex={-1} ref={panel}>
      <button class="quiet graph-back" onClick={() => onSelect(-1)}>
        ← All records
      </button>
      <h2>{data.titles[node]}</h2>
      <p class="graph-marks">
        <Kind kind={data.words.kind[data.kind[node]!] ?? ""} />
        <StageMark stage={data.words.stage[data.stage[node]!] ?? null} />
        <Verdict verdict={(data.words.verdict[data.verdict[node]!] as VerdictState) ?? null} />
        <Status status={data.words.status[data.status[node]!] ?? ""} live={data.live[node] === 1} />
      </p>
      {hidden ? <p class="faint small">The filters above hide it.</p> : null}
      <div class="graph-acts">
        <a class="graph-open" href={recordHref(project, ref)}>
          Open record
        </a>
        <button onClick={() => choose({ focus: ref, from: "", to: "" })}>Focus here</button>
        <button onClick={() => choose({ from: ref, panel: "path", focus: "", at: "" })}>Path from here</button>
        <button onClick={() => choose({ to: ref, panel: "path", focus: "", at: "" })}>Path to here</button>
      </div>
      {groups.map((group) => (
        <Neighbours key={group.says} {...{ net, group, by, onSelect }} />
      ))}
      {groups.length ? null : <p class="faint">It has no relations yet.</p>}
    </section>
  );
}

function Neighbours({ net, group, by, onSelect }: Pick<Props, "net" | "by" | "onSelect"> & { group: Tied }) {
  const [most, setMost] = useState(FIRST);
  const more = group.nodes.length - most;
  return (
    <div class="graph-tied">
      <h3>
        {group.says} <span class="count">{group.nodes.length}</span>
      </h3>
      <ul>
        {group.nodes.slice(0, most).map((node) => (
          <li key={node}>
            <button class={`graph-row quiet${net.data.live[node] ? "" : " retired"}`} onClick={() => onSelect(node)}>
              <Dot net={net} node={node} by={by} />
              <span class="graph-row-title">{net.data.titles[node]}</span>
            </button>
          </li>
        ))}
      </ul>
      {more > 0 ? (
        <button class="quiet small" onClick={() => setMost(most + 100)}>
          {more === 1 ? "1 more" : `${more} more`}
        </button>
      ) : null}
    </div>
  );
}
