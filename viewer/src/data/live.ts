/** The server as a source. Its token came with the link; it is sent with every request and stands in no address. */
import { Failure, projectPath, type Query, type Source } from "./source.ts";
import type { Act, Done, ErrorAnswer, Pulse } from "./types.ts";

const KEPT = "quire.token";
const RETRY_MOST = 15_000;

let arrived = false;

/** Whether someone came by the link that was printed, which names no place. */
export function hasJustArrived(): boolean {
  return arrived;
}

/** Take the token out of the address, so that neither history nor a copied link holds it.
 *
 *  A browser that was started with the link has a ticket instead, which is good for one token, once.
 */
export async function takeToken(): Promise<string> {
  arrived = false;
  const [, name, secret] = /[#&?](token|ticket)=([A-Za-z0-9_-]+)/.exec(location.hash) ?? [];
  if (name && secret) {
    const rest = location.hash.replace(`${name}=${secret}`, "").replace(/[#&?]$/, "");
    history.replaceState(null, "", location.pathname + (rest || "#/"));
    arrived = rest === "";
    const token = name === "token" ? secret : await redeemed(secret);
    if (token) keep(token);
    if (token) return token;
  }
  try {
    return localStorage.getItem(KEPT) ?? "";
  } catch {
    return "";
  }
}

async function redeemed(ticket: string): Promise<string> {
  const init = { method: "POST", body: JSON.stringify({ ticket }), headers: { "content-type": "application/json" } };
  const answer = await fetch("api/ticket", init).catch(() => null);
  return answer?.ok ? ((await answer.json()) as { data: { token: string } }).data.token : "";
}

function keep(token: string): void {
  try {
    localStorage.setItem(KEPT, token);
  } catch {
    // Without storage the token lasts as long as the page.
  }
}

export function liveSource(token: string): Source {
  const headers = { authorization: `Bearer ${token}` };
  /** The state of the disk that is shown of each project: news about that state is none. */
  const shown = new Map<string, string>();
  const answered = new Set<string>();
  let tell: ((pulse: Pulse) => void) | null = null;

  async function ask(path: string, init: RequestInit): Promise<Response> {
    let answer: Response;
    try {
      answer = await fetch(`api/${path}`, { ...init, headers: { ...headers, ...init.headers }, cache: "no-cache" });
    } catch (error) {
      if ((error as Error).name === "AbortError") throw error;
      throw new Failure({ code: "Unreachable", message: "The server does not answer.", hint: "Run `memory view` again." }, 0);
    }
    if (answer.ok) return answer;
    const said = (await answer.json().catch(() => ({}))) as { error?: ErrorAnswer };
    throw new Failure(said.error ?? { message: `The server answered ${answer.status}.` }, answer.status);
  }

  async function send<T>(path: string, body: unknown): Promise<T> {
    const init = { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    return ((await (await ask(path, init)).json()) as { data: T }).data;
  }

  return {
    async get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
      const answer = await ask(path + asked(query), { signal });
      const project = decodeURIComponent(/^projects\/([^/]+)/.exec(path)?.[1] ?? "");
      const version = answer.headers.get("x-quire-version") ?? "";
      // The first answer counts: a later one may be of a change that the rest of the page has not heard of yet.
      if (version && !answered.has(project)) {
        answered.add(project);
        const told = shown.get(project);
        if (told === undefined) shown.set(project, version);
        // Told of a state before anything was shown: whether it is that one is only known now.
        else if (told !== version) setTimeout(() => tell?.({ project, version: told }));
      }
      return ((await answer.json()) as { data: T }).data;
    },
    act: (project: string, what: Act) => send<Done>(projectPath(project, "actions"), what),
    undo: (project: string, id: string) => send<Done>(projectPath(project, "undo"), { undo: id }),
    watch(project, told, live) {
      const ending = new AbortController();
      const news = (pulse: Pulse) => {
        const before = shown.get(project);
        shown.set(project, pulse.version);
        // The list of projects has no state of its own: the first state that arrives is where it begins.
        const isNews = project ? answered.has(project) : before !== undefined;
        if (before !== pulse.version && isNews) told(pulse);
      };
      tell = told;
      void listen(ask, project, news, live, ending.signal);
      return () => ending.abort();
    },
  };
}

function asked(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  return given.length ? `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : "";
}

/** A stream of server-sent events, read by hand: `EventSource` cannot send a header. */
async function listen(
  ask: (path: string, init: RequestInit) => Promise<Response>,
  project: string,
  told: (pulse: Pulse) => unknown,
  live: (on: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let wait = 500; !signal.aborted; wait = Math.min(wait * 2, RETRY_MOST)) {
    try {
      const answer = await ask(`events?project=${encodeURIComponent(project)}`, { signal });
      live(true);
      wait = 500;
      for await (const data of events(answer)) told(JSON.parse(data) as Pulse);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Failure && error.status === 401) return live(false);
    }
    live(false);
    await new Promise((done) => setTimeout(done, wait));
  }
}

async function* events(answer: Response): AsyncGenerator<string> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    held += value;
    for (let end = held.indexOf("\n\n"); end >= 0; end = held.indexOf("\n\n")) {
      const lines = held.slice(0, end).split("\n");
      held = held.slice(end + 2);
      const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim());
      if (data.length) yield data.join("\n");
    }
  }
}
