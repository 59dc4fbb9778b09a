/** A list of records made in the page, as the server makes it: chosen, counted and cut into pages. */
import type { Query } from "./source.ts";
import type { Item, RecordPage } from "./types.ts";

const FACETS = ["layer", "kind", "status", "stage", "section", "verdict"] as const;

/** The newest first. A facet counts what there would be if another of its values were chosen. */
export function listItems(items: Item[], query: Query): RecordPage {
  const wanted = FACETS.map((name) => said(query[name]));
  const text = said(query.text).toLowerCase();
  const live = said(query.live);
  const counts = FACETS.map(() => new Map<string, number>());
  const chosen: Item[] = [];
  for (const item of items) {
    if ((live === "1" && !item.live) || (live === "0" && item.live) || (text && !says(item, text))) continue;
    const values = FACETS.map((name) => item[name] ?? "");
    const missed = FACETS.flatMap((_, number) => (wanted[number] && wanted[number] !== values[number] ? [number] : []));
    if (!missed.length) chosen.push(item);
    if (missed.length > 1) continue;
    values.forEach((value, number) => {
      const counted = counts[number]!;
      if (value && (!missed.length || missed[0] === number)) counted.set(value, (counted.get(value) ?? 0) + 1);
    });
  }
  const offset = Math.max(0, Number(query.offset) || 0);
  const limit = Math.max(1, Math.min(500, Number(query.limit) || 100));
  return {
    total: chosen.length,
    offset,
    items: newestFirst(chosen).slice(offset, offset + limit),
    facets: Object.fromEntries(FACETS.map((name, number) => [name, byName(counts[number]!)])) as RecordPage["facets"],
  };
}

function byName(counts: Map<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function newestFirst(items: Item[]): Item[] {
  const timed = items.map((item) => ({ item, at: Date.parse(item.updated_at) || 0 }));
  return timed.sort((a, b) => b.at - a.at || (a.item.ref < b.item.ref ? -1 : 1)).map(({ item }) => item);
}

function says(item: Item, text: string): boolean {
  return (
    item.title.toLowerCase().includes(text) ||
    item.ref.toLowerCase().includes(text) ||
    item.excerpt.toLowerCase().includes(text) ||
    item.tags.some((tag) => tag.toLowerCase().includes(text))
  );
}

function said(value: string | number | undefined): string {
  return value === undefined ? "" : String(value);
}
