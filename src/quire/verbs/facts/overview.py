"""The facts at a glance, and one of them in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from quire.layers.facts.layout import ACTIVE, FILE, FOLDER, SECTIONS
from quire.model.errors import NotFound
from quire.model.records import Record
from quire.model.refs import parse_ref
from quire.project import Project
from quire.verbs.facts.fact_file import ask_facts, fact_view, facts_ready, known_facts
from quire.verbs.facts.faded import most_faded
from quire.verbs.facts.recall import episode_view, fact_filter, replacements
from quire.verbs.facts.results import ConnectionView, FactStats
from quire.verbs.facts.working_memory import working_memory

if TYPE_CHECKING:
    from quire.index.catalog import Index


class FactInspected(msgspec.Struct, kw_only=True):
    """A fact or an episode, as it is stored, and everything that is connected to it."""

    ref: str
    kind: str
    view: Any
    stored: dict[str, Any]
    """Its line, every key."""
    connections: list[ConnectionView]
    chain: list[str]
    """What it replaced, what that replaced, and so on."""
    replaced_by: tuple[str, ...]
    names: list[str]
    """Other ids that stand for it."""


def memory_facts(project: Project) -> FactStats:
    """How many facts there are, where, and in which state the file is."""
    from quire.layers.facts.normalize import file_state
    from quire.layers.facts.notes import read_notes
    from quire.layers.facts.originals import not_imported
    from quire.layers.facts.source import stamp_now
    from quire.layers.facts.store import read_file
    from quire.layers.facts.working import SLOTS
    from quire.retrieval.current_records import FADED

    facts_ready(project)
    working = working_memory(project, "")
    data = read_file(project.root)
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
        sources: dict[str, int] = {}
        for record in records:
            sources[record.origin] = sources.get(record.origin, 0) + 1
        overview = known_facts(index).overview
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
            minds={name or overview.mind: number for name, number in index.scopes("facts").items()},
            mind=overview.mind,
            version=overview.version,
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


def inspect_fact(project: Project, ref: str) -> FactInspected:
    """One fact or episode in full."""
    from quire.layers.facts.drafts import find_fact
    from quire.layers.facts.lines import encode_record
    from quire.layers.facts.records import held_of

    parsed = parse_ref(ref)

    def work(index: Index) -> FactInspected:
        if parsed.kind == "fact":
            found = index.find(f"fact:{find_fact(known_facts(index), parsed.id, 'ref').fact.id}")
        else:
            found = index.find(ref)
        if found is None:
            raise NotFound(
                f"There is no `{ref}` in this memory.",
                hint="`memory facts episodes` shows what there is.",
                details={"id": ref},
            )
        if found.kind == "episode":
            stored = msgspec.json.decode(found.raw)
            names: list[str] = []
            view: Any = episode_view(found)
        else:
            held = held_of(found)
            stored = msgspec.json.decode(encode_record(held.fact))
            names = [twin.id for twin in held.twins]
            view = fact_view(project, held.fact, project.world.now())
        return FactInspected(
            ref=found.ref,
            kind=found.kind,
            view=view,
            stored=stored,
            connections=_connections(index, found.ref),
            chain=_chain(index, found),
            replaced_by=replacements(project, index, found) if found.kind == "fact" else (),
            names=names,
        )

    return ask_facts(project, work)


def connections(project: Project, ref: str) -> list[ConnectionView]:
    """What facts say of a record of any layer; nothing is looked up where no fact was ever stored."""
    from quire.layers.facts.source import stamp_now

    return ask_facts(project, lambda index: _connections(index, ref)) if stamp_now(project.root) else []


def _connections(index: Index, ref: str) -> list[ConnectionView]:
    from quire.layers.facts.records import connection_of

    found = []
    for edge in index.edges_of(ref):
        other = index.find(edge.target if edge.source == ref else edge.source)
        title = other.title if other else ""
        if edge.status == ACTIVE and edge.path == FILE:
            line = connection_of(edge)
            said = line.description if line else ""
            found.append(ConnectionView(edge.ref, edge.source, edge.predicate, edge.target, title, said))
    return found


def _chain(index: Index, record: Record) -> list[str]:
    from quire.layers.facts.records import held_of

    found: list[str] = []
    while record.kind == "fact":
        older = held_of(record).fact.supersedes
        if not older or older in found:
            break
        found.append(older)
        following = index.find(f"fact:{older}")
        if following is None:
            break
        record = following
    return found
