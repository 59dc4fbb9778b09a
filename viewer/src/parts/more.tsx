/** The rest of a list, on asking. */
import { number } from "./counted.ts";

interface Rest {
  shown: number;
  total: number;
  /** How many there are in all, where some of them cannot be shown. */
  all?: number;
  /** How many come with the next step. */
  step: number;
  /** Of what: "changes". */
  what: string;
  onMore: () => void;
}

export function ShowMore({ shown, total, all = total, step, what, onMore }: Rest) {
  const left = total - shown;
  if (left <= 0) return null;
  return (
    <div class="show-more">
      <button class="quiet" data-row onClick={onMore}>
        Show {left <= step ? (left === 1 ? "the last one" : `the other ${number(left)}`) : `${number(step)} more`}
        <span class="visually-hidden"> {what}</span>
      </button>
      <span class="count">
        {number(shown)} of {number(all)}
      </span>
    </div>
  );
}
