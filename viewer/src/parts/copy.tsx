/** A name, and a button that puts it on the clipboard. */
import { useEffect, useRef, useState } from "preact/hooks";

const SAID_MS = 2000;

export function Copyable({ text, what }: { text: string; what: string }) {
  const [said, setSaid] = useState("");
  const shown = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!said) return;
    const wait = setTimeout(() => setSaid(""), SAID_MS);
    return () => clearTimeout(wait);
  }, [said]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid("Copied");
    } catch {
      // Pages from a file may not write there: then the text is chosen, and the usual key copies it.
      if (shown.current) getSelection()?.selectAllChildren(shown.current);
      setSaid("Chosen");
    }
  };
  return (
    <span class="copyable">
      <code ref={shown}>{text}</code>
      <button class="quiet" aria-label={`Copy ${what}`} onClick={copy}>
        {said || "Copy"}
      </button>
      <span class="visually-hidden" role="status">
        {said}
      </span>
    </span>
  );
}
