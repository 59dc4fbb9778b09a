/** A question that has to be answered first. The browser's own dialog: it keeps the keyboard inside and Escape ends it. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren; wide?: boolean }) {
  const shown = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const dialog = shown.current!;
    dialog.showModal();
    return () => {
      dialog.close();
      before?.focus?.();
    };
  }, []);
  return (
    <dialog
      ref={shown}
      class={props.wide ? "wide" : ""}
      aria-label={props.title}
      onCancel={(event) => (event.preventDefault(), props.onClose())}
      onClick={(event) => event.target === shown.current && props.onClose()}
    >
      <div class="dialog">
        <header>
          <h2>{props.title}</h2>
          <button class="quiet" aria-label="Close" onClick={props.onClose}>
            ×
          </button>
        </header>
        {props.children}
      </div>
    </dialog>
  );
}
