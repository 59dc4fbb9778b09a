/** Scales, ticks, bins and paths of the charts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, compact, percent } from "../src/parts/charts/numbers.ts";
import { counted } from "../src/parts/counted.ts";
import { areaPath, barPath, capsulePath, dotPath, linePath, stacked } from "../src/parts/charts/paths.ts";
import { countTicks, linear, nearest, niceStep } from "../src/parts/charts/scale.ts";

// The zone counts from the moment that the module is read.
process.env.TZ = "Europe/Berlin";
const { binDays, binSaid, DAY, HOUR, localDay, MINUTE, timeTicks } = await import("../src/parts/charts/time.ts");

test("a straight scale goes there and back", () => {
  const scale = linear([10, 20], [0, 100]);
  assert.equal(scale(15), 50);
  assert.equal(scale.invert(50), 15);
  const down = linear([0, 4], [200, 0]);
  assert.equal(down(1), 150);
  assert.equal(down.invert(150), 1);
});

test("a domain without width lands in the middle", () => {
  const scale = linear([5, 5], [0, 100]);
  assert.equal(scale(5), 50);
  assert.equal(scale.invert(70), 5);
});

test("steps are 1, 2 or 5 times a power of ten", () => {
  assert.equal(niceStep(10, 5), 2);
  assert.equal(niceStep(100, 4), 20);
  assert.equal(niceStep(0.9, 4), 0.2);
  assert.equal(niceStep(3, 5, true), 1);
  assert.equal(niceStep(0, 5), 1);
  assert.equal(niceStep(Number.NaN, 5), 1);
});

test("ticks begin at zero and reach over the highest value", () => {
  assert.deepEqual(countTicks(0), [0, 1]);
  assert.deepEqual(countTicks(1), [0, 1]);
  assert.deepEqual(countTicks(3), [0, 1, 2, 3]);
  for (const high of [1, 7, 13, 99, 100, 101, 4_999, 123_456]) {
    const ticks = countTicks(high);
    assert.ok(ticks[ticks.length - 1]! >= high, `${high}`);
    assert.ok(ticks.length >= 2 && ticks.length <= 8, `${high}: ${ticks}`);
    assert.ok(ticks.every(Number.isInteger));
  }
});

test("the nearest place is found, also outside and between", () => {
  assert.equal(nearest([], 3), -1);
  assert.equal(nearest([5], 100), 0);
  assert.equal(nearest([0, 10, 20], 4), 0);
  assert.equal(nearest([0, 10, 20], 6), 1);
  assert.equal(nearest([0, 10, 20], 5), 0);
  assert.equal(nearest([0, 10, 20], 99), 2);
  assert.equal(nearest([0, 10, 20], -9), 0);
});

test("time ticks fit the stretch, from minutes to decades", () => {
  const from = Date.parse("2026-03-04T10:12:00Z");
  for (const span of [10 * MINUTE, HOUR, 9 * HOUR, DAY, 9 * DAY, 60 * DAY, 400 * DAY, 4_000 * DAY, 40_000 * DAY]) {
    for (const most of [2, 5, 12]) {
      const ticks = timeTicks(from, from + span, most);
      assert.ok(ticks.length <= most + 2, `${span / DAY} days, ${most}: ${ticks.length}`);
      assert.ok(ticks.every((tick) => tick.at >= from && tick.at <= from + span));
      assert.ok(ticks.every((tick, number) => !number || tick.at > ticks[number - 1]!.at));
    }
  }
  assert.deepEqual(timeTicks(from, from, 5), []);
  assert.deepEqual(timeTicks(from, Number.NaN, 5), []);
});

test("ticks of hours name the day at midnight, those of months the year in January", () => {
  const hours = timeTicks(Date.parse("2026-03-04T12:00:00Z"), Date.parse("2026-03-05T12:00:00Z"), 8);
  assert.deepEqual(hours.filter((tick) => tick.strong).map((tick) => tick.label), ["5 Mar"]);
  assert.ok(hours.some((tick) => tick.label === "06:00"));
  const months = timeTicks(Date.parse("2025-10-15T00:00:00Z"), Date.parse("2026-03-15T00:00:00Z"), 6);
  assert.deepEqual(months.map((tick) => tick.label), ["Nov", "Dec", "2026", "Feb", "Mar"]);
});

test("ticks stay on the clock when the clock changes", () => {
  // In Berlin 29 March 2026 has 23 hours, and 25 October 25.
  for (const day of ["2026-03-28", "2026-10-24"]) {
    const from = Date.parse(`${day}T12:00:00Z`);
    const ticks = timeTicks(from, from + 2 * DAY, 10);
    assert.ok(ticks.every((tick) => new Date(tick.at).getHours() % 6 === 0), ticks.map((tick) => tick.label).join());
    const days = timeTicks(from - 3 * DAY, from + 5 * DAY, 10);
    assert.ok(days.every((tick) => new Date(tick.at).getHours() === 0));
  }
});

test("every second day begins anew with each month", () => {
  const ticks = timeTicks(Date.parse("2026-01-24T12:00:00Z"), Date.parse("2026-02-06T12:00:00Z"), 8);
  assert.deepEqual(ticks.map((tick) => new Date(tick.at).getDate()), [25, 27, 29, 1, 3, 5]);
});

test("days go into bins, the empty ones too, and nothing is lost", () => {
  const rows = [
    { day: "2026-01-01", values: [1, 2] },
    { day: "2026-01-03", values: [3, 0] },
    { day: "2026-02-10", values: [5, 5] },
  ];
  const [from, to] = [Date.parse("2026-01-01"), Date.parse("2026-02-11")];
  const daily = binDays(rows, from, to, 100);
  assert.equal(daily.length, 41);
  assert.deepEqual(daily.slice(0, 3).map((bin) => bin.values), [[1, 2], [0, 0], [3, 0]]);
  for (const most of [100, 30, 8, 3, 2]) {
    const bins = binDays(rows, from, to, most);
    assert.ok(bins.length <= most + 1, `${most}: ${bins.length}`);
    assert.equal(bins.reduce((sum, bin) => sum + bin.values[0]!, 0), 9);
    assert.ok(bins.every((bin, number) => !number || bin.from === bins[number - 1]!.to));
  }
  const weeks = binDays(rows, from, to, 8);
  assert.ok(weeks.every((bin) => new Date(bin.from).getUTCDay() === 1));
  assert.equal(binSaid(daily[0]!), "1 Jan 2026");
  assert.equal(binSaid(weeks[0]!), "29 Dec 2025 to 4 Jan 2026");
});

test("bins bear a span of centuries and rows that lie outside", () => {
  const bins = binDays([{ day: "1999-01-01", values: [1] }], 0, Date.parse("2400-01-01"), 50);
  assert.ok(bins.length <= 51);
  assert.deepEqual(binDays([{ day: "1999-01-01", values: [1] }], DAY, 2 * DAY, 50).map((bin) => bin.values), [[0]]);
  assert.deepEqual(binDays([{ day: "nonsense", values: [1] }], DAY, 2 * DAY, 50).map((bin) => bin.values), [[0]]);
});

test("layers are added up", () => {
  assert.deepEqual(stacked([[1, 2], [3, 0]]), [[0, 0], [1, 3], [3, 3]]);
  assert.deepEqual(stacked([]), [[]]);
});

test("paths hold plain numbers", () => {
  assert.equal(areaPath([0, 1.25], [9, 9], [3, 4]), "M0,3L1.3,4L1.3,9L0,9Z");
  assert.equal(areaPath([], [], []), "");
  assert.equal(linePath([0, 2], [1, 1]), "M0,1L2,1");
  const bars = [barPath(1, 2, 9, 40), barPath(1, 2, 0.5, 0.2)];
  for (const path of [dotPath(1 / 3, 2 / 3, 3), ...bars, capsulePath(3, 30, 3, 20)]) {
    assert.match(path, /^M[-0-9.,a-zA-Z ]+$/);
    assert.doesNotMatch(path, /NaN|--|e-/);
  }
});

test("numbers are said as people read them", () => {
  assert.equal(compact(9_999), "9,999");
  assert.equal(compact(12_345), "12.3K");
  assert.equal(bytes(0), "0 B");
  assert.equal(bytes(999), "999 B");
  assert.equal(bytes(1_000), "1.0 kB");
  assert.equal(bytes(123_456), "123 kB");
  assert.equal(bytes(5_400_000_000), "5.4 GB");
  assert.equal(counted(1, "file"), "1 file");
  assert.equal(counted(1_204, "file"), "1,204 files");
  assert.equal(percent(1, 1_000), "1%");
  assert.equal(percent(999, 1_000), "99%");
  assert.equal(percent(0, 10), "0%");
  assert.equal(percent(10, 10), "100%");
  assert.equal(percent(0, 0), "–");
});

test("the local day of a moment", () => {
  assert.equal(localDay(Date.parse("2026-03-04T23:30:00Z")), "2026-03-05");
});
