/** From values to places: straight scales, and ticks at numbers that people count in. */

export interface Scale {
  (value: number): number;
  /** The value that stands at a place. */
  invert: (place: number) => number;
}

/** A domain without any width lands in the middle. */
export function linear([low, high]: [number, number], [begin, end]: [number, number]): Scale {
  const slope = high === low ? 0 : (end - begin) / (high - low);
  const scale = (value: number) => (slope === 0 ? (begin + end) / 2 : begin + (value - low) * slope);
  const invert = (place: number) => (slope === 0 ? low : low + (place - begin) / slope);
  return Object.assign(scale, { invert });
}

/** The step of 1, 2 or 5 times a power of ten that gives about so many ticks; whole numbers where asked. */
export function niceStep(span: number, count: number, whole = false): number {
  if (!(span > 0) || count < 1) return 1;
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const lead = rough / power;
  const step = (lead >= 7.5 ? 10 : lead >= 3.5 ? 5 : lead >= 1.5 ? 2 : 1) * power;
  return whole ? Math.max(1, Math.round(step)) : step;
}

/** Ticks from zero up; the last one is at or above the highest value, so that nothing sticks out. */
export function countTicks(high: number, count = 4): number[] {
  const step = niceStep(Math.max(high, 1), count, true);
  const most = Math.ceil(Math.max(high, 1) / step);
  return Array.from({ length: most + 1 }, (_, number) => number * step);
}

/** Where the nearest of some sorted places is; -1 where there is none. */
export function nearest(places: ArrayLike<number>, place: number): number {
  let low = 0;
  let high = places.length - 1;
  if (high < 0) return -1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]! < place) low = middle + 1;
    else high = middle;
  }
  return low > 0 && place - places[low - 1]! <= places[low]! - place ? low - 1 : low;
}
