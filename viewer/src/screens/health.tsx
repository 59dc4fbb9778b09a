/** Health: whether the memory still fits the code, what it covers, what agents get, what is on disk. */
import type { ComponentType } from "preact";
import { choose, type Route } from "../app/router.ts";
import type { PartProps } from "./health/part.tsx";
import { AnchorsPart } from "./health/anchors.tsx";
import { CoveragePart } from "./health/coverage.tsx";
import { FilesPart } from "./health/files.tsx";
import { ReceiptsPart } from "./health/receipts.tsx";
import { ReviewPart } from "./health/review.tsx";

const PARTS: { part: string; name: string; Shown: ComponentType<PartProps> }[] = [
  { part: "anchors", name: "Anchors", Shown: AnchorsPart },
  { part: "review", name: "This branch", Shown: ReviewPart },
  { part: "coverage", name: "Coverage", Shown: CoveragePart },
  { part: "receipts", name: "Receipts", Shown: ReceiptsPart },
  { part: "files", name: "Files", Shown: FilesPart },
];

/** Each part asks for itself: what is quick does not wait for what is slow. */
export function HealthScreen({ route }: { route: Route }) {
  const asked = route.query.get("part") ?? "";
  const one = PARTS.find(({ part }) => part === asked);
  return (
    <>
      <div class="screen-head">
        <h1>Health</h1>
        <p>Is the memory up to date with the code?</p>
        <div class="right chips spans" role="group" aria-label="Parts">
          {[{ part: "", name: "All" }, ...PARTS].map(({ part, name }) => (
            <button key={part} class="chip" aria-pressed={(one?.part ?? "") === part} onClick={() => choose({ part })}>
              {name}
            </button>
          ))}
        </div>
      </div>
      <div class="health">
        {(one ? [one] : PARTS).map(({ part, name, Shown }) => (
          <section key={part} class="sheet health-part" id={`health-${part}`} aria-label={name}>
            <header>
              <h2>{name}</h2>
            </header>
            <Shown route={route} whole={!!one} />
          </section>
        ))}
      </div>
    </>
  );
}
