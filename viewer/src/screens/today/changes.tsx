/** What changed, day by day. */
import { useRef } from "preact/hooks";
import { moveInList } from "../../app/keys.ts";
import { choose } from "../../app/router.ts";
import type { Change, Today } from "../../data/types.ts";
import { number } from "../../parts/counted.ts";
import { grouped } from "../../parts/grouped.ts";
import { ItemRow } from "../../parts/items.tsx";
import { ShowMore } from "../../parts/more.tsx";
import { exact } from "../../parts/times.tsx";
import { Section } from "./section.tsx";
import { clock, dayName } from "./words.ts";

const FIRST = 15;
const STEP = 50;
const HOW: Record<Change["how"], [string, string]> = {
  created: ["new", "Someone added it"],
  updated: ["changed", "Someone changed it"],
  closed: ["closed", "The question was answered"],
  retired: ["retired", "It was retired"],
  drifted: ["out of date", "The code has changed since it was confirmed"],
};

export function Changes({ today, query }: { today: Today; query: URLSearchParams }) {
  const how = query.get("how") ?? "";
  const most = Math.max(FIRST, Number(query.get("changes")) || 0);
  const list = useRef<HTMLDivElement>(null);
  // Records that are out of date have a list of their own beside this one.
  const beside = how ? 0 : today.attention_total > 0 ? (today.digest.drifted ?? 0) : 0;
  const fits = today.changed.filter((change) => (how ? change.how === how : !beside || change.how !== "drifted"));
  const total = how ? (today.digest[how] ?? fits.length) : today.changed_total - beside;
  const there = (Object.keys(HOW) as Change["how"][]).filter((name) => today.digest[name] || name === how);
  return (
    <Section id="changed" title="What changed" count={total}>
      {there.length > 1 || how ? (
        <div class="chips today-how" role="group" aria-label="Which changes">
          {there.map((name) => (
            <button
              key={name}
              class="chip"
              aria-pressed={how === name}
              title={HOW[name][1]}
              onClick={() => choose({ how: how === name ? "" : name, changes: "" })}
            >
              {HOW[name][0]} <span class="count">{number(today.digest[name] ?? 0)}</span>
            </button>
          ))}
        </div>
      ) : null}
      <div ref={list} onKeyDown={(event) => moveInList(event, list.current!)}>
        {grouped(fits.slice(0, most), (change) => dayName(change.at)).map(([day, changes]) => (
          <div key={day} class="today-day">
            <h3>{day}</h3>
            <ul class="rows" aria-label={day}>
              {changes.map((change) => (
                <Line key={`${change.how} ${change.item.ref}`} change={change} />
              ))}
            </ul>
          </div>
        ))}
        {fits.length ? null : <p class="today-none faint">Nothing of this kind.</p>}
        <ShowMore
          shown={Math.min(most, fits.length)}
          total={fits.length}
          all={total}
          step={STEP}
          what="changes"
          onMore={() => choose({ changes: String(most + STEP) })}
        />
        {most >= fits.length && total > fits.length ? (
          <p class="today-none faint small">
            {number(total - fits.length)} older ones are left out here. The timeline has all of them.
          </p>
        ) : null}
      </div>
    </Section>
  );
}

function Line({ change }: { change: Change }) {
  const [says, why] = HOW[change.how] ?? [change.how, ""];
  return (
    <li class={`change change-${change.how}`}>
      <span class="change-how" title={why}>
        {says}
      </span>
      <ItemRow item={change.item} excerpt={false} time={false} />
      <time dateTime={change.at} title={exact(change.at)}>
        {clock(change.at)}
      </time>
    </li>
  );
}
