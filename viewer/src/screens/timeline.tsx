/** The timeline: when what happened, lane by lane, over any stretch of time. */
import { useMemo, useState } from "preact/hooks";
import { choose, type Route } from "../app/router.ts";
import type { Lane, Timeline } from "../data/types.ts";
import { useProjectData } from "../data/use.ts";
import { counted, number } from "../parts/counted.ts";
import { spanSaid, utcDate } from "../parts/charts/time.ts";
import { Answered, Empty } from "../parts/states.tsx";
import { Brush } from "./timeline/brush.tsx";
import { Happened } from "./timeline/happened.tsx";
import { inRange, LANES, readLanes, toldOf, writeLanes } from "./timeline/lanes.ts";
import { Plot } from "./timeline/plot.tsx";
import { extentOf, isWhole, lastDays, type Range, readRange, writeRange } from "./timeline/range.ts";

const SPANS: [string, number][] = [
  ["1 week", 7],
  ["1 month", 30],
  ["3 months", 91],
];

export function TimelineScreen({ route }: { route: Route }) {
  const asked = useProjectData<Timeline>("timeline");
  const { data } = asked;
  const some = !!data && (data.days.length > 0 || data.marks.length > 0);
  return (
    <>
      {some ? null : (
        <div class="screen-head">
          <h1>Timeline</h1>
        </div>
      )}
      <Answered asked={asked}>{(found) => (some ? <Shown data={found} route={route} /> : <Nothing />)}</Answered>
    </>
  );
}

function Nothing() {
  return (
    <Empty title="No activity yet.">
      Commits, sessions, and what became of each record appear here. <code>memory add</code> writes the first record.
    </Empty>
  );
}

function Shown({ data, route }: { data: Timeline; route: Route }) {
  const [draft, setDraft] = useState<Range | null>(null);
  const told = useMemo(() => toldOf(data), [data]);
  const extent = useMemo(() => extentOf(data), [data]);
  const asked = route.query.toString();
  // Lanes without anything take no room.
  const lanes = useMemo(() => {
    const chosen = readLanes(route.query);
    return new Set(data.lanes.filter(({ lane, total }) => total && chosen.has(lane)).map(({ lane }) => lane));
  }, [asked, data]);
  const range = draft ?? readRange(route.query, extent);
  const { from, to } = range;
  const marks = useMemo(() => inRange(told.marks, { from, to }, lanes), [told, from, to, lanes]);
  const untold = useMemo(
    () => inRange(told.untold, { from, to }, lanes).reduce((sum, some) => sum + some.count, 0),
    [told, from, to, lanes],
  );
  const days = useMemo(
    () =>
      data.days.map(({ day, counts }) => ({
        day,
        values: [[...lanes].reduce((sum, lane) => sum + (counts[lane] ?? 0), 0)],
      })),
    [data, lanes],
  );
  const times = useMemo(
    () => (told.untold.length ? null : inRange(told.marks, extent, lanes).map((mark) => mark.time)),
    [told, extent, lanes],
  );
  const said = counted(marks.length + untold, "mark");
  const go = (next: Range) => {
    setDraft(null);
    choose(writeRange(next, extent));
  };
  return (
    <>
      <div class="screen-head">
        <h1>Timeline</h1>
        <p>{[...new Set([utcDate(extent.from), utcDate(extent.to - 1)])].join(" to ")}</p>
        <div class="right chips spans" role="group" aria-label="Length of the range">
          {SPANS.map(([name, length]) => {
            const span = lastDays(extent, length);
            const is = range.from === span.from && range.to === span.to && !isWhole(range, extent);
            return (
              <button
                key={name}
                class="chip"
                aria-pressed={is}
                disabled={isWhole(span, extent)}
                onClick={() => go(span)}
              >
                {name}
              </button>
            );
          })}
          <button class="chip" aria-pressed={isWhole(range, extent)} onClick={() => go(extent)}>
            All
          </button>
        </div>
      </div>
      <div class="chips lane-chips" role="group" aria-label="Lanes">
        {data.lanes.map(({ lane, total }) => (
          <LaneChip key={lane} lane={lane} total={total} chosen={readLanes(route.query)} />
        ))}
      </div>
      <section class="sheet timeline-sheet" aria-label="Lanes over time">
        <Plot
          told={told}
          lanes={lanes}
          range={range}
          label={`${said} from ${spanSaid(from, to)}. The same as a list below.`}
          onZoom={go}
        />
        <Brush days={days} times={times} extent={extent} range={range} said={said} onMove={setDraft} onChoose={go} />
      </section>
      <section aria-labelledby="happened">
        <header class="happened-head">
          <h2 id="happened">{isWhole(range, extent) ? "Everything" : spanSaid(from, to)}</h2>
          <span class="count" role="status">
            {number(marks.length + untold)}
          </span>
        </header>
        {data.cut && !told.untold.length ? (
          <p class="faint small">Only the newest commits are counted here; git has the older ones.</p>
        ) : null}
        <Happened marks={marks} untold={untold} />
      </section>
    </>
  );
}

function LaneChip({ lane, total, chosen }: { lane: Lane; total: number; chosen: Set<Lane> }) {
  const toggle = () => {
    const next = new Set(chosen);
    if (!next.delete(lane)) next.add(lane);
    choose({ lanes: writeLanes(next) });
  };
  return (
    <button
      class={`chip lane-chip lane-${lane}`}
      aria-pressed={total > 0 && chosen.has(lane)}
      disabled={!total}
      onClick={toggle}
    >
      {LANES.find((one) => one.lane === lane)?.name ?? lane} <span class="count">{number(total)}</span>
    </button>
  );
}
