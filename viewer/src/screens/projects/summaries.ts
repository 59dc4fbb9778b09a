/** How each project stands: asked for a few at a time, so that many projects do not hold each other up. */
import { useEffect, useState } from "preact/hooks";
import { type Failure, failureOf, projectPath, source } from "../../data/source.ts";
import type { ProjectSummary } from "../../data/types.ts";

const AT_ONCE = 3;

export interface Summed {
  data: ProjectSummary | null;
  error: Failure | null;
}

export type Summaries = ReadonlyMap<string, Summed>;

/** Asked for again with every other list of ids: a list that was made anew tells of a change on disk. */
export function useSummaries(ids: string[]): Summaries {
  const [known, setKnown] = useState<Summaries>(new Map());
  useEffect(() => {
    const ending = new AbortController();
    const waiting = [...ids];
    const learn = (id: string, summed: Summed) => {
      if (!ending.signal.aborted) setKnown((before) => new Map(before).set(id, summed));
    };
    const work = async () => {
      for (let id = waiting.shift(); id !== undefined && !ending.signal.aborted; id = waiting.shift()) {
        try {
          learn(id, { data: await source().get<ProjectSummary>(projectPath(id), {}, ending.signal), error: null });
        } catch (error) {
          learn(id, { data: null, error: failureOf(error) });
        }
      }
    };
    for (let number = 0; number < AT_ONCE; number++) void work();
    return () => ending.abort();
  }, [ids]);
  return known;
}
