/** Which node is under the pointer: nodes by the cell they stand in, so that few have to be looked at. */

const CELL = 48;

export interface Grid {
  cells: Map<number, number[]>;
  positions: Float32Array;
}

const SPAN = 1 << 20;

export function grid(positions: Float32Array, shown: Uint8Array): Grid {
  const cells = new Map<number, number[]>();
  for (let node = 0; node < shown.length; node++) {
    const x = positions[2 * node]!;
    if (!shown[node] || Number.isNaN(x)) continue;
    const key = keyOf(Math.floor(x / CELL), Math.floor(positions[2 * node + 1]! / CELL));
    const cell = cells.get(key);
    if (cell) cell.push(node);
    else cells.set(key, [node]);
  }
  return { cells, positions };
}

/** The node nearest to a point, of those no further away than `reach`; -1 where there is none. */
export function nearest({ cells, positions }: Grid, x: number, y: number, reach: number): number {
  let found = -1;
  let best = reach * reach;
  const look = (nodes: number[]) => {
    for (const node of nodes) {
      const dx = positions[2 * node]! - x;
      const dy = positions[2 * node + 1]! - y;
      const distance = dx * dx + dy * dy;
      if (distance < best || (distance === best && found === -1)) {
        best = distance;
        found = node;
      }
    }
  };
  const left = Math.floor((x - reach) / CELL);
  const right = Math.floor((x + reach) / CELL);
  const top = Math.floor((y - reach) / CELL);
  const bottom = Math.floor((y + reach) / CELL);
  // From far away the reach spans more cells than there are.
  if ((right - left + 1) * (bottom - top + 1) > cells.size) cells.forEach(look);
  else {
    for (let column = left; column <= right; column++) {
      for (let row = top; row <= bottom; row++) look(cells.get(keyOf(column, row)) ?? []);
    }
  }
  return found;
}

function keyOf(column: number, row: number): number {
  return (column + SPAN / 2) * SPAN + row + SPAN / 2;
}
