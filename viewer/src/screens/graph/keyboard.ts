/** Keys of the graph. Those that move the picture belong to the canvas; the others hold wherever the keyboard is. */
import { isTyping } from "../../app/keys.ts";
import { neighbours, type Network } from "./model.ts";
import type { Shown } from "./choices.ts";
import type { Stage } from "./stage.ts";

export interface Keyed {
  net: Network;
  stage: Stage | null;
  selected: number;
  /** The node whose neighbours are walked through. */
  origin: { current: number };
  shown: Shown;
  go: (node: number) => void;
  open: (node: number) => void;
  clear: () => void;
}

const STEP = 70;
const PAN: Record<string, [number, number]> = {
  ArrowLeft: [STEP, 0],
  ArrowRight: [-STEP, 0],
  ArrowUp: [0, STEP],
  ArrowDown: [0, -STEP],
};

export function graphKey(event: KeyboardEvent, given: Keyed): void {
  const target = event.target as HTMLElement;
  if (event.defaultPrevented || isTyping(target) || event.ctrlKey || event.metaKey || event.altKey) return;
  const { stage, selected, origin } = given;
  const pan = PAN[event.key];
  const onCanvas = target.tagName === "CANVAS";
  if (pan && onCanvas) stage?.pan(...pan);
  else if (event.key === "+" || event.key === "=") stage?.zoom(1.3);
  else if (event.key === "-" || event.key === "_") stage?.zoom(1 / 1.3);
  else if (event.key === "0") stage?.fit();
  else if (event.key === "n" || event.key === "p") walk(given, event.key === "n" ? 1 : -1);
  else if (event.key === " " && onCanvas) origin.current = selected;
  else if (event.key === "Enter" && onCanvas && selected >= 0) given.open(selected);
  else if (event.key === "Escape") given.clear();
  else return;
  event.preventDefault();
}

/** The next neighbour of where the walk began; with nothing selected it begins at the best-tied node. */
function walk(given: Keyed, step: number): void {
  const next = nextOf(given.net, given.shown.nodes, given.origin.current, given.selected, step);
  if (next < 0) return;
  if (given.selected < 0) given.origin.current = next;
  given.go(next);
}

/** Who comes next among the neighbours of `origin` that are shown; `selected` is where one is now. */
export function nextOf(net: Network, shown: Uint8Array, origin: number, selected: number, step: number): number {
  if (selected < 0) return net.ranked.find((node) => shown[node] === 1) ?? -1;
  const middle = origin >= 0 ? origin : selected;
  const around = neighbours(net, middle).filter((node) => shown[node]);
  if (!around.length) return -1;
  const place = around.indexOf(selected);
  if (place < 0) return step > 0 ? around[0]! : around.at(-1)!;
  return around[(place + step + around.length) % around.length]!;
}
