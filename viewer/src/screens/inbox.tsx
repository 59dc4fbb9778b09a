/** The screen: what sessions and imports propose, with what it rests on, to be accepted or rejected. */
import { useEffect, useRef } from "preact/hooks";
import { moveInList } from "../app/keys.ts";
import { choose, type Route } from "../app/router.ts";
import type { InboxPage } from "../data/types.ts";
import { useMayWrite, usePage, useProjectData } from "../data/use.ts";
import { focusNext, useSettled } from "../parts/acting/settled.ts";
import { counted, number } from "../parts/counted.ts";
import { grouped } from "../parts/grouped.ts";
import { type Kept, useKept } from "../parts/kept.ts";
import { ShowMore } from "../parts/more.tsx";
import { Answered, Empty } from "../parts/states.tsx";
import { ProposalCard } from "./inbox/proposal.tsx";

const STEP = 25;
/** More than this the server does not hand out at once, and nobody reads. */
const MOST = 500;

export function InboxScreen({ route }: { route: Route }) {
  const wanted = Number(route.query.get("most")) || STEP;
  const limit = Math.max(STEP, Math.min(MOST, wanted));
  const source = route.query.get("source") ?? "";
  const asked = useKept(useProjectData<InboxPage>("inbox", { source, offset: 0, limit }));
  const pending = asked.data?.pending ?? 0;
  return (
    <>
      <div class="screen-head">
        <h1>Inbox</h1>
        {pending ? <p>{counted(pending, "proposal pending", "proposals pending")}, by source</p> : null}
      </div>
      <Answered asked={asked}>
        {(page) =>
          page.pending ? <Proposals asked={asked} page={page} route={route} limit={limit} /> : <Nothing />
        }
      </Answered>
    </>
  );
}

function Nothing() {
  const { session } = usePage();
  return (
    <div class="sheet">
      {session.exported ? (
        <Empty title="An export has no inbox.">
          Proposals stay on the machine where they were found.
        </Empty>
      ) : (
        <Empty title="No pending proposals.">
          Proposals come from sessions and files of other programs, and stay here until you accept them; no agent sees them before.{" "}
          <code>memory inbox collect</code> works through the sessions that ended, <code>memory import</code> reads what
          other programs know.
        </Empty>
      )}
    </div>
  );
}

interface Given {
  asked: Kept<InboxPage>;
  page: InboxPage;
  route: Route;
  limit: number;
}

function Proposals({ asked, page, route, limit }: Given) {
  const may = useMayWrite();
  const list = useRef<HTMLDivElement>(null);
  const { settled, settle } = useSettled(page, asked.again);
  const at = route.query.get("at") ?? "";
  const chosen = route.query.get("source") ?? "";
  const total = pendingOf(page, chosen);
  useEffect(() => {
    const rows = list.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [];
    const wanted = [...rows].find((row) => row.dataset.ref === at);
    wanted?.focus();
    wanted?.scrollIntoView({ block: "center" });
  }, [at]);
  return (
    <div class="inbox">
      {may ? <Keys /> : <ReadOnly />}
      <Sources page={page} chosen={chosen} />
      <div ref={list} onKeyDown={(event) => moveInList(event, list.current!)}>
        {grouped(page.items, ({ source }) => source).map(([source, proposals]) => (
          <section key={source} aria-label={sourceName(source)}>
            <h2 class="inbox-group">
              {sourceName(source)} <span class="count">{kindsOf(page, source)}</span>
            </h2>
            <ul aria-label="Proposals">
              {proposals.map((proposal) => (
                <li key={proposal.id}>
                  <ProposalCard
                    proposal={proposal}
                    settled={settled.has(proposal.id)}
                    onDone={() => (focusNext(list.current, proposal.id), settle(proposal.id))}
                  />
                </li>
              ))}
            </ul>
          </section>
        ))}
        <ShowMore
          shown={page.items.length}
          total={Math.min(total, MOST)}
          step={STEP}
          what="proposals"
          onMore={() => choose({ most: String(limit + STEP) })}
        />
      </div>
      {total > MOST && page.items.length >= MOST ? (
        <p class="faint">{number(total - MOST)} more come up as these are decided.</p>
      ) : null}
    </div>
  );
}

/** Which source is looked at, where there are several. */
function Sources({ page, chosen }: { page: InboxPage; chosen: string }) {
  const sources = [...new Set([...page.groups.map(({ source }) => source), ...(chosen ? [chosen] : [])])];
  if (sources.length < 2 && !chosen) return null;
  return (
    <div class="chips" role="group" aria-label="Source">
      {["", ...sources].map((source) => (
        <button key={source} class="chip" aria-pressed={source === chosen} onClick={() => choose({ source, most: "", at: "" })}>
          {source ? sourceName(source) : "All"} <span class="count">{number(pendingOf(page, source))}</span>
        </button>
      ))}
    </div>
  );
}

function sourceName(source: string): string {
  return { session: "Sessions", git: "Git history", agent: "Agents" }[source] ?? source;
}

/** How many are pending of a source; without one, of all. */
function pendingOf(page: InboxPage, source: string): number {
  return page.groups.reduce((sum, group) => sum + (source && group.source !== source ? 0 : group.count), 0);
}

function kindsOf(page: InboxPage, source: string): string {
  const groups = page.groups.filter((group) => group.source === source);
  return groups.map(({ kind, count }) => counted(count, kind)).join(", ");
}

function Keys() {
  return (
    <p class="inbox-hint faint small">
      <kbd>j</kbd> <kbd>k</kbd> move, <kbd>a</kbd> accepts, <kbd>r</kbd> rejects. Everything can be undone.
    </p>
  );
}

function ReadOnly() {
  return (
    <p class="inbox-hint faint">
      This page is read-only. <code>memory view --write</code> lets you accept and reject here; in the terminal{" "}
      <code>memory inbox</code> does.
    </p>
  );
}
