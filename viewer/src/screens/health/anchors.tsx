/** Whether what the memory says still holds: now, over time, and what waits longest for a look. */
import { useMemo, useRef } from "preact/hooks";
import { moveInList } from "../../app/keys.ts";
import { href } from "../../app/router.ts";
import type { AnchorHealth, VerdictState } from "../../data/types.ts";
import { usePage, useProjectData } from "../../data/use.ts";
import { AreaChart } from "../../parts/charts/area-chart.tsx";
import { percent } from "../../parts/charts/numbers.ts";
import { number } from "../../parts/counted.ts";
import { StackedBar } from "../../parts/charts/stacked-bar.tsx";
import { dateOf, momentSaid } from "../../parts/charts/time.ts";
import { ItemRow } from "../../parts/items.tsx";
import { OUT_OF_DATE, OutOfDate } from "../../parts/out-of-date.tsx";
import { Answered, Empty } from "../../parts/states.tsx";
import { Ago } from "../../parts/times.tsx";
import { AllOf, FIRST, type PartProps } from "./part.tsx";
import { AsTable } from "./table.tsx";

/** The order in which they are reported, and what each means in a few words. */
const VERDICTS: [VerdictState, string][] = [
  ["fresh", "as last confirmed"],
  ["changed", "code changed"],
  ["moved", "code moved"],
  ["orphaned", "code is gone"],
  ["unverifiable", "cannot be checked"],
  ["unanchored", "without anchors"],
];
const SERIES = [
  { name: "up to date", colour: "fresh" },
  { name: "out of date", colour: "changed" },
];

export function AnchorsPart({ whole }: PartProps) {
  const asked = useProjectData<AnchorHealth>("health/anchors");
  return <Answered asked={asked}>{(data) => <Shown data={data} whole={whole} />}</Answered>;
}

function Shown({ data, whole }: { data: AnchorHealth; whole: boolean }) {
  const { project } = usePage();
  const points = useMemo(
    () =>
      data.series
        .map(({ at, fresh, drifted }) => ({ at: Date.parse(at), values: [fresh, drifted] }))
        .filter(({ at }) => !Number.isNaN(at)),
    [data],
  );
  const total = VERDICTS.reduce((sum, [verdict]) => sum + (data.now[verdict] ?? 0), 0);
  const outOfDate = OUT_OF_DATE.reduce((sum, verdict) => sum + (data.now[verdict] ?? 0), 0);
  if (!total) {
    return (
      <Empty title="No record is compared with the code yet.">
        Records with an anchor are: <code>memory add … --anchor PATH</code> writes one.
      </Empty>
    );
  }
  const last = points[points.length - 1];
  return (
    <div class="pad">
      <ul class="figures" aria-label="Verdicts now">
        {VERDICTS.map(([verdict, says]) => (
          <li key={verdict} style={{ "--c": `var(--${verdict})` }} class={data.now[verdict] ? "" : "zero"}>
            <a href={href(project, "records", "", { verdict })}>
              <b>{number(data.now[verdict] ?? 0)}</b>
              <span>{verdict}</span>
              <small>{says}</small>
            </a>
          </li>
        ))}
      </ul>
      <StackedBar
        label="Verdicts now"
        parts={VERDICTS.map(([verdict]) => ({ name: verdict, value: data.now[verdict] ?? 0, colour: verdict }))}
      />
      {points.length > 1 && last ? (
        <>
          <h3>Over time</h3>
          <AreaChart
            points={points}
            series={SERIES}
            label={
              `Records up to date and out of date from ${dateOf(points[0]!.at)} to ${dateOf(last.at)}: at the end ` +
              `${last.values[0]} up to date, ${last.values[1]} out of date. The same as a table below.`
            }
          />
          <AsTable
            heads={["When", "Up to date", "Out of date", "Share up to date"]}
            rows={points
              .map(({ at, values: [fresh = 0, drifted = 0] }) => [
                momentSaid(at, last.at - points[0]!.at),
                number(fresh),
                number(drifted),
                percent(fresh, fresh + drifted),
              ])
              .reverse()}
          />
        </>
      ) : null}
      <Oldest oldest={data.oldest} total={outOfDate} whole={whole} />
    </div>
  );
}

function Oldest({ oldest, total, whole }: { oldest: AnchorHealth["oldest"]; total: number; whole: boolean }) {
  const list = useRef<HTMLUListElement>(null);
  if (!oldest.length) return <p class="well">No record is out of date.</p>;
  return (
    <>
      <h3>Out of date the longest</h3>
      <ul
        class="rows oldest"
        aria-label="Out of date the longest"
        ref={list}
        onKeyDown={(event) => moveInList(event, list.current!)}
      >
        {(whole ? oldest : oldest.slice(0, FIRST)).map(({ item, at, commit }) => (
          <li key={item.ref}>
            <ItemRow item={item} excerpt={false} time={false} />
            <p class="since">
              went out of date <Ago time={at} /> {commit ? <code>{commit.slice(0, 7)}</code> : null}
            </p>
          </li>
        ))}
      </ul>
      <AllOf part="anchors" total={oldest.length} whole={whole} of={total} />
      {whole && total > oldest.length ? <OutOfDate /> : null}
    </>
  );
}
