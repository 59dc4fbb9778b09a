/** The picture: a canvas that can be moved about in, and what stands over it. */
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Kind, Status, Verdict } from "../../parts/badges.tsx";
import type { VerdictState } from "../../data/types.ts";
import { counted } from "../../parts/counted.ts";
import { wordSaid } from "./bar.tsx";
import { type Dimension, NONE, type Shown } from "./choices.ts";
import type { Network } from "./model.ts";
import { palette } from "./palette.ts";
import type { Way } from "./paths.ts";
import { point, type Pointed } from "./pointing.ts";
import { Stage } from "./stage.ts";
import type { Laid } from "./use-layout.ts";

export interface CanvasProps {
  net: Network;
  shown: Shown;
  by: Dimension;
  selected: number;
  /** What the text that is looked for is found in; null without a text. */
  matched: Uint8Array | null;
  way: Way | null;
  laid: Laid;
  summary: string;
  stage: { current: Stage | null };
  onSelect: (node: number) => void;
  onOpen: (node: number) => void;
  children?: ComponentChildren;
}

export function GraphCanvas(props: CanvasProps) {
  const { net, shown, by, selected, matched, way, stage } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [hovered, setHovered] = useState(-1);
  const told = useRef<Pointed>(null as unknown as Pointed);
  told.current = {
    hover: setHovered,
    select: props.onSelect,
    open: props.onOpen,
    drag: (node, x, y) => {
      setHovered(-1);
      props.laid.drag(node, x, y);
    },
    drop: props.laid.drop,
  };

  useEffect(() => {
    const made = new Stage(canvas.current!);
    stage.current = made;
    const sized = new ResizeObserver(([entry]) => made.resize(entry!.contentRect.width, entry!.contentRect.height));
    sized.observe(canvas.current!);
    const still = point(canvas.current!, made, () => told.current);
    return () => {
      sized.disconnect();
      still();
      made.end();
      stage.current = null;
    };
  }, []);

  const classes = useMemo(() => classesOf(net, by), [net, by]);
  const names = useMemo(() => [...net.data.words[by], NONE].map((word) => wordSaid(by, word)), [net, by]);
  const near = hovered >= 0 && hovered < net.size ? hovered : -1;
  const deciding = [net, shown, near, selected, way, matched] as const;
  const marked = useMemo(() => emphasis(...deciding), deciding);
  useEffect(() => {
    const paint = () => stage.current?.paint(palette(by, net.data.words[by]));
    paint();
    const dark = matchMedia("(prefers-color-scheme: dark)");
    addEventListener("quire-theme", paint);
    dark.addEventListener("change", paint);
    return () => {
      removeEventListener("quire-theme", paint);
      dark.removeEventListener("change", paint);
    };
  }, [by, net]);
  useEffect(() => {
    const { scene } = stage.current!;
    // Until the layout answers, nodes of new data stand nowhere.
    const stale = scene?.positions.length !== 2 * net.size || scene.net !== net;
    const positions = stale ? { positions: new Float32Array(2 * net.size).fill(NaN) } : {};
    const given = { net, classes, names, ...marked, selected, hovered: near, way: way !== null && near < 0 };
    stage.current!.show({ ...given, ...positions, ...(scene?.nodes === shown.nodes ? {} : shown) });
  }, [net, shown, classes, names, marked, selected, near, way]);

  // On a phone what is selected covers the lower half: bring the picture into the upper one.
  useEffect(() => {
    if (selected < 0 || !matchMedia("(max-width: 760px)").matches) return;
    const wait = setTimeout(() => canvas.current?.parentElement?.scrollIntoView({ block: "start" }), 60);
    return () => clearTimeout(wait);
  }, [selected >= 0]);

  return (
    <div class="graph-stage">
      <canvas
        ref={canvas}
        tabIndex={0}
        role="img"
        aria-label={props.summary}
        aria-describedby="graph-keys"
      />
      <p id="graph-keys" class="visually-hidden">
        Arrow keys move the picture, plus and minus zoom, 0 shows all of it. N and P go to the next and the previous
        neighbour of what is selected, space goes on from there, Enter opens the record, Escape clears. The list
        beside it holds the same records.
      </p>
      <p class="graph-hint faint" aria-hidden="true">
        <kbd>arrows</kbd> move <kbd>+</kbd> <kbd>−</kbd> zoom <kbd>0</kbd> all <kbd>n</kbd> <kbd>p</kbd> neighbours{" "}
        <kbd>Enter</kbd> open <kbd>Esc</kbd> clear
      </p>
      {props.children}
      <div class="graph-zoom" role="group" aria-label="Zoom">
        <button aria-label="Zoom in" title="Zoom in (+)" onClick={() => stage.current?.zoom(1.5)}>
          +
        </button>
        <button aria-label="Zoom out" title="Zoom out (−)" onClick={() => stage.current?.zoom(1 / 1.5)}>
          −
        </button>
        <button aria-label="Fit" title="Show all (0)" onClick={() => stage.current?.fit()}>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4" />
          </svg>
        </button>
      </div>
      {near >= 0 ? <Tip net={net} node={near} stage={stage.current} /> : null}
    </div>
  );
}

function Tip({ net, node, stage }: { net: Network; node: number; stage: Stage | null }) {
  const at = stage?.where(node);
  if (!stage || !at) return null;
  const { data } = net;
  const left = at[0] > stage.width * 0.6;
  const shift = left ? "translate(calc(-100% - 14px), -50%)" : "translate(14px, -50%)";
  return (
    <div class="graph-tip" aria-hidden="true" style={{ left: `${at[0]}px`, top: `${at[1]}px`, transform: shift }}>
      <strong>{data.titles[node]}</strong>
      <span>
        <Kind kind={data.words.kind[data.kind[node]!] ?? ""} />
        <Verdict verdict={(data.words.verdict[data.verdict[node]!] as VerdictState) ?? null} />
        <Status status={data.words.status[data.status[node]!] ?? ""} live={data.live[node] === 1} />
        <span class="count">{counted(net.degree[node]!, "relation")}</span>
      </span>
    </div>
  );
}

function classesOf(net: Network, by: Dimension): Uint8Array {
  const none = net.data.words[by].length;
  return Uint8Array.from(net.data[by], (number) => (number < 0 ? none : number));
}

/** What matters now: what the pointer is on, else the way, else what is selected, else what is looked for. */
function emphasis(
  net: Network,
  shown: Shown,
  hovered: number,
  selected: number,
  way: Way | null,
  matched: Uint8Array | null,
): { bright: Uint8Array | null; strong: number[] } {
  const bright = new Uint8Array(net.size);
  const strong: number[] = [];
  const middle = hovered >= 0 ? hovered : way ? -1 : selected;
  if (middle >= 0) {
    bright[middle] = 1;
    for (let at = net.start[middle]!; at < net.start[middle + 1]!; at++) {
      if (!shown.edges[net.via[at]!]) continue;
      bright[net.other[at]!] = 1;
      strong.push(net.via[at]!);
    }
    return { bright, strong };
  }
  if (!way) return { bright: matched, strong };
  for (const node of way.nodes) bright[node] = 1;
  return { bright, strong: way.edges };
}
