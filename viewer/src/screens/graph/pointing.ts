/** What fingers, pens, mice and wheels do to the stage. */
import type { Stage } from "./stage.ts";

export interface Pointed {
  hover: (node: number) => void;
  /** -1: beside every node. */
  select: (node: number) => void;
  open: (node: number) => void;
  /** A node is dragged to a place of the plane. */
  drag: (node: number, x: number, y: number) => void;
  drop: (node: number) => void;
}

/** So far a press may move and still be a click. */
const STILL = 4;

/** Listen on a canvas; hands back what ends it. */
export function point(canvas: HTMLCanvasElement, stage: Stage, told: () => Pointed): () => void {
  const down = new Map<number, { x: number; y: number }>();
  let pressed = -1;
  let moved = false;
  let origin = { x: 0, y: 0 };

  const place = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const reach = (event: PointerEvent) => (event.pointerType === "touch" ? 20 : 11);

  const onDown = (event: PointerEvent) => {
    if (event.button > 0) return;
    canvas.setPointerCapture(event.pointerId);
    const at = place(event);
    down.set(event.pointerId, at);
    if (down.size > 1) {
      if (pressed >= 0 && moved) told().drop(pressed);
      pressed = -1;
      moved = true;
      return;
    }
    pressed = stage.at(at.x, at.y, reach(event));
    moved = false;
    origin = at;
  };
  const onMove = (event: PointerEvent) => {
    const at = place(event);
    const before = down.get(event.pointerId);
    if (!before) {
      const node = stage.at(at.x, at.y);
      canvas.style.cursor = node < 0 ? "" : "pointer";
      return told().hover(node);
    }
    if (down.size === 2) pinch(event.pointerId, before, at);
    else {
      if (!moved && Math.hypot(at.x - origin.x, at.y - origin.y) < STILL) return;
      moved = true;
      canvas.style.cursor = "grabbing";
      if (pressed >= 0) told().drag(pressed, ...stage.put(pressed, at.x, at.y));
      else stage.pan(at.x - before.x, at.y - before.y);
    }
    down.set(event.pointerId, at);
  };
  const pinch = (id: number, before: { x: number; y: number }, at: { x: number; y: number }) => {
    const [, still] = [...down].find(([other]) => other !== id)!;
    const was = Math.hypot(before.x - still.x, before.y - still.y);
    const is = Math.hypot(at.x - still.x, at.y - still.y);
    stage.pan((at.x - before.x) / 2, (at.y - before.y) / 2);
    if (was > 0) stage.zoom(is / was, (at.x + still.x) / 2, (at.y + still.y) / 2);
  };
  const onUp = (event: PointerEvent) => {
    if (!down.delete(event.pointerId)) return;
    canvas.style.cursor = "";
    if (down.size) return;
    if (pressed >= 0 && moved) told().drop(pressed);
    else if (!moved && event.type === "pointerup") told().select(pressed);
    pressed = -1;
  };
  const onLeave = () => down.size || told().hover(-1);
  const onDouble = (event: MouseEvent) => {
    const at = place(event);
    const node = stage.at(at.x, at.y);
    if (node >= 0) told().open(node);
    else stage.zoom(1.8, at.x, at.y);
  };
  const onWheel = (event: WheelEvent) => {
    event.preventDefault();
    const at = place(event);
    // Lines and pages as pixels; a pinch on a touchpad comes as a wheel with control, in small numbers.
    const size = event.deltaMode === 1 ? 24 : event.deltaMode === 2 ? 400 : 1;
    const delta = Math.max(-240, Math.min(240, event.deltaY * size)) * (event.ctrlKey ? 4 : 1);
    stage.zoom(Math.exp(-delta * 0.0022), at.x, at.y);
  };
  const ending = new AbortController();
  const { signal } = ending;
  canvas.addEventListener("pointerdown", onDown, { signal });
  canvas.addEventListener("pointermove", onMove, { signal });
  canvas.addEventListener("pointerup", onUp, { signal });
  canvas.addEventListener("pointercancel", onUp, { signal });
  canvas.addEventListener("pointerleave", onLeave, { signal });
  canvas.addEventListener("dblclick", onDouble, { signal });
  canvas.addEventListener("wheel", onWheel, { signal, passive: false });
  return () => ending.abort();
}
