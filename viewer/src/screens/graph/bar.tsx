/** What the picture is coloured by, what the colours mean, and what of it is shown. */
import { choose } from "../../app/router.ts";
import { kindName } from "../../parts/badges.tsx";
import { number } from "../../parts/counted.ts";
import { type Choices, type Counted, type Dimension, DIMENSIONS, NONE, PARAMETERS, toggled } from "./choices.ts";
import { says } from "./model.ts";
import { token } from "./palette.ts";

interface Props {
  choices: Choices;
  legend: Counted[];
  predicates: string[];
}

export function ColourBy({ by }: { by: Dimension }) {
  return (
    <div class="graph-colour right">
      <span class="faint small" aria-hidden="true">
        Colour by
      </span>
      <div class="graph-by" role="group" aria-label="Colour by">
        {DIMENSIONS.map((dimension) => (
          <button
            key={dimension}
            aria-pressed={by === dimension}
            onClick={() => choose({ by: dimension === "kind" ? "" : dimension })}
          >
            {dimension}
          </button>
        ))}
      </div>
    </div>
  );
}

export function Bar({ choices, legend, predicates }: Props) {
  const { by, chosen } = choices;
  // A choice of another colouring still holds: it has to be seen, too.
  const others = DIMENSIONS.filter((dimension) => dimension !== by).flatMap((dimension) =>
    [...chosen[dimension]].map((word) => ({ dimension, word })),
  );
  return (
    <div class="graph-bar">
      <div class="chips" role="group" aria-label={`Show only these: ${by}`}>
        {legend.filter(({ word, count }) => count || chosen[by].has(word)).map(({ word, count }) => (
          <Chip key={word} dimension={by} word={word} count={count} pressed={chosen[by].has(word)} choices={choices} />
        ))}
        {others.map(({ dimension, word }) => (
          <Chip key={`${dimension} ${word}`} dimension={dimension} word={word} pressed choices={choices} />
        ))}
      </div>
      <div class="chips graph-ties" role="group" aria-label="Show only these relations">
        <button class="chip" aria-pressed={choices.live} onClick={() => choose({ live: choices.live ? "" : "1" })}>
          live only
        </button>
        {predicates.map((predicate) => (
          <button
            key={predicate}
            class="chip"
            aria-pressed={choices.predicates.has(predicate)}
            onClick={() => choose({ predicates: toggled(choices.predicates, predicate) })}
          >
            {says(predicate)}
          </button>
        ))}
      </div>
    </div>
  );
}

/** What a word of a dimension is called. */
export function wordSaid(dimension: Dimension, word: string): string {
  return word === NONE ? `no ${dimension}` : dimension === "kind" ? kindName(word) : word;
}

function Chip(props: { dimension: Dimension; word: string; count?: number; pressed: boolean; choices: Choices }) {
  const { dimension, word, count, pressed, choices } = props;
  return (
    <button
      class={`chip${count === 0 ? " nothing" : ""}`}
      aria-pressed={pressed}
      data-word={word}
      onClick={() => choose({ [PARAMETERS[dimension]]: toggled(choices.chosen[dimension], word) })}
    >
      <i class="graph-dot" style={{ color: `var(${token(dimension, word)})` }} aria-hidden="true" />
      {wordSaid(dimension, word)}
      {count === undefined ? null : <span class="count">{number(count)}</span>}
    </button>
  );
}

/** Said over the picture while only the surroundings of one record are shown. */
export function FocusBar({ title, steps }: { title: string; steps: number }) {
  return (
    <div class="graph-focus" role="group" aria-label="Focus">
      <span class="graph-focus-title" title={title}>
        <span class="graph-around">Around </span>
        <strong>{title}</strong>
      </span>
      <span class="graph-by" role="group" aria-label="Steps away">
        {[1, 2, 3].map((number) => (
          <button
            key={number}
            aria-pressed={number === steps}
            aria-label={number === 1 ? "1 step" : `${number} steps`}
            onClick={() => choose({ steps: number === 2 ? "" : String(number) })}
          >
            {number}
          </button>
        ))}
      </span>
      <button class="quiet" onClick={() => choose({ focus: "", steps: "" })}>
        Show all
      </button>
    </div>
  );
}
