/** What was done in this run of the page, each with a way back. */
import { useState } from "preact/hooks";
import { useActing } from "../../app/toasts.tsx";
import type { Done, DoneList } from "../../data/types.ts";
import { useMayWrite, usePage, useProjectData } from "../../data/use.ts";
import { Ago } from "../times.tsx";

const SHOWN = 12;

export function Activity() {
  const may = useMayWrite();
  const { live } = usePage();
  const { undo } = useActing();
  const asked = useProjectData<DoneList>(may ? "actions" : "");
  const [under, setUnder] = useState("");
  const actions = asked.data?.actions ?? [];
  if (!actions.length) return null;

  const takeBack = async (done: Done) => {
    setUnder(done.undo);
    await undo(done.undo);
    setUnder("");
    // Who listens is reported the change, and asks again for everything that is shown.
    if (!live) asked.again();
  };
  return (
    <section class="sheet activity" aria-label="Done here">
      <header>
        <h2>Done here</h2>
        <span class="count">{actions.length}</span>
      </header>
      <ul class="rows">
        {actions.slice(0, SHOWN).map((done, number) => (
          <li key={done.undo || `${done.at} ${number}`}>
            <span class="activity-text">{done.message}</span>
            <Ago time={done.at} />
            {done.undo ? (
              <button
                class="quiet"
                disabled={under !== ""}
                aria-label={`Undo: ${done.message}`}
                onClick={() => void takeBack(done)}
              >
                Undo
              </button>
            ) : null}
          </li>
        ))}
      </ul>
    </section>
  );
}
