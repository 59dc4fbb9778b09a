/** Keys: one table, so that the page of help can never tell another story than the keys. */
import { useEffect } from "preact/hooks";

export interface Key {
  /** As it is typed: `/`, `?`, `g t` (one after the other), `mod+k`. */
  keys: string;
  says: string;
  /** What is found there. */
  about?: string;
  run: () => void;
}

const CHAIN_MS = 1200;

export function useKeys(table: Key[]): void {
  useEffect(() => {
    let first = "";
    let at = 0;
    const pressed = (event: KeyboardEvent) => {
      const mod = event.ctrlKey || event.metaKey;
      const typing = isTyping(event.target);
      if (event.altKey || (typing && !mod && event.key !== "Escape")) return;
      if (document.querySelector("dialog[open]") && !mod) return;
      const now = performance.now();
      const single = mod ? `mod+${event.key.toLowerCase()}` : event.key;
      const chained = first && now - at < CHAIN_MS ? `${first} ${single}` : "";
      const found = table.find((key) => key.keys === chained) ?? table.find((key) => key.keys === single);
      first = "";
      if (found) {
        event.preventDefault();
        found.run();
      } else if (!mod && table.some((key) => key.keys.startsWith(`${single} `))) {
        first = single;
        at = now;
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [table]);
}

/** Whether keys are meant for a field. */
export function isTyping(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return !!element && (element.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(element.tagName));
}

/** Arrow keys, j and k among the links or buttons of a list; Home and End, too. */
export function moveInList(event: KeyboardEvent, list: HTMLElement): void {
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, Home: -Infinity, End: Infinity }[event.key];
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const all = [...list.querySelectorAll<HTMLElement>("[data-row]")];
  if (!all.length) return;
  const place = all.indexOf(document.activeElement as HTMLElement);
  const next = step === -Infinity ? 0 : step === Infinity ? all.length - 1 : place < 0 ? 0 : place + step;
  all[Math.max(0, Math.min(all.length - 1, next))]?.focus();
  event.preventDefault();
}

/** Where what was pressed is gone, the keyboard goes on with the page. */
export function focusPage(): void {
  document.getElementById("main")?.focus({ preventScroll: true });
}
