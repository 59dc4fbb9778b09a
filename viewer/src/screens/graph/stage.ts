/** The canvas and what it shows. It draws when something has changed, and otherwise rests. */
import { draw, type Scene } from "./draw.ts";
import { type Grid, grid, nearest } from "./grid.ts";
import type { Palette } from "./palette.ts";
import { between, bounds, centred, fitted, toPlane, type View, zoomed } from "./view.ts";

const FLIGHT_MS = 320;
/** How far beside a node the pointer still means it, in pixels. */
const REACH = 11;

export class Stage {
  view: View = { k: 1, x: 0, y: 0 };
  scene: Scene | null = null;
  width = 0;
  height = 0;
  /** Whether the view follows the layout; it does until someone moves it. */
  follows = true;
  /** Told after each drawing. */
  drawn: () => void = () => {};
  private canvas: HTMLCanvasElement;
  private colours: Palette | null = null;
  private ratio = 1;
  private frame = 0;
  private flight: { from: View; to: View; began: number } | null = null;
  private hits: Grid | null = null;

  constructor(canvas: HTMLCanvasElement) {
    this.canvas = canvas;
  }

  resize(width: number, height: number): void {
    const ratio = Math.min(3, devicePixelRatio || 1);
    if (width === this.width && height === this.height && ratio === this.ratio) return;
    const dx = (width - this.width) / 2;
    const dy = (height - this.height) / 2;
    const first = this.width === 0;
    Object.assign(this, { width, height, ratio });
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    if (first || this.follows) this.fit(false);
    else this.view = { k: this.view.k, x: this.view.x + dx, y: this.view.y + dy };
    this.redraw();
  }

  paint(colours: Palette): void {
    this.colours = colours;
    this.redraw();
  }

  show(change: Partial<Scene>): void {
    if (!this.scene) this.scene = change as Scene;
    else Object.assign(this.scene, change);
    if (change.positions || change.nodes) this.hits = null;
    if (this.follows && (change.positions || change.nodes)) this.fit(false);
    this.redraw();
  }

  redraw(): void {
    this.frame ||= requestAnimationFrame(this.render);
  }

  end(): void {
    cancelAnimationFrame(this.frame);
  }

  /** The node at a point of the canvas; -1 where there is none. */
  at(x: number, y: number, reach = REACH): number {
    if (!this.scene) return -1;
    this.hits ??= grid(this.scene.positions, this.scene.nodes);
    const [px, py] = toPlane(this.view, x, y);
    return nearest(this.hits, px, py, reach / this.view.k);
  }

  /** Where a node stands on the canvas; null where it has no place. */
  where(node: number): [number, number] | null {
    const positions = this.scene?.positions;
    if (!positions || node < 0 || Number.isNaN(positions[2 * node]!)) return null;
    return [positions[2 * node]! * this.view.k + this.view.x, positions[2 * node + 1]! * this.view.k + this.view.y];
  }

  /** Put a node where the pointer is, at once; the layout follows. */
  put(node: number, x: number, y: number): [number, number] {
    const [px, py] = toPlane(this.view, x, y);
    this.follows = false;
    this.scene!.positions[2 * node] = px;
    this.scene!.positions[2 * node + 1] = py;
    this.hits = null;
    this.redraw();
    return [px, py];
  }

  pan(dx: number, dy: number): void {
    this.moved({ k: this.view.k, x: this.view.x + dx, y: this.view.y + dy });
  }

  zoom(factor: number, x = this.width / 2, y = this.height / 2): void {
    this.moved(zoomed(this.flight?.to ?? this.view, factor, x, y));
  }

  /** The whole of it. From then on the view follows again. */
  fit(soft = true): void {
    this.follows = true;
    if (!this.scene) return;
    const margin = this.width < 520 ? 22 : 44;
    // What stands over the picture covers none of it.
    const over = this.canvas.parentElement?.querySelector<HTMLElement>(".graph-focus");
    const top = over ? over.offsetTop + over.offsetHeight : 0;
    const goal = fitted(bounds(this.scene.positions, this.scene.nodes), this.width, this.height - top, margin);
    goal.y += top;
    if (soft) this.fly(goal);
    else {
      this.flight = null;
      this.view = goal;
    }
    this.redraw();
  }

  /** Bring a node to the middle, near enough to read its name. */
  goTo(node: number): void {
    const positions = this.scene?.positions;
    if (!positions || Number.isNaN(positions[2 * node]!)) return;
    this.follows = false;
    const k = Math.max(this.view.k, 0.9);
    this.fly(centred(this.view, positions[2 * node]!, positions[2 * node + 1]!, this.width, this.height, k));
  }

  /** Bring some nodes into view, all of them. */
  goToAll(nodes: readonly number[]): void {
    if (!this.scene || !nodes.length) return;
    this.follows = false;
    const only = new Uint8Array(this.scene.nodes.length);
    for (const node of nodes) only[node] = 1;
    const box = bounds(this.scene.positions, only);
    if (box) this.fly(fitted(box, this.width, this.height, 90, 1.2));
  }

  private moved(view: View): void {
    this.follows = false;
    this.flight = null;
    this.view = view;
    this.redraw();
  }

  private fly(to: View): void {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.view = to;
    else this.flight = { from: this.view, to, began: performance.now() };
    this.redraw();
  }

  private render = (now: number): void => {
    this.frame = 0;
    if (!this.scene || !this.colours || !this.width) return;
    if (this.flight) {
      const t = Math.min(1, Math.max(0, now - this.flight.began) / FLIGHT_MS);
      this.view = t < 1 ? between(this.flight.from, this.flight.to, t, this.width, this.height) : this.flight.to;
      if (t < 1) this.redraw();
      else this.flight = null;
    }
    const ctx = this.canvas.getContext("2d", { alpha: false })!;
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    draw(ctx, this.scene, this.view, this.width, this.height, this.colours);
    this.drawn();
  };
}
