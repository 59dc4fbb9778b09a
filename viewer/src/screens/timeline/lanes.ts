/** Lanes and what stands in them: marks with their moments, gathered where they would cover each other. */
import type { Lane, Mark, Timeline } from "../../data/types.ts";
import { DAY } from "../../parts/charts/time.ts";
import type { Range } from "./range.ts";

export const LANES: { lane: Lane; name: string; one: string; many: string }[] = [
  { lane: "session", name: "Sessions", one: "session", many: "sessions" },
  { lane: "decision", name: "Decisions", one: "change of a decision", many: "changes of decisions" },
  { lane: "record", name: "Other records", one: "change of a record", many: "changes of records" },
  { lane: "commit", name: "Commits", one: "commit", many: "commits" },
];
const NONE = "none";
const GUTTER = 104;
const NARROW = 560;

/** Where the picture begins and ends: names stand at its left where there is room for them. */
export function edgesOf(width: number): { left: number; right: number; narrow: boolean } {
  const narrow = width < NARROW;
  const left = narrow ? 6 : GUTTER;
  return { narrow, left, right: Math.max(left + 8, width - 8) };
}

export interface Timed extends Mark {
  time: number;
}

/** What is only known as a number: on that day, so many more than were sent. */
export interface Untold {
  time: number;
  lane: Lane;
  count: number;
}

export interface Told {
  /** The oldest first. */
  marks: Timed[];
  untold: Untold[];
}

/** Marks with their moments, and how many there are that the page was not told of. */
export function toldOf(data: Timeline): Told {
  const marks = data.marks
    .map((mark) => ({ ...mark, time: Date.parse(mark.at) }))
    .filter((mark) => !Number.isNaN(mark.time))
    .sort((a, b) => a.time - b.time);
  const given = new Map<string, number>();
  for (const mark of marks) {
    const key = `${new Date(mark.time).toISOString().slice(0, 10)} ${mark.lane}`;
    given.set(key, (given.get(key) ?? 0) + 1);
  }
  const untold: Untold[] = [];
  for (const { day, counts } of data.days) {
    const noon = Date.parse(day) + DAY / 2;
    for (const [lane, number] of Object.entries(counts) as [Lane, number][]) {
      const count = number - (given.get(`${day} ${lane}`) ?? 0);
      if (count > 0 && !Number.isNaN(noon)) untold.push({ time: noon, lane, count });
    }
  }
  return { marks, untold };
}

/** Which lanes are shown. Where the address names none, all are. */
export function readLanes(query: URLSearchParams): Set<Lane> {
  const asked = query.get("lanes") ?? "";
  const named = new Set(asked.split(","));
  return new Set(LANES.map(({ lane }) => lane).filter((lane) => asked === "" || named.has(lane)));
}

export function writeLanes(lanes: Set<Lane>): string {
  if (lanes.size === LANES.length) return "";
  return LANES.map(({ lane }) => lane).filter((lane) => lanes.has(lane)).join(",") || NONE;
}

export function inRange<T extends { time: number; lane: Lane }>(all: T[], range: Range, lanes: Set<Lane>): T[] {
  return all.filter((one) => one.time >= range.from && one.time < range.to && lanes.has(one.lane));
}

/** Marks of one lane that stand at one place of the picture. */
export interface Cell {
  /** The middle of its place, from the left. */
  x: number;
  from: number;
  to: number;
  marks: Timed[];
  untold: number;
}

/** One lane over a width, in places of one size; those without anything are left out. */
export function cellsOf(told: Told, lane: Lane, range: Range, width: number, size: number): Cell[] {
  const places = Math.max(1, Math.floor(width / size));
  const span = (range.to - range.from) / places;
  const cells = new Map<number, Cell>();
  const at = (time: number): Cell | null => {
    if (time < range.from || time >= range.to) return null;
    const place = Math.min(places - 1, Math.floor((time - range.from) / span));
    const from = range.from + place * span;
    let cell = cells.get(place);
    if (!cell) {
      cell = { x: ((place + 0.5) * width) / places, from, to: from + span, marks: [], untold: 0 };
      cells.set(place, cell);
    }
    return cell;
  };
  for (const mark of told.marks) if (mark.lane === lane) at(mark.time)?.marks.push(mark);
  for (const some of told.untold) {
    const cell = some.lane === lane ? at(some.time) : null;
    if (cell) cell.untold += some.count;
  }
  return [...cells.values()].sort((a, b) => a.x - b.x);
}

export function sizeOf(cell: Cell): number {
  return cell.marks.length + cell.untold;
}
