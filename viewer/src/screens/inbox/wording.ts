/** What of a proposal is shown once: its title, its text, and what of its quotes and fields says more than those. */
import type { Proposal } from "../../data/types.ts";

export interface Wording {
  /** Empty where the text itself begins with it. */
  heading: string;
  text: string;
  fields: Proposal["fields"];
}

export function wordingOf(proposal: Proposal): Wording {
  const title = proposal.fields.find((field) => field.name === "title")?.value ?? "";
  const [first = "", ...below] = proposal.text.split("\n");
  const isTitled = title !== "" && first.trim() === title.trim() && below.join("").trim() !== "";
  const text = isTitled ? below.join("\n").trim() : proposal.text;
  return {
    heading: isTitled || !proposal.text.startsWith(bare(title)) ? title : "",
    text,
    fields: proposal.fields.filter((field) => field.value !== proposal.kind && !repeats(field.value, proposal.text)),
  };
}

/** Whether a text says nothing that another one does not say, whatever marks and spaces it is written with. */
export function repeats(text: string, other: string): boolean {
  const said = folded(bare(text));
  return said !== "" && ` ${folded(other)} `.includes(` ${said} `);
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
