/** What the parts of the page have in common: among the others each shows the first of its lists, alone all of them. */
import { choose, type Route } from "../../app/router.ts";
import { number } from "../../parts/counted.ts";

export interface PartProps {
  route: Route;
  /** Whether it is shown alone. */
  whole: boolean;
}

/** How much of a list stands on the page of everything. */
export const FIRST = 6;

/** Leads to the whole list, where not all of it is shown; `of` is how many there are, where the list has not all either. */
export function AllOf({ part, total, whole, of = total }: { part: string; total: number; whole: boolean; of?: number }) {
  if (whole || total <= FIRST) return null;
  const go = () => {
    choose({ part });
    scrollTo(0, 0);
  };
  return (
    <p class="all-of">
      <button class="quiet" onClick={go}>
        {of > total ? `Show ${number(total)} of ${number(of)}` : `All ${number(total)}`}
      </button>
    </p>
  );
}
