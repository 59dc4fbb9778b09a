"""What the facts can be told: stored, superseded, archived, restored, connected, put in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from quire.layers.facts.layout import ACTIVE, FILE, FOLDER, SECTIONS
from quire.model.errors import InputError
from quire.model.records import Problem
from quire.model.text import cut
from quire.model.times import instant
from quire.model.vocabulary import LAYER_NAMES
from quire.project import Project
from quire.verbs.facts.fact_file import (
    ask_facts,
    change_facts,
    fact_view,
    facts_ready,
    known_facts,
    limit_within,
    prepare_facts,
    record_view,
    scope_in,
    short_token,
    unread_lines,
)
from quire.verbs.facts.results import (
    ArchiveChanged,
    ConnectionView,
    FactPage,
    FactStored,
    FactSuperseded,
    Imported,
    Normalized,
    Refreshed,
    SimilarFact,
)
from quire.verbs.graph.similar_records import alike_problem
from quire.verbs.inbox.rejected_texts import left_out, sift_lines

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.facts.drafts import Draft
    from quire.layers.facts.store_fact import Told
    from quire.layers.facts.types import Fact
    from quire.retrieval.similar_records import Alike

Result = TypeVar("Result")
_PAGE, _PAGE_MOST = 200, 2_000


def memory_store(
    project: Project,
    section: str,
    content: str,
    *,
    tags: Sequence[str] = (),
    source: str = "manual",
    confidence: float = 1.0,
    session: str | None = None,
    mind: str | None = None,
    dry_run: bool = False,
) -> FactStored:
    """Keep a fact. A text that is known is confirmed instead; what says nearly the same is named."""
    from quire.layers.facts.drafts import section_named
    from quire.layers.facts.store_fact import Telling, store_fact

    named = section_named(section)
    told = Telling(
        id=short_token(project),
        section=named,
        content=content,
        tags=tuple(tags),
        source=source,
        confidence=confidence,
        session=session,
        mind=mind,
    )
    done = change_facts(
        project,
        "store a fact",
        lambda draft, index: stored_fact(project, index, store_fact(draft, told), named),
        dry_run=dry_run,
    )
    if project.by_person and not dry_run:
        project.note_reviewed([done.fact.ref])
    return done


def stored_fact(project: Project, index: Index, told: Told, section: str) -> FactStored:
    now = project.world.now()
    fact = told.fact
    alike = _alike(index, fact) if told.action == "stored" else []
    warnings = list(told.warnings)
    if fact.section != section:
        warnings.append(
            Problem(
                code="FactElsewhere",
                severity="warning",
                message=f"It is known in {fact.section}, and stays there.",
                hint=f"To move it, `memory facts supersede {fact.id} … --section` with other words.",
            )
        )
    warnings += map(alike_problem, alike)
    for other in told.equal:
        warnings.append(
            Problem(
                code="FactEqualsArchived",
                severity="warning",
                message=f"The same text was put away before: {other.id} is {other.status}"
                + (f" ({cut(other.reason, 80)})" if other.reason else "")
                + ".",
                hint="If it was put away for a reason that still holds, archive the new one, too.",
            )
        )
    return FactStored(
        action=told.action,
        fact=fact_view(project, fact, now),
        similar=[_similar(item) for item in alike],
        equal_archived=[fact_view(project, other, now) for other in told.equal],
        warnings=warnings,
    )


def _alike(index: Index, fact: Fact) -> list[Alike]:
    from quire.layers.facts.records import Held, fact_record
    from quire.retrieval.similar_records import alike_to

    return alike_to(index, fact_record(Held(fact), known_facts(index).overview.mind))


def memory_supersede(
    project: Project,
    fact_id: str,
    content: str = "",
    *,
    by: str | None = None,
    section: str | None = None,
    reason: str | None = None,
    source: str = "manual",
    session: str | None = None,
    dry_run: bool = False,
) -> FactSuperseded:
    """Replace a fact by what holds now, in one step. Connections and pins follow; the old one stays findable.

    What holds now is a new text, or what the fact `by` says already.
    """
    from quire.layers.facts.drafts import find_fact
    from quire.layers.facts.store_fact import Telling, supersede_fact

    name = short_token(project)

    def plan(draft: Draft, _index: Index) -> FactSuperseded:
        text = content if by is None else find_fact(draft, by, "by").fact.content
        told = Telling(id=name, content=text, section=section, reason=reason, source=source, session=session)
        old, new = supersede_fact(draft, fact_id, told)
        now = project.world.now()
        return FactSuperseded(
            old=fact_view(project, old, now, replaced_by=(new.fact.id,)),
            new=fact_view(project, new.fact, now),
            equal_archived=[fact_view(project, other, now) for other in new.equal],
            warnings=new.warnings,
        )

    done = change_facts(project, "supersede a fact", plan, dry_run=dry_run)
    if project.by_person and not dry_run:
        project.note_reviewed([done.new.ref])
    return done


def memory_archive(
    project: Project,
    fact_ids: Sequence[str] | str = (),
    *,
    reason: str | None = None,
    faded: bool = False,
    session: str | None = None,
    dry_run: bool = False,
) -> ArchiveChanged:
    """Put facts away; each id is answered for. With `faded`, also all that nobody confirmed for long.

    With `session`, also all active ones that this session was the first to tell.
    """
    from quire.layers.facts.archive import archive_facts

    def plan(draft: Draft, index: Index) -> ArchiveChanged:
        names = [fact_ids] if isinstance(fact_ids, str) else list(fact_ids)
        names += _faded(project, index) if faded else []
        names += _told_in(index, session) if session else []
        if not names and (faded or session):
            return ArchiveChanged(outcomes=[], changed=0, dry_run=dry_run)
        why = reason or ("faded: not confirmed for long" if faded else None)
        outcomes = archive_facts(draft, names, why)
        return ArchiveChanged(outcomes=outcomes, changed=sum(item.done for item in outcomes), dry_run=dry_run)

    return change_facts(project, "archive facts", plan, dry_run=dry_run)


def _faded(project: Project, index: Index) -> list[str]:
    """Facts that nobody confirmed for so long that recall leaves them out, the faintest first."""
    from quire.index.search import Filter
    from quire.retrieval.current_records import FADED

    weigh = project.weigh()
    allowed = Filter(layers=("facts",), kinds=("fact",), statuses=(ACTIVE,))
    found = []
    for record in index.page(allowed):
        weight = weigh(record)
        if weight < FADED:
            found.append((weight, record.ref.removeprefix("fact:")))
    return [name for _, name in sorted(found)]


def memory_refresh(project: Project, since: str, *, mind: str | None = None, dry_run: bool = False) -> Refreshed:
    """Start the clock of all active facts again that were confirmed on this day or later, in one step."""
    from quire.index.search import Filter
    from quire.layers.facts.records import held_of
    from quire.layers.facts.store_fact import refresh_fact

    first = instant(since)
    if first is None or first > project.world.now():
        said = "is no date" if first is None else "lies in the future"
        hint = "Give the day of the oldest facts that still hold, such as 2026-03-02."
        raise InputError(f"`{cut(since, 40)}` {said}.", hint=hint, details={"field": "since"})

    def plan(draft: Draft, index: Index) -> Refreshed:
        scope = scope_in(index, mind)
        records = index.page(Filter(layers=("facts",), kinds=("fact",), statuses=(ACTIVE,), scope=scope))
        rejections = project.rejections()
        done = 0
        for record in records:
            seen = instant(record.since)
            is_due = record.half_life > 0 and seen is not None and seen >= first
            # What was rejected must not be written again; `memory check` names it.
            if is_due and (rejections is None or not rejections.match(record.text)):
                refresh_fact(draft, held_of(record))
                done += 1
        name = mind or known_facts(index).overview.mind
        return Refreshed(since=since, refreshed=done, active=len(records), mind=name, dry_run=dry_run)

    return change_facts(project, "refresh facts", plan, dry_run=dry_run)


def memory_restore(project: Project, fact_ids: Sequence[str] | str, *, dry_run: bool = False) -> ArchiveChanged:
    """Bring facts back that were put away, or accept those that were only proposed."""
    from quire.layers.facts.archive import restore_facts

    def plan(draft: Draft, _index: Index) -> ArchiveChanged:
        outcomes = restore_facts(draft, fact_ids)
        return ArchiveChanged(outcomes=outcomes, changed=sum(item.done for item in outcomes), dry_run=dry_run)

    return change_facts(project, "restore facts", plan, dry_run=dry_run)


def memory_connect(
    project: Project,
    source: str,
    target: str,
    relation: str,
    *,
    description: str = "",
    session: str | None = None,
    dry_run: bool = False,
) -> tuple[str, ConnectionView, list[Problem]]:
    """Join two things by a directed edge: what was done, the edge, and warnings."""
    from quire.layers.facts.connect import connect

    name = f"e-{short_token(project)}"

    def plan(draft: Draft, _index: Index) -> tuple[str, ConnectionView, list[Problem]]:
        done = connect(draft, name, source, target, relation, description=description, session=session)
        edge = done.edge
        return done.action, ConnectionView(edge.ref, edge.source, edge.predicate, edge.target), done.warnings

    return change_facts(project, "connect facts", plan, dry_run=dry_run, layers=LAYER_NAMES)


def memory_query(
    project: Project, *, section: str | None = None, offset: int = 0, limit: int | None = None, mind: str | None = None
) -> FactPage:
    """All active facts, section by section, a page at a time."""
    from quire.index.search import Filter
    from quire.layers.facts.drafts import section_named
    from quire.layers.facts.originals import not_imported

    sections = (section_named(section),) if section is not None else ()
    most = limit_within(limit, "limit", _PAGE, _PAGE_MOST)
    if offset < 0:
        raise InputError("The offset must not be negative.", hint="Leave it out.", details={"field": "offset"})

    def work(index: Index) -> FactPage:
        scope = scope_in(index, mind)
        allowed = Filter(layers=("facts",), kinds=("fact",), statuses=(ACTIVE,), sections=sections, scope=scope)
        now = project.world.now()
        counts = {
            name: number
            for (kind, name, status), number in index.section_counts("facts", scope).items()
            if kind == "fact" and status == ACTIVE and (not sections or name in sections)
        }
        found = [record_view(project, record, now) for record in index.page(allowed, SECTIONS, offset, most)]
        total = sum(counts.values())
        ordered = {name: counts[name] for name in (*SECTIONS, *sorted(counts)) if name in counts}
        return FactPage(
            results=found,
            total=total,
            offset=offset,
            sections=ordered,
            more=max(0, total - offset - len(found)),
            mind=mind or known_facts(index).overview.mind,
            unread=unread_lines(index),
            warnings=[] if total else not_imported(project.root),
        )

    return ask_facts(project, work)


# -- the file as a whole ----------------------------------------------------------------


def memory_normalize(project: Project, *, dry_run: bool = True) -> Normalized:
    """Rewrite a merged file to its normal form: one line for each thing, nothing lost. A dry run, unless told."""
    from quire.layers.facts.normalize import normal_file
    from quire.layers.facts.store import read_file, replace_file

    def work() -> Normalized:
        data = read_file(project.root)
        normal = normal_file(data)
        if normal.data != data and not dry_run:
            replace_file(project.root, project.world, normal.data, data)
        return Normalized(
            dry_run=dry_run,
            changed=normal.data != data,
            lines_before=normal.lines_before,
            lines_after=normal.lines_after,
            facts=len(normal.resolved.facts),
            removed=normal.lines_before - normal.lines_after,
            kept_aside=len(normal.resolved.aside),
            conflicts=len(normal.resolved.conflicts),
            contradictions=len(normal.resolved.contradictions),
            uncommitted=_is_uncommitted(project, data),
            diff=normal.diff,
        )

    return _whole(project, "normalize the facts", work, dry_run=dry_run)


def _whole(project: Project, operation: str, work: Callable[[], Result], *, dry_run: bool) -> Result:
    """Work on the file as a whole, under the lock unless nothing is written."""
    from quire.files.write_access import write_access

    facts_ready(project)
    if dry_run:
        return work()
    with write_access(project.root, FOLDER, project.world, operation):
        done = work()
        prepare_facts(project)
        return done


def _is_uncommitted(project: Project, data: bytes) -> bool:
    """Whether git could not bring these bytes back."""
    from quire.files.digests import blob_id
    from quire.model.errors import GitRequired

    name = f"{FOLDER}/{FILE}"
    try:
        blobs = [*project.git.committed([name]).values(), *project.git.staged([name]).values()]
    except GitRequired:
        return True
    return not any(blob_id(data, blob.id) == blob.id for blob in blobs)


def memory_import(project: Project, data: bytes, *, source: str, dry_run: bool = False) -> Imported:
    """Take in another file of facts: the lines that this one does not have. Twice is the same as once."""
    from quire.layers.facts.normalize import take_in
    from quire.layers.facts.store import read_file, replace_file

    def work() -> Imported:
        ours = read_file(project.root)
        rejections = project.rejections()
        allowed, rejected = (data, 0) if rejections is None else sift_lines(data, rejections)
        found = take_in(ours, allowed, source)
        if not found.lines and not rejected:
            raise InputError(
                f"`{source}` holds no facts.",
                hint="Name a file with one JSON object on each line, such as facts.jsonl.",
                details={"field": "file"},
            )
        if found.added and not dry_run:
            replace_file(project.root, project.world, found.data, ours)
        return Imported(
            dry_run=dry_run,
            source=source,
            lines=found.lines + rejected,
            added=found.added,
            known=found.lines - found.added - found.refused,
            refused=found.refused,
            set_aside=found.set_aside,
            warnings=[*found.problems, *left_out(rejected)],
        )

    return _whole(project, "import facts", work, dry_run=dry_run)


def _similar(found: Alike) -> SimilarFact:
    older = found.older
    return SimilarFact(
        older.ref.removeprefix("fact:"), found.share, older.section, older.text, opposite=found.is_opposite
    )


def _told_in(index: Index, session: str) -> list[str]:
    """The active facts that this session was the first to tell."""
    from quire.index.search import Filter
    from quire.layers.facts.records import held_of

    allowed = Filter(layers=("facts",), kinds=("fact",), statuses=(ACTIVE,))
    facts = (held_of(record).fact for record in index.page(allowed))
    return sorted(fact.id for fact in facts if fact.created_session == session)
