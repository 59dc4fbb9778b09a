/** Records that are out of date: to be looked at, then confirmed or marked stale. */
import { useRef, useState } from "preact/hooks";
import { moveInList } from "../../app/keys.ts";
import { choose } from "../../app/router.ts";
import type { Item, Today } from "../../data/types.ts";
import { useMayWrite } from "../../data/use.ts";
import { ConfirmButton, StaleButton } from "../../parts/acting.tsx";
import { ItemRow } from "../../parts/items.tsx";
import { ShowMore } from "../../parts/more.tsx";
import { OutOfDate } from "../../parts/out-of-date.tsx";
import { focusNext, useSettled } from "../../parts/acting/settled.ts";
import { Section } from "./section.tsx";

const FIRST = 5;
const STEP = 20;

export function Attention({ today, query, again }: { today: Today; query: URLSearchParams; again: () => void }) {
  const most = Math.max(FIRST, Number(query.get("attention")) || 0);
  const list = useRef<HTMLDivElement>(null);
  const { settled, settle } = useSettled(today, again);
  const items = today.attention.slice(0, most);
  return (
    <Section id="attention" title="Out of date" count={today.attention_total}>
      <div ref={list} onKeyDown={(event) => moveInList(event, list.current!)}>
        <ul class="rows" aria-label="Out of date">
          {items.map((item) => (
            <li key={item.ref} class={settled.has(item.ref) ? "settled" : ""}>
              <ItemRow item={item} excerpt={false} />
              <Answers item={item} onDone={() => (focusNext(list.current, item.ref), settle(item.ref))} />
            </li>
          ))}
        </ul>
        <ShowMore
          shown={items.length}
          total={today.attention.length}
          all={today.attention_total}
          step={STEP}
          what="that are out of date"
          onMore={() => choose({ attention: String(most + STEP) })}
        />
        {items.length === today.attention.length && today.attention_total > items.length ? <OutOfDate /> : null}
      </div>
    </Section>
  );
}

function Answers({ item, onDone }: { item: Item; onDone: () => void }) {
  const may = useMayWrite();
  const [done, setDone] = useState("");
  if (!may || done === item.updated_at) return null;
  const finish = () => {
    setDone(item.updated_at);
    onDone();
  };
  return (
    <div class="row-acts">
      <ConfirmButton item={item} onDone={finish} />
      <StaleButton item={item} onDone={finish} />
    </div>
  );
}
