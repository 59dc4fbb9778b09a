/** Lanes over time. Few marks are dots, one above the other; in a crowded lane they are bars, the taller the more. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { navigate, recordHref } from "../../app/router.ts";
import type { Lane } from "../../data/types.ts";
import { usePage } from "../../data/use.ts";
import { TimeAxis, useWidth } from "../../parts/charts/frame.tsx";
import { counted } from "../../parts/counted.ts";
import { capsulePath, dotPath } from "../../parts/charts/paths.ts";
import { linear, nearest } from "../../parts/charts/scale.ts";
import { timeTicks } from "../../parts/charts/time.ts";
import { Card, cellSaid } from "./card.tsx";
import { type Cell, cellsOf, edgesOf, LANES, sizeOf, type Told } from "./lanes.ts";
import type { Range } from "./range.ts";

const ROW = 42;
/** Where there is no room beside a lane for its name, it stands above. */
const NAME = 15;
const FOOT = 24;
const RADIUS = 3;
const PLACE = 8;
/** So many dots stand one above the other; a lane with more at any place shows bars. */
const STACK = 5;
const STEP = 2 * RADIUS + 1;
const TALLEST = (STACK - 1) * STEP + 2 * RADIUS;
const REACH = 12;

interface Spot {
  row: number;
  place: number;
}

interface Props {
  told: Told;
  lanes: Set<Lane>;
  range: Range;
  label: string;
  onZoom: (range: Range) => void;
}

export function Plot({ told, lanes, range, label, onZoom }: Props) {
  const { project } = usePage();
  const [box, width] = useWidth<HTMLDivElement>();
  const [spot, setSpot] = useState<Spot | null>(null);
  const [pinned, setPinned] = useState(false);
  const [byKey, setByKey] = useState(false);
  const picture = useRef<SVGSVGElement>(null);

  const rows = LANES.filter(({ lane }) => lanes.has(lane));
  const { left, right, narrow } = edgesOf(width);
  const key = rows.map(({ lane }) => lane).join();
  const cells = useMemo(
    () => rows.map(({ lane }) => cellsOf(told, lane, range, right - left, PLACE)),
    [told, key, range.from, range.to, left, right],
  );
  const rowHeight = narrow ? ROW + NAME : ROW;
  const middle = (row: number) => (row + 1) * rowHeight - ROW / 2;
  const drawn = useMemo(() => cells.map((some, row) => drawRow(some, left, middle(row))), [cells, left, rowHeight]);
  useEffect(() => {
    setSpot(null);
    setPinned(false);
  }, [cells]);

  const found = spot ? cells[spot.row]?.[spot.place] : undefined;
  const height = rows.length * rowHeight + FOOT;
  const x = linear([range.from, range.to], [left, right]);

  const at = (event: PointerEvent | MouseEvent): Spot | null => {
    const edge = picture.current!.getBoundingClientRect();
    const row = Math.floor((event.clientY - edge.top) / rowHeight);
    const some = cells[row];
    const across = event.clientX - edge.left - left;
    const place = some ? nearest(some.map((cell) => cell.x), across) : -1;
    return place >= 0 && Math.abs(some![place]!.x - across) <= REACH ? { row, place } : null;
  };
  const open = (where: Spot | null) => {
    const cell = where ? cells[where.row]?.[where.place] : undefined;
    if (!cell) return setPinned(false);
    const only = sizeOf(cell) === 1 ? cell.marks[0] : undefined;
    if (only?.ref) return navigate(recordHref(project, only.ref));
    setSpot(where);
    setPinned(true);
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget && event.key !== "Escape") return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = step(event.key, spot, cells);
    if (next) {
      setPinned(false);
      setByKey(true);
      setSpot(next);
    } else if (event.key === "Enter" && spot) open(spot);
    else if (event.key === "Escape" && spot) {
      if (!pinned) setSpot(null);
      setPinned(false);
      (event.currentTarget as HTMLElement).focus();
    } else return;
    event.preventDefault();
  };

  return (
    <div
      class="lanes-plot"
      ref={box}
      role="application"
      aria-roledescription="timeline"
      aria-label={label}
      tabIndex={0}
      onKeyDown={pressed}
      onPointerLeave={() => !pinned && !byKey && setSpot(null)}
    >
      {width ? (
        <svg
          ref={picture}
          width={width}
          height={height}
          aria-hidden="true"
          class={found ? "found" : ""}
          onPointerMove={(event) => {
            if (pinned) return;
            setByKey(false);
            setSpot(at(event));
          }}
          onClick={(event) => open(at(event))}
        >
          <TimeAxis
            ticks={timeTicks(range.from, range.to, Math.max(2, Math.floor((right - left) / 72)))}
            x={x}
            y={rows.length * rowHeight}
            width={width}
            grid={0}
          />
          {rows.map(({ lane, name }, row) => (
            <g key={lane} class={`lane lane-${lane}`}>
              {row ? <line class="rule" x1={0} x2={width} y1={row * rowHeight} y2={row * rowHeight} /> : null}
              <text x={0} y={narrow ? row * rowHeight + 14 : middle(row) + 4} class={narrow ? "above" : ""}>
                {name}
              </text>
              <path class="some" d={drawn[row]!.told} />
              <path class="untold" d={drawn[row]!.untold} />
            </g>
          ))}
          {found && spot ? <path class="ring" d={ring(found, cells[spot.row]!, left, middle(spot.row))} /> : null}
        </svg>
      ) : null}
      {found && spot ? (
        <Card
          cell={found}
          lane={rows[spot.row]!}
          left={left + found.x}
          top={middle(spot.row)}
          width={width}
          pinned={pinned}
          onZoom={onZoom}
        />
      ) : null}
      <span class="visually-hidden" aria-live="polite">
        {byKey && found && spot ? cellSaid(found, rows[spot.row]!) : ""}
      </span>
      {rows.length ? null : <p class="faint">Nothing is selected above.</p>}
      <p class="visually-hidden">
        Arrow keys move among {counted(cells.reduce((sum, some) => sum + some.length, 0), "mark")}; Enter opens.
      </p>
    </div>
  );
}

/** How tall the mark of a cell is. The roots of the numbers: one busy day does not flatten the others. */
function tallOf(cell: Cell, most: number): number {
  const size = sizeOf(cell);
  if (most <= STACK) return (size - 1) * STEP + 2 * RADIUS;
  return 2 * RADIUS + (TALLEST - 2 * RADIUS) * Math.sqrt((size - 1) / (most - 1));
}

function mostOf(cells: Cell[]): number {
  return cells.reduce((most, cell) => Math.max(most, sizeOf(cell)), 0);
}

/** A whole lane as two paths: what is known mark by mark, and what is only counted. */
function drawRow(cells: Cell[], left: number, y: number): { told: string; untold: string } {
  const most = mostOf(cells);
  let told = "";
  let untold = "";
  for (const cell of cells) {
    const x = left + cell.x;
    const size = sizeOf(cell);
    const tall = tallOf(cell, most);
    if (cell.untold) untold += capsulePath(x, y, RADIUS - 0.5, tall - 1);
    else if (most > STACK) told += capsulePath(x, y, RADIUS, tall);
    else for (let dot = 0; dot < size; dot++) told += dotPath(x, y + (dot - (size - 1) / 2) * STEP, RADIUS);
  }
  return { told, untold };
}

function ring(cell: Cell, cells: Cell[], left: number, y: number): string {
  return capsulePath(left + cell.x, y, RADIUS + 3, tallOf(cell, mostOf(cells)) + 6);
}

/** Where a key leads: along the lane, or to the nearest mark of the lane above or below that has any. */
function step(key: string, spot: Spot | null, cells: Cell[][]): Spot | null {
  const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[key];
  if (!by && key !== "Home" && key !== "End") return null;
  const first = cells.findLastIndex((some) => some.length);
  if (first < 0) return null;
  if (!spot) return { row: first, place: cells[first]!.length - 1 };
  const last = cells[spot.row]!.length - 1;
  if (!by) return { row: spot.row, place: key === "Home" ? 0 : last };
  if (by[1]) return { row: spot.row, place: Math.max(0, Math.min(last, spot.place + by[1])) };
  const x = cells[spot.row]![spot.place]!.x;
  for (let row = spot.row + by[0]!; row >= 0 && row < cells.length; row += by[0]!) {
    const some = cells[row]!;
    if (some.length) return { row, place: nearest(some.map((cell) => cell.x), x) };
  }
  return spot;
}
