/** The screen: every project on this machine, and how each stands. */
import { useMemo, useRef } from "preact/hooks";
import { moveInList } from "../app/keys.ts";
import { choose, type Route } from "../app/router.ts";
import type { ProjectEntry, ProjectList } from "../data/types.ts";
import { useData, usePage } from "../data/use.ts";
import { counted } from "../parts/counted.ts";
import { ShowMore } from "../parts/more.tsx";
import { Answered, Empty } from "../parts/states.tsx";
import { ProjectCard } from "./projects/card.tsx";
import { type Summaries, useSummaries } from "./projects/summaries.ts";

/** From so many on, a field to filter them is of use. */
const MANY = 8;
const STEP = 48;

export function ProjectsScreen({ route }: { route: Route }) {
  const { version, session } = usePage();
  const where = session.exported ? "in this export" : "on this machine";
  const asked = useData<ProjectList>("projects", {}, version);
  return (
    <>
      <div class="screen-head">
        <h1>Projects</h1>
        {asked.data?.projects.length ? <p>{`${counted(asked.data.projects.length, "project")} ${where}`}</p> : null}
      </div>
      <Answered asked={asked}>
        {(list) => (list.projects.length ? <Shelf list={list} query={route.query} /> : <NoProject />)}
      </Answered>
    </>
  );
}

function NoProject() {
  return (
    <div class="sheet">
      <Empty title="No project has a memory yet.">
        Run <code>memory init</code> in a repository: it stands here from then on. A memory that is already there is
        made known by <code>memory projects add</code>.
      </Empty>
    </div>
  );
}

function Shelf({ list, query }: { list: ProjectList; query: URLSearchParams }) {
  const wanted = query.get("q") ?? "";
  const most = Math.max(STEP, Number(query.get("most")) || 0);
  const fits = list.projects.filter((entry) => holds(entry, wanted));
  const ids = useMemo(() => open(list.projects).slice(0, most), [list, most]);
  const summaries = useSummaries(ids);
  const cards = sorted(fits, summaries).slice(0, most);
  const shelf = useRef<HTMLDivElement>(null);
  return (
    <div ref={shelf} onKeyDown={(event) => moveInList(event, shelf.current!)}>
      {list.projects.length > MANY || wanted ? (
        <input
          class="projects-filter"
          type="search"
          aria-label="Filter projects"
          placeholder="Filter by name or folder"
          value={wanted}
          onInput={(event) => choose({ q: event.currentTarget.value })}
        />
      ) : null}
      {cards.length ? (
        <ul class="projects" aria-label="Projects">
          {cards.map((entry) => (
            <li key={entry.id}>
              <ProjectCard entry={entry} summed={summaries.get(entry.id)} />
            </li>
          ))}
        </ul>
      ) : (
        <Empty title="No project of that name." />
      )}
      <ShowMore
        shown={cards.length}
        total={fits.length}
        step={STEP}
        what="projects"
        onMore={() => choose({ most: String(most + STEP) })}
      />
      {list.registry_path ? (
        <p class="projects-foot faint small">
          Kept in <code>{list.registry_path}</code>. <code>memory projects prune</code> forgets those that are gone.
        </p>
      ) : null}
    </div>
  );
}
/** Those that can be asked, the current one first. */
function open(entries: ProjectEntry[]): string[] {
  return [...entries]
    .filter((entry) => entry.available)
    .sort((a, b) => Number(b.current) - Number(a.current))
    .map((entry) => entry.id);
}

function holds(entry: ProjectEntry, wanted: string): boolean {
  const words = wanted.toLowerCase();
  return entry.name.toLowerCase().includes(words) || entry.root.toLowerCase().includes(words);
}

/** The current one, then the liveliest; those that are not there come last. By name until all have answered. */
function sorted(entries: ProjectEntry[], summaries: Summaries): ProjectEntry[] {
  const settled = entries.every((entry) => !entry.available || summaries.has(entry.id));
  const told = (entry: ProjectEntry) => summaries.get(entry.id)?.data?.last_activity ?? "";
  const active = (entry: ProjectEntry) => (settled && Date.parse(told(entry))) || 0;
  return [...entries].sort(
    (a, b) =>
      Number(b.current) - Number(a.current) ||
      Number(b.available) - Number(a.available) ||
      active(b) - active(a) ||
      a.name.localeCompare(b.name),
  );
}
