/** Features as a board: a column for each stage. What is empty or dead takes the room of its name only. */
import type { Ref } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { moveInList } from "../../app/keys.ts";
import { href, recordHref } from "../../app/router.ts";
import type { Item, ProductMap, Stage } from "../../data/types.ts";
import { useMayWrite, usePage } from "../../data/use.ts";
import { StageSelect } from "../../parts/acting.tsx";
import { isCalm, Verdict } from "../../parts/badges.tsx";
import { number } from "../../parts/counted.ts";
import { Ticked } from "../../parts/ticked.tsx";
import { Ago } from "../../parts/times.tsx";
import type { Unfolded } from "../map.tsx";

type Column = ProductMap["stages"][number];

/** So many cards at first, by how many columns share the room: what stands below the board stays near. */
const FIRST = [18, 18, 12, 6];
/** And so many at most: the rest is easier to find in a list. */
const MOST = 60;
const MANY = 6;
const TAGS = 3;

export const SAYS: Record<Stage, string> = {
  idea: "An idea, not started",
  building: "Under construction",
  shipped: "In the product",
  paused: "Paused",
  dead: "Dropped",
};

export function Board({ stages, show }: { stages: Column[]; show: Unfolded }) {
  const board = useRef<HTMLElement>(null);
  const filled = stages.filter(({ stage, total }) => total && (stage !== "dead" || show.has("dead"))).length;
  const first = FIRST[Math.min(filled, FIRST.length - 1)]!;
  return (
    <section
      class="board"
      aria-label="Features by stage"
      ref={board}
      onKeyDown={(event) => across(event, board.current!)}
    >
      {stages.map((column) => (
        <StageColumn key={column.stage} column={column} first={first} show={show} />
      ))}
    </section>
  );
}

function StageColumn({ column, first, show }: { column: Column; first: number; show: Unfolded }) {
  const { project } = usePage();
  const list = useRef<HTMLUListElement>(null);
  const { stage, total } = column;
  const items = column.items.slice(0, MOST);
  const folded = stage === "dead" && !show.has("dead");
  // The button that folds stands elsewhere than the one that unfolds: the keyboard goes on from there.
  const knob = useRef<HTMLButtonElement>(null);
  const before = useRef(folded);
  useEffect(() => {
    if (before.current !== folded && document.activeElement === document.body) knob.current?.focus();
    before.current = folded;
  }, [folded]);
  const name = `board-${stage}`;
  if (!total || folded) return <Rail column={column} show={show} knob={knob} />;
  const whole = show.has(`all-${stage}`);
  const shown = whole ? items : items.slice(0, first);
  return (
    <section class={`board-column board-${stage}${items.length > MANY ? " many" : ""}`} aria-labelledby={name}>
      <header title={SAYS[stage]}>
        <h2 id={name}>{stage}</h2>
        <span class="count">{number(total)}</span>
        {stage === "dead" ? (
          <button class="quiet" ref={knob} aria-expanded="true" onClick={() => show.toggle("dead")}>
            Fold<span class="visually-hidden"> {stage}</span>
          </button>
        ) : null}
      </header>
      <ul
        class={`features${whole ? " whole" : ""}`}
        ref={list}
        aria-label={`Features: ${stage}`}
        onKeyDown={(event) => moveInList(event, list.current!)}
      >
        {shown.map((item) => (
          <Card key={item.ref} item={item} />
        ))}
      </ul>
      {items.length > first ? (
        <button class="quiet unfold" aria-expanded={whole} onClick={() => show.toggle(`all-${stage}`)}>
          {whole ? "Show fewer" : `Show ${items.length - first} more`}
        </button>
      ) : null}
      {total > items.length ? (
        <a class="unfold" href={href(project, "records", "", { kind: "feature", stage })}>
          All {number(total)} in a list
        </a>
      ) : null}
    </section>
  );
}

/** A column that is not unfolded: its name, and how many it holds. */
function Rail({ column, show, knob }: { column: Column; show: Unfolded; knob: Ref<HTMLButtonElement> }) {
  const { stage, total } = column;
  const label = (
    <>
      <span class="rail-name">{stage}</span> <span class="count">{number(total)}</span>
    </>
  );
  if (!total)
    return (
      <div class={`board-rail board-${stage}`} title={`${SAYS[stage]}: none`}>
        {label}
      </div>
    );
  return (
    <button
      ref={knob}
      class={`board-rail board-${stage}`}
      title={`${SAYS[stage]}: show`}
      aria-expanded="false"
      aria-label={`Show ${total} ${stage}`}
      onClick={() => show.toggle(stage)}
    >
      {label}
    </button>
  );
}

function Card({ item }: { item: Item }) {
  const { project } = usePage();
  const write = useMayWrite();
  return (
    <li class="feature" data-ref={item.ref}>
      <a href={recordHref(project, item.ref)} data-row>
        <span class="feature-title">{item.title}</span>
      </a>
      {item.excerpt && item.excerpt !== item.title ? (
        <p class="feature-text">
          <Ticked text={item.excerpt} />
        </p>
      ) : null}
      <footer>
        {isCalm(item.verdict) ? null : <Verdict verdict={item.verdict} because={item.because} />}
        {item.tags.slice(0, TAGS).map((tag) => (
          <span key={tag} class="tag">
            {tag}
          </span>
        ))}
        {item.tags.length > TAGS ? (
          <span class="count" title={item.tags.slice(TAGS).join(", ")}>
            +{item.tags.length - TAGS}
          </span>
        ) : null}
        <Ago time={item.updated_at} />
      </footer>
      {write ? (
        <div class="feature-act">
          <StageSelect item={item} />
        </div>
      ) : null}
    </li>
  );
}

/** Left and right go to the card at the same height of the next column that has any. */
function across(event: KeyboardEvent, board: HTMLElement): void {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const card = (event.target as HTMLElement).closest<HTMLElement>("[data-row]");
  if (!step || !card || event.ctrlKey || event.metaKey || event.altKey) return;
  const columns = [...board.querySelectorAll<HTMLElement>(".features")].map((list) => [
    ...list.querySelectorAll<HTMLElement>("[data-row]"),
  ]);
  const place = columns.findIndex((cards) => cards.includes(card));
  const next = columns[place + step];
  if (!next) return;
  next[Math.min(columns[place]!.indexOf(card), next.length - 1)]?.focus();
  event.preventDefault();
}
