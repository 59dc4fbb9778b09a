"""Add an entry, or change the given parts of one; archive the entries it replaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from quire.layers.profile.drafts import ProfileDraft
from quire.layers.profile.entries import Entry, new_fields, split_name
from quire.layers.profile.layout import ACTIVE, RELATED, SUPERSEDES, USER
from quire.layers.profile.links import add_link
from quire.layers.profile.rules import (
    allowed_category,
    allowed_confidence,
    allowed_detail,
    allowed_importance,
    allowed_key,
    allowed_source,
    allowed_status,
    allowed_tags,
    allowed_value,
)
from quire.model.errors import InputError
from quire.model.records import Problem, warning_at
from quire.model.text import cut
from quire.model.untyped import as_list

ADD, UPDATE, NOOP = "ADD", "UPDATE", "NOOP"
SHARED_TAGS = 2
"""From so many on, two entries are linked by themselves."""
AUTO_LINKS = 5


class EntryInput(msgspec.Struct, frozen=True, kw_only=True):
    """What someone wants remembered; what is not given is left as it is."""

    category: str
    key: str
    value: str | None = None
    tags: Sequence[str] | None = None
    untag: Sequence[str] = ()
    importance: int | None = None
    confidence: float | msgspec.UnsetType | None = msgspec.UNSET
    """None takes it away."""
    source: str | None = None
    detail: str | msgspec.UnsetType | None = msgspec.UNSET
    status: str | None = None
    supersedes: Sequence[str] = ()


class EntryOutcome(msgspec.Struct, kw_only=True):
    action: str
    entry: Entry
    linked: list[str] = []
    """Entries it was linked to for the tags they share."""
    archived: list[str] = []
    """Entries it replaces."""
    warnings: list[Problem] = []


def remember(draft: ProfileDraft, telling: EntryInput, sharing: Sequence[str] = ()) -> EntryOutcome:
    """Plan it. `sharing` are names of entries that have tags in common with what is reported, the best first."""
    category = allowed_category(telling.category)
    before = draft.find(category, telling.key)
    if before is None:
        allowed_key(telling.key)
        if draft.is_taken(category, telling.key):
            raise InputError(
                f"The document has something else than a record at `{category}.{cut(telling.key, 60)}`.",
                hint="Nothing was changed. Correct the document by hand, or use another key.",
                details={"field": "key"},
            )
    fields, warnings = _fields(draft, telling, before)
    if before is None:
        entry = draft.put(category, telling.key, fields)
        told = EntryOutcome(action=ADD, entry=entry, warnings=warnings)
    elif all(before.fields.get(name) == value for name, value in fields.items() if name != "updated_at"):
        told = EntryOutcome(action=NOOP, entry=before, warnings=warnings)
    else:
        told = EntryOutcome(action=UPDATE, entry=draft.change(before, **fields), warnings=warnings)
    for name in telling.supersedes:
        link = add_link(draft, told.entry.name, name, SUPERSEDES)
        told.archived += [link.target] if link.archived else []
        told.action = UPDATE if told.action == NOOP and (link.created or link.archived) else told.action
    if told.action == ADD or (telling.tags and told.action == UPDATE):
        told.linked = _auto_link(draft, draft.need(category, telling.key), sharing)
    told.entry = draft.need(category, telling.key)
    return told


def _fields(draft: ProfileDraft, telling: EntryInput, before: Entry | None) -> tuple[dict[str, Any], list[Problem]]:
    """The fields that are given, checked; all of them for a new entry."""
    warnings: list[Problem] = []
    given: dict[str, Any] = {}
    if telling.value is not None:
        given["value"], warnings = allowed_value(telling.value)
    elif before is None:
        raise InputError(
            "`value` is missing: there is no such record yet.",
            hint="Give the text to remember.",
            details={"field": "value"},
        )
    tags = _tags(telling, before)
    if tags is not None:
        given["tags"] = tags
    confidence, said = _confidence(telling)
    warnings += said
    if confidence is not msgspec.UNSET:
        given["confidence"] = confidence
    elif before is not None and telling.category == USER and before.fields.get("confidence") is not None:
        given["confidence"] = None
    if telling.importance is not None:
        given["importance"] = allowed_importance(telling.importance)
    source, said = _source(telling, before)
    warnings += said
    if source is not None:
        given["source"] = source
    if telling.status is not None:
        given["status"] = allowed_status(telling.status)
        if telling.status == ACTIVE and before is not None and before.fields.get("invalid_at") is not None:
            given["invalid_at"] = None  # how later versions put an entry away
    return new_fields(given.pop("value"), draft.now, **given) if before is None else given, warnings


def _tags(telling: EntryInput, before: Entry | None) -> list[str] | None:
    """The tags there were and those that are new; those of another form that were there stay."""
    added = allowed_tags(telling.tags or ())
    if not added and not telling.untag:
        return None
    gone = {tag.casefold() for tag in telling.untag}
    known = before.tags if before else ()
    found = {tag for tag in (*known, *added) if tag.casefold() not in gone}
    return None if before is not None and found == set(known) else sorted(found)


def _confidence(telling: EntryInput) -> tuple[float | msgspec.UnsetType | None, list[Problem]]:
    given = telling.confidence
    if given is msgspec.UNSET or given is None:
        return given, []
    number = allowed_confidence(given)
    if telling.category != USER:
        return number, []
    said = "What users say about themselves has no confidence; it was dropped."
    return None, [warning_at("ProfileConfidenceUnused", "", said, None, field="confidence")]


def _source(telling: EntryInput, before: Entry | None) -> tuple[dict[str, Any] | None, list[Problem]]:
    if telling.source is None and telling.detail is msgspec.UNSET:
        return None, []
    stored = before.fields.get("source") if before else None
    found: dict[str, Any] = dict(stored) if isinstance(stored, dict) else {}
    found.setdefault("type", before.source_type if before else "session")
    found.setdefault("detail", before.source_detail if before else None)
    warnings: list[Problem] = []
    if telling.source is not None:
        found["type"] = allowed_source(telling.source)
    if isinstance(telling.detail, str):
        found["detail"], warnings = allowed_detail(telling.detail)
    elif telling.detail is None:
        found["detail"] = None
    return found, warnings


def _auto_link(draft: ProfileDraft, entry: Entry, sharing: Sequence[str]) -> list[str]:
    """Link it to the best of those that share tags; what is linked already, either way, stays as it is."""
    known = {link.target for link in entry.links}
    own = {tag.casefold() for tag in entry.tags}
    found: list[str] = []
    for name in sharing:
        if len(found) == AUTO_LINKS:
            break
        if name in known or name == entry.name:
            continue
        other = draft.find(*split_name(name))
        if other is None or any(link.target == entry.name for link in other.links):
            continue
        if other.is_private and not entry.is_private:
            continue  # the shared document does not name what is kept out of it, unless someone says so
        if len(own & {tag.casefold() for tag in other.tags}) >= SHARED_TAGS:
            found.append(name)
    if found:
        links = [*as_list(entry.fields.get("links")), *({"target": n, "relation": RELATED} for n in found)]
        draft.change(entry, touch=False, links=links)
    return found
