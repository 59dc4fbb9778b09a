/** Text in which the words of a question are marked. */

/** Words that stand in every question and tell nothing of its subject. */
const COMMON = new Set(
  (
    "the and for are was were that this these those with from into what which when where who whom why how does did " +
    "do is can could should would will has have had not its our your their there about than then but any all"
  ).split(" "),
);

/** Words of a question worth marking, the longest first, in lower case. */
export function wordsOf(question: string): string[] {
  const all = question.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const telling = all.filter((word) => word.length > 2 && !COMMON.has(word));
  // A plural finds its singular, too: "hooks" marks "hook".
  const stems = telling.map((word) => (word.length > 4 ? word.replace(/(?:es|s)$/, "") : word));
  return [...new Set(stems)].sort((a, b) => b.length - a.length);
}

export function Marked({ text, words }: { text: string; words: string[] }) {
  if (!words.length) return <>{text}</>;
  // They are letters, digits and low lines only: nothing in them means anything to a pattern.
  const parts = text.split(new RegExp(`((?<![\\p{L}\\p{N}_])(?:${words.join("|")})[\\p{L}\\p{N}_]*)`, "giu"));
  return <>{parts.map((part, number) => (number % 2 ? <mark key={number}>{part}</mark> : part))}</>;
}
