/** The stretch of time that is looked at: as it stands in the address, moved, made longer or shorter. */
import type { Timeline } from "../../data/types.ts";
import { DAY, HOUR, MINUTE } from "../../parts/charts/time.ts";

export interface Range {
  from: number;
  to: number;
}

export const SHORTEST = HOUR;

/** Whole days in UTC around everything there is. */
export function extentOf(data: Timeline): Range {
  const days = data.days.map((row) => Date.parse(row.day)).filter((at) => !Number.isNaN(at));
  const from = Math.min(...numbers(Date.parse(data.from)), ...days.slice(0, 1));
  const to = Math.max(...numbers(Date.parse(data.to)), ...days.slice(-1));
  if (!Number.isFinite(from) || !Number.isFinite(to)) return { from: 0, to: DAY };
  return { from: Math.floor(from / DAY) * DAY, to: (Math.floor(to / DAY) + 1) * DAY };
}

/** What the address asks for, as far as there is anything; else everything. */
export function readRange(query: URLSearchParams, extent: Range): Range {
  const from = Date.parse(query.get("from") ?? "");
  const to = Date.parse(query.get("to") ?? "");
  const asked = { from: Number.isNaN(from) ? extent.from : from, to: Number.isNaN(to) ? extent.to : to };
  if (asked.to <= asked.from || asked.to <= extent.from || asked.from >= extent.to) return extent;
  return within(asked, extent);
}

/** For the address. An end that is open stays so: what comes later is seen, too. */
export function writeRange(range: Range, extent: Range): { from: string; to: string } {
  return {
    from: range.from <= extent.from ? "" : written(range.from),
    to: range.to >= extent.to ? "" : written(range.to),
  };
}

/** Earlier or later by so much, as far as there is room; as long as before. */
export function moved(range: Range, extent: Range, by: number): Range {
  const step = Math.max(extent.from - range.from, Math.min(by, extent.to - range.to));
  return { from: range.from + step, to: range.to + step };
}

/** Longer or shorter at its end; where its end is the end of everything, longer at its beginning. */
export function resized(range: Range, extent: Range, by: number): Range {
  const atEnd = range.to >= extent.to;
  if (atEnd && by > 0) return within({ from: range.from - by, to: range.to }, extent);
  if (atEnd) return within({ from: Math.min(range.from - by, range.to - SHORTEST), to: range.to }, extent);
  return within({ from: range.from, to: Math.max(range.to + by, range.from + SHORTEST) }, extent);
}

/** The last so many days that there is anything of. */
export function lastDays(extent: Range, days: number): Range {
  return within({ from: extent.to - days * DAY, to: extent.to }, extent);
}

export function isWhole(range: Range, extent: Range): boolean {
  return range.from <= extent.from && range.to >= extent.to;
}

/** Inside of everything, and never so short that nothing can be seen. */
export function within(range: Range, extent: Range): Range {
  const short = Math.min(SHORTEST, extent.to - extent.from);
  const from = Math.max(extent.from, Math.min(range.from, extent.to - short));
  return { from, to: Math.min(extent.to, Math.max(range.to, from + short)) };
}

/** To the minute, in UTC; midnight is the day alone. */
function written(at: number): string {
  const text = new Date(Math.round(at / MINUTE) * MINUTE).toISOString().slice(0, 16);
  return text.endsWith("T00:00") ? text.slice(0, 10) : `${text}Z`;
}

function numbers(value: number): number[] {
  return Number.isNaN(value) ? [] : [value];
}
