/** How much on each day, as bars; days go together where there is too little room for each. */
import { useMemo, useState } from "preact/hooks";
import { Legend, type Series, TimeAxis, useWidth, ValueAxis } from "./frame.tsx";
import { number } from "../counted.ts";
import { compact } from "./numbers.ts";
import { barPath, stacked } from "./paths.ts";
import { countTicks, linear } from "./scale.ts";
import { type Bin, binDays, binSaid, DAY, type DayRow, timeTicks } from "./time.ts";

const HEIGHT = 190;
const TOP = 8;
const FOOT = 24;
const LEFT = 48;
const LEAST = 7;
/** Fewer days than this stand as if there were so many: one bar alone is no chart. */
const FEW = 14;

export function BarChart({ days, series, label }: { days: DayRow[]; series: Series[]; label: string }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const [place, setPlace] = useState(-1);
  const drawn = useMemo(() => draw(days, series.length, width), [days, series.length, width]);
  const shown = drawn.bins[place] ?? drawn.whole;
  const moved = (event: PointerEvent) => {
    const left = (event.currentTarget as Element).getBoundingClientRect().left;
    const at = drawn.x.invert(event.clientX - left);
    setPlace(drawn.bins.findIndex((bin) => bin.from <= at && at < bin.to));
  };
  return (
    <div class="chart" ref={box}>
      <Legend series={series} values={shown.values} at={binSaid(shown)} say={number} />
      {width ? (
        <svg
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={label}
          onPointerMove={moved}
          onPointerLeave={() => setPlace(-1)}
        >
          <ValueAxis ticks={drawn.ticks} y={drawn.y} left={LEFT} right={width} say={compact} />
          {place >= 0 ? <path class="lit" d={drawn.columns[place]} /> : null}
          {series.map((one, layer) => (
            <path key={one.name} class="bars" style={{ "--c": `var(--${one.colour})` }} d={drawn.paths[layer]} />
          ))}
          <TimeAxis ticks={drawn.times} x={drawn.x} y={HEIGHT - FOOT} width={width} />
        </svg>
      ) : null}
    </div>
  );
}

function draw(days: DayRow[], layers: number, width: number) {
  const first = Date.parse(days[0]!.day);
  const end = Date.parse(days[days.length - 1]!.day) + DAY;
  const bins = binDays(days, Math.min(first, end - FEW * DAY), end, Math.max(FEW, Math.floor((width - LEFT) / LEAST)));
  const lines = stacked(bins.map((bin) => bin.values));
  const ticks = countTicks(Math.max(...lines[layers]!), 4);
  const from = bins[0]!.from;
  const to = bins[bins.length - 1]!.to;
  const y = linear([0, ticks[ticks.length - 1]!], [HEIGHT - FOOT, TOP]);
  const x = linear([from, to], [LEFT, Math.max(LEFT + 1, width)]);
  const one = x(bins[0]!.to) - x(from);
  const gap = Math.min(6, one * 0.22);
  const paths = Array.from({ length: layers }, (_, layer) =>
    bins.map((bin, number) => {
      if (!bin.values[layer]) return "";
      const upper = y(lines[layer + 1]![number]!);
      const height = Math.max(1, y(lines[layer]![number]!) - upper);
      // Only the uppermost piece of a bar has round corners.
      const round = lines[layer + 1]![number] === lines[layers]![number] ? 3 : 0;
      return barPath(x(bin.from) + gap / 2, upper, one - gap, height, round);
    }),
  );
  const whole: Bin = { from: first, to: end, values: lines.slice(1).map((_, layer) => total(bins, layer)) };
  return {
    x,
    y,
    ticks,
    bins,
    whole,
    paths: paths.map((some) => some.join("")),
    columns: bins.map((bin) => barPath(x(bin.from), TOP, one, HEIGHT - FOOT - TOP, 0)),
    times: timeTicks(from, to, Math.max(2, Math.floor((width - LEFT) / 64))),
  };
}

function total(bins: Bin[], layer: number): number {
  return bins.reduce((sum, bin) => sum + bin.values[layer]!, 0);
}
