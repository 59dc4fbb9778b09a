"""`memory facts archive` and `restore`, the tool `memory_archive`: put facts away, and bring them back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from quire.layers.facts.archive import ArchiveOutcome, archive_facts, restore_facts
from quire.layers.facts.drafts import FactsDraft
from quire.layers.facts.layout import ACTIVE
from quire.layers.facts.records import held_of
from quire.model.errors import UsageError
from quire.verbs.facts.fact_file import change_facts
from quire.verbs.facts.options import IDS_SCHEMA, DryRun, FactIds, Reason, Refs, named
from quire.verbs.facts.search import fact_filter
from quire.verbs.verb import Arguments, Lines, Option, Recalled, Result, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project


class Archive(Arguments, frozen=True, kw_only=True):
    fact_ids: FactIds = None
    reason: Annotated[Reason | None, Option(metavar="TEXT", help="The reason; kept with the fact.")] = None
    faded: Annotated[bool, Option(help="All facts that have faded: not confirmed for a long time.", tool=False)] = False
    session: Annotated[
        str | None, Option(metavar="ID", help="All facts that this session stored first.", tool=False)
    ] = None
    dry_run: DryRun = False


class ArchiveChanged(Result, kw_only=True):
    outcomes: list[ArchiveOutcome]
    changed: int
    dry_run: bool = False

    def is_incomplete(self) -> bool:
        return any(item.outcome in ("not found", "refused") for item in self.outcomes)


def archive(project: Project, given: Archive) -> ArchiveChanged:
    """Archive facts: recall and context leave them out, search-archive still finds them.

    Reports on each id. --faded archives all facts that have faded. --session archives all active facts that this
    session stored first. To archive a connection give its ref, edge:….
    """
    if given.fact_ids is None and not given.faded and not given.session:
        raise UsageError(
            "Name the facts, or use --faded or --session.", hint="`memory facts archive --help` shows examples."
        )

    def plan(draft: FactsDraft, index: Index) -> ArchiveChanged:
        names = list(named(given.fact_ids))
        names += _faded(project, index) if given.faded else []
        names += _told_in(index, given.session) if given.session else []
        if not names and (given.faded or given.session):
            nothing = "Nothing has faded." if given.faded else "No active fact is from that session."
            return ArchiveChanged(outcomes=[], changed=0, dry_run=given.dry_run, nothing=nothing)
        why = given.reason or ("faded: not confirmed for a long time" if given.faded else None)
        outcomes = archive_facts(draft, names, why)
        return ArchiveChanged(outcomes=outcomes, changed=sum(item.done for item in outcomes), dry_run=given.dry_run)

    return change_facts(project, "archive facts", plan, dry_run=given.dry_run)


def _faded(project: Project, index: Index) -> list[str]:
    """Facts that nobody confirmed for so long that recall leaves them out, the faintest first."""
    from quire.retrieval.current_records import FADED

    weigh = project.weigh()
    found = []
    for record in index.page(fact_filter(statuses=(ACTIVE,))):
        weight = weigh(record)
        if weight < FADED:
            found.append((weight, record.ref.removeprefix("fact:")))
    return [name for _, name in sorted(found)]


def _told_in(index: Index, session: str) -> list[str]:
    """The active facts that this session was the first to tell."""
    facts = (held_of(record).fact for record in index.page(fact_filter(statuses=(ACTIVE,))))
    return sorted(fact.id for fact in facts if fact.created_session == session)


def lines(done: ArchiveChanged) -> Lines:
    if not done.outcomes:
        yield done.nothing
    for item in done.outcomes:
        yield Recalled(text=f"{'Would be: ' if done.dry_run and item.done else ''}{item.message}")


VERB = Verb(
    takes=Archive,
    run=archive,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory facts archive 57afd07611e9 --reason "fixed in 2.1"
  memory facts archive --faded --dry-run
  memory facts archive --session 7f3ac2d9 --dry-run
""",
    tool=Tool(
        title="Archive facts",
        says="Archive facts that no longer matter; reports on each id. memory_search_archive still finds them; the "
        "user can bring them back with `memory facts restore`. If a fact was replaced by another, use "
        "memory_supersede.",
        needs=("fact_ids",),
        schema={"fact_ids": IDS_SCHEMA},
        gives={"outcomes": "array", "changed": "integer"},
        destructive=True,
    ),
)


class Restore(Arguments, frozen=True, kw_only=True):
    fact_ids: Annotated[Refs, Word(name="facts")]
    dry_run: DryRun = False


def restore(project: Project, given: Restore) -> ArchiveChanged:
    """Restore facts from the archive, or accept pending ones. For a connection give edge:…."""

    def plan(draft: FactsDraft, _index: Index) -> ArchiveChanged:
        outcomes = restore_facts(draft, given.fact_ids)
        return ArchiveChanged(outcomes=outcomes, changed=sum(item.done for item in outcomes), dry_run=given.dry_run)

    return change_facts(project, "restore facts", plan, dry_run=given.dry_run)


RESTORE = Verb(
    takes=Restore,
    run=restore,
    lines=lines,
    writes=True,
    examples="Example:\n  memory facts restore 57afd07611e9\n",
)
