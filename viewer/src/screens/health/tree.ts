/** The tree of the code as it is drawn: one folder of it, two levels deep, and what in it nobody has told about. */
import { hierarchy, treemap } from "d3-hierarchy";
import type { CoverNode } from "../../data/types.ts";

export type Measure = "bytes" | "files";

/** A tile of the map. Groups stand behind their tiles and have a name of their own. */
export interface Tile {
  node: CoverNode;
  x: number;
  y: number;
  width: number;
  height: number;
  /** 1: right below the folder that is shown; 2: inside of one of those. */
  depth: 1 | 2;
  /** Whether smaller tiles stand on it. */
  group: boolean;
}

const HEAD = 20;
const LEAST = 5;
/** Below this a folder is one tile: what is inside could not be told apart. */
const ROOM_WIDTH = 70;
const ROOM_HEIGHT = 54;

/** The folder at a path, and those that lead to it; the whole tree where there is none of that name. */
export function wayTo(root: CoverNode, path: string): CoverNode[] {
  const way = [root];
  for (let at: CoverNode | undefined = root; at && path && at.path !== path; ) {
    at = at.children.find((child) => child.path === path || path.startsWith(`${child.path}/`));
    if (!at) return [root];
    way.push(at);
  }
  return way;
}

export function isFile(node: CoverNode): boolean {
  return !node.children.length && node.files <= 1;
}

/** Tiles of a folder, groups before what stands on them. Those too small to be seen are left out. */
export function tilesOf(folder: CoverNode, measure: Measure, width: number, height: number): Tile[] {
  if (width < 1 || height < 1) return [];
  const whole = lay(folder, measure, width, height, 3);
  return whole.flatMap((tile): Tile[] => {
    const { node } = tile;
    if (!node.children.length || tile.width < ROOM_WIDTH || tile.height < ROOM_HEIGHT) return [tile];
    const inner = lay(node, measure, tile.width - 6, tile.height - HEAD - 3, 2).map((small) => ({
      ...small,
      x: tile.x + 3 + small.x,
      y: tile.y + HEAD + small.y,
      depth: 2 as const,
    }));
    return [{ ...tile, group: true }, ...inner];
  });
}

function lay(folder: CoverNode, measure: Measure, width: number, height: number, gap: number): Tile[] {
  // Only what is right below: the tree may be deep, and what is deeper is not drawn.
  const flat = { node: folder, children: shares(folder).map((node) => ({ node, children: [] as never[] })) };
  const tree = hierarchy<{ node: CoverNode; children: { node: CoverNode; children: never[] }[] }>(flat)
    .sum((one) => (one.children.length ? 0 : Math.max(measure === "bytes" ? one.node.bytes : one.node.files, 0)))
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0) || (a.data.node.name < b.data.node.name ? -1 : 1));
  // Every tile gives its gap away at the right and below: paddings of d3 push small tiles over the edge.
  const laid = treemap<typeof flat>().size([width + gap, height + gap]).round(true)(tree);
  return (laid.children ?? [])
    .map((place) => ({
      node: place.data.node,
      x: place.x0,
      y: place.y0,
      width: place.x1 - place.x0 - gap,
      height: place.y1 - place.y0 - gap,
      depth: 1 as const,
      group: false,
    }))
    .filter((tile) => tile.width >= LEAST && tile.height >= LEAST);
}

/** The children of a folder, and what they leave over as one more: the server folds what is small. */
function shares(folder: CoverNode): CoverNode[] {
  if (!folder.children.length) return [folder];
  const left = (of: "files" | "covered" | "bytes") =>
    Math.max(0, folder[of] - folder.children.reduce((sum, child) => sum + child[of], 0));
  const [files, covered, bytes] = [left("files"), left("covered"), left("bytes")];
  if (!files) return folder.children;
  const rest: CoverNode = {
    name: `${files} more`,
    path: `${folder.path}/`,
    files,
    covered,
    bytes,
    verdict: covered ? folder.verdict : "",
    refs: [],
    children: [],
  };
  return [...folder.children, rest];
}

export interface Gap {
  path: string;
  /** Whether the folder is covered in part, and these are files right in it. */
  partly: boolean;
  files: number;
  bytes: number;
}

/** What nothing covers, as few and as large folders as can be; the largest first. */
export function gapsOf(root: CoverNode, measure: Measure): Gap[] {
  const gaps: Gap[] = [];
  const look = (node: CoverNode) => {
    if (!node.files || node.covered >= node.files) return;
    if (!node.covered && !isFile(node)) {
      gaps.push({ path: node.path, partly: false, files: node.files, bytes: node.bytes });
      return;
    }
    const loose = shares(node).filter((child) => child !== node && !child.children.length);
    const own = loose.filter(
      (child) => child.covered < child.files && (isFile(child) || child.covered > 0 || child.path.endsWith("/")),
    );
    const bare = (child: CoverNode) => child.files - child.covered;
    if (own.length) {
      gaps.push({
        path: node.path,
        partly: true,
        files: own.reduce((sum, child) => sum + bare(child), 0),
        // Where some of them are covered nobody knows how many bytes: as many as files.
        bytes: own.reduce((sum, child) => sum + Math.round((child.bytes * bare(child)) / child.files), 0),
      });
    }
    for (const child of node.children) if (!own.includes(child)) look(child);
  };
  look(root);
  return gaps.sort((a, b) => b[measure] - a[measure] || b.files - a.files || (a.path < b.path ? -1 : 1));
}

/** The tile that lies next in the direction of an arrow; -1 where there is none, or it is no arrow. */
export function neighbour(tiles: Tile[], from: number, key: string): number {
  if (key === "Home") return tiles.length ? 0 : -1;
  if (key === "End") return tiles.length - 1;
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  const here = tiles[from];
  if (!way || !here) return -1;
  const middle = (tile: Tile) => [tile.x + tile.width / 2, tile.group ? tile.y + 10 : tile.y + tile.height / 2];
  const [x = 0, y = 0] = middle(here);
  let best = -1;
  let least = Infinity;
  tiles.forEach((tile, number) => {
    const [tx = 0, ty = 0] = middle(tile);
    const ahead = (tx - x) * way[0]! + (ty - y) * way[1]!;
    const aside = Math.abs((tx - x) * way[1]!) + Math.abs((ty - y) * way[0]!);
    const far = ahead + aside * 2;
    if (number !== from && ahead > 1 && far < least) [best, least] = [number, far];
  });
  return best < 0 ? from : best;
}
