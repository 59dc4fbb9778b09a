"""Turn a proposal into its record through the layer's own verb, so that all its checks apply."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from msgspec import UNSET

from quire.inbox.proposals import Proposal
from quire.layers.facts.drafts import section_named
from quire.layers.facts.store_fact import FactInput, store_fact
from quire.layers.graph.stored import StoredNode
from quire.layers.profile.layout import CODEBASE, STATED
from quire.layers.profile.records import entry_of
from quire.model import limits
from quire.model.errors import InputError, QuireError
from quire.model.records import Problem
from quire.model.text import cut
from quire.model.times import instant
from quire.model.vocabulary import LIVE_STATUSES
from quire.project import Project
from quire.verbs.facts.fact_file import change_facts, short_token
from quire.verbs.facts.notes import TakeNote, show_notes, take_note
from quire.verbs.facts.session import NoteSession, record_session
from quire.verbs.facts.store import Store, store, stored_fact
from quire.verbs.graph.save import save_nodes
from quire.verbs.profile.document import ask_profile
from quire.verbs.profile.remember import RememberEntry, remember_entry
from quire.verbs.verb import Arguments

TASK = "accept a proposal"


def accept_proposal(project: Project, item: Proposal) -> tuple[str, list[Problem]]:
    """Write the record of a proposal; its ref."""
    makers = {
        "graph": _accepted_node,
        "facts": _accepted_fact,
        "profile": _accepted_entry,
        "notes": _accepted_note,
        "episodes": _accepted_episode,
    }
    return makers[item.into](project, item)


def accept_together(project: Project, items: Sequence[Proposal]) -> tuple[list[str], list[Problem]] | None:
    """Write the records of several proposals of one layer at once; their refs, or None where that cannot be."""
    together = {"graph": _accepted_nodes, "facts": _accepted_facts}
    if len(items) < 2 or items[0].into not in together:
        return None
    return together[items[0].into](project, items)


def _accepted_nodes(project: Project, items: Sequence[Proposal]) -> tuple[list[str], list[Problem]] | None:
    """Write the nodes of several proposals in one save; their refs. None where not all of them can be saved so."""
    if any(item.updates for item in items):
        return None
    drafts = [_node_fields(item) for item in items]
    ids = [str(fields["id"]) for fields in drafts if "id" in fields]
    asked = {*ids, *(str(link["to"]) for fields in drafts for link in _links(fields))}
    asked.update(item.replaced_by for item in items if item.replaced_by)
    held = project.with_index(lambda index: {name for name in asked if index.find(name) is not None})
    if len(set(ids)) < len(ids) or held.intersection(ids):
        return None
    for fields in drafts:
        _keep_links(fields, held.union(ids))
    try:
        saved = save_nodes(project, _intent(items, drafts, held.union(ids)), actor="user")
    except QuireError:
        return None
    made = saved.memory_created
    # What is saved is saved, even if it cannot be told which is which.
    return (made if len(made) == len(items) else [str(fields.get("id", "")) for fields in drafts]), saved.warnings


def _accepted_node(project: Project, item: Proposal) -> tuple[str, list[Problem]]:
    fields = _node_fields(item)
    named = item.updates or fields.get("id")
    if isinstance(named, str):
        fields = _settled_with(project, item, fields, named)
    targets = {item.replaced_by, *(str(link["to"]) for link in _links(fields))}
    held = {target for target in targets if _is_node(project, target)}
    _keep_links(fields, held)
    saved = save_nodes(project, _intent([item], [fields], held), actor="user")
    made = [*saved.memory_created, *saved.memory_updated, *saved.memory_marked_stale, *saved.memory_superseded]
    return next(iter([*made, *saved.unchanged]), ""), saved.warnings


def _settled_with(project: Project, item: Proposal, fields: dict[str, Any], named: str) -> dict[str, Any]:
    """The fields of a proposal beside the node that has its id: its own record is changed, another one stays."""
    held = project.graph.find_node(named) if _is_node(project, named) else None
    if held is None:
        return {**fields, "id": named}
    if is_from(held, item):
        return {
            **{name: value for name, value in fields.items() if name != "kind"},
            "id": named,
            "anchors": list(dict.fromkeys((*fields.get("anchors", ()), *held.node.anchors)))[: limits.ANCHORS],
            "tags": list(dict.fromkeys((*held.node.tags, *fields.get("tags", ()))))[: limits.TAGS],
            **({} if item.standing == "over" or held.node.status in LIVE_STATUSES else {"status": "active"}),
        }
    if held.node.origin and held.node.origin.kind == "file" and item.origin.startswith("file:"):
        # Two files that call themselves alike are two records.
        return {**fields, "id": next(name for name in _further(named) if not _is_node(project, name))}
    raise InputError(
        f"`{named}` already exists, and another source made it; a proposal changes no such record.",
        hint=f"Look at it with `memory inspect {named}`; reject the proposal, or save the change yourself.",
        details={"field": "id", "id": named},
    )


def _is_node(project: Project, node_id: str) -> bool:
    return bool(node_id) and project.with_index(lambda index: index.find(node_id)) is not None


def _accepted_facts(project: Project, items: Sequence[Proposal]) -> tuple[list[str], list[Problem]] | None:
    try:
        told = [
            FactInput(id=short_token(project), **{**fields, "section": section_named(fields["section"])})
            for fields in map(_fact_fields, items)
        ]
        done = change_facts(
            project,
            "store facts",
            lambda draft, index: [
                stored_fact(project, index, store_fact(draft, one), one.section or "") for one in told
            ],
        )
    except QuireError:
        return None
    return [one.fact.ref for one in done], [problem for one in done for problem in one.warnings]


def _accepted_fact(project: Project, item: Proposal) -> tuple[str, list[Problem]]:
    fields = _fact_fields(item)
    done = store(project, Store(**{**fields, "tags": list(fields.get("tags", ()))}))
    return done.fact.ref, done.warnings


def _accepted_entry(project: Project, item: Proposal) -> tuple[str, list[Problem]]:
    fields = item.fields
    category, key = str(fields.get("category", "")), str(fields.get("key", ""))
    value = str(fields.get("value", item.text))
    taken = ask_profile(project, lambda index: index.find(f"profile:{category}.{key}"))
    if taken is not None and entry_of(taken).value == value:
        # Whoever accepted it was stopped before that was written down.
        return taken.ref, []
    if taken is not None:
        raise InputError(
            f"`{category}.{key}` already exists; a proposal changes no record.",
            hint=f"See `memory profile recall {category} {key}`; then reject the proposal, or edit its `key`.",
            details={"field": "key"},
        )
    given = RememberEntry(
        category=category,
        key=key,
        value=value,
        tags=[str(tag) for tag in fields.get("tags", ())],
        importance=fields.get("importance"),
        source_type=STATED if item.by == "user" else CODEBASE,
        force=True,
    )
    done = remember_entry(project, given)
    return (done.entry.ref if done.entry else f"profile:{category}.{key}"), done.warnings


def _accepted_note(project: Project, item: Proposal) -> tuple[str, list[Problem]]:
    text = str(item.fields.get("text", item.text)).strip()
    # One that waits already was made of this proposal by someone who was stopped, or it says the same.
    if all(note.text != text for note in show_notes(project, Arguments()).notes):
        take_note(project, TakeNote(words=[text]))
    return "", []


def _accepted_episode(project: Project, item: Proposal) -> tuple[str, list[Problem]]:
    fields = item.fields
    # A proposal that knows nothing of the time tells at least when its first words were said.
    said = next((one.at for one in item.evidence if instant(one.at)), None)
    _, episodes = record_session(
        project,
        NoteSession(
            session_id=str(fields.get("session_id", "")),
            turns=int(fields.get("turns", 0)),
            tool_calls=int(fields.get("tool_calls", 0)),
            title=str(fields.get("title", "")),
            narrative=str(fields.get("summary", item.text)),
            files=[str(path) for path in fields.get("files", ())],
            started_at=fields.get("started_at") or said,
            ended_at=fields.get("ended_at") or said,
            close=True,
        ),
    )
    return (f"episode:{episodes[-1].id}" if episodes else ""), []


def _node_fields(item: Proposal) -> dict[str, Any]:
    """The node of a proposal as a save takes it, with the place it came from."""
    return {"origin": _origin(item), **item.fields}


def _origin(item: Proposal) -> dict[str, Any]:
    kind = "file" if item.origin.startswith("file:") else "external"
    return {"kind": kind, "locator": cut(item.origin.removeprefix("file:"), 500)}


def _further(name: str) -> Iterator[str]:
    return (f"{name}-{number}" for number in itertools.count(2))


def is_from(held: StoredNode, item: Proposal) -> bool:
    """Whether a node was made of the source that a proposal comes from."""
    said = _origin(item)
    origin = held.node.origin
    return origin is not UNSET and (origin.kind, origin.locator) == (said["kind"], said["locator"])


def _intent(items: Sequence[Proposal], drafts: list[dict[str, Any]], held: Collection[str]) -> dict[str, Any]:
    """A save of these nodes. Those that hold no longer, by what their sources say, are retired in the same breath."""
    stale, supersede = [], []
    for item, fields in zip(items, drafts, strict=True):
        if item.standing == "over" and "id" in fields:
            ended = {"id": fields["id"], "reason": f"Its source says: {item.said or 'no longer valid'}"}
            if item.replaced_by in held and item.replaced_by != fields["id"]:
                supersede.append({**ended, "superseded_by": item.replaced_by})
            else:
                stale.append(ended)
    return {"task": TASK, "nodes": drafts, "stale": stale, "supersede": supersede}


def _links(fields: dict[str, Any]) -> list[dict[str, Any]]:
    related = fields.get("related")
    return [link for link in (related if isinstance(related, list) else ()) if isinstance(link, dict) and "to" in link]


def _keep_links(fields: dict[str, Any], held: Collection[str]) -> None:
    """Leave out relations to nodes that are not there."""
    present = [link for link in _links(fields) if str(link["to"]) in held]
    fields.pop("related", None)
    if present:
        fields["related"] = present


def _fact_fields(item: Proposal) -> dict[str, Any]:
    fields = item.fields
    return {
        "section": str(fields.get("section", "")),
        "content": str(fields.get("content", item.text)),
        "tags": tuple(str(tag) for tag in fields.get("tags", ())),
        "source": cut(str(fields.get("source") or item.origin), 100),
        "confidence": float(fields.get("confidence", 1.0)),
    }
