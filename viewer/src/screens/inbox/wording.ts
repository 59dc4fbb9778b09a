/** What of a proposal is shown once: its title, its text, and what of its quotes and fields says more than those. */
import type { Proposal } from "../../data/types.ts";

export interface Wording {
  /** Empty where the text itself begins with it. */
  heading: string;
  text: string;
  fields: Proposal["fields"];
  /** Empty where a quote names it. */
  origin: string;
}

export function wordingOf(proposal: Proposal): Wording {
  const title = proposal.fields.find((field) => field.name === "title")?.value ?? "";
  const [first = "", ...below] = proposal.text.split("\n");
  const isTitled = title !== "" && first.trim() === title.trim() && below.join("").trim() !== "";
  const text = isTitled ? below.join("\n").trim() : proposal.text;
  return {
    heading: isTitled || !proposal.text.startsWith(bare(title)) ? title : "",
    text,
    origin: proposal.evidence.some(({ where }) => names(where, proposal.origin)) ? "" : proposal.origin,
    fields: proposal.fields.filter((field) => field.value !== proposal.kind && !repeats(field.value, proposal.text)),
  };
}

/** Whether a text says nothing that another one does not say, whatever marks and spaces it is written with. */
export function repeats(text: string, other: string): boolean {
  const said = folded(bare(text));
  return said !== "" && ` ${folded(other)} `.includes(` ${said} `);
}

/** Whether a place such as `claude session 5f0c2a7e, turn 4` or `docs/a.md:1` lies in what is called so in full. */
function names(where: string, origin: string): boolean {
  const place = origin.slice(origin.lastIndexOf(":") + 1);
  const short = /[0-9a-f]{7,}/.exec(where)?.[0];
  return place !== "" && (where.includes(place) || (short !== undefined && place.startsWith(short)));
}

/** A text without the sign that it was cut. */
function bare(text: string): string {
  return text.replace(/…$/u, "");
}

function folded(text: string): string {
  return text
    .toLowerCase()
    .replace(/[\s\p{P}\p{S}]+/gu, " ")
    .trim();
}
