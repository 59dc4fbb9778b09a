"""Add and remove links between entries; remove or restore an entry with its links."""

from __future__ import annotations

import msgspec

from quire.layers.profile.drafts import ProfileDraft
from quire.layers.profile.entries import Entry, name_of, split_name, told
from quire.layers.profile.forgotten import Forgotten, Incoming, read_forgotten
from quire.layers.profile.layout import ACTIVE, ARCHIVED, SUPERSEDES
from quire.layers.profile.places import AT_HOME
from quire.layers.profile.rules import allowed_key, allowed_name, allowed_relation
from quire.model.errors import InputError, NotFound
from quire.model.text import cut
from quire.model.untyped import as_list


class Linked(msgspec.Struct, frozen=True, kw_only=True):
    source: str
    target: str
    relation: str
    created: bool
    """False where it was there already."""
    archived: bool = False
    """Whether the target was put away, since it is replaced."""


class RemovedLinks(msgspec.Struct, frozen=True, kw_only=True):
    source: str
    target: str
    relations: tuple[str, ...]


def add_link(draft: ProfileDraft, source: str, target: str, relation: str) -> Linked:
    """Link one entry to another. What is replaced by another is archived."""
    allowed_relation(relation)
    start = draft.need(*allowed_name(source, "source"), what="source record")
    end = draft.need(*allowed_name(target, "target"), what="target record")
    if start.name == end.name:
        raise InputError(
            f"`{cut(start.name, 60)}` cannot be linked to itself.",
            hint="Name two different records.",
            details={"field": "target"},
        )
    if relation == SUPERSEDES and _leads(draft, end, start):
        raise InputError(
            f"`{cut(end.name, 60)}` replaces `{cut(start.name, 60)}` already; both would be archived.",
            hint=f"Remove that link first: memory profile unlink {end.name} {start.name}",
            details={"field": "relation"},
        )
    created = not any(link.target == end.name and link.relation == relation for link in start.links)
    if created:
        links = [*as_list(start.fields.get("links")), {"target": end.name, "relation": relation}]
        draft.change(start, touch=False, links=links)
    archived = relation == SUPERSEDES and end.status == ACTIVE
    if archived:
        draft.change(end, status=ARCHIVED)
    return Linked(source=start.name, target=end.name, relation=relation, created=created, archived=archived)


def _leads(draft: ProfileDraft, start: Entry, end: Entry) -> bool:
    """Whether an entry replaces another, directly or through others."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        entry = waiting.pop()
        for link in entry.links:
            if link.relation != SUPERSEDES or link.target in seen:
                continue
            if link.target == end.name:
                return True
            seen.add(link.target)
            found = draft.find(*split_name(link.target))
            if found is not None:
                waiting.append(found)
    return False


def remove_links(draft: ProfileDraft, source: str, target: str, relation: str | None = None) -> RemovedLinks:
    """Take away every link from one entry to another, or those of one relation. The target need not be there."""
    if relation is not None:
        allowed_relation(relation)
    start = draft.need(*allowed_name(source, "source"), what="source record")
    name = ".".join(allowed_name(target, "target"))
    gone = [link for link in start.links if link.target == name and relation in (None, link.relation)]
    if not gone:
        of = f" that says {relation}" if relation else ""
        raise NotFound(
            f"There is no link{of} from `{cut(start.name, 60)}` to `{cut(name, 60)}`.",
            hint=f"`memory profile connections {start.category} {start.key}` lists them.",
            details={"source": start.name, "target": name},
        )
    _drop(draft, start, name, relation)
    return RemovedLinks(source=start.name, target=name, relations=tuple(link.relation for link in gone))


def _drop(draft: ProfileDraft, entry: Entry, target: str, relation: str | None = None) -> None:
    kept = [
        item
        for item in as_list(entry.fields.get("links"))
        if not (isinstance(item, dict) and item.get("target") == target and relation in (None, item.get("relation")))
    ]
    draft.change(entry, touch=False, links=kept)


def forget(draft: ProfileDraft, category: str, key: str) -> Forgotten:
    """Remove an entry and every link to it; what is needed to bring it back is kept on this machine."""
    entry = draft.need(category, key)
    incoming = []
    for other in list(draft.linked_to(entry.name)):
        incoming += [
            Incoming(other.name, item["relation"], item if set(item) - {"target", "relation"} else {})
            for item in as_list(other.fields.get("links"))
            if isinstance(item, dict) and item.get("target") == entry.name and isinstance(item.get("relation"), str)
        ]
        _drop(draft, other, entry.name)
    draft.remove(category, key)
    # Where a removal was interrupted between two disks, the links to the entry are known only from the first attempt.
    known = [item for item in read_forgotten(draft.places.root) if (item.category, item.key) == (category, key)]
    at_home = entry.is_private and draft.places.private == AT_HOME
    if known and at_home and told(known[-1].fields) == told(entry.fields):
        incoming += [item for item in known[-1].incoming if item not in incoming]
    gone = Forgotten(
        at=draft.now,
        category=category,
        key=key,
        fields=entry.fields,
        incoming=tuple(incoming),
        private=entry.is_private,
    )
    draft.forgotten.append(gone)
    return gone


def restore(draft: ProfileDraft, gone: Forgotten, key: str | None = None) -> tuple[Entry, int]:
    """Bring an entry back as it was, under its key or another one.

    With it come the links to it, as far as their sources are there; how many those were.
    """
    key = gone.key if key is None or key == gone.key else allowed_key(key)
    name = name_of(gone.category, key)
    there = draft.find(gone.category, key)
    # Where restoring was interrupted half-way, the entry is back, and only the rest is to be done.
    if draft.is_taken(gone.category, key) and (there is None or told(there.fields) != told(gone.fields)):
        raise InputError(
            f"There is a record `{cut(name, 120)}` again.",
            hint="Restore the old one under another key: --as KEY.",
            details={"field": "key"},
        )
    try:
        entry = draft.put(gone.category, key, there.fields if there else gone.fields)
    except ValueError as error:
        raise InputError(
            f"`{cut(name, 120)}` cannot be restored: {error}.",
            hint="The line in the list of what was forgotten was changed by hand.",
            details={"field": "key"},
        ) from None
    number = 0
    for item in gone.incoming:
        source = draft.find(*split_name(item.source))
        if source is not None and all((link.target, link.relation) != (name, item.relation) for link in source.links):
            link = {**item.link, "target": name, "relation": item.relation}
            draft.change(source, touch=False, links=[*as_list(source.fields.get("links")), link])
            number += 1
    draft.restored.append(gone)
    return entry, number
