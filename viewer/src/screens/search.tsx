/** Ask the memory as an agent would, and see what it would be told, and why. */
import { useEffect, useRef } from "preact/hooks";
import { isTyping } from "../app/keys.ts";
import { choose, type Route } from "../app/router.ts";
import type { SearchAnswer } from "../data/types.ts";
import { useProjectData } from "../data/use.ts";
import { useKept } from "../parts/kept.ts";
import { counted } from "../parts/counted.ts";
import { Failed, Loading } from "../parts/states.tsx";
import { useTyped } from "../parts/typed.ts";
import { Choices } from "./search/choices.tsx";
import { Examples } from "./search/examples.tsx";
import { Answer } from "./search/results.tsx";
import { Told } from "./search/told.tsx";

const PAUSE_MS = 250;
const LIMIT = 20;

export function SearchScreen({ route }: { route: Route }) {
  const given = (name: string) => route.query.get(name) ?? "";
  const question = given("q").trim();
  const input = useRef<HTMLInputElement>(null);
  const found = useRef<HTMLDivElement>(null);
  const focus = () => input.current?.focus();
  const { text, setText, send: ask } = useTyped(given("q"), (q) => choose({ q }), PAUSE_MS, focus);

  const choices = { layers: given("layers"), kinds: given("kinds"), all: given("all") };
  // While one types, the last answer stays.
  const asked = useKept(
    useProjectData<SearchAnswer>(question ? "search" : "", { q: question, ...choices, limit: LIMIT }),
  );
  const answer = question ? asked.data : null;

  useEffect(() => {
    // After the frame has put the focus on the screen as a whole.
    const wait = setTimeout(() => input.current?.focus({ preventScroll: true }), 0);
    return () => clearTimeout(wait);
  }, []);
  useEffect(() => {
    // Here the key that leads to the search leads to its field, and the question stays.
    const pressed = (event: KeyboardEvent) => {
      const typing = isTyping(event.target) || document.querySelector("dialog[open]");
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || typing) return;
      event.preventDefault();
      event.stopPropagation();
      input.current?.select();
    };
    document.addEventListener("keydown", pressed, true);
    return () => document.removeEventListener("keydown", pressed, true);
  }, []);

  const rows = () => [...(found.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
  const fromInput = (event: KeyboardEvent) => {
    if (event.key === "Enter") ask(text);
    else if (event.key === "ArrowDown" && rows().length) rows()[0]!.focus();
    else return;
    event.preventDefault();
  };
  const fromRows = (event: KeyboardEvent) => {
    const first = document.activeElement === rows()[0] && (event.key === "ArrowUp" || event.key === "k");
    if (event.key !== "Escape" && !first) return;
    event.preventDefault();
    event.stopPropagation();
    input.current?.select();
  };
  const said = !question ? "" : asked.loading ? "" : answer ? countSaid(answer) : "";

  return (
    <div class="search">
      <div class="screen-head">
        <h1>Search</h1>
      </div>
      <search>
        <input
          ref={input}
          class="search-input"
          type="search"
          aria-label="Ask the memory"
          aria-controls="found"
          placeholder="Ask in your own words"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={fromInput}
        />
        <Choices route={route} />
      </search>
      <p class="visually-hidden" role="status">
        {said}
      </p>
      <div class={`search-found${answer?.markdown ? " answered" : ""}`} id="found" aria-busy={asked.loading}>
        <div ref={found} onKeyDownCapture={fromRows}>
          {asked.error ? <Failed error={asked.error} again={asked.again} /> : null}
          {answer ? <Answer answer={answer} explain={given("explain") === "1"} /> : null}
          {question && asked.loading && !answer ? <Loading what="Searching" /> : null}
          {!question ? <Examples onAsk={(words) => (setText(words), ask(words))} /> : null}
        </div>
        {answer?.markdown ? <Told answer={answer} open={given("told") !== "0"} /> : null}
      </div>
    </div>
  );
}

function countSaid({ results }: SearchAnswer): string {
  return results.length ? counted(results.length, "record answers", "records answer") : "Nothing clearly answers this.";
}
