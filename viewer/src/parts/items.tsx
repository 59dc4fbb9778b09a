/** Records in lists. */
import { useRef } from "preact/hooks";
import { moveInList } from "../app/keys.ts";
import { recordHref } from "../app/router.ts";
import type { Item } from "../data/types.ts";
import { usePage } from "../data/use.ts";
import { isCalm, Kind, StageMark, Status, Verdict } from "./badges.tsx";
import { beyondTitle } from "./excerpt.ts";
import { Ticked } from "./ticked.tsx";
import { Ago } from "./times.tsx";

interface Shown {
  /** Whether the first words of the text are shown. */
  excerpt?: boolean;
  kind?: boolean;
  time?: boolean;
  /** Why it is out of date. */
  why?: boolean;
}

export function ItemRow({ item, excerpt = true, kind = true, time = true, why = true }: { item: Item } & Shown) {
  const { project } = usePage();
  const told = beyondTitle(item);
  return (
    <a class={`row${item.live || item.status === "closed" ? "" : " retired"}`} href={recordHref(project, item.ref)} data-row data-ref={item.ref}>
      <span class="row-head">
        {kind ? <Kind kind={item.kind} /> : null}
        <span class="row-title">{item.title}</span>
        <StageMark stage={item.stage} />
        <Status status={item.status} live={item.live || item.stage === "dead"} />
        <Verdict verdict={isCalm(item.verdict) ? null : item.verdict} because={item.because} />
        {time ? <Ago time={item.updated_at} /> : null}
      </span>
      {excerpt && told ? <span class="row-text"><Ticked text={told} /></span> : null}
      {why && item.because && !isCalm(item.verdict) ? <span class="row-why"><Ticked text={item.because} /></span> : null}
    </a>
  );
}

export function ItemList({ items, label, ...shown }: { items: Item[]; label: string } & Shown) {
  const list = useRef<HTMLUListElement>(null);
  return (
    <ul class="rows" aria-label={label} ref={list} onKeyDown={(event) => moveInList(event, list.current!)}>
      {items.map((item) => (
        <li key={item.ref}>
          <ItemRow item={item} {...shown} />
        </li>
      ))}
    </ul>
  );
}

/** A link to a record that is only known by its ref. */
export function RefLink({ refText, title }: { refText: string; title?: string }) {
  const { project } = usePage();
  return (
    <a href={recordHref(project, refText)} title={refText}>
      {title || refText}
    </a>
  );
}
