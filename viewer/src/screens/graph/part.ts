/** The forces of one part of the network that hangs together. Ties and gravity are those of d3-force. */
import { forceLink, forceX, forceY, type SimulationLinkDatum } from "d3-force";
import { type Body, Charge } from "./charge.ts";
import type { Placed } from "./seed.ts";

const APART = 38;
const GRAVITY = 0.075;
const DISTANCE = 26;
const FRICTION = 0.6;
const COLD = 0.004;
const HELD = 0.25;

export class Part {
  readonly nodes: number[];
  readonly bodies: Body[];
  /** Where its middle stands in the whole. */
  x = 0;
  y = 0;
  alpha: number;
  private aim = 0;
  private cooling: number;
  private forces: ((alpha: number) => void)[];
  private charge: Charge;

  constructor(placed: Placed, links: [number, number][], warmth = 0.9) {
    this.nodes = placed.nodes;
    this.bodies = placed.nodes.map((_, index) => ({
      index,
      x: placed.at[2 * index]!,
      y: placed.at[2 * index + 1]!,
      vx: 0,
      vy: 0,
    }));
    this.alpha = warmth;
    // Many nodes take long for each step, and look no better for more of them.
    const steps = this.nodes.length > 4000 ? 130 : this.nodes.length > 800 ? 200 : 280;
    this.cooling = 1 - COLD ** (1 / steps);
    const random = seeded();
    const ties: SimulationLinkDatum<Body>[] = links.map(([source, target]) => ({ source, target }));
    const link = forceLink<Body, SimulationLinkDatum<Body>>(ties).distance(DISTANCE);
    const across = forceX<Body>(0).strength(GRAVITY);
    const down = forceY<Body>(0).strength(GRAVITY);
    for (const force of [link, across, down]) force.initialize!(this.bodies, random);
    this.forces = [link, across, down];
    this.charge = new Charge(this.bodies, APART, random);
  }

  get settled(): boolean {
    return this.alpha < COLD;
  }

  /** One step, in pieces. */
  *step(): Generator<void> {
    this.alpha += (this.aim - this.alpha) * this.cooling;
    for (const force of this.forces) {
      force(this.alpha);
      if (this.bodies.length > 500) yield;
    }
    yield* this.charge.pass(this.alpha);
    for (const body of this.bodies) {
      if (body.fx == null) body.x += body.vx *= FRICTION;
      else (body.x = body.fx), (body.vx = 0);
      if (body.fy == null) body.y += body.vy *= FRICTION;
      else (body.y = body.fy), (body.vy = 0);
    }
  }

  /** Held where the pointer is; the rest gives way. */
  hold(index: number, x: number, y: number): void {
    const body = this.bodies[index]!;
    body.fx = x - this.x;
    body.fy = y - this.y;
    this.aim = HELD;
    this.alpha = Math.max(this.alpha, HELD);
  }

  release(index: number): void {
    const body = this.bodies[index]!;
    body.fx = body.fy = null;
    this.aim = 0;
  }

  /** Where the nodes stand, around the part's own middle. */
  local(): Float64Array {
    const at = new Float64Array(2 * this.bodies.length);
    this.bodies.forEach((body, n) => ((at[2 * n] = body.x), (at[2 * n + 1] = body.y)));
    return at;
  }
}

/** The same numbers every time. */
function seeded(): () => number {
  let state = 1;
  return () => (state = (1664525 * state + 1013904223) % 4294967296) / 4294967296;
}
