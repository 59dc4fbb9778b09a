/** What was done, said for a while, with a way back. */
import { createContext, type ComponentChildren } from "preact";
import { useCallback, useContext, useRef, useState } from "preact/hooks";
import { type Failure, failureOf, source } from "../data/source.ts";
import type { Act, Done } from "../data/types.ts";
import { usePage } from "../data/use.ts";
import { Ticked } from "../parts/ticked.tsx";
import { focusPage } from "./keys.ts";

interface Toast {
  id: number;
  text: string;
  hint?: string;
  bad?: boolean;
  undo?: { project: string; id: string };
}

interface Acting {
  say: (text: string, bad?: boolean, hint?: string) => void;
  /** Do something to a record; tells what came of it. Answers with what went wrong, or with nothing.
   *
   *  Who shows by itself what went wrong asks for that to be left out: what lies below a dialog is heard by nobody.
   */
  act: (what: Act, quiet?: boolean) => Promise<Failure | null>;
  undo: (id: string) => Promise<Failure | null>;
}

const SHOWN_MS = 12_000;
const Context = createContext<Acting>({ say: () => {}, act: async () => null, undo: async () => null });

export function useActing(): Acting {
  return useContext(Context);
}

export function Toasts({ children }: { children: ComponentChildren }) {
  const { project } = usePage();
  const [toasts, setToasts] = useState<Toast[]>([]);
  const last = useRef(0);

  const drop = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);
  const add = useCallback((toast: Omit<Toast, "id">) => {
    const id = ++last.current;
    setToasts((all) => [...all.slice(-3), { ...toast, id }]);
    setTimeout(() => drop(id), SHOWN_MS);
  }, []);
  const failed = (error: unknown, quiet = false): Failure => {
    const failure = failureOf(error);
    if (!quiet) add({ text: failure.message, hint: failure.hint, bad: true });
    return failure;
  };
  const told = (done: Done) => {
    add({ text: done.message, undo: done.undo ? { project, id: done.undo } : undefined });
    for (const warning of done.warnings) add({ text: warning.message, hint: warning.hint ?? "", bad: true });
  };
  const acting: Acting = {
    say: (text, bad, hint) => add({ text, bad, hint }),
    act: (what, quiet) =>
      source()
        .act(project, what)
        .then(
          (done) => (told(done), null),
          (error) => failed(error, quiet),
        ),
    undo: (id) => takenBack(project, id),
  };
  function takenBack(where: string, id: string): Promise<Failure | null> {
    // What is taken back cannot be taken back once more, wherever else that is offered.
    setToasts((all) => all.filter((toast) => toast.undo?.id !== id));
    return source()
      .undo(where, id)
      .then(
        (done) => (told(done), null),
        (error) => failed(error),
      );
  }
  return (
    <Context.Provider value={acting}>
      {children}
      <div class="toasts" role="status" aria-live="polite">
        {toasts.map((toast) => (
          <div key={toast.id} class={`toast${toast.bad ? " bad" : ""}`}>
            <div>
              <Ticked text={toast.text} />
              {toast.hint ? (
                <div class="faint">
                  <Ticked text={toast.hint} />
                </div>
              ) : null}
            </div>
            {toast.undo ? (
              <button class="quiet" onClick={() => (focusPage(), void takenBack(toast.undo!.project, toast.undo!.id))}>
                Undo
              </button>
            ) : null}
            <button class="quiet" aria-label="Close" onClick={() => (focusPage(), drop(toast.id))}>
              ×
            </button>
          </div>
        ))}
      </div>
    </Context.Provider>
  );
}
