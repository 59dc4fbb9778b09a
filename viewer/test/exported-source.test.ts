/** An export as a source: the same answers as a server would give, out of files. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { exportedSource, type Load } from "../src/data/exported.ts";
import { listItems } from "../src/data/listing.ts";
import { Failure } from "../src/data/source.ts";
import type { Item, RecordPage, SearchAnswer } from "../src/data/types.ts";
import { questionWords, readWords, search, wordsOf } from "../src/data/words.ts";

function item(ref: string, title: string, more: Partial<Item> = {}): Item {
  return {
    ref,
    layer: "graph",
    kind: ref.split(".")[0]!,
    title,
    status: "active",
    live: true,
    stage: null,
    section: "",
    verdict: "fresh",
    because: "",
    created_at: "2026-01-01T00:00:00Z",
    updated_at: "2026-01-01T00:00:00Z",
    tags: [],
    excerpt: "",
    ...more,
  };
}

const items: Item[] = [
  item("feature.retry-queue", "Retry queue", { stage: "shipped", tags: ["Jobs"], updated_at: "2026-03-01T00:00:00Z" }),
  item("feature.export", "Export", { stage: "idea", excerpt: "Writes everything to a folder", verdict: "changed" }),
  item("decision.sqlite", "SQLite holds the index", { updated_at: "2026-02-01T00:00:00+02:00" }),
  item("decision.redis", "Redis holds the retry queue", { status: "superseded", live: false, verdict: null }),
  item("question.limits", "How many retries are enough?", { status: "closed", live: false, verdict: null }),
  item("fact:1", "Tea at four", { layer: "facts", kind: "fact", section: "habits", verdict: null }),
];
const texts = {
  "feature.retry-queue": "Failed jobs are tried again, with a growing pause between attempts.",
  "decision.sqlite": "One file, no server; full-text search with FTS5.",
};
const detail = { item: items[0], body: "x" };
const files: Record<string, unknown> = {
  session: { version: "1", exported: true },
  projects: { registry_path: "", projects: [{ id: "here" }] },
  summary: { name: "demo" },
  today: { since: "x" },
  anchors: { now: {} },
  items,
  texts,
  inbox: { pending: 3, offset: 0, items: [{ id: "a" }, { id: "b" }, { id: "c" }] },
  records: { refs: { "feature.retry-queue": 0, "feature.lost": 1 }, chunks: 2 },
  "records-0": {
    "feature.retry-queue": {
      detail,
      history: { ref: "feature.retry-queue" },
      diffs: { "path:src/a.py": { title: "d" } },
    },
  },
  "records-1": {},
};
const load: Load = async <T>(name: string) => {
  if (!Object.hasOwn(files, name)) throw new Failure({ message: name }, 0);
  return files[name] as T;
};
const source = exportedSource(load);

async function refused(asking: Promise<unknown>): Promise<Failure> {
  return assert.rejects(asking).then(() => asking.then(() => assert.fail(), (error: Failure) => error));
}

test("answers that are a file as they are", async () => {
  assert.equal(await source.get("session"), files.session);
  assert.equal(await source.get("projects"), files.projects);
  assert.equal(await source.get("projects/here"), files.summary);
  assert.equal(await source.get("projects/here/today", { since: "2026-01-01" }), files.today);
  assert.equal(await source.get("projects/here/health/anchors"), files.anchors);
  assert.deepEqual(await source.get("projects/here/actions"), { actions: [] });
});

test("a record, its history and its diff", async () => {
  const ref = "feature.retry-queue";
  assert.equal(await source.get("projects/here/record", { ref }), detail);
  assert.deepEqual(await source.get("projects/here/history", { ref }), { ref });
  assert.deepEqual(await source.get("projects/here/diff", { ref, anchor: "path:src/a.py" }), { title: "d" });
});

test("a diff that is not in the export says so", async () => {
  for (const more of [{ anchor: "path:src/b.py" }, { commit: "abc" }, { anchor: "toString" }, {}]) {
    const error = await refused(source.get("projects/here/diff", { ref: "feature.retry-queue", ...more }));
    assert.equal(error.message, "An export holds no more of this.");
  }
});

test("what is not there is 404", async () => {
  for (const ref of ["feature.none", "feature.lost", "", "__proto__", "constructor"]) {
    const error = await refused(source.get("projects/here/record", { ref }));
    assert.equal(error.status, 404, ref);
    assert.equal(error.code, "MemoryObjectNotFound");
  }
  for (const path of ["projects/other/today", "projects/here/none", "projects/here/constructor", "none"]) {
    assert.equal((await refused(source.get(path))).status, 404, path);
  }
});

test("an export cannot be changed", async () => {
  assert.match((await refused(source.act("here", { action: "accept", id: "a" }))).message, /cannot be changed/);
  assert.match((await refused(source.undo("here", "a"))).message, /cannot be changed/);
});

test("an answer that nobody waits for any more is dropped", async () => {
  const ending = new AbortController();
  const asking = source.get("session", {}, ending.signal);
  ending.abort();
  await assert.rejects(asking, { name: "AbortError" });
});

test("the inbox comes in pages", async () => {
  const page = await source.get("projects/here/inbox", { offset: 1, limit: 1 });
  assert.deepEqual(page, { pending: 3, offset: 1, items: [{ id: "b" }] });
});

test("a list is newest first, whatever zone a time is in, then by name", async () => {
  const page = await source.get<RecordPage>("projects/here/records");
  assert.equal(page.total, 6);
  const refs = page.items.slice(0, 3).map((one) => one.ref);
  assert.deepEqual(refs, ["feature.retry-queue", "decision.sqlite", "decision.redis"]);
  assert.deepEqual(listItems(items, { offset: 4, limit: 1 }).items.map((one) => one.ref), ["feature.export"]);
});

test("a list is chosen exactly, and by words without case", () => {
  const refs = (query: Record<string, string>) => listItems(items, query).items.map((one) => one.ref).sort();
  assert.deepEqual(refs({ kind: "decision" }), ["decision.redis", "decision.sqlite"]);
  assert.deepEqual(refs({ kind: "decision", live: "1" }), ["decision.sqlite"]);
  assert.deepEqual(refs({ live: "0" }), ["decision.redis", "question.limits"]);
  assert.deepEqual(refs({ section: "habits" }), ["fact:1"]);
  assert.deepEqual(refs({ verdict: "changed" }), ["feature.export"]);
  assert.deepEqual(refs({ stage: "ship" }), []);
  assert.deepEqual(refs({ text: "JOBS" }), ["feature.retry-queue"]);
  assert.deepEqual(refs({ text: "retry-q" }), ["feature.retry-queue"]);
  assert.deepEqual(refs({ text: "to a FOLDER" }), ["feature.export"]);
});

test("facets are counted within the other choices", () => {
  const { facets } = listItems(items, { kind: "decision", layer: "graph" });
  assert.deepEqual(facets.kind, { decision: 2, feature: 2, question: 1 });
  assert.deepEqual(facets.layer, { graph: 2 });
  assert.deepEqual(facets.status, { active: 1, superseded: 1 });
  assert.deepEqual(facets.stage, {});
  assert.deepEqual(listItems(items, { text: "retr" }).facets.kind, { decision: 1, feature: 1, question: 1 });
});

test("words: names open at their joints, accents and endings go", () => {
  assert.deepEqual(wordsOf("retryQueue"), wordsOf("retry_queues"));
  assert.deepEqual(wordsOf("HTTPServer café"), ["http", "server", "cafe"]);
  assert.deepEqual(wordsOf("Caching cached caches cache"), ["cach", "cach", "cach", "cach"]);
  assert.deepEqual(wordsOf("記憶を保つ"), ["記憶", "憶を", "を保", "保つ"]);
  assert.deepEqual(questionWords("What is the retry queue of this?").map(({ word }) => word), ["retry", "queue"]);
  assert.deepEqual(questionWords("this is"), []);
});

const ask = (q: string, more: Record<string, string | number> = {}) =>
  source.get<SearchAnswer>("projects/here/search", { q, ...more });

test("a search finds by title, tag and text; the title weighs most", async () => {
  const refs = (await ask("retry queue")).results.map((hit) => hit.ref);
  assert.deepEqual(refs, ["feature.retry-queue", "question.limits"]);
  assert.equal((await ask("jobs")).results[0]!.ref, "feature.retry-queue");
  assert.equal((await ask("growing pauses")).results[0]!.ref, "feature.retry-queue");
  const [best] = (await ask("retry queue")).results;
  assert.match(best!.why, /^words: retry, queue$/);
  assert.ok(best!.explain.title! > best!.explain.text!);
  assert.ok(Math.abs(best!.explain.title! + best!.explain.text! - best!.score) < 1e-3);
  assert.ok(best!.score > 0 && best!.score <= 1);
});

test("what is retired is withheld, unless everything is asked for", async () => {
  const found = await ask("redis");
  assert.deepEqual(found.results, []);
  const title = "Redis holds the retry queue";
  assert.deepEqual(found.withheld, [{ ref: "decision.redis", title, reason: "superseded" }]);
  const all = await ask("redis", { all: "1" });
  assert.equal(all.results[0]!.ref, "decision.redis");
  assert.equal(all.results[0]!.why, "words: redis, superseded");
  assert.deepEqual(all.withheld, []);
});

test("a search keeps to layers and kinds, and to its limit", async () => {
  assert.deepEqual((await ask("retry", { kinds: "question" })).results.map((hit) => hit.ref), ["question.limits"]);
  assert.deepEqual((await ask("retry", { layers: "facts,journal" })).results, []);
  const one = await ask("retry", { limit: 1 });
  assert.equal(one.results.length, 1);
  assert.ok(one.truncated);
});

test("a word that is not written to its end yet", async () => {
  assert.equal((await ask("sqli")).results[0]!.ref, "decision.sqlite");
});

test("nothing found is no error; what may answer is possible", async () => {
  const none = await ask("zebra");
  assert.deepEqual([none.results, none.words_only], [[], true]);
  const near = await ask("zebra giraffe elephant rhinoceros lion tea");
  assert.deepEqual(near.results.map(({ ref, tier }) => [ref, tier]), [["fact:1", "possible"]]);
  assert.deepEqual((await ask("")).results, []);
});

test("ten thousand records are read in slices and searched at once", async () => {
  const made = (_: unknown, number: number) => item(`fact:${number}`, `Record ${number} of topic${number % 97}`);
  const many = Array.from({ length: 10_000 }, made);
  const body = "some words about a queue and a cache ".repeat(8);
  const bodies = Object.fromEntries(many.map((one) => [one.ref, `${body}${one.ref}`]));
  let turns = 0;
  const ticking = setInterval(() => turns++, 1);
  const words = await readWords(many, bodies);
  clearInterval(ticking);
  assert.ok(turns > 3, "the page got its turn meanwhile");
  const began = performance.now();
  const found = search(words, { q: "topic12 queue", layers: [], kinds: [], all: false, limit: 20 });
  assert.equal(found.results.length, 20);
  assert.ok(found.results.every((hit) => / topic12$/.test(hit.title)));
  assert.ok(performance.now() - began < 300);
});
