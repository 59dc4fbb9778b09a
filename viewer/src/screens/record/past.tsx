/** How a record came to be: what git and the memory's own log tell of it, the newest first. */
import { choose } from "../../app/router.ts";
import type { HistoryEntry, RecordHistory } from "../../data/types.ts";
import { usePage, useProjectData } from "../../data/use.ts";
import { DiffOf } from "../../parts/diff.tsx";
import { CommitName } from "../../parts/facts-of-record.tsx";
import { RefLink } from "../../parts/items.tsx";
import { Answered } from "../../parts/states.tsx";
import { Ticked } from "../../parts/ticked.tsx";
import { Ago } from "../../parts/times.tsx";

const FIRST = 8;
/** A commit in full, in the middle of a sentence: its first letters say as much. */
const LONG_COMMIT = /\b([0-9a-f]{9})[0-9a-f]{31}\b/g;
const HOW: Record<HistoryEntry["how"], string> = {
  commit: "commit",
  event: "saved",
  uncommitted: "not committed",
};

interface Given {
  refText: string;
  open: string;
  /** What related records are called. */
  titles: Map<string, string>;
}

export function Past({ refText, open, titles, whole }: Given & { whole: boolean }) {
  const asked = useProjectData<RecordHistory>("history", { ref: refText });
  return (
    <section class="past" aria-labelledby="past">
      <h2 id="past">History</h2>
      <Answered asked={asked}>
        {({ entries, cut }) => {
          if (!entries.length) return <p class="faint">No history: not committed yet.</p>;
          // A link to an entry further down unfolds what stands before it.
          const far = entries.findIndex((entry) => entry.commit?.id === open) >= FIRST;
          const all = whole || far;
          return (
            <>
              <ol class="past-line">
                {(all ? entries : entries.slice(0, FIRST)).map((entry, number) => (
                  <Entry key={`${entry.at} ${number}`} entry={entry} refText={refText} open={open} titles={titles} />
                ))}
              </ol>
              {entries.length > FIRST && !far ? (
                <button class="quiet" aria-expanded={whole} onClick={() => choose({ past: whole ? "" : "all" })}>
                  {whole ? "Show fewer" : `Show ${entries.length - FIRST} older`}
                </button>
              ) : null}
              {cut && all ? <p class="faint small">Older ones are left out here; git keeps them.</p> : null}
            </>
          );
        }}
      </Answered>
    </section>
  );
}

function Entry({ entry, refText, open, titles }: Given & { entry: HistoryEntry }) {
  const { commit } = entry;
  // An export holds what became of the code, but not every version of the record itself.
  const { session } = usePage();
  const comparable = commit !== null && !session.exported;
  const shown = comparable && commit.id === open;
  return (
    <li class={`past-entry past-${entry.how}`}>
      <p class="past-head">
        <span class="past-title">{entry.title || commit?.subject || HOW[entry.how]}</span>
        <Ago time={entry.at} />
      </p>
      <p class="past-by">
        {commit ? <CommitName id={commit.id} short={commit.short} /> : ""}
        {entry.by ? `${commit ? " " : ""}by ${entry.by}` : ""}
        {comparable ? (
          <button class="quiet" aria-expanded={shown} onClick={() => choose({ commit: shown ? "" : commit.id })}>
            {shown ? "Hide diff" : "Show diff"}
            <span class="visually-hidden"> of {commit.short}</span>
          </button>
        ) : null}
      </p>
      {entry.changes.length ? (
        <ul class="past-changes">
          {entry.changes.map((change) => (
            <li key={change}>
              <Changed text={change.replace(LONG_COMMIT, "$1")} titles={titles} />
            </li>
          ))}
        </ul>
      ) : null}
      {shown ? <DiffOf refText={refText} commit={commit.id} /> : null}
    </li>
  );
}

/** What changed, such as `by: decision.one-queue`: a related record is called by its title. */
function Changed({ text, titles }: { text: string; titles: Map<string, string> }) {
  const at = text.indexOf(": ") + 2;
  const title = titles.get(text.slice(at));
  if (!title) return <Ticked text={text} />;
  return (
    <>
      {text.slice(0, at)}
      <RefLink refText={text.slice(at)} title={title} />
    </>
  );
}
