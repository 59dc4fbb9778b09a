/** A score taken apart: each part as a bar and a number. */

const SAYS: Record<string, string> = {
  nearness: "How close its meaning is to the question",
  evidence: "How strongly its words match the question",
  coverage: "How many of the question's rarest words it contains",
  kinship: "How close its words come to the missing ones",
  clearness: "How clearly it answers",
  relevance: "All of these combined: the order of the results",
  weight: "The weight of its kind and layer",
  trust: "Lower if it is out of date",
};

export function Explained({ parts, title }: { parts: Record<string, number>; title: string }) {
  const all = Object.entries(parts);
  if (!all.length) return null;
  return (
    <dl class="explained" aria-label={`Parts of the score: ${title}`}>
      {all.map(([name, value]) => (
        <div key={name} title={SAYS[name]}>
          <dt>{name.replaceAll("_", " ")}</dt>
          <dd>{value.toFixed(2)}</dd>
          <dd class="score-bar" aria-hidden="true">
            <i style={{ width: `${Math.max(0, Math.min(1, value)) * 100}%` }} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
