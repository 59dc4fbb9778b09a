/** What happened, in words: the sentence at the top, and the names of days. */
import { href } from "../../app/router.ts";
import type { Today } from "../../data/types.ts";
import { counted, number } from "../../parts/counted.ts";

export interface Part {
  says: string;
  to: string;
  /** Whether it leads to a choice among the changes. */
  how: boolean;
}

const WEEKDAY = new Intl.DateTimeFormat("en-GB", { weekday: "long" });
const DATE = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long" });
const NEAR_DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long" });
const OLD_DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const DAY_MS = 86_400_000;

export function clock(time: string): string {
  const at = Date.parse(time);
  return Number.isNaN(at) ? "" : CLOCK.format(at);
}

/** A day as people call it: Today, Yesterday, Monday 9 November, 3 March 2024. */
export function dayName(time: string, now = Date.now()): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return "At some time";
  const days = daysBetween(at, new Date(now));
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  return Math.abs(days) < 300 ? DATE.format(at).replace(",", "") : OLD_DATE.format(at);
}

/** Within a sentence, as exact as anybody asks for: "09:14 today", "yesterday, 17:30", "Monday", "9 November". */
export function sinceWhen(time: string, now = Date.now()): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return "the beginning";
  const days = daysBetween(at, new Date(now));
  if (days <= 0) return `${CLOCK.format(at)} today`;
  if (days === 1) return `yesterday, ${CLOCK.format(at)}`;
  return (days < 7 ? WEEKDAY : days < 300 ? NEAR_DATE : OLD_DATE).format(at);
}

function daysBetween(at: Date, now: Date): number {
  const midnight = (day: Date) => Date.UTC(day.getFullYear(), day.getMonth(), day.getDate());
  return Math.round((midnight(now) - midnight(at)) / DAY_MS);
}

/** What the sentence says; empty where nothing happened and nothing is pending. */
export function newsOf(today: Today, project: string, since: string): Part[] {
  const count = (name: string) => today.digest[name] ?? 0;
  const others = Math.max(0, count("created") - count("decisions") - count("questions_opened"));
  const other = count("decisions") + count("questions_opened") > 0 ? "other " : "";
  const said: [number, string, string][] = [
    [count("decisions"), `${counted(count("decisions"), "decision")} made`, "created"],
    [count("questions_opened"), `${counted(count("questions_opened"), "question")} opened`, "created"],
    [count("closed"), `${counted(count("closed"), "question")} closed`, "closed"],
    [others, counted(others, `${other}new record`), "created"],
    [count("updated"), `${number(count("updated"))} changed`, "updated"],
    [count("retired"), `${number(count("retired"))} retired`, "retired"],
    [count("drifted"), `${counted(count("drifted"), "record")} went out of date`, "drifted"],
    [today.inbox.pending, counted(today.inbox.pending, "proposal pending", "proposals pending"), "inbox"],
  ];
  return said
    .filter(([many]) => many > 0)
    .map(([, says, where]) =>
      where === "inbox"
        ? { says, to: href(project, "inbox"), how: false }
        : { says, to: href(project, "today", "", { since, how: where }), how: true },
    );
}
