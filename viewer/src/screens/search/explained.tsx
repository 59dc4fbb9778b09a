/** A score taken apart: each part as a bar and a number. */

const SAYS: Record<string, string> = {
  words: "How well its words fit, beside the best",
  meaning: "How near its meaning is, beside the best",
  evidence: "How much its words tell, by itself",
  nearness: "How near its meaning is, by itself",
  relevance: "Words and meaning together",
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
