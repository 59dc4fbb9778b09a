/** Which names fit beside their nodes without one standing on another. */

export interface Label {
  node: number;
  x: number;
  y: number;
  text: string;
  caption: boolean;
}

export interface LabelWish {
  node: number;
  /** Where the node stands on the screen, and how large it is there. */
  x: number;
  y: number;
  radius: number;
  /** Whether it is named whatever it covers. */
  must?: boolean;
  /** Whether others lead to it: it is named even where that covers a node, but no other name. */
  hub?: boolean;
  /** What is said instead of the node's title: the name of a group, which stands below it where it can. */
  caption?: string;
}

const HIGH = 15;
const GAP = 3;
const CELL = 64;
const LONGEST = 34;

/** Left, top, right, bottom. */
type Box = [number, number, number, number];

/** What a name must not stand on, and where it has to stay. */
export interface Room {
  width: number;
  height: number;
  obstacles: Box[];
  most: number;
}

/** Those that come first have the first choice: to the right of the node, else left, below, above or aslant. */
export function placeLabels(
  wishes: Iterable<LabelWish>,
  text: (node: number) => string,
  width: (text: string) => number,
  room: Room,
): Label[] {
  const placed: Label[] = [];
  const names = new Boxes();
  const nodes = new Boxes();
  for (const box of room.obstacles) nodes.add(box);
  for (const { node, x, y, radius, must, hub, caption } of wishes) {
    if (placed.length >= room.most) break;
    const said = shortened(caption ?? text(node));
    const wide = width(said);
    const away = radius + GAP + 1;
    const below = [x - wide / 2, y + away - 2];
    const tries = [
      ...(caption ? [below] : []),
      [x + away, y - HIGH / 2],
      [x - away - wide, y - HIGH / 2],
      below,
      [x - wide / 2, y - away - HIGH + 2],
      ...[0.15, 0.85].flatMap((part) => [
        [x - wide * part, y + away - 2],
        [x - wide * part, y - away - HIGH + 2],
      ]),
      [x + away, y + radius / 2],
      [x + away, y - HIGH - radius / 2],
      [x - away - wide, y + radius / 2],
      [x - away - wide, y - HIGH - radius / 2],
      ...(hub ? [away + HIGH / 2, away + HIGH].flatMap((far) => around(x, y, wide, far)) : []),
    ]
      .map(([left, top]): Box => [left! - GAP, top!, left! + wide + GAP, top! + HIGH])
      .filter(([left, top, right, bottom]) => left >= 0 && top >= 0 && right <= room.width && bottom <= room.height)
      .filter((box) => must || !names.touch(box));
    const free = tries.find((box) => !nodes.touch(box));
    // What someone points at, and what much leads to, covers nodes if it has to: as few of them as can be.
    const found = free ?? (must || hub ? leastOf(tries, (box) => nodes.under(box)) : undefined);
    if (!found) continue;
    names.add(found);
    placed.push({ node, x: found[0] + GAP, y: (found[1] + found[3]) / 2, text: said, caption: caption !== undefined });
  }
  return placed;
}

/** Places a little further from a crowded node: above, below, and at its sides. */
function around(x: number, y: number, wide: number, far: number): number[][] {
  return [
    [x - wide / 2, y - far - HIGH],
    [x - wide / 2, y + far],
    [x + far, y - HIGH],
    [x + far, y],
    [x - far - wide, y - HIGH],
    [x - far - wide, y],
  ];
}

/** Boxes by the cells they lie in. */
class Boxes {
  private cells = new Map<number, Box[]>();

  add(box: Box): void {
    for (const key of keys(box)) {
      const there = this.cells.get(key);
      if (there) there.push(box);
      else this.cells.set(key, [box]);
    }
  }

  touch(box: Box): boolean {
    return keys(box).some((key) => this.cells.get(key)?.some((other) => meet(box, other)));
  }

  /** How many of them lie under a box. */
  under(box: Box): number {
    const found = new Set<Box>();
    for (const key of keys(box)) for (const other of this.cells.get(key) ?? []) if (meet(box, other)) found.add(other);
    return found.size;
  }
}

function meet(one: Box, other: Box): boolean {
  return one[0] < other[2] && one[2] > other[0] && one[1] < other[3] && one[3] > other[1];
}

function leastOf<T>(all: T[], size: (one: T) => number): T | undefined {
  const sizes = all.map(size);
  return all[sizes.indexOf(Math.min(...sizes))];
}

function keys([left, top, right, bottom]: Box): number[] {
  const found: number[] = [];
  for (let column = Math.floor(left / CELL); column <= Math.floor(right / CELL); column++) {
    for (let row = Math.floor(top / CELL); row <= Math.floor(bottom / CELL); row++) found.push(column * 65_536 + row);
  }
  return found;
}

export function shortened(text: string, longest = LONGEST): string {
  if (text.length <= longest) return text;
  const cut = text.slice(0, longest - 1);
  const space = cut.lastIndexOf(" ");
  return `${(space > longest * 0.6 ? cut.slice(0, space) : cut).trimEnd()}…`;
}

/** How many names a picture bears: few from far away, more the nearer one comes. */
export function labelCount(width: number, height: number, zoom: number): number {
  const room = (width * height) / 16_000;
  return Math.round(4 + room * Math.min(1, Math.max(0.35, zoom * zoom)));
}
