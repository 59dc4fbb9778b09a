/** One proposal in full: what it says, who said so, and the record it would make. */
import type { Evidence, Proposal } from "../../data/types.ts";
import { useMayWrite } from "../../data/use.ts";
import { AcceptButton, RejectButton } from "../../parts/acting.tsx";
import { Kind } from "../../parts/badges.tsx";
import { counted } from "../../parts/counted.ts";
import { Ago } from "../../parts/times.tsx";
import { who } from "./who.ts";

const INTO: Record<string, string> = {
  graph: "the product graph",
  facts: "the facts",
  profile: "your profile",
  notes: "your notes",
  episodes: "the episodes",
  journal: "the journal",
};
/** So many quotes are shown at once; the others on asking. */
const QUOTES = 3;

interface Given {
  proposal: Proposal;
  settled: boolean;
  onDone: () => void;
}

export function ProposalCard({ proposal, settled, onDone }: Given) {
  const may = useMayWrite();
  const pressed = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const target = event.target as HTMLElement;
    if (!may || settled || event.ctrlKey || event.metaKey || event.altKey || target.closest("dialog")) return;
    const act = { a: "accept", r: "reject" }[event.key];
    if (!act) return;
    event.preventDefault();
    event.currentTarget.querySelector<HTMLButtonElement>(`[data-act=${act}]`)?.click();
  };
  const titled = value(proposal, "title");
  const text = withoutTitle(proposal.text, titled);
  return (
    <article
      class={`sheet proposal${settled ? " settled" : ""}`}
      tabIndex={0}
      data-row
      data-ref={proposal.id}
      aria-label={`${proposal.kind}: ${titled || proposal.text}`}
      aria-keyshortcuts={may ? "a r" : undefined}
      onKeyDown={pressed}
    >
      <div class="proposal-head">
        <Kind kind={proposal.kind} />
        <span class="faint small">for {INTO[proposal.into] ?? proposal.into}</span>
        <Ago time={proposal.proposed_at} />
      </div>
      {titled && text ? <h2>{titled}</h2> : null}
      <p class="proposal-text">{text || proposal.text}</p>
      <Quotes evidence={proposal.evidence} />
      <Made proposal={proposal} />
      {may ? (
        <div class="proposal-acts">
          <AcceptButton proposal={proposal} onDone={onDone} />
          <RejectButton proposal={proposal} onDone={onDone} />
          <code class="faint">{proposal.id}</code>
        </div>
      ) : null}
    </article>
  );
}

function Quotes({ evidence }: { evidence: Evidence[] }) {
  if (!evidence.length) return null;
  const rest = evidence.slice(QUOTES);
  return (
    <>
      {evidence.slice(0, QUOTES).map((found, number) => (
        <Quote key={number} found={found} />
      ))}
      {rest.length ? (
        <details>
          <summary>{counted(rest.length, "more quote")}</summary>
          {rest.map((found, number) => (
            <Quote key={number} found={found} />
          ))}
        </details>
      ) : null}
    </>
  );
}

function Quote({ found }: { found: Evidence }) {
  return (
    <figure class="quote">
      <blockquote>{found.quote}</blockquote>
      <figcaption>
        <b>{who(found.by)}</b>
        {found.where ? <code>{found.where}</code> : null}
        <Ago time={found.at} />
      </figcaption>
    </figure>
  );
}

/** The fields of the record that it would make, less what is shown already. */
function Made({ proposal }: { proposal: Proposal }) {
  const title = value(proposal, "title");
  const shown = new Set([proposal.text, proposal.kind, title, withoutTitle(proposal.text, title)]);
  const fields = proposal.fields.filter((field) => !shown.has(field.value));
  return (
    <dl class="made">
      {fields.map((field) => (
        <div key={field.name}>
          <dt>{field.name.replaceAll("_", " ")}</dt>
          <dd>{field.value}</dd>
        </div>
      ))}
      <div>
        <dt>origin</dt>
        <dd>
          <code>{proposal.origin}</code>
        </dd>
      </div>
    </dl>
  );
}

/** The text of a proposal may begin with its title, which stands above it. */
function withoutTitle(text: string, title: string): string {
  return title && text.startsWith(title) ? text.slice(title.length).trim() : text;
}

function value(proposal: Proposal, name: string): string {
  return proposal.fields.find((field) => field.name === name)?.value ?? "";
}
