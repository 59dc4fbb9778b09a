/** What is typed into a field that stands in the address, too: the field is ahead, the address follows. */
import { useEffect, useRef, useState } from "preact/hooks";

interface Typed {
  text: string;
  setText: (text: string) => void;
  /** Write it at once. */
  send: (text: string) => void;
}

/** Written when the typing rests. Where the address changes by itself (a link, a step back) the field follows it. */
export function useTyped(chosen: string, write: (text: string) => void, pauseMs = 200, followed?: () => void): Typed {
  const [text, setText] = useState(chosen);
  const sent = useRef(chosen);
  const send = (words: string) => write((sent.current = words));
  useEffect(() => {
    if (chosen === sent.current) return;
    setText((sent.current = chosen));
    followed?.();
  }, [chosen]);
  useEffect(() => {
    if (text === sent.current) return;
    const wait = setTimeout(() => send(text), pauseMs);
    return () => clearTimeout(wait);
  }, [text]);
  return { text, setText, send };
}
