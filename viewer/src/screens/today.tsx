/** The screen: what happened since someone last looked, what needs a look, what is worked on, what waits. */
import { choose, href, type Route } from "../app/router.ts";
import type { RecordPage, Today } from "../data/types.ts";
import { usePage, useProjectData } from "../data/use.ts";
import { Activity } from "../parts/acting.tsx";
import { number } from "../parts/counted.ts";
import { useKept } from "../parts/kept.ts";
import { Answered, Empty, Loading } from "../parts/states.tsx";
import { Attention } from "./today/attention.tsx";
import { Changes } from "./today/changes.tsx";
import { Focus, Notes, Problems, Shelf, Waiting } from "./today/sections.tsx";
import { SINCE, type Since, useSince } from "./today/since.ts";
import { newsOf, type Part, sinceWhen } from "./today/words.ts";

export function TodayScreen({ route }: { route: Route }) {
  const { session } = usePage();
  const { choice, time, offered } = useSince(route.query.get("since") ?? "");
  const asked = useKept(useProjectData<Today>("today", { since: time }));
  return (
    <>
      <div class="screen-head today-head">
        <h1>Today</h1>
        {session.exported ? null : <Chips choice={choice} offered={offered} />}
      </div>
      <Answered asked={asked}>
        {(today) => (
          <div class={asked.old ? "held-over" : ""} aria-busy={asked.loading}>
            <Lede today={today} since={choice ?? route.query.get("since") ?? ""} />
            <Problems problems={today.problems} />
            <Sheets today={today} query={route.query} again={asked.again} />
          </div>
        )}
      </Answered>
    </>
  );
}

function Chips({ choice, offered }: { choice: Since | null; offered: Since[] }) {
  return (
    <div class="chips right" role="group" aria-label="Since">
      <span class="chips-name" aria-hidden="true">
        Since
      </span>
      {offered.map((since) => (
        <button key={since} class="chip" aria-pressed={choice === since} onClick={() => choose({ since, changes: "" })}>
          {SINCE[since]}
        </button>
      ))}
    </div>
  );
}

/** The whole of it in a sentence. */
function Lede({ today, since }: { today: Today; since: string }) {
  const { project } = usePage();
  const news = newsOf(today, project, since);
  const when = `Since ${since === "visit" ? "your last visit, " : ""}${sinceWhen(today.since)}`;
  if (!news.length)
    return (
      <p class="lede">
        {when}, <span>nothing changed.</span>
      </p>
    );
  return (
    <p class="lede">
      {when}:{" "}
      {news.map((part, number) => (
        <span key={part.says}>
          {number === 0 ? "" : number === news.length - 1 ? " and " : ", "}
          <Told part={part} />
        </span>
      ))}
      .
    </p>
  );
}

function Told({ part }: { part: Part }) {
  if (!part.how) return <a href={part.to}>{part.says}</a>;
  // The list is on this page: a link to the choice, and the eye is led there.
  const show = () => document.getElementById("changed")?.scrollIntoView({ block: "nearest" });
  return (
    <a href={part.to} onClick={show}>
      {part.says}
    </a>
  );
}

/** Nothing to tell of: because it is quiet, or because nothing was ever recorded but the project itself. */
function Nothing() {
  const { project } = usePage();
  const { data, error } = useProjectData<RecordPage>("records", { limit: 1 });
  if (!data && !error) return <Loading />;
  if (data && data.total > 1)
    return (
      <Empty title="No news.">
        Nothing changed, and nothing is pending. There are <a href={href(project, "records")}>{number(data.total)} records</a>
        , and <a href={href(project, "timeline")}>the timeline</a> tells when they came.
      </Empty>
    );
  return (
    <Empty title="No records yet.">
      What agents and people record appears here day by day. <code>memory init --brief</code> prints a task for your agent to fill the memory; <code>memory note "…"</code> keeps a note for later.
    </Empty>
  );
}

/** What there is stands in two columns; what there is not, in one line. */
function Sheets({ today, query, again }: { today: Today; query: URLSearchParams; again: () => void }) {
  const { project } = usePage();
  const records = (choices: Record<string, string>) => href(project, "records", "", choices);
  const changed = today.changed_total > 0 || query.has("how");
  const focus = today.focus.length + today.next_steps.length > 0;
  const missing = [
    changed ? "" : "no changes",
    today.attention.length ? "" : "nothing out of date",
    today.inbox.pending ? "" : "nothing in the inbox",
    focus ? "" : "no focus",
    today.building.length ? "" : "nothing being built",
    today.questions.length ? "" : "no open questions",
    today.pins.length ? "" : "nothing pinned",
    today.notes.length ? "" : "no notes",
  ].filter(Boolean);
  if (missing.length === 8)
    return (
      <div class="today-column">
        <div class="sheet">
          <Nothing />
        </div>
        <Activity />
      </div>
    );
  return (
    <>
      <div class="today">
        <div class="today-column">
          {changed ? <Changes today={today} query={query} /> : null}
          {today.questions.length ? (
            <Shelf
              id="questions"
              title="Open questions"
              items={today.questions}
              to={records({ kind: "question", status: "open" })}
            />
          ) : null}
          {today.building.length ? (
            <Shelf
              id="building"
              title="Building now"
              items={today.building}
              to={records({ kind: "feature", stage: "building" })}
            />
          ) : null}
          {today.pins.length ? (
            <Shelf id="pins" title="Pins" items={today.pins} to={records({ layer: "facts" })} kind />
          ) : null}
          {today.notes.length ? <Notes notes={today.notes} /> : null}
        </div>
        <div class="today-column">
          {focus ? <Focus focus={today.focus} steps={today.next_steps} /> : null}
          {today.attention.length ? <Attention today={today} query={query} again={again} /> : null}
          {today.inbox.pending ? <Waiting today={today} again={again} /> : null}
          <Activity />
        </div>
      </div>
      {missing.length ? <p class="today-missing faint">{`${missing.join(" · ")}.`}</p> : null}
    </>
  );
}
