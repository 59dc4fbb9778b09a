/** The files of an export as a source: no server, also from a folder on disk.
 *
 *  A page from `file://` may not fetch. So data are scripts `data/<name>.js`, each of which hands over one value by
 *  `quireData("<name>", <value>)`; they are asked for when they are needed, each once.
 */
import { listItems } from "./listing.ts";
import { Failure, type Query, type Source } from "./source.ts";
import type { Diff, InboxPage, Item, RecordDetail, RecordHistory } from "./types.ts";
import { readWords, search, type Words } from "./words.ts";

/** The one project of an export. */
const HERE = "here";
/** Answers that are a file as they are. */
const WHOLE: Record<string, string> = {
  "": "summary",
  today: "today",
  map: "map",
  graph: "graph",
  timeline: "timeline",
  "health/anchors": "anchors",
  "health/coverage": "coverage",
  "health/review": "review",
  "health/receipts": "receipts",
  "health/files": "files",
};

interface Places {
  refs: Record<string, number>;
  chunks: number;
}

type Chunk = Record<string, { detail: RecordDetail; history: RecordHistory; diffs: Record<string, Diff> }>;

/** Gives the value of a file of the export. */
export type Load = <T>(name: string) => Promise<T>;

export function isExported(): boolean {
  return document.querySelector('meta[name="quire-exported"]') !== null;
}

export function exportedSource(load: Load = scripts()): Source {
  const closed = () => {
    const hint = "Run `memory view --write` in the project.";
    return Promise.reject(new Failure({ code: "Exported", message: "An export cannot be changed.", hint }, 0));
  };
  const answer = answers(load);
  return {
    async get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
      const found = await answer(path, query);
      signal?.throwIfAborted();
      return found as T;
    },
    act: closed,
    undo: closed,
    // Nothing ever changes: nobody has to listen.
    watch: () => () => {},
  };
}

function answers(load: Load): (path: string, query: Query) => Promise<unknown> {
  let words: Promise<Words> | null = null;
  const readAll = () => {
    words ??= Promise.all([load<Item[]>("items"), load<Record<string, string>>("texts")]).then(
      ([items, texts]) => readWords(items, texts),
    );
    // What did not work is tried again the next time.
    words.catch(() => (words = null));
    return words;
  };

  async function recordOf(ref: string): Promise<Chunk[string]> {
    const { refs } = await load<Places>("records");
    const number = Object.hasOwn(refs, ref) ? refs[ref] : undefined;
    const chunk = number === undefined ? {} : await load<Chunk>(`records-${number}`);
    const found = Object.hasOwn(chunk, ref) ? chunk[ref] : undefined;
    if (!found) throw missing(`\`${ref}\` is not in the memory.`, "Search for its words.");
    return found;
  }

  return async (path, query) => {
    if (path === "session" || path === "projects") return load(path);
    const [mark, project = "", ...rest] = path.split("/").map(decodeURIComponent);
    if (mark !== "projects") throw missing("There is no page of that name.");
    if (project !== HERE) throw missing(`There is no project \`${project}\` in this export.`, "It holds one only.");
    const asked = rest.join("/");
    const whole = Object.hasOwn(WHOLE, asked) ? WHOLE[asked] : undefined;
    if (whole) return load(whole);
    const ref = String(query.ref ?? "");
    switch (asked) {
      case "records":
        return listItems(await load<Item[]>("items"), query);
      case "record":
        return (await recordOf(ref)).detail;
      case "history":
        return (await recordOf(ref)).history;
      case "diff":
        return diffOf((await recordOf(ref)).diffs, query);
      case "search":
        return search(await readAll(), {
          q: String(query.q ?? ""),
          layers: listed(query.layers),
          kinds: listed(query.kinds),
          all: String(query.all ?? "") === "1",
          limit: Math.max(1, Math.min(100, Number(query.limit) || 20)),
        });
      case "inbox":
        return pageOf(await load<InboxPage>("inbox"), query);
      case "actions":
        return { actions: [] };
      default:
        throw missing("There is no page of that name.");
    }
  };
}

/** What an anchor changed since is kept with its record; what a commit changed is not. */
function diffOf(diffs: Record<string, Diff>, query: Query): Diff {
  const anchor = String(query.anchor ?? "");
  const found = !query.commit && Object.hasOwn(diffs, anchor) ? diffs[anchor] : undefined;
  if (!found) {
    throw missing("An export holds no more of this.", "`memory view` in the project shows it.");
  }
  return found;
}

function pageOf(inbox: InboxPage, query: Query): InboxPage {
  const offset = Math.max(0, Number(query.offset) || 0);
  const limit = Math.max(1, Math.min(500, Number(query.limit) || 50));
  const items = inbox.items.filter(({ source }) => !query.source || source === query.source);
  return { ...inbox, offset, items: items.slice(offset, offset + limit) };
}

function listed(value: string | number | undefined): string[] {
  return String(value ?? "").split(",").filter(Boolean);
}

function missing(message: string, hint = ""): Failure {
  return new Failure({ code: "MemoryObjectNotFound", message, hint }, 404);
}

// -- scripts --------------------------------------------------------------------------------------

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: Failure) => void;
}

/** Files by script elements, each at most once; one that could not be read is asked for again. */
function scripts(): Load {
  const waiting = new Map<string, Waiting>();
  const asked = new Map<string, Promise<unknown>>();
  Object.assign(globalThis, {
    quireData(name: string, value: unknown) {
      waiting.get(name)?.resolve(value);
      waiting.delete(name);
    },
  });
  return <T>(name: string): Promise<T> => {
    const before = asked.get(name);
    if (before) return before as Promise<T>;
    const loading = new Promise<unknown>((resolve, reject) => {
      const script = document.createElement("script");
      const failed = () => {
        if (!waiting.delete(name)) return;
        asked.delete(name);
        const hint = "Keep the folder of the export together, and try again.";
        const message = `\`data/${name}.js\` of this export cannot be read.`;
        reject(new Failure({ code: "Unreadable", message, hint }, 0));
      };
      waiting.set(name, { resolve, reject });
      // A script that ran and handed nothing over is broken, too.
      script.onload = () => (failed(), script.remove());
      script.onerror = () => (failed(), script.remove());
      script.src = `data/${encodeURIComponent(name)}.js`;
      document.head.append(script);
    });
    asked.set(name, loading);
    return loading as Promise<T>;
  };
}
