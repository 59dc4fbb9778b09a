/** Times as people say them; the exact one on asking. */

const STEPS: [number, Intl.RelativeTimeFormatUnit][] = [
  [60, "second"],
  [60, "minute"],
  [24, "hour"],
  [7, "day"],
  [4.345, "week"],
  [12, "month"],
  [Infinity, "year"],
];
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export function ago(time: string, now = Date.now()): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return "";
  let left = (at - now) / 1000;
  for (const [size, unit] of STEPS) {
    if (Math.abs(left) < size) return RELATIVE.format(Math.round(left), unit);
    left /= size;
  }
  return "";
}

export function exact(time: string): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? time : at.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

export function Ago({ time }: { time: string | null | undefined }) {
  if (!time || Number.isNaN(Date.parse(time))) return null;
  return (
    <time dateTime={time} title={exact(time)}>
      {ago(time)}
    </time>
  );
}
