/** Where every node stands: parts that hang together by forces, single ones beside them; the same for the same data. */
import { adjacency } from "./model.ts";
import { Part } from "./part.ts";
import { branching, components, packed, type Placed, radiusOf, singles, sunflower, Taken, type Ties } from "./seed.ts";

export interface LayoutInput {
  count: number;
  source: Int32Array;
  target: Int32Array;
  /** Single nodes of one group stand together. */
  group: Int32Array;
  /** The node that everything stands around; -1 for none. */
  root: number;
  /** Where nodes stood before; NaN for new ones. Null: nothing stood anywhere. */
  before: Float32Array | null;
}

const EASING = 22;
/** Where more than this share is new, the old places are not worth keeping. */
const MOSTLY_NEW = 0.5;

export class Layout {
  settled = false;
  private at: Float64Array;
  private parts: Part[] = [];
  private alone: Placed[] = [];
  private home: Int32Array;
  private index: Int32Array;
  private held = new Set<number>();
  private toPack = false;
  private work: Generator<"more" | "frame" | "done">;

  constructor(input: LayoutInput) {
    const ties: Ties = adjacency(input.count, input.source, input.target);
    this.at = new Float64Array(2 * input.count).fill(NaN);
    this.home = new Int32Array(input.count).fill(-1);
    this.index = new Int32Array(input.count);
    if (input.before && share(input.before) > MOSTLY_NEW) this.update(input, ties, input.before);
    else this.begin(input, ties);
    this.gather();
    this.work = this.working();
  }

  positions(): Float32Array {
    return new Float32Array(this.at);
  }

  /** Go on until it is done, the time is up, or there is something to be seen. */
  run(timeIsUp: () => boolean): void {
    for (;;) {
      const state = this.work.next().value;
      if (state !== "more" || timeIsUp()) break;
    }
    this.gather();
  }

  hold(node: number, x: number, y: number): void {
    const part = this.parts[this.home[node]!];
    if (part) {
      this.held.add(node);
      part.hold(this.index[node]!, x, y);
      this.settled = false;
    } else {
      this.at[2 * node] = x;
      this.at[2 * node + 1] = y;
    }
  }

  release(node: number): void {
    this.held.delete(node);
    this.parts[this.home[node]!]?.release(this.index[node]!);
  }

  private begin(input: LayoutInput, ties: Ties): void {
    const found = components(input.count, ties).map((nodes) => branching(nodes, ties, input.root));
    this.alone = singles(input.count, ties, input.group).map(sunflower);
    const links = linksOf(found, input, this.home, this.index);
    this.parts = found.map((placed, n) => new Part(placed, links[n]!));
    this.place(packed([...found, ...this.alone].map((placed) => placed.radius)));
    this.toPack = this.parts.length > 0;
  }

  /** Known nodes stay where they are; only new ones look for their place. */
  private update(input: LayoutInput, ties: Ties, before: Float32Array): void {
    const taken = new Taken();
    const { at } = this;
    for (let node = 0; node < input.count; node++) {
      if (Number.isNaN(before[2 * node]!)) continue;
      at[2 * node] = before[2 * node]!;
      at[2 * node + 1] = before[2 * node + 1]!;
      taken.add(at[2 * node]!, at[2 * node + 1]!);
    }
    const put = (node: number, x: number, y: number, room: number) => {
      [at[2 * node], at[2 * node + 1]] = taken.place(x, y, room);
    };
    for (const nodes of singles(input.count, ties, input.group)) {
      const known = nodes.filter((node) => !Number.isNaN(at[2 * node]!));
      const [x, y] = middle(at, known);
      for (const node of nodes) if (Number.isNaN(at[2 * node]!)) put(node, x, y, 11);
    }
    const found: Placed[] = components(input.count, ties).map((nodes) => {
      const fresh = nodes.filter((node) => Number.isNaN(at[2 * node]!));
      // From those whose neighbours have a place outwards.
      for (let left = fresh; left.length; ) {
        const ready = left.filter((node) => beside(node, ties).some((other) => !Number.isNaN(at[2 * other]!)));
        const now = ready.length ? ready : left.slice(0, 1);
        for (const node of now) {
          const known = beside(node, ties).filter((other) => !Number.isNaN(at[2 * other]!));
          const [x, y] = middle(at, known);
          put(node, x, y, known.length ? 16 : 60);
        }
        left = left.filter((node) => Number.isNaN(at[2 * node]!));
      }
      return { nodes, at: Float64Array.from(nodes.flatMap((node) => [at[2 * node]!, at[2 * node + 1]!])), radius: 0 };
    });
    const links = linksOf(found, input, this.home, this.index);
    this.parts = found.map((placed, n) => {
      const [x, y] = middle(at, placed.nodes);
      for (let k = 0; k < placed.at.length; k += 2) {
        placed.at[k]! -= x;
        placed.at[k + 1]! -= y;
      }
      const anyNew = placed.nodes.some((node) => Number.isNaN(before[2 * node]!));
      const part = new Part(placed, links[n]!, anyNew ? 0.3 : 0);
      part.x = x;
      part.y = y;
      placed.nodes.forEach((node, k) => {
        const body = part.bodies[k]!;
        if (!Number.isNaN(before[2 * node]!)) (body.fx = body.x), (body.fy = body.y);
      });
      return part;
    });
  }

  private *working(): Generator<"more" | "frame" | "done"> {
    for (;;) {
      const moving = this.parts.filter((part) => !part.settled);
      for (const part of moving) for (const _ of part.step()) yield "more";
      if (moving.length) {
        // While a node is dragged each step is shown; else as many as there is time for.
        yield this.held.size ? "frame" : "more";
        continue;
      }
      // What an update held in its place may move again, once someone pulls at it.
      for (const part of this.parts) for (const body of part.bodies) body.fx = body.fy = null;
      if (this.toPack) yield* this.packing();
      this.settled = true;
      yield "done";
    }
  }

  /** The parts have found their size: move them together, softly. */
  private *packing(): Generator<"frame"> {
    this.toPack = false;
    const radii = [...this.parts.map((part) => radiusOf(part.local())), ...this.alone.map((placed) => placed.radius)];
    const goals = packed(radii);
    const starts = [...this.parts.map(({ x, y }) => ({ x, y })), ...this.alone.map((placed) => this.middleOf(placed))];
    for (let step = 1; step <= EASING; step++) {
      const t = 1 - (1 - step / EASING) ** 3;
      this.place(goals.map((goal, n) => ({ x: mix(starts[n]!.x, goal.x, t), y: mix(starts[n]!.y, goal.y, t) })));
      yield "frame";
    }
  }

  private place(middles: { x: number; y: number }[]): void {
    this.parts.forEach((part, n) => Object.assign(part, { x: middles[n]!.x, y: middles[n]!.y }));
    this.alone.forEach((placed, n) => {
      const { x, y } = middles[this.parts.length + n]!;
      placed.nodes.forEach((node, k) => {
        this.at[2 * node] = x + placed.at[2 * k]!;
        this.at[2 * node + 1] = y + placed.at[2 * k + 1]!;
      });
    });
  }

  private middleOf(placed: Placed): { x: number; y: number } {
    const first = placed.nodes[0]!;
    return { x: this.at[2 * first]! - placed.at[0]!, y: this.at[2 * first + 1]! - placed.at[1]! };
  }

  private gather(): void {
    for (const part of this.parts) {
      part.nodes.forEach((node, n) => {
        this.at[2 * node] = part.x + part.bodies[n]!.x;
        this.at[2 * node + 1] = part.y + part.bodies[n]!.y;
      });
    }
  }
}

/** The ties of each part, by the places of their ends in it; notes where every node is. */
function linksOf(found: Placed[], input: LayoutInput, home: Int32Array, index: Int32Array): [number, number][][] {
  found.forEach((placed, part) => placed.nodes.forEach((node, n) => ((home[node] = part), (index[node] = n))));
  const links: [number, number][][] = found.map(() => []);
  for (let edge = 0; edge < input.source.length; edge++) {
    const from = input.source[edge]!;
    const to = input.target[edge]!;
    if (from !== to) links[home[from]!]!.push([index[from]!, index[to]!]);
  }
  return links;
}

function beside(node: number, { start, other }: Ties): number[] {
  return [...other.subarray(start[node]!, start[node + 1]!)];
}

function middle(at: Float64Array, nodes: number[]): [number, number] {
  if (!nodes.length) return [0, 0];
  let x = 0;
  let y = 0;
  for (const node of nodes) {
    x += at[2 * node]!;
    y += at[2 * node + 1]!;
  }
  return [x / nodes.length, y / nodes.length];
}

function share(before: Float32Array): number {
  let known = 0;
  for (let n = 0; n < before.length; n += 2) if (!Number.isNaN(before[n]!)) known++;
  return before.length ? known / (before.length / 2) : 0;
}

function mix(from: number, to: number, t: number): number {
  return from + (to - from) * t;
}
