/** Where the page is. Every place is a link: `#/p/<project>/<screen>/<rest>?<choices>`. */
import { useEffect, useState } from "preact/hooks";

export const SCREENS = ["today", "records", "map", "graph", "search", "inbox", "timeline", "health"] as const;
export type Screen = "projects" | "record" | (typeof SCREENS)[number];

export interface Route {
  screen: Screen | "unknown";
  /** The project's id; empty on the list of projects. */
  project: string;
  /** What stands behind the screen: of a record its ref. */
  rest: string;
  query: URLSearchParams;
}

const KNOWN = new Set<string>([...SCREENS, "record"]);

export function readRoute(hash: string): Route {
  const [path = "", search = ""] = split(hash.replace(/^#\/?/, ""), "?");
  const query = new URLSearchParams(search);
  const parts = path.split("/").filter(Boolean).map(decoded);
  if (!parts.length) return { screen: "projects", project: "", rest: "", query };
  const [mark, project = "", screen = "today", ...rest] = parts;
  const known = mark === "p" && project !== "" && KNOWN.has(screen);
  return { screen: known ? (screen as Screen) : "unknown", project, rest: rest.join("/"), query };
}

/** A link to a place. Choices that are empty are left out. */
export function href(project: string, screen: Screen = "today", rest = "", query: Record<string, string> = {}): string {
  const chosen = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ""));
  const parts = screen === "projects" ? [] : ["p", project, screen, ...(rest ? [rest] : [])];
  const path = parts.map(encodeURIComponent).join("/");
  return `#/${path}${chosen.size ? `?${chosen}` : ""}`;
}

export function recordHref(project: string, ref: string): string {
  return href(project, "record", ref);
}

export function navigate(to: string, replace = false): void {
  if (replace) {
    history.replaceState(null, "", to);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = to;
}

/** Change choices of the place where the page is, without a step in its history. */
export function choose(choices: Record<string, string>): void {
  const route = readRoute(location.hash);
  const query = Object.fromEntries(route.query);
  navigate(href(route.project, route.screen as Screen, route.rest, { ...query, ...choices }), true);
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const moved = () => setHash(location.hash);
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  return readRoute(hash);
}

function split(text: string, mark: string): [string, string] {
  const place = text.indexOf(mark);
  return place < 0 ? [text, ""] : [text.slice(0, place), text.slice(place + 1)];
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
