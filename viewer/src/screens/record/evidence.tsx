/** The evidence of a record. */
import type { RecordEvidence } from "../../data/types.ts";
import { CommitName } from "../../parts/facts-of-record.tsx";
import { RefLink } from "../../parts/items.tsx";

export function Evidence({ evidence }: { evidence: RecordEvidence[] }) {
  if (!evidence.length) return null;
  return (
    <section class="rests-on" aria-labelledby="evidence">
      <h2 id="evidence">Evidence</h2>
      <ul>
        {evidence.map((one, number) => (
          <li key={number}>
            <span class="rests-on-kind">{one.kind}</span>
            <span>
              <Label one={one} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Label({ one }: { one: RecordEvidence }) {
  if (one.ref) return <RefLink refText={one.ref} title={one.label} />;
  // A label that only says the name again is not said twice.
  if (one.path) return <>{one.label && one.label !== one.path ? `${one.label} ` : ""}<code>{one.path}</code></>;
  if (one.commit) {
    const named = one.label.startsWith(one.commit.slice(0, 7));
    return <>{named ? one.label : <>{one.label} <CommitName id={one.commit} /></>}</>;
  }
  return <>{one.label}</>;
}
