/** What answers a question: records with how well they fit and why, what stands with them, what was held back. */
import { useMemo, useRef } from "preact/hooks";
import { moveInList } from "../../app/keys.ts";
import { recordHref } from "../../app/router.ts";
import type { SearchAnswer, SearchHit } from "../../data/types.ts";
import { usePage } from "../../data/use.ts";
import { isCalm, Kind, StageMark, Status, Verdict } from "../../parts/badges.tsx";
import { beyondTitle } from "../../parts/excerpt.ts";
import { Ticked } from "../../parts/ticked.tsx";
import { Ago } from "../../parts/times.tsx";
import { Explained } from "./explained.tsx";
import { Marked, wordsOf } from "./marked.tsx";

export function Answer({ answer, explain }: { answer: SearchAnswer; explain: boolean }) {
  const list = useRef<HTMLDivElement>(null);
  const words = useMemo(() => wordsOf(answer.question), [answer.question]);
  const best = Math.max(1, ...answer.results.map((hit) => hit.score));
  const clear = answer.results.filter((hit) => hit.tier === "answer");
  const possible = answer.results.filter((hit) => hit.tier === "possible");
  return (
    <div ref={list} onKeyDown={(event) => moveInList(event, list.current!)}>
      {answer.words_only ? (
        <p class="search-note">Found by words only: this page has no search engine.</p>
      ) : null}
      {clear.length ? (
        <Hits label="Records that answer" hits={clear} words={words} best={best} explain={explain} />
      ) : (
        <div class="search-none">
          <h2>{possible.length ? "Nothing clearly answers this." : "Nothing matches."}</h2>
          <p>
            {possible.length
              ? "These may answer it. An agent gets one line for each, marked as uncertain."
              : "An agent gets no record. Fewer or other words may find more."}
          </p>
        </div>
      )}
      {possible.length ? (
        <section class="search-more" aria-labelledby="possible">
          <h2 id="possible">Possible, not certain</h2>
          <Hits label="Records that may answer" hits={possible} words={words} best={best} explain={explain} />
        </section>
      ) : null}
      {answer.connected.length ? (
        <section class="search-more" aria-labelledby="connected">
          <h2 id="connected">Connected</h2>
          <p>Not a match, but related to one.</p>
          <Others
            label="Connected"
            rows={answer.connected.map(({ relation, ...one }) => ({ ...one, says: inTitles(relation, answer) }))}
          />
        </section>
      ) : null}
      {answer.withheld.length ? (
        <section class="search-more withheld" aria-labelledby="withheld">
          <h2 id="withheld">Withheld</h2>
          <p>They match, but agents do not get them.</p>
          <Others label="Withheld" rows={answer.withheld.map(({ reason, ...one }) => ({ ...one, says: reason }))} />
        </section>
      ) : null}
    </div>
  );
}

/** A relation in the words that people know its records by: `feature.holds affects feature.berths`. */
function inTitles(relation: string, { results, connected }: SearchAnswer): string {
  const titles = new Map([...results, ...connected].map(({ ref, title }) => [ref, title]));
  return relation
    .split(" ")
    .map((word) => titles.get(word) || word.replaceAll("_", " "))
    .join(" ");
}

function Hits({ label, hits, ...more }: { label: string; hits: SearchHit[] } & Omit<Shown, "hit">) {
  return (
    <ol class="hits" aria-label={label}>
      {hits.map((hit) => (
        <Hit key={hit.ref} hit={hit} {...more} />
      ))}
    </ol>
  );
}

interface Shown {
  hit: SearchHit;
  words: string[];
  /** What a full bar stands for. */
  best: number;
  explain: boolean;
}

function Hit({ hit, words, best, explain }: Shown) {
  const { project } = usePage();
  const speaks = !isCalm(hit.verdict);
  const told = beyondTitle(hit);
  return (
    <li>
      <a class={`row hit${hit.live ? "" : " retired"}`} href={recordHref(project, hit.ref)} data-row data-ref={hit.ref}>
        <span class="row-head">
          <Kind kind={hit.kind} />
          {hit.layer === "graph" ? null : <span class="tag">{hit.layer}</span>}
          <StageMark stage={hit.stage} />
          <Status status={hit.status} live={hit.live || hit.stage === "dead"} />
          {speaks ? <Verdict verdict={hit.verdict} because={hit.because} /> : null}
          <Score score={hit.score} best={best} />
        </span>
        <span class="row-title">
          <Marked text={hit.title} words={words} />
        </span>
        {told ? (
          <span class="row-text">
            <Ticked text={told} show={(text) => <Marked text={text} words={words} />} />
          </span>
        ) : null}
        {speaks && hit.because ? (
          <span class="row-why">
            <Ticked text={hit.because} />
          </span>
        ) : null}
        <span class="hit-foot">
          {hit.why ? <span>found by {hit.why}</span> : null}
          <Ago time={hit.updated_at} />
        </span>
      </a>
      {explain ? <Explained parts={hit.explain} title={hit.title} /> : null}
    </li>
  );
}

function Score({ score, best }: { score: number; best: number }) {
  return (
    <span class="score" title="Relevance, up to 1">
      <i class="score-bar" aria-hidden="true">
        <i style={{ width: `${Math.max(2, Math.min(100, (100 * score) / best))}%` }} />
      </i>
      <span class="visually-hidden">Score </span>
      {score.toFixed(2)}
    </span>
  );
}

function Others({ label, rows }: { label: string; rows: { ref: string; title: string; says: string }[] }) {
  const { project } = usePage();
  return (
    <ul class="rows others" aria-label={label}>
      {rows.map((row) => (
        <li key={row.ref}>
          <a class="row" href={recordHref(project, row.ref)} title={row.ref} data-row data-ref={row.ref}>
            <span class="row-title">{row.title || row.ref}</span>
            {row.says ? (
              <span class="others-says">
                <Ticked text={row.says} />
              </span>
            ) : null}
          </a>
        </li>
      ))}
    </ul>
  );
}
