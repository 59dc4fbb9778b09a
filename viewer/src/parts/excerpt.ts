/** The first words of a text, less the title above them: a record without a title of its own is called by those words. */
export function beyondTitle({ title, excerpt }: { title: string; excerpt: string }): string {
  const said = title.replace(/…$/u, "");
  if (!said || !excerpt.startsWith(said)) return excerpt;
  const rest = excerpt.slice(said.length).replace(/^[\s.]+/u, "");
  return rest && said !== title ? `…${rest}` : rest;
}
