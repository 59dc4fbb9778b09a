/** Numbers of a chart: in little room, as bytes, as a share. */
import { number } from "../counted.ts";

const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** In little room: 12K, 3.4M. */
export function compact(value: number): string {
  return Math.abs(value) < 10_000 ? number(value) : SHORT.format(value);
}

export function bytes(size: number): string {
  let left = size;
  let unit = 0;
  while (left >= 999.5 && unit < UNITS.length - 1) {
    left /= 1000;
    unit++;
  }
  return `${unit === 0 || left >= 99.95 ? Math.round(left) : left.toFixed(1)} ${UNITS[unit]}`;
}

/** A share as whole percents; what is there is never 0 %, and what is missing is never 100 %. */
export function percent(part: number, whole: number): string {
  if (whole <= 0) return "–";
  const share = Math.round((part / whole) * 100);
  return `${part > 0 && share === 0 ? 1 : part < whole && share === 100 ? 99 : share}%`;
}
