/** Who said what a proposal rests on. */

const WHO: Record<string, string> = { user: "You", agent: "The agent", file: "A file" };

export function who(by: string): string {
  return WHO[by] ?? by;
}
