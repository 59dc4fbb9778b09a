/** A score taken apart: each part as a bar and a number. */

const SAYS: Record<string, string> = {
  nearness: "How near its meaning is to the question",
  evidence: "How much its words say about the question",
  coverage: "Which share of the question's rarest words it holds",
  kinship: "How near its words come to those it does not hold",
  clearness: "How clearly it answers",
  relevance: "All of these together: the order of the results",
  weight: "How much its kind and layer count",
  trust: "Less where the code has moved on",
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
