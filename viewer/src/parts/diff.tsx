/** What changed, line by line. A sign says what a colour says; long lines are broken, long files cut. */
import { useState } from "preact/hooks";
import type { Diff, DiffFile } from "../data/types.ts";
import { type Asked, useProjectData } from "../data/use.ts";
import { Answered, Empty } from "./states.tsx";

/** So many lines of a file at first; so many files unfolded. */
const LINES = 120;
const OPEN = 3;

/** The differences of one anchor, or of one commit, of a record. */
export function DiffOf({ refText, anchor = "", commit = "" }: { refText: string; anchor?: string; commit?: string }) {
  const asked: Asked<Diff> = useProjectData<Diff>("diff", { ref: refText, anchor, commit });
  return (
    <div class="diff" role="region" aria-label="What changed" aria-busy={asked.loading}>
      <Answered asked={asked}>{(diff) => <DiffView diff={diff} />}</Answered>
    </div>
  );
}

function DiffView({ diff }: { diff: Diff }) {
  if (!diff.files.length) return <Empty title="No differences.">{diff.title}</Empty>;
  return (
    <>
      <p class="diff-title">{diff.title}</p>
      {diff.files.map((file, number) => (
        <FileDiff key={file.path} file={file} open={number < OPEN} />
      ))}
      {diff.cut ? <p class="diff-note">More files changed than are shown here.</p> : null}
    </>
  );
}

interface Line {
  sign: " " | "+" | "-";
  text: string;
  /** Its number in the file as it is now, or as it was for what is gone; 0 where the header does not tell. */
  number: number;
}

function FileDiff({ file, open }: { file: DiffFile; open: boolean }) {
  const [shown, setShown] = useState(open);
  const [whole, setWhole] = useState(false);
  const hunks = numbered(file);
  const all = hunks.flatMap((hunk) => hunk.lines);
  const added = all.filter((line) => line.sign === "+").length;
  const removed = all.filter((line) => line.sign === "-").length;
  let left = whole ? Infinity : LINES;
  return (
    <details class="diff-file" open={shown} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary>
        <code>
          {file.old_path && file.old_path !== file.path ? <span class="diff-before">{file.old_path} → </span> : null}
          {file.path}
        </code>
        {file.binary ? null : (
          <span class="diff-sum">
            <span class="added">+{added}</span> <span class="removed">−{removed}</span>
          </span>
        )}
      </summary>
      {file.binary ? <p class="diff-note">Changed, but not text.</p> : null}
      {shown
        ? hunks.map((hunk, number) => {
            if (left <= 0) return null;
            const lines = hunk.lines.slice(0, left);
            left -= hunk.lines.length;
            return (
              <div key={number} class="diff-hunk">
                <div class="diff-hunk-head">{hunk.header}</div>
                {lines.map((line, place) => (
                  <DiffLine key={place} line={line} />
                ))}
              </div>
            );
          })
        : null}
      {!whole && all.length > LINES ? (
        <button class="quiet unfold" onClick={() => setWhole(true)}>
          Show {all.length - LINES} more lines
        </button>
      ) : null}
      {file.cut && (whole || all.length <= LINES) ? <p class="diff-note">The rest of this file is not shown.</p> : null}
    </details>
  );
}

const LOOKS = { "+": "diff-line added", "-": "diff-line removed", " ": "diff-line" };

function DiffLine({ line }: { line: Line }) {
  return (
    <div class={LOOKS[line.sign]}>
      <span class="diff-number" aria-hidden="true">
        {line.number || ""}
      </span>
      <span class="diff-sign">{line.sign === "-" ? "−" : line.sign}</span>
      <code>{line.text}</code>
    </div>
  );
}

function numbered(file: DiffFile): { header: string; lines: Line[] }[] {
  return file.hunks.map((hunk) => {
    const found = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(hunk.header);
    let before = Number(found?.[1] ?? 0);
    let now = Number(found?.[2] ?? 0);
    const lines = hunk.lines.map(([sign, text]): Line => {
      const number = !found ? 0 : sign === "-" ? before : now;
      if (sign !== "+") before++;
      if (sign !== "-") now++;
      return { sign, text, number };
    });
    return { header: hunk.header, lines };
  });
}
