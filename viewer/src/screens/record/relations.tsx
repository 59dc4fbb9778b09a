/** The records related to a record, grouped by how. */
import { useRef } from "preact/hooks";
import { moveInList } from "../../app/keys.ts";
import { choose } from "../../app/router.ts";
import type { RelationView } from "../../data/types.ts";
import { number } from "../../parts/counted.ts";
import { grouped } from "../../parts/grouped.ts";
import { ItemRow } from "../../parts/items.tsx";

/** So many of a group at first: some records stand with hundreds. */
const FIRST = 8;

/** `left` are so many more that the page was not told of. */
export function Relations({ relations, left, whole }: { relations: RelationView[]; left: number; whole: boolean }) {
  const list = useRef<HTMLDivElement>(null);
  if (!relations.length) return null;
  const groups = grouped(relations, ({ says }) => says);
  const hidden = groups.reduce((sum, [, group]) => sum + Math.max(0, group.length - FIRST), 0);
  return (
    <section class="relations" aria-labelledby="relations">
      <h2 id="relations">
        Related <span class="count">{number(relations.length + left)}</span>
      </h2>
      <div ref={list} onKeyDown={(event) => moveInList(event, list.current!)}>
        {groups.map(([says, group]) => (
          <div key={says} class="relation-group">
            <h3>
              {says} {group.length > FIRST ? <span class="count">{group.length}</span> : null}
            </h3>
            <ul class="rows" aria-label={says}>
              {(whole ? group : group.slice(0, FIRST)).map((relation) => (
                <li key={`${relation.ref} ${relation.other_ref}`}>
                  <Other relation={relation} />
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
      {hidden ? (
        <button class="quiet" aria-expanded={whole} onClick={() => choose({ relations: whole ? "" : "all" })}>
          {whole ? "Show fewer" : `Show ${hidden} more`}
        </button>
      ) : null}
      {left ? <p class="faint small">{number(left)} of them are left out here.</p> : null}
    </section>
  );
}

function Other({ relation }: { relation: RelationView }) {
  const said = [
    relation.status && relation.status !== "active" ? relation.status : "",
    relation.confidence ? `confidence: ${relation.confidence}` : "",
  ].filter(Boolean);
  const note = said.length ? <p class="relation-note">{said.join(", ")}</p> : null;
  if (relation.other)
    return (
      <>
        <ItemRow item={relation.other} excerpt={false} time={false} />
        {note}
      </>
    );
  return (
    <>
      <div class="row dangling">
        <code>{relation.other_ref}</code> <span class="status">no such record</span>
      </div>
      {note}
    </>
  );
}
