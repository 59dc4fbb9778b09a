/** A sentence in which names of code stand between backticks: they are shown as code, the rest as it is. */
import type { ComponentChildren } from "preact";

interface Piece {
  text: string;
  code: boolean;
}

/** A backtick without its partner (the text may be cut) is only a character. */
export function pieces(text: string): Piece[] {
  const parts = text.split("`");
  const alone = parts.length % 2 === 0 ? parts.pop() : undefined;
  const made = parts.map((part, number) => ({ text: part, code: number % 2 === 1 }));
  if (alone !== undefined) made.push({ text: "`" + alone, code: false });
  return made.filter((piece) => piece.text);
}

export function Ticked({ text, show }: { text: string; show?: (text: string) => ComponentChildren }) {
  return (
    <>
      {pieces(text).map((piece, number) => {
        const inner = show ? show(piece.text) : piece.text;
        return piece.code ? <code key={number}>{inner}</code> : <span key={number}>{inner}</span>;
      })}
    </>
  );
}
