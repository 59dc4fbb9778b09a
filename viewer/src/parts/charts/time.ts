/** Time on an axis: ticks from minutes to decades, and days put together where there are too many of them. */

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export interface Tick {
  at: number;
  label: string;
  /** Whether a longer stretch begins here: a day among hours, a year among months. */
  strong: boolean;
}

type Unit = "minute" | "hour" | "day" | "month" | "year";
const STEPS: [Unit, number, number][] = [
  ["minute", 1, MINUTE],
  ["minute", 5, 5 * MINUTE],
  ["minute", 15, 15 * MINUTE],
  ["minute", 30, 30 * MINUTE],
  ["hour", 1, HOUR],
  ["hour", 3, 3 * HOUR],
  ["hour", 6, 6 * HOUR],
  ["hour", 12, 12 * HOUR],
  ["day", 1, DAY],
  ["day", 2, 2 * DAY],
  ["day", 7, 7 * DAY],
  ["day", 14, 14 * DAY],
  ["month", 1, 30.4 * DAY],
  ["month", 2, 60.9 * DAY],
  ["month", 3, 91.3 * DAY],
  ["month", 4, 121.7 * DAY],
  ["month", 6, 182.6 * DAY],
  ["year", 1, 365.25 * DAY],
  ["year", 2, 730.5 * DAY],
  ["year", 5, 1826 * DAY],
  ["year", 10, 3652 * DAY],
  ["year", 20, 7305 * DAY],
  ["year", 50, 18262 * DAY],
  ["year", 200, 73050 * DAY],
];
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const FULL = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const LONG = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const MONTH = new Intl.DateTimeFormat("en-GB", { month: "short" });
const UTC_FULL = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

export const clock = (at: number) => CLOCK.format(at);
export const dateOf = (at: number) => FULL.format(at);
export const longDate = (at: number) => LONG.format(at);
/** The day itself, wherever one is: `2026-11-16` is 16 Nov 2026. */
export const utcDate = (at: number) => UTC_FULL.format(at);

/** The local day that a moment is in, such as 2026-11-16. */
export function localDay(at: number): string {
  const date = new Date(at);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** A stretch of time in words; hours only where it is short. Its end is not in it: midnight is the day before. */
export function spanSaid(from: number, to: number): string {
  if (to - from > 2 * DAY) return `${dateOf(from)} to ${dateOf(to - 1)}`;
  return `${DATE.format(from)}, ${clock(from)} to ${DATE.format(to)}, ${clock(to)}`;
}

/** A moment among others: with its hour where all of them are within a few days. */
export function momentSaid(at: number, span: number): string {
  return span > 4 * DAY ? dateOf(at) : `${DATE.format(at)}, ${clock(at)}`;
}

/** At most about so many ticks, at moments of the local calendar. */
export function timeTicks(from: number, to: number, most: number): Tick[] {
  if (!(to > from) || most < 1) return [];
  const wanted = (to - from) / most;
  const [unit, step] = STEPS.find(([, , size]) => size >= wanted) ?? STEPS[STEPS.length - 1]!;
  const ticks: Tick[] = [];
  let at = begin(from, unit, step);
  for (let turn = 0; at <= to && turn < 400; turn++) {
    if (at >= from) ticks.push(tick(at, unit));
    const next = after(at, unit, step);
    if (next <= at) break;
    at = next;
  }
  return ticks;
}

function begin(from: number, unit: Unit, step: number): number {
  const date = new Date(from);
  date.setSeconds(0, 0);
  if (unit === "minute") return date.setMinutes(Math.floor(date.getMinutes() / step) * step);
  date.setMinutes(0);
  if (unit === "hour") return date.setHours(Math.floor(date.getHours() / step) * step);
  date.setHours(0);
  if (unit === "day") {
    // Weeks begin on a Monday; every second day counts from the first of the month.
    if (step >= 7) return date.setDate(date.getDate() - ((date.getDay() + 6) % 7));
    return date.setDate(date.getDate() - ((date.getDate() - 1) % step));
  }
  date.setDate(1);
  if (unit === "month") return date.setMonth(Math.floor(date.getMonth() / step) * step);
  date.setMonth(0);
  return date.setFullYear(Math.floor(date.getFullYear() / step) * step);
}

/** By the calendar: a day has 23 hours now and then, and February is short. */
function after(at: number, unit: Unit, step: number): number {
  const date = new Date(at);
  if (unit === "minute") return at + step * MINUTE;
  if (unit === "hour") {
    const next = at + step * HOUR;
    const shift = date.getTimezoneOffset() - new Date(next).getTimezoneOffset();
    return step > 1 ? next - shift * MINUTE : next;
  }
  if (unit === "day" && step === 2) {
    date.setDate(date.getDate() + 2);
    // The last day of a month would stand right beside the first of the next.
    if (date.getDate() === 31 || date.getDate() === 2) date.setDate(date.getDate() === 31 ? 32 : 1);
    return date.getTime();
  }
  if (unit === "day") return date.setDate(date.getDate() + step);
  if (unit === "month") return date.setMonth(date.getMonth() + step);
  return date.setFullYear(date.getFullYear() + step);
}

function tick(at: number, unit: Unit): Tick {
  const date = new Date(at);
  const newYear = date.getMonth() === 0 && date.getDate() === 1;
  if (unit === "minute" || unit === "hour") {
    const strong = date.getHours() === 0 && date.getMinutes() === 0;
    return { at, strong, label: strong ? DATE.format(at) : CLOCK.format(at) };
  }
  const year = String(date.getFullYear());
  if (unit === "day") return { at, strong: date.getDate() === 1, label: newYear ? year : DATE.format(at) };
  if (unit === "month") return { at, strong: newYear, label: newYear ? year : MONTH.format(at) };
  return { at, strong: date.getFullYear() % 10 === 0, label: year };
}

export interface DayRow {
  /** Such as 2026-11-16, in UTC. */
  day: string;
  values: number[];
}

export interface Bin {
  from: number;
  to: number;
  values: number[];
}

const BINS = [1, 2, 7, 14, 28, 91, 182, 364, 728, 1820, 3640, 18200, 73000];

/** Days in UTC as at most so many bins of one size, the empty ones too. */
export function binDays(rows: DayRow[], from: number, to: number, most: number): Bin[] {
  const width = rows[0]?.values.length ?? 0;
  const first = Math.floor(from / DAY);
  const last = Math.max(first, Math.ceil(to / DAY) - 1);
  const step = BINS.find((size) => (last - first) / size + 1 <= most) ?? BINS[BINS.length - 1]!;
  // The first day of all time was a Thursday; weeks begin on a Monday.
  const place = (day: number) => Math.floor((day - 4) / step);
  const base = place(first);
  const bins = Array.from({ length: place(last) - base + 1 }, (_, number): Bin => {
    const day = (base + number) * step + 4;
    return { from: day * DAY, to: (day + step) * DAY, values: Array<number>(width).fill(0) };
  });
  for (const row of rows) {
    const bin = bins[place(Math.floor(Date.parse(row.day) / DAY)) - base];
    if (bin) row.values.forEach((value, number) => (bin.values[number]! += value));
  }
  return bins;
}

/** What a bin of days is called. */
export function binSaid(bin: Bin): string {
  const days = Math.round((bin.to - bin.from) / DAY);
  return days === 1 ? utcDate(bin.from) : `${utcDate(bin.from)} to ${utcDate(bin.to - DAY)}`;
}
