/** Layers over time, one upon the other; what stands at the pointer is said above. */
import { useMemo, useState } from "preact/hooks";
import { Legend, type Series, TimeAxis, useWidth, ValueAxis } from "./frame.tsx";
import { number } from "../counted.ts";
import { compact } from "./numbers.ts";
import { areaPath, linePath, stacked } from "./paths.ts";
import { countTicks, linear, nearest } from "./scale.ts";
import { momentSaid, timeTicks } from "./time.ts";

export interface Point {
  at: number;
  values: number[];
}

const HEIGHT = 200;
const TOP = 8;
const FOOT = 24;
const LEFT = 44;

export function AreaChart({ points, series, label }: { points: Point[]; series: Series[]; label: string }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const [place, setPlace] = useState(-1);
  const drawn = useMemo(() => draw(points, width), [points, width]);
  const shown = points[place] ?? points[points.length - 1]!;
  const span = points[points.length - 1]!.at - points[0]!.at;
  const x = drawn.xs[place];
  const moved = (event: PointerEvent) => {
    const left = (event.currentTarget as Element).getBoundingClientRect().left;
    setPlace(nearest(drawn.xs, event.clientX - left));
  };
  return (
    <div class="chart" ref={box}>
      <Legend series={series} values={shown.values} at={momentSaid(shown.at, span)} say={number} />
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
          {series
            .map((one, layer) => (
              <g key={one.name} style={{ "--c": `var(--${one.colour})` }}>
                <path class="area" d={areaPath(drawn.xs, drawn.lines[layer]!, drawn.lines[layer + 1]!)} />
                <path class="edge" d={linePath(drawn.xs, drawn.lines[layer + 1]!)} />
              </g>
            ))
            // The lowest comes last: where nothing lies upon it, its own edge is seen.
            .reverse()}
          {x === undefined ? null : <line class="cursor" x1={x} x2={x} y1={TOP} y2={HEIGHT - FOOT} />}
          <TimeAxis ticks={drawn.times} x={drawn.x} y={HEIGHT - FOOT} width={width} />
        </svg>
      ) : null}
    </div>
  );
}

function draw(points: Point[], width: number) {
  const from = points[0]!.at;
  const to = points[points.length - 1]!.at;
  const lines = stacked(points.map((point) => point.values));
  const ticks = countTicks(Math.max(...lines[lines.length - 1]!), 4);
  const y = linear([0, ticks[ticks.length - 1]!], [HEIGHT - FOOT, TOP]);
  const x = linear([from, to], [LEFT, Math.max(LEFT + 1, width - 6)]);
  return {
    x,
    y,
    ticks,
    xs: points.map((point) => x(point.at)),
    lines: lines.map((line) => line.map(y)),
    times: timeTicks(from, to, Math.max(2, Math.floor((width - LEFT) / 64))),
  };
}
