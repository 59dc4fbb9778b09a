/** What a list of records is chosen by: each value with how many there are of it, within the other choices. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { choose } from "../../app/router.ts";
import type { RecordPage } from "../../data/types.ts";
import { kindName } from "../../parts/badges.tsx";
import { number } from "../../parts/counted.ts";

export const FACETS = ["layer", "kind", "stage", "status", "verdict", "section"] as const;
type Facet = (typeof FACETS)[number];
export type Chosen = Partial<Record<Facet | "live" | "text", string>>;

const NAMES: Record<Facet, string> = {
  layer: "Layer",
  kind: "Kind",
  stage: "Stage",
  status: "Status",
  verdict: "Verdict",
  section: "Section",
};
/** The layers whose records people put into sections or categories. */
const SECTIONED = new Set(["facts", "profile"]);
const SHOWN = 10;
const NARROW = "(max-width: 980px)";

/** The choices that stand in the address. */
export function chosenOf(query: URLSearchParams): Chosen {
  const names = [...FACETS, "live", "text"] as const;
  return Object.fromEntries(names.flatMap((name) => (query.get(name) ? [[name, query.get(name)!]] : [])));
}

export function Filters({ page, chosen }: { page: RecordPage; chosen: Chosen }) {
  const [open, setOpen] = useState(() => !matchMedia(NARROW).matches);
  const count = Object.keys(chosen).filter((name) => name !== "text").length;
  return (
    <details class="filters" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Filters{count ? <span class="count"> {count} chosen</span> : null}
      </summary>
      <Group name="In use">
        <Chip name="live" value="1" says="live" chosen={chosen} />
        <Chip name="live" value="0" says="retired" chosen={chosen} />
      </Group>
      {FACETS.map((facet) => (
        <FacetChips key={facet} facet={facet} counts={page.facets[facet] ?? {}} chosen={chosen} />
      ))}
      {count ? (
        <button class="quiet filters-clear" onClick={() => choose(none(chosen))}>
          Clear filters
        </button>
      ) : null}
    </details>
  );
}

function FacetChips({ facet, counts, chosen }: { facet: Facet; counts: Record<string, number>; chosen: Chosen }) {
  const [all, setAll] = useState(false);
  const now = chosen[facet];
  const values = Object.entries(counts).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  // What is chosen can be let go of, even where nothing is left of it.
  if (now && !(now in counts)) values.unshift([now, 0]);
  if (values.length < 2 && !now) return null;
  // Each layer divides its records in a way of its own: of several at once they say nothing.
  if (facet === "section" && !now && !SECTIONED.has(chosen.layer ?? "")) return null;
  const first = values.filter(([value], place) => all || place < SHOWN || value === now);
  return (
    <Group name={facet === "section" && chosen.layer === "profile" ? "Category" : NAMES[facet]}>
      {first.map(([value, count]) => (
        <Chip key={value} name={facet} value={value} says={facet === "kind" ? kindName(value) : value} count={count} chosen={chosen} />
      ))}
      {first.length < values.length ? (
        <button class="chip quiet" onClick={() => setAll(true)}>
          {values.length - first.length} more
        </button>
      ) : null}
    </Group>
  );
}

function Group({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="filter" role="group" aria-label={name}>
      <h2>{name}</h2>
      <div class="chips">{children}</div>
    </div>
  );
}

interface One {
  name: Facet | "live";
  value: string;
  says: string;
  count?: number;
  chosen: Chosen;
}

function Chip({ name, value, says, count, chosen }: One) {
  const pressed = chosen[name] === value;
  return (
    <button class="chip" aria-pressed={pressed} onClick={() => choose({ [name]: pressed ? "" : value, from: "" })}>
      {says}
      {count === undefined ? null : <span class="count"> {number(count)}</span>}
    </button>
  );
}

function none(chosen: Chosen): Record<string, string> {
  const names = Object.keys(chosen).filter((name) => name !== "text");
  return Object.fromEntries([...names, "from"].map((name) => [name, ""]));
}
