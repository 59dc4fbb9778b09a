/** The screen: every record of every layer, chosen by what it is and what it says. */
import { useEffect, useRef } from "preact/hooks";
import { moveInList } from "../app/keys.ts";
import { choose, href, type Route } from "../app/router.ts";
import type { RecordPage } from "../data/types.ts";
import { usePage, useProjectData } from "../data/use.ts";
import { counted } from "../parts/counted.ts";
import { ItemRow } from "../parts/items.tsx";
import { type Kept, useKept } from "../parts/kept.ts";
import { Answered, Empty } from "../parts/states.tsx";
import { useTyped } from "../parts/typed.ts";
import { chosenOf, FACETS, Filters } from "./records/filters.tsx";
import { Pager } from "./records/pager.tsx";

const PAGE = 100;
/** No choice at all. */
const ALL = Object.fromEntries([...FACETS, "live", "text", "from"].map((name) => [name, ""]));

export function RecordsScreen({ route }: { route: Route }) {
  const chosen = chosenOf(route.query);
  const from = Math.max(0, Number(route.query.get("from")) || 0);
  const asked = useKept(useProjectData<RecordPage>("records", { ...chosen, offset: from, limit: PAGE }));
  const many = Object.keys(chosen).length;
  return (
    <>
      <div class="screen-head">
        <h1>Records</h1>
        {asked.data ? (
          <p role="status">
            {many
              ? counted(asked.data.total, "record matches", "records match")
              : `${counted(asked.data.total, "record")}, the newest first`}
          </p>
        ) : null}
      </div>
      <Words text={chosen.text ?? ""} />
      <Answered asked={asked}>
        {(page) => (
          <div class="records">
            <Filters page={page} chosen={chosen} />
            <div class={asked.old ? "held-over" : ""} aria-busy={asked.loading}>
              {page.items.length ? <Listed page={page} from={from} asked={asked} /> : <Nothing filtered={many > 0} />}
            </div>
          </div>
        )}
      </Answered>
    </>
  );
}

/** What is typed is asked for after a pause; the field stays ahead of the address. */
function Words({ text }: { text: string }) {
  const typed = useTyped(text, (words) => choose({ text: words, from: "" }));
  return (
    <input
      class="records-text"
      type="search"
      aria-label="Records with these words"
      placeholder="Words from a title, text, ref or tag"
      value={typed.text}
      onInput={(event) => typed.setText(event.currentTarget.value)}
    />
  );
}

function Listed({ page, from, asked }: { page: RecordPage; from: number; asked: Kept<RecordPage> }) {
  const list = useRef<HTMLDivElement>(null);
  const before = useRef(from);
  const arrived = !asked.loading && page.offset === from;
  // Another page begins at its top, for the eye and for the keyboard.
  useEffect(() => {
    if (!arrived || before.current === from) return;
    before.current = from;
    scrollTo(0, 0);
    list.current?.querySelector<HTMLElement>("[data-row]")?.focus({ preventScroll: true });
  }, [arrived, from]);
  const turn = (to: number) => choose({ from: to > 0 ? String(to) : "" });
  return (
    <div class="sheet" ref={list} onKeyDown={(event) => moveInList(event, list.current!)}>
      <ul class="rows" aria-label="Records">
        {page.items.map((item) => (
          <li key={item.ref}>
            <ItemRow item={item} />
          </li>
        ))}
      </ul>
      <Pager offset={page.offset} shown={page.items.length} total={page.total} size={PAGE} onTurn={turn} />
    </div>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  const { project } = usePage();
  if (filtered)
    return (
      <div class="sheet">
        <Empty title="No record matches.">
          <button onClick={() => choose(ALL)}>Show all records</button>
        </Empty>
      </div>
    );
  return (
    <div class="sheet">
      <Empty title="There are no records yet.">
        <code>memory init --brief</code> prints a task for your agent to fill the memory; <code>memory add</code>{" "}
        records one thing. <a href={href(project)}>Today</a>
      </Empty>
    </div>
  );
}
