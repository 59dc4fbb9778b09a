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

/** Leads to all of them, where not all are shown. */
export function AllOf({ part, total, whole }: { part: string; total: number; whole: boolean }) {
  if (whole || total <= FIRST) return null;
  const go = () => {
    choose({ part });
    scrollTo(0, 0);
  };
  return (
    <p class="all-of">
      <button class="quiet" onClick={go}>
        All {number(total)}
      </button>
    </p>
  );
}
