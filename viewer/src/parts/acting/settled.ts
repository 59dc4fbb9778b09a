/** What was answered a moment ago: dimmed until the server tells how things stand now. */
import { useEffect, useState } from "preact/hooks";
import { usePage } from "../../data/use.ts";

const NONE: ReadonlySet<string> = new Set();

/** `data` is what the list was made of: with other data nothing is settled any more, an undone answer neither. */
export function useSettled(data: unknown, again: () => void) {
  const { live } = usePage();
  const [settled, setSettled] = useState(NONE);
  useEffect(() => setSettled(NONE), [data]);
  return {
    settled,
    settle: (id: string) => {
      setSettled((before) => new Set(before).add(id));
      // Where nobody tells of changes, they are asked for.
      if (!live) again();
    },
  };
}

/** The keyboard goes on with the row after the one that is answered; with the one before, where it is the last. */
export function focusNext(list: HTMLElement | null, id: string): void {
  const rows = [...(list?.querySelectorAll<HTMLElement>("[data-row][data-ref]") ?? [])];
  const place = rows.findIndex((row) => row.dataset.ref === id);
  (rows[place + 1] ?? rows[place - 1])?.focus();
}
