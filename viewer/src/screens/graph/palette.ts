/** Colours of the drawing: those of the style, asked for anew when it changes. */
import { colour } from "../../app/theme.ts";
import { type Dimension, NONE } from "./choices.ts";

/** Words that have a colour of their own in the style; a layer takes that of what it mostly holds. */
const TOKENS: Record<Dimension, Record<string, string>> = {
  kind: { project: "--accent" },
  folder: {},
  layer: { graph: "--feature", facts: "--fact", profile: "--entry", journal: "--episode" },
  verdict: {},
};
const KNOWN: Record<Dimension, string[]> = {
  kind: "feature decision gotcha question fact episode entry bundle event checkpoint".split(" "),
  folder: [],
  layer: [],
  verdict: "fresh changed moved orphaned unanchored unverifiable".split(" "),
};

/** Folders have no colour of their own: each has that of some kind, always the same. */
const KINDS = KNOWN.kind.filter((kind) => kind !== "checkpoint");

function hashed(word: string): number {
  let sum = 0;
  for (const sign of word) sum = (sum * 31 + sign.codePointAt(0)!) >>> 0;
  return sum;
}

/** The name of a word's colour in the style. */
export function token(dimension: Dimension, word: string): string {
  if (word === NONE) return "--ink-3";
  if (dimension === "folder") return `--${KINDS[hashed(word) % KINDS.length]}`;
  return TOKENS[dimension][word] ?? (KNOWN[dimension].includes(word) ? `--${word}` : "--ink-2");
}

export interface Palette {
  paper: string;
  ink: string;
  faint: string;
  strong: string;
  accent: string;
  /** One for each word, in the order of the words; the last for none. */
  classes: string[];
  font: string;
}

export function palette(dimension: Dimension, words: string[]): Palette {
  return {
    paper: colour("--sheet"),
    ink: colour("--ink"),
    faint: colour("--ink-3"),
    strong: colour("--ink-2"),
    accent: colour("--accent"),
    classes: [...words, NONE].map((word) => colour(token(dimension, word))),
    font: colour("--sans"),
  };
}
