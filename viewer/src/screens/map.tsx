/** The product at a glance: its features by stage, then what was decided, what bites, what is open. */
import { choose, recordHref, type Route } from "../app/router.ts";
import type { Item, ProductMap } from "../data/types.ts";
import { usePage, useProjectData } from "../data/use.ts";
import { Answered, Empty } from "../parts/states.tsx";
import { Board } from "./map/board.tsx";
import { Shelves } from "./map/shelves.tsx";

/** What is unfolded, kept in the address as `show`: `dead` for that column, `all-<part>` for all of a part. */
export interface Unfolded {
  has: (name: string) => boolean;
  toggle: (name: string) => void;
}

export function MapScreen({ route }: { route: Route }) {
  const asked = useProjectData<ProductMap>("map");
  const named = new Set((route.query.get("show") ?? "").split(",").filter(Boolean));
  const show: Unfolded = {
    has: (name) => named.has(name),
    toggle: (name) => {
      const next = new Set(named);
      if (!next.delete(name)) next.add(name);
      choose({ show: [...next].sort().join(",") });
    },
  };
  return (
    <>
      <Head project={asked.data?.project ?? null} />
      <Answered asked={asked}>
        {(map) => {
          const features = map.stages.reduce((sum, shelf) => sum + shelf.total, 0);
          const rest = map.decisions.total + map.gotchas.total + map.questions.total;
          if (!features && !rest)
            return (
              <Empty title="Nothing is on the map yet.">
                Features, decisions, gotchas and questions will appear here. <code>memory init --brief</code> prints a
                task for your agent to fill it; <code>memory add</code> records one thing.
              </Empty>
            );
          return (
            <>
              {features ? (
                <Board stages={map.stages} show={show} />
              ) : (
                <Empty title="No features yet.">
                  They will appear here by stage. <code>memory add feature "…" --stage building</code> records one.
                </Empty>
              )}
              <Shelves map={map} />
            </>
          );
        }}
      </Answered>
    </>
  );
}

function Head({ project }: { project: Item | null }) {
  const page = usePage();
  if (!project)
    return (
      <div class="screen-head">
        <h1>Map</h1>
      </div>
    );
  return (
    <div class="screen-head map-head">
      <h1>
        <a href={recordHref(page.project, project.ref)}>{project.title}</a>
      </h1>
      {project.excerpt ? <p>{project.excerpt}</p> : null}
    </div>
  );
}
