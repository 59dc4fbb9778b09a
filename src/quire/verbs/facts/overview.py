"""`memory facts`: count the facts, and report the state of their file."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from quire.layers.facts.layout import ACTIVE, FILE, FOLDER, SECTIONS
from quire.model.text import counted
from quire.verbs.facts.fact_file import facts_ready, known_facts
from quire.verbs.facts.faded import most_faded
from quire.verbs.facts.pins import working_memory
from quire.verbs.facts.search import fact_filter
from quire.verbs.verb import Arguments, Lines, Result, Verb

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project


class FactStats(Result, kw_only=True):
    exists: bool
    path: str
    by_section: dict[str, dict[str, int]]
    by_status: dict[str, int]
    facts: int
    active: int
    faded: int
    episodes: int
    edges: int
    pins: int
    slots: int
    notes: int
    minds: dict[str, int]
    mind: str
    version: int
    lines: int
    size: int
    bad_lines: int
    conflicts: int
    contradictions: int
    parked: int
    duplicates: int
    """Lines that say nothing new: what `normalize` would take out."""
    markers: int
    """Marks of a merge conflict."""
    state: str
    """`empty`, `in order`, `to normalize`, `needs a look`"""
    by_source: dict[str, int] = {}


def overview(project: Project, _given: Arguments) -> FactStats:
    """Facts: single things that were learned. Their confidence fades unless they are confirmed.

    Kept in .memory/facts.jsonl, one line each, so that git merges them without conflicts. Without a verb, shows the
    counts.
    """
    from quire.layers.facts.normalize import file_state
    from quire.layers.facts.notes import read_notes
    from quire.layers.facts.originals import not_imported
    from quire.layers.facts.source import stamp_now
    from quire.layers.facts.store import read_all
    from quire.layers.facts.working_memory import SLOTS
    from quire.retrieval.current_records import FADED

    facts_ready(project)
    working = working_memory(project, "")
    data = read_all(project.root)
    state = file_state(data)
    weigh = project.weigh()

    def work(index: Index) -> FactStats:
        counts = index.section_counts("facts")
        sections: dict[str, dict[str, int]] = {name: {} for name in SECTIONS}
        statuses: dict[str, int] = {}
        for (kind, section, status), number in counts.items():
            if kind == "fact":
                sections.setdefault(section, {})[status] = number
                statuses[status] = statuses.get(status, 0) + number
        records = index.page(fact_filter(statuses=(ACTIVE,)))
        sources = Counter(record.origin for record in records)
        known = known_facts(index).overview
        return FactStats(
            exists=bool(stamp_now(project.root)),
            path=f"{FOLDER}/{FILE}",
            by_section=sections,
            by_status=dict(sorted(statuses.items())),
            facts=sum(statuses.values()),
            active=statuses.get(ACTIVE, 0),
            faded=sum(weigh(record) < FADED for record in records),
            episodes=sum(number for (kind, _, _), number in counts.items() if kind == "episode"),
            edges=index.live_edge_count("facts"),
            pins=working.used,
            slots=SLOTS,
            notes=len(read_notes(project.root)),
            minds={name or known.mind: number for name, number in index.scopes("facts").items()},
            mind=known.mind,
            version=known.version,
            lines=state.lines,
            size=len(data),
            bad_lines=state.bad_lines,
            conflicts=state.conflicts,
            contradictions=state.contradictions,
            parked=state.parked,
            duplicates=state.duplicates,
            markers=state.markers,
            state=state.word,
            by_source=dict(sorted(sources.items(), key=lambda item: (-item[1], item[0]))),
            warnings=[*working.warnings, *most_faded(index, weigh), *not_imported(project.root)],
        )

    return project.with_index(work)


def lines(stats: FactStats) -> Lines:
    if not stats.lines:
        yield 'No facts are stored yet. `memory facts store Architecture "…"` keeps the first.'
        return
    statuses = ", ".join(f"{count} {status}" for status, count in stats.by_status.items())
    yield f"Facts: {stats.facts} ({statuses or 'none'})" + (f", {stats.faded} of them faded" if stats.faded else "")
    for section, counts in stats.by_section.items():
        if counts:
            others = ", ".join(f"{count} {status}" for status, count in counts.items() if status != "active")
            yield f"  {section}: {counts.get('active', 0)}" + (f" (and {others})" if others else "")
    yield f"Episodes: {stats.episodes}. Connections: {stats.edges}. Notes: {stats.notes}."
    yield f"Working memory: {stats.pins} of {stats.slots} slots are pinned."
    if len(stats.minds) > 1:
        yield f"Minds: {', '.join(f'{name} ({count})' for name, count in stats.minds.items())}; {stats.mind} is meant."
    yield f"File: {stats.path}, {counted(stats.lines, 'line')}, {stats.state}."
    for count, text in (
        (stats.bad_lines, "cannot be read (`memory check` names them)"),
        (stats.conflicts, "with two different lines of the same age (`memory check`)"),
        (stats.contradictions, "replaced by several live facts (`memory check`)"),
        (stats.parked, "connected to a missing record"),
        (stats.markers, "marks of a merge conflict (`memory facts normalize`)"),
        (stats.duplicates, "stored twice (`memory facts normalize`)"),
    ):
        if count:
            yield f"  {count} {text}"


VERB = Verb(
    run=overview,
    lines=lines,
    alone=True,
    examples="""Examples:
  memory facts                                        counts, and the state of the file
  memory facts store Decisions "Retries run in the worker, because requests must not wait."
  memory facts recall "where do retries run?"
  memory facts context "add a retry to the mailer"
""",
)
