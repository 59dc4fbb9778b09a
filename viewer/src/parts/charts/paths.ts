/** Shapes as the text of a path: many in one, so that thousands of them are one element. */

const short = (number: number) => String(Math.round(number * 10) / 10);

/** An area between two lines over the same places. */
export function areaPath(xs: number[], below: number[], above: number[]): string {
  if (!xs.length) return "";
  const there = xs.map((x, number) => `${short(x)},${short(above[number]!)}`);
  const back = xs.map((x, number) => `${short(x)},${short(below[number]!)}`).reverse();
  return `M${there.join("L")}L${back.join("L")}Z`;
}

export function linePath(xs: number[], ys: number[]): string {
  return xs.length ? `M${xs.map((x, number) => `${short(x)},${short(ys[number]!)}`).join("L")}` : "";
}

/** Each row of values added up from below: row by row its lines, the first of them the ground. */
export function stacked(rows: number[][]): number[][] {
  const layers = rows[0]?.length ?? 0;
  const lines = [rows.map(() => 0)];
  for (let layer = 0; layer < layers; layer++) {
    const before = lines[layer]!;
    lines.push(rows.map((row, number) => before[number]! + row[layer]!));
  }
  return lines;
}

export function dotPath(x: number, y: number, radius: number): string {
  const r = short(radius);
  const d = short(radius * 2);
  return `M${short(x - radius)},${short(y)}a${r},${r} 0 1,0 ${d},0a${r},${r} 0 1,0 -${d},0`;
}

/** A rectangle, its upper corners round where it is large enough. */
export function barPath(x: number, y: number, width: number, height: number, round = 2): string {
  const r = Math.min(round, width / 2, height);
  if (r < 0.5) return `M${short(x)},${short(y)}h${short(width)}v${short(height)}h-${short(width)}Z`;
  const flat = short(width - 2 * r);
  return (
    `M${short(x)},${short(y + height)}v-${short(height - r)}q0,-${short(r)} ${short(r)},-${short(r)}h${flat}` +
    `q${short(r)},0 ${short(r)},${short(r)}v${short(height - r)}Z`
  );
}

/** A bar with round ends, standing around its middle. */
export function capsulePath(x: number, y: number, radius: number, height: number): string {
  const r = short(radius);
  const d = short(radius * 2);
  const straight = short(Math.max(0, height - 2 * radius));
  const top = short(y - height / 2 + radius);
  return `M${short(x - radius)},${top}a${r},${r} 0 0,1 ${d},0v${straight}a${r},${r} 0 0,1 -${d},0Z`;
}
