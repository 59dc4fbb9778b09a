/** Before anything is asked: questions that this project's memory can answer, made of what is in it. */
import type { Item, ProductMap } from "../../data/types.ts";
import { useProjectData } from "../../data/use.ts";
import { Empty } from "../../parts/states.tsx";

export function Examples({ onAsk }: { onAsk: (question: string) => void }) {
  const { data } = useProjectData<ProductMap>("map");
  const questions = data ? examples(data) : [];
  if (data && !questions.length)
    return (
      <Empty title="There is nothing to search yet.">
        Records that you add with <code>memory add</code>, or that your agents save, are found here.
      </Empty>
    );
  return (
    <div class="examples">
      <p>Ask as you would ask a colleague. The answer is what an agent gets.</p>
      {questions.length ? (
        <ul aria-label="Examples">
          {questions.map((question) => (
            <li key={question}>
              <button class="quiet" onClick={() => onAsk(question)}>
                {question}
              </button>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}

/** At most three, of different kinds where there are such. */
function examples(map: ProductMap): string[] {
  const stage = (name: string) => map.stages.find((shelf) => shelf.stage === name)?.items ?? [];
  const made: [Item | undefined, (title: string) => string][] = [
    [[...stage("building"), ...stage("shipped"), ...stage("idea")][0], (title) => `How does ${title} work?`],
    [live(map.decisions.items), (title) => `Why: ${title}?`],
    [live(map.gotchas.items), (title) => `What goes wrong: ${title}?`],
    [live(map.questions.items), (title) => title],
    [map.project ?? undefined, (title) => `What is ${title}?`],
  ];
  return made.flatMap(([item, say]) => (item ? [say(item.title.replace(/[.?!…]+$/, ""))] : [])).slice(0, 3);
}

function live(items: Item[]): Item | undefined {
  return items.find((item) => item.live) ?? items[0];
}
