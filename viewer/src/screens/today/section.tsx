/** A part of the screen: a sheet with its name, how much is in it, and where all of it is. */
import type { ComponentChildren } from "preact";
import { number } from "../../parts/counted.ts";

interface Given {
  id: string;
  title: string;
  count?: number;
  /** A link at the right: what it says, and where it leads. */
  all?: [string, string];
  children: ComponentChildren;
}

export function Section({ id, title, count, all, children }: Given) {
  return (
    <section class="sheet" id={id} aria-labelledby={`${id}-title`}>
      <header>
        <h2 id={`${id}-title`}>{title}</h2>
        {count === undefined ? null : <span class="count">{number(count)}</span>}
        {all ? <a href={all[1]}>{all[0]}</a> : null}
      </header>
      {children}
    </section>
  );
}
