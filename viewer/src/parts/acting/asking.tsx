/** A dialog that asks before something is done: some fields, and two buttons. */
import type { ComponentChildren } from "preact";
import { Dialog } from "../../app/dialog.tsx";
import type { Failure } from "../../data/source.ts";
import { Ticked } from "../ticked.tsx";

interface Asked {
  title: string;
  /** What the button says that does it. */
  verb: string;
  /** Whether it takes something away. */
  danger?: boolean;
  ready: boolean;
  busy: boolean;
  /** Why it was not done when it was last tried. */
  refused: Failure | null;
  wide?: boolean;
  onDo: () => void;
  onClose: () => void;
  children: ComponentChildren;
}

export function AskingDialog(props: Asked) {
  const may = props.ready && !props.busy;
  const pressed = (event: KeyboardEvent) => {
    // What is typed here is not meant for the list that the dialog was opened from.
    if (event.key !== "Escape") event.stopPropagation();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && may) {
      event.preventDefault();
      props.onDo();
    }
  };
  return (
    <Dialog title={props.title} onClose={props.onClose} wide={props.wide}>
      <form
        class="asking"
        onKeyDown={pressed}
        onSubmit={(event) => {
          event.preventDefault();
          if (may) props.onDo();
        }}
      >
        {props.children}
        {props.refused ? (
          <p class="refusal" role="alert">
            <Ticked text={`${props.refused.message} ${props.refused.hint}`} />
          </p>
        ) : null}
        <footer>
          <button type="button" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" class={props.danger ? "danger" : "primary"} disabled={!may} aria-busy={props.busy}>
            {props.verb}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** A dialog that is gone gives the keyboard back; whoever asked may move it on then. */
const GIVEN_BACK_MS = 30;

export function afterwards(run: (() => void) | undefined): void {
  if (run) setTimeout(run, GIVEN_BACK_MS);
}
