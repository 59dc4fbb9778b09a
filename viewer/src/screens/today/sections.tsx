/** The smaller parts: what is worked on, what is open, what waits. */
import { useRef } from "preact/hooks";
import { moveInList } from "../../app/keys.ts";
import { href } from "../../app/router.ts";
import type { Item, Note, Problem, Today } from "../../data/types.ts";
import { usePage } from "../../data/use.ts";
import { AcceptButton, RejectButton } from "../../parts/acting.tsx";
import { Kind } from "../../parts/badges.tsx";
import { counted } from "../../parts/counted.ts";
import { ItemList } from "../../parts/items.tsx";
import { Ticked } from "../../parts/ticked.tsx";
import { Ago } from "../../parts/times.tsx";
import { focusNext, useSettled } from "../../parts/acting/settled.ts";
import { who } from "../inbox/who.ts";
import { Section } from "./section.tsx";

const SHELF = 6;
const PEEK = 3;

export function Focus({ focus, steps }: { focus: Item[]; steps: Item[] }) {
  const { project } = usePage();
  const all = href(project, "records", "", { layer: "journal", section: "next-steps" });
  return (
    <Section id="focus" title="Focus and next steps" all={steps.length > SHELF ? [`All ${steps.length} steps`, all] : undefined}>
      {focus.length ? (
        <div class="today-focus">
          <ItemList items={focus} label="Focus" kind={false} excerpt={false} />
        </div>
      ) : null}
      {steps.length ? (
        <div class="today-steps">
          <h3>Next</h3>
          <ItemList items={steps.slice(0, SHELF)} label="Next steps" kind={false} excerpt={false} time={false} />
        </div>
      ) : null}
    </Section>
  );
}

/** A list of one kind, the first of them, with a link to all. Why some are out of date has a list of its own. */
export function Shelf(props: { id: string; title: string; items: Item[]; to: string; kind?: boolean }) {
  const { id, title, items, to, kind = false } = props;
  return (
    <Section id={id} title={title} count={items.length} all={items.length > SHELF ? ["All", to] : undefined}>
      <ItemList items={items.slice(0, SHELF)} label={title} kind={kind} why={false} />
    </Section>
  );
}

export function Notes({ notes }: { notes: Note[] }) {
  return (
    <Section id="notes" title="Notes" count={notes.length}>
      <ul class="rows" aria-label="Notes">
        {notes.slice(0, SHELF).map((note) => (
          <li key={note.number} class="note">
            <span class="note-number">{note.number}</span>
            <span class="note-text">{note.text}</span>
            <Ago time={note.at} />
          </li>
        ))}
      </ul>
      <p class="today-none faint small">
        {notes.length > SHELF ? `${notes.length - SHELF} more: ` : ""}
        <code>memory notes</code> finishes or promotes them.
      </p>
    </Section>
  );
}

export function Waiting({ today, again }: { today: Today; again: () => void }) {
  const { project } = usePage();
  const { pending, items } = today.inbox;
  const { settled, settle } = useSettled(today, again);
  const list = useRef<HTMLUListElement>(null);
  const inbox = href(project, "inbox");
  return (
    <Section id="waiting" title="Inbox" count={pending} all={[pending > PEEK ? "All of them" : "In full", inbox]}>
      <ul class="rows" aria-label="Inbox" ref={list} onKeyDown={(event) => moveInList(event, list.current!)}>
        {items.slice(0, PEEK).map((proposal) => {
          const done = () => (focusNext(list.current, proposal.id), settle(proposal.id));
          return (
            <li key={proposal.id} class={settled.has(proposal.id) ? "settled" : ""}>
              <a
                class="row"
                data-row
                data-ref={proposal.id}
                href={href(project, "inbox", "", { at: proposal.id })}
              >
                <span class="row-head">
                  <Kind kind={proposal.kind} />
                  <span class="faint small">{who(proposal.by)} said</span>
                  <Ago time={proposal.proposed_at} />
                </span>
                <span class="row-text proposal-words">{proposal.text}</span>
              </a>
              <div class="row-acts">
                <AcceptButton proposal={proposal} onDone={done} />
                <RejectButton proposal={proposal} onDone={done} />
              </div>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

export function Problems({ problems }: { problems: Problem[] }) {
  const { project } = usePage();
  if (!problems.length) return null;
  // A file may have several faults.
  const files = new Set(problems.map((problem, place) => problem.path ?? place)).size;
  return (
    <details class="today-problems">
      <summary>{counted(files, "file")} cannot be read</summary>
      <ul>
        {problems.slice(0, 20).map((problem, number) => (
          <li key={number}>
            {problem.path ? <code>{problem.path}</code> : null} <Ticked text={problem.message} />{" "}
            <span class="faint">
              <Ticked text={problem.hint ?? ""} />
            </span>
          </li>
        ))}
      </ul>
      <a href={href(project, "health", "", { part: "files" })}>All files</a>
      <span class="faint">
        {" "}
        · <code>memory check</code> says how to repair them
      </span>
    </details>
  );
}
