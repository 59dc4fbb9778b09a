/** Where all records are that are out of date: in the list of all records, by verdict. */
import { href } from "../app/router.ts";
import type { VerdictState } from "../data/types.ts";
import { usePage } from "../data/use.ts";

export const OUT_OF_DATE: VerdictState[] = ["orphaned", "moved", "changed"];

export function OutOfDate() {
  const { project } = usePage();
  return (
    <p class="today-none small">
      All of them:{" "}
      {OUT_OF_DATE.map((verdict, number) => (
        <span key={verdict}>
          {number ? ", " : ""}
          <a href={href(project, "records", "", { verdict, live: "1" })}>{verdict}</a>
        </span>
      ))}
    </p>
  );
}
