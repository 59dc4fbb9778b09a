/** Nodes push each other away: Barnes and Hut, on plain arrays, in pieces that can be interrupted.
 *
 *  The force of d3-force does the same, but a pass over thousands of nodes cannot be stopped half-way: without a
 *  worker the page would stand still for it.
 */

export interface Body {
  index: number;
  x: number;
  y: number;
  vx: number;
  vy: number;
  fx?: number | null;
  fy?: number | null;
}

const THETA2 = 1.1 ** 2;
const DEEPEST = 22;
const PIECE = 200;
const FEW = 48;

export class Charge {
  private bodies: Body[];
  private strength: number;
  private random: () => number;
  private child: Int32Array;
  private mass: Float64Array;
  private sumX: Float64Array;
  private sumY: Float64Array;
  private chain: Int32Array;
  private stack: Int32Array;
  private widths: Float64Array;
  private cells = 0;
  private left = 0;
  private top = 0;
  private wide = 1;

  constructor(bodies: Body[], strength: number, random: () => number) {
    this.bodies = bodies;
    this.strength = strength;
    this.random = random;
    const room = bodies.length <= FEW ? 1 : bodies.length * 3 + 64;
    this.child = new Int32Array(4 * room);
    this.mass = new Float64Array(room);
    this.sumX = new Float64Array(room);
    this.sumY = new Float64Array(room);
    this.chain = new Int32Array(bodies.length);
    this.stack = new Int32Array(4 * (DEEPEST + 2) * 4);
    this.widths = new Float64Array(this.stack.length);
  }

  /** One pass; it may be left after every piece, and goes on where it was. */
  *pass(alpha: number): Generator<void> {
    if (this.bodies.length <= FEW) return this.direct(alpha);
    this.plant();
    yield;
    for (let first = 0; first < this.bodies.length; first += PIECE) {
      const end = Math.min(first + PIECE, this.bodies.length);
      for (let n = first; n < end; n++) this.push(n, alpha);
      yield;
    }
  }

  private direct(alpha: number): void {
    for (const body of this.bodies) {
      for (const other of this.bodies) {
        if (other !== body) this.apart(body, other.x - body.x, other.y - body.y, 1, alpha);
      }
    }
  }

  private plant(): void {
    let left = Infinity;
    let right = -Infinity;
    let top = Infinity;
    let bottom = -Infinity;
    for (const { x, y } of this.bodies) {
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      if (y > bottom) bottom = y;
    }
    this.left = left;
    this.top = top;
    this.wide = Math.max(right - left, bottom - top, 1) * 1.0001;
    this.cells = 0;
    this.chain.fill(-1);
    this.cell();
    for (let n = 0; n < this.bodies.length; n++) this.insert(n);
  }

  private cell(): number {
    const cell = this.cells++;
    if (cell >= this.mass.length) this.grow();
    this.child.fill(0, 4 * cell, 4 * cell + 4);
    this.mass[cell] = this.sumX[cell] = this.sumY[cell] = 0;
    return cell;
  }

  private grow(): void {
    const larger = <T extends Float64Array | Int32Array>(old: T, made: T): T => (made.set(old), made);
    const room = this.mass.length * 2;
    this.child = larger(this.child, new Int32Array(4 * room));
    this.mass = larger(this.mass, new Float64Array(room));
    this.sumX = larger(this.sumX, new Float64Array(room));
    this.sumY = larger(this.sumY, new Float64Array(room));
  }

  /** A child is 0 where there is none, a cell where above 0, and below 0 the body -1 - child. */
  private insert(n: number): void {
    const { x, y } = this.bodies[n]!;
    let cell = 0;
    let half = this.wide / 2;
    let midX = this.left + half;
    let midY = this.top + half;
    for (let depth = 0; ; depth++) {
      this.mass[cell]!++;
      this.sumX[cell]! += x;
      this.sumY[cell]! += y;
      half /= 2;
      const east = x >= midX;
      const south = y >= midY;
      const slot = 4 * cell + (east ? 1 : 0) + (south ? 2 : 0);
      midX += east ? half : -half;
      midY += south ? half : -half;
      const there = this.child[slot]!;
      if (there === 0) {
        this.child[slot] = -1 - n;
        return;
      }
      if (there > 0) {
        cell = there;
        continue;
      }
      if (depth >= DEEPEST) {
        // They stand in the same place: one behind the other.
        this.chain[n] = -1 - there;
        this.child[slot] = -1 - n;
        return;
      }
      const old = this.bodies[-1 - there]!;
      const made = this.cell();
      this.child[slot] = made;
      this.child[4 * made + (old.x >= midX ? 1 : 0) + (old.y >= midY ? 2 : 0)] = there;
      this.mass[made] = 1;
      this.sumX[made] = old.x;
      this.sumY[made] = old.y;
      cell = made;
    }
  }

  private push(n: number, alpha: number): void {
    const body = this.bodies[n]!;
    const { stack, widths, child, mass, sumX, sumY } = this;
    let depth = 0;
    stack[0] = 0;
    widths[0] = this.wide;
    while (depth >= 0) {
      const cell = stack[depth]!;
      const wide = widths[depth--]!;
      const weight = mass[cell]!;
      const dx = sumX[cell]! / weight - body.x;
      const dy = sumY[cell]! / weight - body.y;
      if (wide * wide < THETA2 * (dx * dx + dy * dy)) {
        this.apart(body, dx, dy, weight, alpha);
        continue;
      }
      for (let slot = 4 * cell; slot < 4 * cell + 4; slot++) {
        const there = child[slot]!;
        if (there > 0) {
          stack[++depth] = there;
          widths[depth] = wide / 2;
        } else if (there < 0) {
          for (let other = -1 - there; other >= 0; other = this.chain[other]!) {
            if (other === n) continue;
            this.apart(body, this.bodies[other]!.x - body.x, this.bodies[other]!.y - body.y, 1, alpha);
          }
        }
      }
    }
  }

  private apart(body: Body, dx: number, dy: number, weight: number, alpha: number): void {
    if (dx === 0 && dy === 0) {
      dx = (this.random() - 0.5) * 1e-3;
      dy = (this.random() - 0.5) * 1e-3;
    }
    let square = dx * dx + dy * dy;
    if (square < 1) square = Math.sqrt(square);
    const force = (-this.strength * weight * alpha) / square;
    body.vx += dx * force;
    body.vy += dy * force;
  }
}
