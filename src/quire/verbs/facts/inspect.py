"""Show one fact or episode in full, with everything connected to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.layers.facts.layout import ACTIVE, FILE
from quire.model.errors import NotFound
from quire.model.records import Record
from quire.model.refs import parse_ref
from quire.model.text import counted
from quire.verbs.facts.fact_file import ask_facts, fact_view, known_facts
from quire.verbs.facts.results import ConnectionView, EpisodeView, FactView
from quire.verbs.facts.search import episode_view, replacements
from quire.verbs.verb import Recalled

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project


class FactInspected(msgspec.Struct, kw_only=True):
    """A fact or an episode, as it is stored, and everything that is connected to it."""

    ref: str
    kind: str
    view: FactView | EpisodeView
    stored: dict[str, Any]
    """Its line, every key."""
    connections: list[ConnectionView]
    chain: list[str]
    """What it replaced, what that replaced, and so on."""
    replaced_by: tuple[str, ...]
    names: list[str]
    """Other ids that stand for it."""


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
                hint="`memory facts episodes` lists the newest.",
                details={"id": ref},
            )
        if found.kind == "episode":
            stored = msgspec.json.decode(found.raw)
            names: list[str] = []
            view: FactView | EpisodeView = episode_view(found)
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


def fact_fields(found: FactInspected) -> dict[str, Any]:
    """The fact or episode as it is stored, with everything that is connected to it."""
    from quire.verbs.plain import effect_fields, plain, verdict_fields

    view = found.view
    said = (getattr(view, name, "") for name in ("content", "title", "narrative"))
    stored = {"ref": found.ref, **found.stored, **verdict_fields(view.verdict), **effect_fields(*said)}
    beside = {name: plain(getattr(found, name)) for name in ("connections", "chain", "replaced_by", "names")}
    return {"object": stored, **beside}


def whole_fact(found: FactInspected) -> Recalled:
    """The fact or episode as it is read, with what its marks say."""
    view = found.view
    verdict = view.verdict.verdict if view.verdict else "unanchored"
    lines = _episode_lines(found, view) if isinstance(view, EpisodeView) else _fact_lines(found, view)
    return Recalled(text="\n".join(lines), ref=found.ref, origin=view.origin_for_tools(), verdict=verdict)


def _episode_lines(found: FactInspected, view: EpisodeView) -> Iterator[str]:
    yield f"{found.ref} — {view.title}  [{view.date}]"
    yield from _listed("tags", view.tags)
    yield from _listed("facts", view.facts)
    yield ""
    yield view.narrative


def _fact_lines(found: FactInspected, view: FactView) -> Iterator[str]:
    yield f"{found.ref} — {view.section}  [{view.status}, {view.confidence:.0%} confidence]"
    if view.reason:
        yield f"reason: {view.reason}"
    yield from _listed("replaced by", found.replaced_by)
    yield from _listed("replaces", found.chain)
    yield from _listed("also known as", found.names)
    yield from _listed("tags", view.tags)
    where = f", {view.artifact.get('path', '')}" if view.artifact else ""
    yield f"source: {view.source}{where}"
    yield f"created {view.created_at}, stored {counted(view.reinforcements, 'time')}"
    yield ""
    yield view.content


def _listed(name: str, values: Sequence[str]) -> Iterator[str]:
    if values:
        yield f"{name}: {', '.join(values)}"


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
