/** The first words of a text, less the title above them: a record without a title of its own is called by those words. */
export function beyondTitle({ title, excerpt }: { title: string; excerpt: string }): string {
  const said = title.replace(/…$/u, "");
  if (!said || !excerpt.startsWith(said)) return excerpt;
  // A word that the title cut in two is said in full.
  const from = /^\S/u.test(excerpt.slice(said.length)) && said !== title ? said.lastIndexOf(" ") + 1 : said.length;
  const rest = excerpt.slice(from).replace(/^[\s.]+/u, "");
  return rest && said !== title ? `…${rest}` : rest;
}
