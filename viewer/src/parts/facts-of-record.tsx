/** What is known of a record besides its text: names and values, each value shown as what it is. */
import type { CommitView, Field } from "../data/types.ts";
import { RefLink } from "./items.tsx";
import { Ago, exact } from "./times.tsx";

const SHORT = 9;

export function Facts({ fields }: { fields: Field[] }) {
  return (
    <dl class="facts-list">
      {fields.map((field, number) => (
        <div key={`${field.name} ${number}`}>
          <dt>{field.name}</dt>
          <dd class={`as-${field.as}`}>
            <Value field={field} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ field }: { field: Field }) {
  const { value } = field;
  switch (field.as) {
    case "time":
      return (
        <>
          {exact(value)} <Ago time={value} />
        </>
      );
    case "ref":
      return <RefLink refText={value} />;
    case "commit":
      return <CommitName id={value} />;
    case "path":
    case "code":
      return <code>{value}</code>;
    default:
      return <>{value}</>;
  }
}

export function CommitName({ id, short }: { id: string; short?: string }) {
  return (
    <code class="commit-name" title={id}>
      {short || id.slice(0, SHORT)}
    </code>
  );
}

/** A commit in one line: which, what it says of itself, whose, when. */
export function CommitLine({ commit }: { commit: CommitView }) {
  return (
    <span class="commit-line">
      <CommitName id={commit.id} short={commit.short} />
      {commit.subject ? <span class="commit-subject">{commit.subject}</span> : null}
      <span class="faint">
        {commit.author ? `${commit.author}, ` : ""}
        <Ago time={commit.date} />
      </span>
    </span>
  );
}
