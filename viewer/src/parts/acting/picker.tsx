/** Choose a record by some words of it. */
import { useEffect, useRef, useState } from "preact/hooks";
import { projectPath, source } from "../../data/source.ts";
import type { Item, RecordPage } from "../../data/types.ts";
import { usePage } from "../../data/use.ts";
import { Kind } from "../badges.tsx";

const PAUSE_MS = 150;
const MOST = 8;

interface Picked {
  /** The one that is to be replaced: others like it are offered, itself is not. */
  like: Item;
  chosen: Item | null;
  onChoose: (item: Item | null) => void;
}

export function RecordPicker({ like, chosen, onChoose }: Picked) {
  const { project } = usePage();
  const [text, setText] = useState("");
  const [found, setFound] = useState<Item[]>([]);
  const [place, setPlace] = useState(0);
  const list = useRef<HTMLUListElement>(null);

  useEffect(() => {
    const ending = new AbortController();
    const path = projectPath(project, "records");
    const kind = text.trim() ? "" : like.kind;
    const query = { layer: like.layer, kind, live: 1, text: text.trim(), limit: MOST + 2 };
    const show = (page: RecordPage) => {
      if (ending.signal.aborted) return;
      setFound(page.items.filter((item) => item.ref !== like.ref && item.kind !== "project").slice(0, MOST));
      setPlace(0);
    };
    const ask = () => void source().get<RecordPage>(path, query, ending.signal).then(show, () => {});
    const wait = setTimeout(ask, text ? PAUSE_MS : 0);
    return () => {
      clearTimeout(wait);
      ending.abort();
    };
  }, [text, project, like.ref]);
  useEffect(() => list.current?.children[place]?.scrollIntoView({ block: "nearest" }), [place]);

  // One takes the place of the other: the keyboard stays where it was.
  const field = useRef<HTMLInputElement>(null);
  const another = useRef<HTMLButtonElement>(null);
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) (chosen ? another : field).current?.focus();
    first.current = false;
  }, [chosen]);

  if (chosen)
    return (
      <p class="picked">
        <Kind kind={chosen.kind} /> <span>{chosen.title}</span>
        <button type="button" class="quiet" ref={another} onClick={() => onChoose(null)}>
          Another
        </button>
      </p>
    );
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setPlace((now) => Math.min(now + 1, found.length - 1));
    else if (event.key === "ArrowUp") setPlace((now) => Math.max(now - 1, 0));
    else if (event.key === "Enter" && found[place]) onChoose(found[place]);
    else return;
    event.preventDefault();
  };
  return (
    <div class="picker">
      <label>
        Which record?
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls="picker-list"
          aria-activedescendant={found[place] ? `picker-${place}` : undefined}
          autocomplete="off"
          placeholder="Words from its title"
          value={text}
          autofocus
          ref={field}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={pressed}
        />
      </label>
      <ul id="picker-list" class="palette-list" role="listbox" aria-label="Records" ref={list}>
        {found.map((item, number) => (
          <li
            key={item.ref}
            id={`picker-${number}`}
            role="option"
            aria-selected={number === place}
            onClick={() => onChoose(item)}
          >
            <Kind kind={item.kind} /> <span>{item.title}</span>
          </li>
        ))}
        {!found.length && text ? <li class="faint">No match.</li> : null}
      </ul>
    </div>
  );
}
