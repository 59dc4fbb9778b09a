/** From page to page of a long list. Its buttons are reached like rows: j goes on from the last one. */
import { number } from "../../parts/counted.ts";

interface Paged {
  offset: number;
  shown: number;
  total: number;
  size: number;
  onTurn: (offset: number) => void;
}

export function Pager({ offset, shown, total, size, onTurn }: Paged) {
  if (total <= shown) return null;
  const end = offset + shown;
  return (
    <nav class="pager" aria-label="Pages">
      <span class="count">
        {number(offset + 1)}–{number(end)} of {number(total)}
      </span>
      {offset > 0 ? (
        <button data-row onClick={() => onTurn(Math.max(0, offset - size))}>
          Newer
        </button>
      ) : null}
      {end < total ? (
        <button data-row onClick={() => onTurn(end)}>
          Older
        </button>
      ) : null}
    </nav>
  );
}
