/** The layout, aside from the page: it may take its time without the page standing still. */
import { Layout, type LayoutInput } from "./layout.ts";

/** What the page says. */
export type Told =
  | { do: "start"; id: number; input: LayoutInput }
  | { do: "hold"; id: number; node: number; x: number; y: number }
  | { do: "release"; id: number; node: number };

/** What it is answered. */
export interface Answer {
  id: number;
  positions: Float32Array<ArrayBuffer>;
  settled: boolean;
}

/** Between two pictures; long enough that making them is little of the work. */
const SLICE_MS = 45;
const FRAME_MS = 15;

interface Inside {
  onmessage: ((event: MessageEvent<Told>) => void) | null;
  postMessage(answer: Answer, transfer: Transferable[]): void;
}
const inside = globalThis as unknown as Inside;
let layout: Layout | null = null;
let id = 0;
let waiting: ReturnType<typeof setTimeout> | undefined;

function answer(): void {
  if (!layout) return;
  const positions = layout.positions() as Float32Array<ArrayBuffer>;
  inside.postMessage({ id, positions, settled: layout.settled }, [positions.buffer]);
}

function go(): void {
  waiting = undefined;
  if (!layout || layout.settled) return;
  const began = performance.now();
  layout.run(() => performance.now() - began > SLICE_MS);
  answer();
  // A picture that took no time is not followed by the next one at once: what moves has to be seen moving.
  if (!layout.settled) waiting = setTimeout(go, Math.max(0, FRAME_MS - (performance.now() - began)));
}

inside.onmessage = ({ data }) => {
  if (data.do === "start") {
    id = data.id;
    layout = new Layout(data.input);
    answer();
  } else if (!layout || data.id !== id) return;
  else if (data.do === "hold") layout.hold(data.node, data.x, data.y);
  else layout.release(data.node);
  if (waiting === undefined) waiting = setTimeout(go, 0);
};
