/** Since when: the last visit of this browser, or so many days. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { usePage } from "../../data/use.ts";

export const SINCE = { visit: "Last visit", "1d": "1 day", "7d": "7 days", "30d": "30 days" } as const;
export type Since = keyof typeof SINCE;

const DAY_MS = 86_400_000;
/** Whoever only glanced has not seen it. */
const LOOK_MS = 30_000;
/** Whoever comes back so soon goes on with the same visit: a reload does not take the news away. */
const SAME_VISIT_MS = 3_600_000;
const OLDEST_MS = 30 * DAY_MS;

export interface Visit {
  /** Since when the visit showed news. */
  from: number;
  /** When it ended. */
  left: number;
}

/** What a visit that begins now has to tell from; null where nobody was here before. */
export function newsFrom(visit: Visit | null, now: number): number | null {
  if (!visit) return null;
  const from = now - visit.left < SAME_VISIT_MS ? visit.from : visit.left;
  return Math.max(Math.min(from, now), now - OLDEST_MS);
}

export interface Chosen {
  choice: Since | null;
  time: string;
  /** What can be chosen: without a visit before this one there is no last one. */
  offered: Since[];
}

/** What was chosen, and the time it means. A time that someone put into the link is taken as it is. */
export function useSince(chosen: string): Chosen {
  const { project, session } = usePage();
  const visited = useVisit(project);
  const known = visited !== null;
  const usual = known ? "visit" : "7d";
  const choice = chosen === "" || chosen === "visit" ? usual : chosen in SINCE ? (chosen as Since) : null;
  const time = useMemo(() => {
    // An export tells of one span of time: its own.
    if (session.exported) return "";
    if (choice === null) return Number.isNaN(Date.parse(chosen)) ? "" : chosen;
    const from = choice === "visit" ? visited! : Date.now() - Number.parseInt(choice, 10) * DAY_MS;
    return new Date(from).toISOString();
  }, [choice, chosen, visited, session.exported]);
  const all = Object.keys(SINCE) as Since[];
  return { choice, time, offered: known ? all : all.filter((since) => since !== "visit") };
}

/** When the last visit ended; notes when this one does. */
function useVisit(project: string): number | null {
  const [from, setFrom] = useState(() => newsFrom(readVisit(project), Date.now()));
  const shown = useRef(Date.now());
  useEffect(() => {
    const leave = () => {
      const now = Date.now();
      if (now - shown.current < LOOK_MS) return;
      const news = newsFrom(readVisit(project), shown.current);
      keepVisit(project, { from: news ?? now - 7 * DAY_MS, left: now });
    };
    const turned = () => {
      if (document.visibilityState === "hidden") return leave();
      shown.current = Date.now();
      setFrom(newsFrom(readVisit(project), Date.now()));
    };
    document.addEventListener("visibilitychange", turned);
    addEventListener("pagehide", leave);
    return () => {
      document.removeEventListener("visibilitychange", turned);
      removeEventListener("pagehide", leave);
      leave();
    };
  }, [project]);
  return from;
}

function readVisit(project: string): Visit | null {
  try {
    const kept = JSON.parse(localStorage.getItem(`quire.visit.${project}`) ?? "null") as Partial<Visit> | null;
    return kept && Number.isFinite(kept.from) && Number.isFinite(kept.left) ? (kept as Visit) : null;
  } catch {
    return null;
  }
}

function keepVisit(project: string, visit: Visit): void {
  try {
    localStorage.setItem(`quire.visit.${project}`, JSON.stringify(visit));
  } catch {
    // Without storage there is no last visit: a week is shown.
  }
}
