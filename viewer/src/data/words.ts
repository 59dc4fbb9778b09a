/** Searching without a server: words in titles, tags and texts, weighed by how rare they are (BM25). */
import type { Item, SearchAnswer, SearchHit } from "./types.ts";

const K1 = 1.2;
const B = 0.75;
const TITLE = 3;
/** A record that has less of what a question is about came near, but does not answer. */
const ENOUGH = 0.3;
const SLICE_MS = 12;
const WITHHELD = 20;
const POSSIBLE = 3;
const MOST_WORDS = 64;
/** Not live, and true all the same: a question that was answered. */
const CURRENT = new Set(["active", "open", "closed"]);
const STOP = new Set(
  (
    "a about above after again against all am an and any are as at be because been before being below between both " +
    "but by can could did do does doing down during each few for from further had has have having he her here hers " +
    "him his how i if in into is it its itself just me more most my no nor not of off on once only or other our out " +
    "over own same she should so some such than that the their them then there these they this those through to too " +
    "under until up very was we were what when where which while who whom why will with would you your"
  ).split(" "),
);
const UNSPACED = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]+/g;

/** The words of a text, without what endings they have. */
export function wordsOf(text: string): string[] {
  return plainWords(text).map(stem);
}

/** Names are opened at their joints, and scripts without spaces become pairs. */
function plainWords(text: string): string[] {
  const opened = text
    .normalize("NFKC")
    .replace(/([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$2 ")
    .normalize("NFD")
    .replace(/\p{M}+/gu, "")
    .normalize("NFC")
    .replace(UNSPACED, pairs);
  return opened.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The words of a question that carry meaning, each once: as they were asked, and by their stems. */
export function questionWords(question: string): { word: string; stem: string }[] {
  const stems = new Map<string, string>();
  for (const word of plainWords(question)) {
    if (!STOP.has(word) && !stems.has(stem(word))) stems.set(stem(word), word);
  }
  return [...stems].slice(0, MOST_WORDS).map(([stem, word]) => ({ word, stem }));
}

function pairs(run: string): string {
  const signs = [...run];
  if (signs.length < 2) return ` ${run} `;
  return ` ${signs.slice(1).map((sign, number) => signs[number] + sign).join(" ")} `;
}

/** Endings that say nothing of what is meant; short words are left alone. */
function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  if (word.length === 4) return word.replace(/([^su])s$/, "$1");
  let cut = word.replace(/(?:sses)$/, "ss").replace(/ies$/, "y").replace(/([^su])s$/, "$1");
  const shorter = cut.replace(/(?:ing|ed)$/, "");
  if (shorter !== cut && shorter.length >= 3 && /[aeiouy]/.test(shorter)) cut = shorter.replace(/([^lsz])\1$/, "$1");
  return cut.length > 4 ? cut.replace(/e$/, "") : cut;
}

interface Posting {
  records: number[];
  title: number[];
  text: number[];
}

export interface Words {
  items: Item[];
  postings: Map<string, Posting>;
  titleLengths: number[];
  textLengths: number[];
}

/** Read everything once, in slices: the page stays awake meanwhile. */
export async function readWords(items: Item[], texts: Record<string, string>): Promise<Words> {
  const words: Words = { items, postings: new Map(), titleLengths: [], textLengths: [] };
  let since = performance.now();
  for (const [number, item] of items.entries()) {
    const title = wordsOf(item.title);
    const text = wordsOf(`${item.tags.join(" ")} ${item.ref} ${texts[item.ref] ?? item.excerpt}`);
    words.titleLengths.push(title.length);
    words.textLengths.push(text.length);
    count(words.postings, number, title, "title");
    count(words.postings, number, text, "text");
    if (performance.now() - since > SLICE_MS) {
      await new Promise((go) => setTimeout(go));
      since = performance.now();
    }
  }
  return words;
}

function count(postings: Map<string, Posting>, record: number, words: string[], field: "title" | "text"): void {
  for (const word of words) {
    let posting = postings.get(word);
    if (!posting) postings.set(word, (posting = { records: [], title: [], text: [] }));
    let place = posting.records.length - 1;
    if (posting.records[place] !== record) {
      place = posting.records.push(record) - 1;
      posting.title.push(0);
      posting.text.push(0);
    }
    posting[field][place]!++;
  }
}

export interface Question {
  q: string;
  layers: string[];
  kinds: string[];
  all: boolean;
  limit: number;
}

interface Found {
  record: number;
  title: number;
  text: number;
  /** How much of the question's weight its words have. */
  share: number;
  words: string[];
}

export function search(words: Words, asked: Question): SearchAnswer {
  const began = performance.now();
  const found = ranked(words, questionWords(asked.q)).filter(({ record }) => {
    const item = words.items[record]!;
    return fits(asked.layers, item.layer) && fits(asked.kinds, item.kind);
  });
  const clear = found.filter((one) => one.share >= ENOUGH);
  const gone = (one: Found) => retirement(words.items[one.record]!);
  const kept = clear.filter((one) => asked.all || !gone(one)).slice(0, asked.limit);
  const more = found.filter((one) => one.share < ENOUGH && (asked.all || !gone(one)));
  const possible = kept.length ? [] : more.slice(0, POSSIBLE);
  const shown = (one: Found, tier: "answer" | "possible") => ({
    ...hit(words.items[one.record]!, one, gone(one)),
    tier,
  });
  const named = ({ ref, title }: Item) => ({ ref, title });
  return {
    question: asked.q,
    results: [
      ...kept.map((one) => shown(one, "answer")),
      ...possible.map((one) => shown(one, "possible")),
    ],
    connected: [],
    withheld: (asked.all ? [] : clear.filter(gone))
      .slice(0, WITHHELD)
      .map((one) => ({ ...named(words.items[one.record]!), reason: gone(one) })),
    markdown: "",
    tokens: 0,
    truncated: clear.filter((one) => asked.all || !gone(one)).length > asked.limit,
    milliseconds: Math.round(performance.now() - began),
    words_only: true,
  };
}

function ranked(words: Words, question: { word: string; stem: string }[]): Found[] {
  const total = words.items.length;
  const sum = (numbers: number[]) => numbers.reduce((all, one) => all + one, 0);
  const mean = (lengths: number[]) => Math.max(1, sum(lengths) / Math.max(1, total));
  const [titleMean, textMean] = [mean(words.titleLengths), mean(words.textLengths)];
  const asked = question.map(({ word, stem }, number) => ({
    word,
    posting: postingOf(words, stem, number === question.length - 1),
  }));
  const rarity = asked.map(({ posting }) => {
    const many = posting?.records.length ?? 0;
    return Math.log(1 + (total - many + 0.5) / (many + 0.5));
  });
  const weight = sum(rarity) || 1;
  // The most that a record could have of all words, so that a score is a share of it.
  const most = weight * (K1 + 1) * (TITLE + 1);
  const found = new Map<number, Found>();
  asked.forEach(({ word, posting }, number) => {
    posting?.records.forEach((record, place) => {
      let one = found.get(record);
      if (!one) found.set(record, (one = { record, title: 0, text: 0, share: 0, words: [] }));
      const rare = rarity[number]!;
      one.title += (TITLE * rare * often(posting.title[place]!, words.titleLengths[record]!, titleMean)) / most;
      one.text += (rare * often(posting.text[place]!, words.textLengths[record]!, textMean)) / most;
      one.share += rare / weight;
      one.words.push(word);
    });
  });
  const { items } = words;
  return [...found.values()].sort((a, b) => {
    const [left, right] = [items[a.record]!, items[b.record]!];
    const better = b.title + b.text - (a.title + a.text);
    return better || compare(right.updated_at, left.updated_at) || compare(left.ref, right.ref);
  });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The more often the better, but less and less so; long texts say everything often. */
function often(times: number, length: number, mean: number): number {
  return (times * (K1 + 1)) / (times + K1 * (1 - B + (B * length) / mean));
}

/** Where a word is. The last word of a question may not be written to its end yet. */
function postingOf(words: Words, word: string, last: boolean): Posting | undefined {
  const exact = words.postings.get(word);
  if (exact || !last || word.length < 3) return exact;
  const sums = new Map<number, [number, number]>();
  for (const [other, posting] of words.postings) {
    if (!other.startsWith(word)) continue;
    posting.records.forEach((record, place) => {
      const [title, text] = sums.get(record) ?? [0, 0];
      sums.set(record, [title + posting.title[place]!, text + posting.text[place]!]);
    });
  }
  if (!sums.size) return undefined;
  const both = [...sums.values()];
  return { records: [...sums.keys()], title: both.map(([title]) => title), text: both.map(([, text]) => text) };
}

function hit(item: Item, found: Found, gone: string): Omit<SearchHit, "tier"> {
  const round = (value: number) => Math.round(value * 10_000) / 10_000;
  const [title, text] = [round(found.title), round(found.text)];
  const why = `words: ${found.words.join(", ")}`;
  return {
    ...item,
    score: round(title + text),
    why: gone ? `${why}, ${gone}` : why,
    anchors: [],
    files: [],
    explain: { title, text },
  };
}

/** Why a record is no answer any more; empty where it still is one. */
function retirement(item: Item): string {
  if (item.status === "superseded" || item.status === "stale") return item.status;
  if (item.stage === "dead") return "a dead feature";
  return CURRENT.has(item.status) ? "" : item.status;
}

function fits(wanted: string[], value: string): boolean {
  return !wanted.length || wanted.includes(value);
}
