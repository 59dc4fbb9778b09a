/** What an agent that asks the same would be told, word for word, and what that costs. */
import { choose } from "../../app/router.ts";
import type { SearchAnswer } from "../../data/types.ts";
import { counted } from "../../parts/counted.ts";

export function Told({ answer, open }: { answer: SearchAnswer; open: boolean }) {
  return (
    <aside class="told" aria-label="What an agent would get">
      <details
        class="sheet"
        open={open}
        onToggle={(event) => event.currentTarget.open !== open && choose({ told: event.currentTarget.open ? "" : "0" })}
      >
        <summary>
          <h2>What an agent would get</h2>
          <span class="count">
            {counted(answer.tokens, "token")}
            {answer.milliseconds ? ` · ${took(answer.milliseconds)}` : ""}
          </span>
        </summary>
        <pre tabIndex={0} aria-label="The text">
          {answer.markdown}
        </pre>
        {answer.truncated ? <p class="told-note">Cut to fit the budget.</p> : null}
      </details>
    </aside>
  );
}

function took(milliseconds: number): string {
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
}
