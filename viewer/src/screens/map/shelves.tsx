/** What was decided, what bites and what is open, as lists below the board. */
import { href } from "../../app/router.ts";
import type { ProductMap, Shelf } from "../../data/types.ts";
import { usePage } from "../../data/use.ts";
import { number } from "../../parts/counted.ts";
import { ItemList } from "../../parts/items.tsx";

/** So many of each: the list of all is one step away. */
const FIRST = 8;
const NONE: Record<string, string> = {
  decisions: "Decisions and their reasons will appear here.",
  gotchas: "Known traps will appear here.",
  questions: "Open questions will appear here.",
};

export function Shelves({ map }: { map: ProductMap }) {
  const open = map.questions.items.filter((item) => item.live).length;
  // Only where all are given can be said how many of them are open.
  const said = map.questions.total === map.questions.items.length ? `${open} open of ${map.questions.total}` : "";
  return (
    <div class="shelves">
      <ShelfSheet name="decisions" kind="decision" shelf={map.decisions} />
      <ShelfSheet name="gotchas" kind="gotcha" shelf={map.gotchas} />
      <ShelfSheet name="questions" kind="question" shelf={map.questions} said={said} />
    </div>
  );
}

interface Given {
  name: string;
  kind: string;
  shelf: Shelf;
  said?: string;
}

function ShelfSheet({ name, kind, shelf, said }: Given) {
  const { project } = usePage();
  const shown = shelf.items.slice(0, FIRST);
  const id = `shelf-${name}`;
  return (
    <section class="sheet shelf" aria-labelledby={id}>
      <header>
        <h2 id={id}>{name[0]!.toUpperCase() + name.slice(1)}</h2>
        {shelf.total ? <span class="count">{said || number(shelf.total)}</span> : null}
        {shelf.total > shown.length ? (
          <a href={href(project, "records", "", { kind })}>
            All {number(shelf.total)} <span class="visually-hidden">{name}</span>
          </a>
        ) : null}
      </header>
      {shown.length ? (
        <ItemList items={shown} label={name} kind={false} time={false} />
      ) : (
        <p class="pad faint">{NONE[name]}</p>
      )}
    </section>
  );
}
