/** Where the page gets what it shows: from the server that serves it, or from the files of an export. */
import type { Act, Done, ErrorAnswer, Pulse } from "./types.ts";

export type Query = Record<string, string | number | undefined>;

export interface Source {
  /** An answer of the interface, such as `projects/<id>/today`. */
  get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T>;
  act(project: string, what: Act): Promise<Done>;
  undo(project: string, id: string): Promise<Done>;
  /** Tell when something on disk changed; hands back what ends it. `live` says whether someone listens. */
  watch(project: string, told: (pulse: Pulse) => void, live: (on: boolean) => void): () => void;
}

/** What went wrong, in the server's words: what it is, and what to do. */
export class Failure extends Error {
  readonly code: string;
  readonly hint: string;
  readonly status: number;

  constructor(answer: Partial<ErrorAnswer>, status: number) {
    super(answer.message || "Something went wrong.");
    this.code = answer.code ?? "Unknown";
    this.hint = answer.hint ?? "";
    this.status = status;
  }
}

/** Whatever was thrown, as something that can be shown. */
export function failureOf(error: unknown): Failure {
  return error instanceof Failure ? error : new Failure({ message: String(error) }, 0);
}

/** Where an answer about one project is: `projects/<id>/today`; without a name the project itself. */
export function projectPath(project: string, name = ""): string {
  return `projects/${encodeURIComponent(project)}${name && `/${name}`}`;
}

let chosen: Source | null = null;

export function useSource(source: Source): void {
  chosen = source;
}

export function source(): Source {
  if (!chosen) throw new Error("The page has no source yet.");
  return chosen;
}
