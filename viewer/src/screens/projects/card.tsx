/** One project: what it is called, where it is, how far its features are, what waits in it. */
import { href } from "../../app/router.ts";
import type { ProjectEntry, ProjectSummary, Stage } from "../../data/types.ts";
import { counted, number } from "../../parts/counted.ts";
import { Ago } from "../../parts/times.tsx";
import type { Summed } from "./summaries.ts";

const STAGES: Stage[] = ["building", "shipped", "idea", "paused", "dead"];
const ROOT_CHARS = 40;

export function ProjectCard({ entry, summed }: { entry: ProjectEntry; summed: Summed | undefined }) {
  if (!entry.available) return <Missing entry={entry} />;
  return (
    <article class="sheet project">
      <header>
        <h2>
          <a class="project-name" href={href(entry.id)} data-row>
            {entry.name}
          </a>
        </h2>
        {entry.current ? <span class="tag project-current">current</span> : null}
      </header>
      <Where root={entry.root} branch={summed?.data?.git.branch ?? null} />
      {summed?.data ? <Standing id={entry.id} summary={summed.data} /> : null}
      {summed?.error ? (
        <p class="project-problem" role="alert">
          {summed.error.message} {summed.error.hint}
        </p>
      ) : null}
      {summed ? null : (
        <div class="project-wait" role="status">
          <span class="visually-hidden">Loading {entry.name}…</span>
        </div>
      )}
    </article>
  );
}

function Missing({ entry }: { entry: ProjectEntry }) {
  return (
    <article class="sheet project missing">
      <header>
        <h2>{entry.name}</h2>
        <span class="status">not available</span>
      </header>
      <Where root={entry.root} branch={null} />
      <p class="project-problem">{entry.problem || "Its memory cannot be read."}</p>
      <p class="faint small">
        Restore the folder, or remove the project with <code>memory projects remove {entry.id}</code>.
      </p>
    </article>
  );
}

function Where({ root, branch }: { root: string; branch: string | null }) {
  return (
    <p class="project-where">
      {root ? <code title={root}>{shortened(root)}</code> : null}
      {branch ? (
        <span class="project-branch" title={`Branch ${branch}`}>
          <span class="visually-hidden">branch </span>
          {branch}
        </span>
      ) : null}
    </p>
  );
}

function Standing({ id, summary }: { id: string; summary: ProjectSummary }) {
  const { open_questions, inbox, unreadable, stale } = summary;
  return (
    <>
      <Stages stages={summary.stages} others={othersOf(summary)} />
      <dl class="project-facts">
        <Figure count={open_questions} says="open questions" one="open question" to={questions(id)} />
        <Figure count={stale} says="out of date" one="out of date" to={href(id)} warn />
        <Figure count={inbox} says="proposals pending" one="proposal pending" to={href(id, "inbox")} />
      </dl>
      <footer class="project-foot small">
        {summary.last_activity ? (
          <span class="faint">
            Last activity <Ago time={summary.last_activity} />
          </span>
        ) : (
          <span class="faint">Nothing in it yet</span>
        )}
        {unreadable ? (
          <a class="project-bad" href={href(id, "health", "", { part: "files" })}>
            {counted(unreadable, "unreadable file")}
          </a>
        ) : null}
      </footer>
    </>
  );
}

/** What the layers beside the graph hold. */
function othersOf({ layers }: ProjectSummary): number {
  return (layers.facts ?? 0) + (layers.profile ?? 0) + (layers.journal ?? 0);
}

function questions(id: string): string {
  return href(id, "records", "", { kind: "question", status: "open" });
}

function Figure(given: { count: number; says: string; one: string; to: string; warn?: boolean }) {
  const { count, says, one, to, warn } = given;
  return (
    <div class={count ? (warn ? "warn" : "") : "none"}>
      <dt>{count === 1 ? one : says}</dt>
      <dd>{count ? <a href={to}>{number(count)}</a> : 0}</dd>
    </div>
  );
}

/** How far the features are: a bar, and the same in words. */
function Stages({ stages, others }: { stages: Record<Stage, number>; others: number }) {
  const there = STAGES.filter((stage) => stages[stage] > 0);
  if (!there.length)
    return (
      <p class="project-stages faint small">
        No features yet{others ? `; ${counted(others, "fact, preference or session", "facts, preferences and sessions")}` : ""}
      </p>
    );
  return (
    <div class="project-stages">
      <div class="stage-bar" aria-hidden="true">
        {there.map((stage) => (
          <i key={stage} class={`stage-fill-${stage}`} style={{ flexGrow: stages[stage] }} />
        ))}
      </div>
      <ul aria-label="Features by stage">
        {there.map((stage) => (
          <li key={stage}>
            <i class={`stage-fill-${stage}`} aria-hidden="true" />
            {stage} <b>{number(stages[stage])}</b>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A path without its middle: its end says which one it is. */
export function shortened(path: string, most = ROOT_CHARS): string {
  if (path.length <= most) return path;
  const head = path.slice(0, Math.floor(most / 3));
  return `${head}…${path.slice(path.length - (most - head.length - 1))}`;
}
