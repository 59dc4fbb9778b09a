/** Everything at once, day by day, and the stretch of it that is looked at: dragged, or moved by keys. */
import { useMemo, useRef } from "preact/hooks";
import { TimeAxis, useWidth } from "../../parts/charts/frame.tsx";
import { barPath } from "../../parts/charts/paths.ts";
import { linear } from "../../parts/charts/scale.ts";
import { type Bin, binDays, DAY, type DayRow, HOUR, spanSaid, timeTicks } from "../../parts/charts/time.ts";
import { edgesOf } from "./lanes.ts";
import { moved, type Range, resized, SHORTEST, within } from "./range.ts";

const HEIGHT = 52;
const FOOT = 22;
const GRIP = 9;
/** So many days are shown by the hour. */
const FEW = 14;
/** A drag shorter than this is a click: it carries the stretch there. */
const CLICK = 4;

interface Props {
  days: DayRow[];
  /** The moments of everything, where they are all known: a few days are shown by the hour. */
  times: number[] | null;
  extent: Range;
  range: Range;
  said: string;
  /** While it is dragged. */
  onMove: (range: Range) => void;
  /** When it stays. */
  onChoose: (range: Range) => void;
}

interface Drag {
  what: "move" | "from" | "to" | "new";
  start: number;
  range: Range;
}

export function Brush({ days, times, extent, range, said, onMove, onChoose }: Props) {
  const [box, width] = useWidth<HTMLDivElement>();
  const drag = useRef<Drag | null>(null);
  const latest = useRef(range);
  latest.current = range;
  const { left, right, narrow } = edgesOf(width);
  const x = linear([extent.from, extent.to], [left, right]);
  const bars = useMemo(
    () => draw(binned(days, times, extent, right - left), extent, left, right),
    [days, times, extent, left, right],
  );

  const placeOf = (event: PointerEvent) => event.clientX - box.current!.getBoundingClientRect().left;
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const place = placeOf(event);
    const [from, to] = [x(range.from), x(range.to)];
    const near = (edge: number) => Math.abs(place - edge) <= GRIP;
    // Where both ends are near, the one that lies on that side.
    const what = near(to) && (!near(from) || place >= (from + to) / 2) ? "to" : near(from) ? "from" : "";
    const inside = place > from && place < to && to - from < right - left - 2;
    drag.current = { what: what || (inside ? "move" : "new"), start: place, range };
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
  };
  const dragged = (event: PointerEvent) => {
    const held = drag.current;
    if (!held) return;
    const place = placeOf(event);
    const by = x.invert(place) - x.invert(held.start);
    const { from, to } = held.range;
    if (held.what === "move") onMove(moved(held.range, extent, by));
    else if (held.what === "from") onMove(within({ from: Math.min(from + by, to - SHORTEST), to }, extent));
    else if (held.what === "to") onMove(within({ from, to: to + by }, extent));
    else if (Math.abs(place - held.start) > CLICK) {
      const ends = [x.invert(held.start), x.invert(place)];
      onMove(within({ from: Math.min(...ends), to: Math.max(...ends) }, extent));
    }
  };
  const up = (event: PointerEvent) => {
    const held = drag.current;
    drag.current = null;
    if (!held) return;
    const place = placeOf(event);
    if (held.what === "new" && Math.abs(place - held.start) <= CLICK) {
      const middle = (held.range.from + held.range.to) / 2;
      return onChoose(moved(held.range, extent, x.invert(place) - middle));
    }
    onChoose(latest.current);
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = byKey(event, range, extent);
    if (!next) return;
    event.preventDefault();
    onChoose(next);
  };

  const [from, to] = [x(range.from), x(range.to)];
  return (
    <div
      class="brush"
      ref={box}
      role="slider"
      tabIndex={0}
      aria-label="Range"
      aria-orientation="horizontal"
      aria-valuemin={Math.round(extent.from / DAY)}
      aria-valuemax={Math.round(extent.to / DAY)}
      aria-valuenow={Math.round(range.from / DAY)}
      aria-valuetext={`${spanSaid(range.from, range.to)}: ${said}`}
      title="Drag to choose a range. Arrow keys move it, with Shift they resize it."
      onPointerDown={down}
      onPointerMove={dragged}
      onPointerUp={up}
      onPointerCancel={() => (drag.current = null)}
      onDblClick={() => onChoose(extent)}
      onKeyDown={pressed}
    >
      {width ? (
        <svg width={width} height={HEIGHT + FOOT} aria-hidden="true">
          <rect class="chosen" x={from} y={0} width={Math.max(1, to - from)} height={HEIGHT} />
          <path class="days" d={bars} />
          <rect class="shade" x={left} y={0} width={Math.max(0, from - left)} height={HEIGHT} />
          <rect class="shade" x={to} y={0} width={Math.max(0, right - to)} height={HEIGHT} />
          {narrow ? null : (
            <text x={0} y={HEIGHT / 2 + 4}>
              All days
            </text>
          )}
          {[from, to].map((edge, number) => (
            <g key={number} class="grip">
              <line x1={edge} x2={edge} y1={0} y2={HEIGHT} />
              <rect x={edge - 3} y={HEIGHT / 2 - 9} width={6} height={18} rx={3} />
            </g>
          ))}
          <TimeAxis
            ticks={timeTicks(extent.from, extent.to, Math.max(2, Math.floor((right - left) / 72)))}
            x={x}
            y={HEIGHT}
            width={width}
          />
        </svg>
      ) : null}
    </div>
  );
}

function binned(days: DayRow[], times: number[] | null, extent: Range, width: number): Bin[] {
  if (!times || extent.to - extent.from > FEW * DAY) {
    return binDays(days, extent.from, extent.to, Math.max(1, Math.floor(width / 3)));
  }
  const step = Math.max(HOUR, (extent.to - extent.from) / Math.max(1, Math.floor(width / 6)));
  const bins: Bin[] = [];
  for (let from = extent.from; from < extent.to; from += step) bins.push({ from, to: from + step, values: [0] });
  for (const time of times) bins[Math.floor((time - extent.from) / step)]!.values[0]!++;
  return bins;
}

/** The roots of the numbers: one busy day does not flatten a quiet year. */
function draw(bins: Bin[], extent: Range, left: number, right: number): string {
  const x = linear([extent.from, extent.to], [left, right]);
  const most = Math.max(1, ...bins.map((bin) => bin.values[0] ?? 0));
  const y = linear([0, Math.sqrt(most)], [0, HEIGHT - 8]);
  return bins
    .map((bin) => {
      const tall = bin.values[0] ? Math.max(2, y(Math.sqrt(bin.values[0]))) : 0;
      // Bins of weeks may reach over both ends.
      const [from, to] = [Math.max(x(bin.from), left), Math.min(x(bin.to), right)];
      return tall ? barPath(from + 0.5, HEIGHT - tall, Math.max(1, to - from - 1), tall, 1.5) : "";
    })
    .join("");
}

function byKey(event: KeyboardEvent, range: Range, extent: Range): Range | null {
  const span = range.to - range.from;
  const forward = event.key === "ArrowRight" || event.key === "ArrowUp";
  const arrow = forward || event.key === "ArrowLeft" || event.key === "ArrowDown";
  const by = (forward ? 1 : -1) * Math.max(SHORTEST, span >= 10 * DAY ? Math.round(span / 10 / DAY) * DAY : span / 10);
  if (arrow && event.shiftKey) return resized(range, extent, by);
  if (arrow) return moved(range, extent, by);
  if (event.key === "PageUp") return moved(range, extent, span);
  if (event.key === "PageDown") return moved(range, extent, -span);
  if (event.key === "Home") return moved(range, extent, extent.from - range.from);
  if (event.key === "End") return moved(range, extent, extent.to - range.to);
  return null;
}
