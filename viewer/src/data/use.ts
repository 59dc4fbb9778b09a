/** Data for a component: asked for when it is shown, and again when the disk changed; old data stays until new is there. */
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { type Failure, failureOf, projectPath, type Query, source } from "./source.ts";
import type { Session } from "./types.ts";

export interface Asked<T> {
  data: T | null;
  error: Failure | null;
  /** Whether an answer is awaited. */
  loading: boolean;
  again: () => void;
}

/** What the whole page knows. */
export interface Page {
  session: Session;
  /** The project that is shown; empty on the list of projects. */
  project: string;
  /** Another one with every change on disk. */
  version: string;
  live: boolean;
}

export const PageContext = createContext<Page>({
  session: { version: "", write: false, exported: false, project: "", now: "" },
  project: "",
  version: "",
  live: false,
});

export function usePage(): Page {
  return useContext(PageContext);
}

/** Whether the page may change records. */
export function useMayWrite(): boolean {
  const { session } = usePage();
  return session.write && !session.exported;
}

/** An answer about the project that is shown, such as `today`. An empty path asks nothing. */
export function useProjectData<T>(path: string, query: Query = {}): Asked<T> {
  const { project, version } = usePage();
  return useData<T>(path && project ? projectPath(project, path) : "", query, version);
}

export function useData<T>(path: string, query: Query = {}, version = ""): Asked<T> {
  const key = JSON.stringify([path, query]);
  const none = { key, data: null, error: null, loading: path !== "" };
  const [state, setState] = useState<Omit<Asked<T>, "again"> & { key: string }>(none);
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (!path) return setState(none);
    const ending = new AbortController();
    setState((before) => (before.key === key ? { ...before, error: null, loading: true } : none));
    source()
      .get<T>(path, query, ending.signal)
      .then(
        (data) => {
          if (!ending.signal.aborted) setState({ key, data, error: null, loading: false });
        },
        (error: unknown) => {
          if (!ending.signal.aborted) setState((before) => ({ ...before, error: failureOf(error), loading: false }));
        },
      );
    return () => ending.abort();
  }, [key, version, round]);
  // What was asked before this is no answer to it, not even for the one picture until it is asked for.
  const { data, error, loading } = state.key === key ? state : none;
  return { data, error, loading, again: () => setRound((number) => number + 1) };
}
