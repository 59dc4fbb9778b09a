/** What stands at one place of the timeline: said while the pointer is there, and kept with its links on a click. */
import { useEffect, useRef } from "preact/hooks";
import { recordHref } from "../../app/router.ts";
import { usePage } from "../../data/use.ts";
import { counted, number } from "../../parts/counted.ts";
import { spanSaid } from "../../parts/charts/time.ts";
import { exact } from "../../parts/times.tsx";
import { type Cell, LANES, sizeOf, type Timed } from "./lanes.ts";
import { type Range, SHORTEST } from "./range.ts";

const SHOWN = 3;
const SHOWN_PINNED = 8;
const WIDE = 320;

type LaneName = (typeof LANES)[number];

/** For whoever listens: what is there, and when. */
export function cellSaid(cell: Cell, lane: LaneName): string {
  const only = sizeOf(cell) === 1 ? cell.marks[0] : undefined;
  if (only) return `${lane.one}, ${exact(only.at)}: ${only.title}`;
  const newest = cell.marks[cell.marks.length - 1];
  const said = `${counted(sizeOf(cell), lane.one, lane.many)}, ${spanSaid(cell.from, cell.to)}`;
  return newest ? `${said}. The newest: ${newest.title}` : said;
}

interface Props {
  cell: Cell;
  lane: LaneName;
  left: number;
  top: number;
  width: number;
  pinned: boolean;
  onZoom: (range: Range) => void;
}

export function Card({ cell, lane, left, top, width, pinned, onZoom }: Props) {
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (pinned) card.current?.querySelector<HTMLElement>("a, button")?.focus({ preventScroll: true });
  }, [pinned]);
  const size = sizeOf(cell);
  const wide = Math.min(WIDE, width - 8);
  const newest = cell.marks.slice(-(pinned ? SHOWN_PINNED : SHOWN)).reverse();
  const more = size - newest.length;
  const place = Math.max(4, Math.min(width - wide - 4, left - wide / 2));
  return (
    <div
      ref={card}
      class={`lane-card lane-${lane.lane}${pinned ? " pinned" : ""}`}
      role={pinned ? "group" : undefined}
      aria-label={pinned ? counted(size, lane.one, lane.many) : undefined}
      aria-hidden={pinned ? undefined : "true"}
      style={{ left: `${place}px`, top: `${top + 26}px`, width: `${wide}px` }}
    >
      <header>
        <b>{size === 1 ? lane.one : counted(size, lane.one, lane.many)}</b>
        <time>{size === 1 && cell.marks[0] ? exact(cell.marks[0].at) : spanSaid(cell.from, cell.to)}</time>
      </header>
      <ul>
        {newest.map((mark, number) => (
          <li key={number}>
            <Line mark={mark} />
          </li>
        ))}
      </ul>
      {more > 0 && newest.length ? <p class="faint">and {number(more)} more</p> : null}
      {pinned && size > 1 && cell.to - cell.from > SHORTEST ? (
        <button onClick={() => onZoom({ from: cell.from, to: cell.to })}>Zoom in</button>
      ) : null}
    </div>
  );
}

/** The title of a mark, as a link where it leads to a record. */
export function Line({ mark }: { mark: Timed }) {
  const { project } = usePage();
  if (mark.ref) return <a href={recordHref(project, mark.ref)}>{mark.title}</a>;
  return (
    <span>
      {mark.commit ? <code>{mark.commit.slice(0, 7)}</code> : null} {mark.title}
    </span>
  );
}
