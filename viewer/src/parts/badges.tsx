/** Small marks: kind, verdict, stage. Each says in words what its colour says. */
import type { VerdictState } from "../data/types.ts";

const VERDICTS: Record<VerdictState, string> = {
  fresh: "Up to date: the code has not changed since this record was last confirmed.",
  changed: "Out of date: the code has changed since this record was last confirmed.",
  moved: "Out of date: the code has moved.",
  orphaned: "Out of date: the code is gone.",
  unanchored: "No anchors: nothing shows whether this record is up to date.",
  unverifiable: "Unknown: the code could not be compared.",
};

/** What the kinds are called that people know by another word than the files do. */
const KINDS: Record<string, string> = {
  entry: "preference",
  episode: "session",
  event: "journal session",
  bundle: "journal",
  checkpoint: "journal state",
};

export function kindName(kind: string): string {
  return KINDS[kind] ?? kind;
}

/** Whether nobody needs to look: it holds, or nothing can tell. */
export function isCalm(verdict: VerdictState | null): boolean {
  return verdict === null || verdict === "fresh" || verdict === "unanchored";
}

export function Kind({ kind }: { kind: string }) {
  return <span class={`kind kind-${word(kind)}`}>{kindName(kind)}</span>;
}

export function Verdict({ verdict, because }: { verdict: VerdictState | null; because?: string }) {
  if (!verdict) return null;
  return (
    <span class={`verdict verdict-${verdict}`} title={because || VERDICTS[verdict]}>
      {verdict}
    </span>
  );
}

export function StageMark({ stage }: { stage: string | null }) {
  return stage ? <span class={`stage stage-${word(stage)}`}>{stage}</span> : null;
}

export function Status({ status, live }: { status: string; live: boolean }) {
  return live ? null : <span class="status">{status}</span>;
}

/** A word that may stand in the name of a class. */
export function word(text: string): string {
  return text.replace(/[^a-z0-9]+/gi, "-").toLowerCase();
}
