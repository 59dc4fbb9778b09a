/** One proposal in full: what it says, who said so, and the record it would make. */
import type { Evidence, Proposal } from "../../data/types.ts";
import { useMayWrite } from "../../data/use.ts";
import { AcceptButton, RejectButton } from "../../parts/acting.tsx";
import { Kind } from "../../parts/badges.tsx";
import { counted } from "../../parts/counted.ts";
import { Ago } from "../../parts/times.tsx";
import { who } from "./who.ts";
import { repeats, wordingOf } from "./wording.ts";

const INTO: Record<string, string> = {
  graph: "the product graph",
  facts: "the facts",
  profile: "your profile",
  notes: "your notes",
  episodes: "the sessions",
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
  const shown = wordingOf(proposal);
  return (
    <article
      class={`sheet proposal${settled ? " settled" : ""}`}
      tabIndex={0}
      data-row
      data-ref={proposal.id}
      aria-label={`${proposal.kind}: ${shown.heading || proposal.text}`}
      aria-keyshortcuts={may ? "a r" : undefined}
      onKeyDown={pressed}
    >
      <div class="proposal-head">
        <Kind kind={proposal.kind} />
        <span class="faint small">for {INTO[proposal.into] ?? proposal.into}</span>
        <Ago time={proposal.proposed_at} />
      </div>
      {shown.heading ? <h2>{shown.heading}</h2> : null}
      <p class="proposal-text">{shown.text}</p>
      <Standing proposal={proposal} />
      <Quotes evidence={proposal.evidence} text={proposal.text} />
      <Made fields={shown.fields} origin={shown.origin} />
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

/** What its own file says of it, and which record it changes. */
function Standing({ proposal }: { proposal: Proposal }) {
  const { standing, said, updates } = proposal;
  return (
    <>
      {standing ? (
        <p class="faint">
          {standing === "open" ? "According to its file it is undecided: " : "According to its file it is no longer valid, so it would become a retired record: "}
          “{said}”
        </p>
      ) : null}
      {updates ? (
        <p class="faint">
          It changes <code>{updates}</code>, made from an earlier version of its file.
        </p>
      ) : null}
    </>
  );
}

function Quotes({ evidence, text }: { evidence: Evidence[]; text: string }) {
  if (!evidence.length) return null;
  const rest = evidence.slice(QUOTES);
  return (
    <>
      {evidence.slice(0, QUOTES).map((found, number) => (
        <Quote key={number} found={found} text={text} />
      ))}
      {rest.length ? (
        <details>
          <summary>{counted(rest.length, "more quote")}</summary>
          {rest.map((found, number) => (
            <Quote key={number} found={found} text={text} />
          ))}
        </details>
      ) : null}
    </>
  );
}

function Quote({ found, text }: { found: Evidence; text: string }) {
  return (
    <figure class="quote">
      {repeats(found.quote, text) ? null : <blockquote>{found.quote}</blockquote>}
      <figcaption>
        <b>{who(found.by)}</b>
        {found.where ? <code>{found.where}</code> : null}
        <Ago time={found.at} />
      </figcaption>
    </figure>
  );
}

/** The fields of the record that it would make, less what is shown already. */
function Made({ fields, origin }: { fields: Proposal["fields"]; origin: string }) {
  if (!fields.length && !origin) return null;
  return (
    <dl class="made">
      {fields.map((field) => (
        <div key={field.name}>
          <dt>{field.name.replaceAll("_", " ")}</dt>
          <dd>{field.value}</dd>
        </div>
      ))}
      {origin ? (
        <div>
          <dt>origin</dt>
          <dd>
            <code>{origin}</code>
          </dd>
        </div>
      ) : null}
    </dl>
  );
}
