/** What charts stand in: as wide as there is room, with quiet axes. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Scale } from "./scale.ts";
import type { Tick } from "./time.ts";

/** How wide an element is now; 0 until it is there. */
export function useWidth<T extends HTMLElement>(): [RefObject<T | null>, number] {
  const held = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = held.current;
    if (!element) return;
    setWidth(Math.floor(element.clientWidth));
    const watching = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    watching.observe(element);
    return () => watching.disconnect();
  }, []);
  return [held, width];
}

interface TimeAxisProps {
  ticks: Tick[];
  x: Scale;
  y: number;
  width: number;
  /** Where lines across begin; without it there are none. */
  grid?: number;
}

/** Moments along the lower edge. Labels that would leave the picture are pulled in. */
export function TimeAxis({ ticks, x, y, width, grid }: TimeAxisProps) {
  return (
    <g class="axis" aria-hidden="true">
      {ticks.map((tick) => {
        const place = x(tick.at);
        const anchor = place < 24 ? "start" : place > width - 24 ? "end" : "middle";
        return (
          <g key={tick.at} class={tick.strong ? "strong" : ""}>
            <line x1={place} x2={place} y1={grid ?? y} y2={y + 4} />
            <text x={place} y={y + 16} text-anchor={anchor}>
              {tick.label}
            </text>
          </g>
        );
      })}
    </g>
  );
}

interface ValueAxisProps {
  ticks: number[];
  y: Scale;
  left: number;
  right: number;
  say: (value: number) => string;
}

/** Values at the left, each with a line across. */
export function ValueAxis(props: ValueAxisProps) {
  return (
    <g class="axis" aria-hidden="true">
      {props.ticks.map((value) => (
        <g key={value}>
          <line x1={props.left} x2={props.right} y1={props.y(value)} y2={props.y(value)} />
          <text x={props.left - 8} y={props.y(value) + 4} text-anchor="end">
            {props.say(value)}
          </text>
        </g>
      ))}
    </g>
  );
}

export interface Series {
  name: string;
  /** A colour of the style, such as `fresh`. */
  colour: string;
}

interface LegendProps {
  series: Series[];
  values: number[];
  /** Which place that is. */
  at: string;
  say: (value: number) => string;
}

/** What the colours mean, with the values of one place. */
export function Legend({ series, values, at, say }: LegendProps) {
  return (
    <p class="legend">
      <span class="legend-at">{at}</span>
      {series.map((one, number) => (
        <span key={one.name} class="key" style={{ "--c": `var(--${one.colour})` }}>
          {one.name} <b>{say(values[number] ?? 0)}</b>
        </span>
      ))}
    </p>
  );
}
