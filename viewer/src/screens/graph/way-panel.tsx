/** The way between two records: which two, and what leads from one to the other. */
import { useEffect, useState } from "preact/hooks";
import { choose } from "../../app/router.ts";
import { type Dimension, matching } from "./choices.ts";
import { Dot } from "./list.tsx";
import type { Network } from "./model.ts";
import { sentences, type Way } from "./paths.ts";

const OFFERED = 7;

interface Props {
  net: Network;
  by: Dimension;
  from: string;
  to: string;
  way: Way | null;
  onSelect: (node: number) => void;
}

export function WayPanel({ net, by, from, to, way, onSelect }: Props) {
  const both = net.place.has(from) && net.place.has(to);
  return (
    <section class="graph-way" aria-label="Path between two records">
      <NodeField net={net} by={by} label="From" refText={from} onChoose={(ref) => choose({ from: ref, focus: "" })} />
      <NodeField net={net} by={by} label="To" refText={to} onChoose={(ref) => choose({ to: ref, focus: "" })} />
      <div class="graph-acts">
        <button disabled={!from && !to} onClick={() => choose({ from: to, to: from })}>
          Swap
        </button>
        <button disabled={!from && !to} onClick={() => choose({ from: "", to: "" })}>
          Clear
        </button>
      </div>
      <div role="status">
        {both && way ? <Steps net={net} way={way} onSelect={onSelect} /> : null}
        {both && !way ? (
          <p class="graph-no-way">There is no path between them.</p>
        ) : null}
        {both ? null : (
          <p class="faint">
            Choose two records to see the shortest path between them, in any direction.
          </p>
        )}
      </div>
    </section>
  );
}

function Steps({ net, way, onSelect }: { net: Network; way: Way; onSelect: (node: number) => void }) {
  const name = (node: number) => (
    <button class="graph-name" onClick={() => onSelect(node)}>
      {net.data.titles[node]}
    </button>
  );
  if (!way.edges.length) return <p>They are the same record.</p>;
  return (
    <>
      <h2>{way.edges.length === 1 ? "1 step" : `${way.edges.length} steps`}</h2>
      <ol class="graph-steps" aria-label="Path">
        {sentences(net, way).map(({ source, says, target }, number) => (
          <li key={number}>
            {name(source)} <em>{says}</em> {name(target)}
          </li>
        ))}
      </ol>
    </>
  );
}

/** A field that finds a record by some words of it. */
function NodeField(props: {
  net: Network;
  by: Dimension;
  label: string;
  refText: string;
  onChoose: (ref: string) => void;
}) {
  const { net, by, label, refText, onChoose } = props;
  const chosen = net.place.get(refText);
  const title = chosen === undefined ? refText : net.data.titles[chosen]!;
  const [text, setText] = useState(title);
  const [open, setOpen] = useState(false);
  const [place, setPlace] = useState(0);
  useEffect(() => setText(title), [title]);
  const id = `graph-${label.toLowerCase()}`;
  const offers = open && text.trim() && text !== title ? matching(net, text).slice(0, OFFERED) : [];
  const take = (node: number | undefined) => {
    if (node === undefined) return;
    setOpen(false);
    setText(net.data.titles[node]!);
    onChoose(net.data.refs[node]!);
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setPlace((now) => Math.min(now + 1, offers.length - 1));
    else if (event.key === "ArrowUp") setPlace((now) => Math.max(now - 1, 0));
    else if (event.key === "Enter") take(offers[place]);
    else if (event.key === "Escape") {
      event.stopPropagation();
      setText(title);
      setOpen(false);
    } else return;
    event.preventDefault();
  };
  return (
    <div class="graph-field">
      <label for={id}>{label}</label>
      <input
        id={id}
        role="combobox"
        autocomplete="off"
        placeholder="Words of its title"
        aria-expanded={offers.length > 0}
        aria-controls={`${id}-offers`}
        aria-activedescendant={offers.length ? `${id}-${place}` : undefined}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setOpen(true);
          setPlace(0);
          if (!event.currentTarget.value && refText) onChoose("");
        }}
        onFocus={(event) => event.currentTarget.select()}
        onBlur={() => setOpen(false)}
        onKeyDown={pressed}
      />
      <ul id={`${id}-offers`} role="listbox" aria-label={`${label}: records`} hidden={!offers.length}>
        {offers.map((node, number) => (
          <li
            key={node}
            id={`${id}-${number}`}
            role="option"
            aria-selected={number === place}
            onMouseDown={(event) => (event.preventDefault(), take(node))}
          >
            <Dot net={net} node={node} by={by} />
            <span class="graph-row-title">{net.data.titles[node]}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
