/** Whether a record still holds, in plain words: for each place in the code what became of it, and who did it. */
import { choose } from "../../app/router.ts";
import type { AnchorView, VerdictState, VerdictView } from "../../data/types.ts";
import { isCalm, Verdict } from "../../parts/badges.tsx";
import { counted } from "../../parts/counted.ts";
import { DiffOf } from "../../parts/diff.tsx";
import { CommitLine } from "../../parts/facts-of-record.tsx";
import { Ticked } from "../../parts/ticked.tsx";

const WORDS: Record<VerdictState, string> = {
  fresh: "Up to date: the code has not changed since this record was last confirmed.",
  changed: "Out of date: the code has changed since this record was last confirmed.",
  moved: "Out of date: the code has moved.",
  orphaned: "Out of date: the code is gone.",
  unanchored: "No anchors: nothing shows whether this record is up to date.",
  unverifiable: "Unknown: the code could not be compared.",
};
const COMPARABLE = new Set<VerdictState>(["changed", "moved", "orphaned"]);
const WORST: VerdictState[] = ["orphaned", "moved", "changed", "unverifiable", "unanchored", "fresh"];

export function VerdictPanel({ refText, verdict, open }: { refText: string; verdict: VerdictView; open: string }) {
  const anchors = [...verdict.anchors].sort((a, b) => WORST.indexOf(a.verdict) - WORST.indexOf(b.verdict));
  const inner = (
    <>
      {verdict.since ? (
        <p class="verdict-since">
          <span class="faint">Last confirmed at</span> <CommitLine commit={verdict.since} />
        </p>
      ) : null}
      <ul class="anchors" aria-label="Places in the code">
        {anchors.map((anchor) => (
          <Anchor key={anchor.anchor} refText={refText} anchor={anchor} open={open === anchor.anchor} />
        ))}
      </ul>
    </>
  );
  const looks = `verdict-panel of-${verdict.verdict}`;
  const words = WORDS[verdict.verdict];
  // Without any place in the code there is no more to be said than that.
  if (!anchors.length && verdict.verdict === "unanchored") return <p class={`${looks} bare`}>{words}</p>;
  if (!anchors.length)
    return (
      <p class={`${looks} bare`}>
        {words} <Ticked text={verdict.because} />
      </p>
    );
  const calm = isCalm(verdict.verdict);
  // What is said comes first: a long list of places waits until someone asks for it.
  return (
    <details class={looks} open={open !== "" || (!calm && anchors.length === 1)} aria-label="Is it up to date?">
      <summary>
        <span class={calm ? "" : "verdict-words"}>{words}</span>{" "}
        <span class="count">{counted(anchors.length, "place")}</span>
        {calm || !verdict.because || anchors.length === 1 ? null : (
          <span class="verdict-because">
            <Ticked text={verdict.because} />
          </span>
        )}
      </summary>
      {inner}
    </details>
  );
}

/** What became of an anchor, less its own name and a commit that is shown with it. */
function bare({ anchor, because, commit }: AnchorView): string {
  const why = because.replace(`\`${anchor}\` `, "");
  const named = commit ? why.match(/^changed in ([0-9a-f]{7,40})$/)?.[1] : undefined;
  return named && commit!.id.startsWith(named) ? "" : why;
}

function Anchor({ refText, anchor, open }: { refText: string; anchor: AnchorView; open: boolean }) {
  const others = anchor.files.filter((file) => file !== anchor.anchor);
  const left = Math.max(0, anchor.files_count - anchor.files.length);
  const dirty = new Set(anchor.dirty);
  // The anchor stands above it, and the commit below.
  const why = bare(anchor);
  return (
    <li class="anchor">
      <div class="anchor-head">
        <code>{anchor.anchor}</code>
        <Verdict verdict={anchor.verdict} />
      </div>
      {why ? (
        <p class="anchor-why">
          <Ticked text={why} />
        </p>
      ) : null}
      {anchor.explained ? <p class="anchor-why">{anchor.explained}</p> : null}
      {anchor.to.length ? (
        <p class="anchor-why">
          Now at{" "}
          {anchor.to.map((path, number) => (
            <span key={path}>
              {number ? ", " : ""}
              <code>{path}</code>
            </span>
          ))}
        </p>
      ) : null}
      {others.length ? (
        <ul class="paths">
          {others.map((file) => (
            <li key={file}>
              <code>{file}</code>
              {dirty.has(file) ? <span class="faint"> not committed</span> : null}
            </li>
          ))}
          {left ? <li class="faint">and {left} more</li> : null}
        </ul>
      ) : null}
      {anchor.commit ? <CommitLine commit={anchor.commit} /> : null}
      {COMPARABLE.has(anchor.verdict) ? (
        <div class="anchor-diff">
          <button class="quiet" aria-expanded={open} onClick={() => choose({ anchor: open ? "" : anchor.anchor })}>
            {open ? "Hide what changed" : "Show what changed"}
            <span class="visually-hidden"> in {anchor.anchor}</span>
          </button>
          {open ? <DiffOf refText={refText} anchor={anchor.anchor} /> : null}
        </div>
      ) : null}
    </li>
  );
}
