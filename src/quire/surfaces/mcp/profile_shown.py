"""Entries of the profile as calls answer with them: fields as documents hold them, and texts that are fenced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from quire.layers.profile.layout import ACTIVE, ASSISTANT, IMPORTANCE, NAME
from quire.surfaces.mcp.tool import Given

if TYPE_CHECKING:
    from quire.surfaces.mcp.tool import Call

_ENTRIES = 200
_ENTRIES_CHARS = 200_000
_TEXT_CHARS = 2_000
"""Of one entry among several no more is read out; the fields have it whole."""
_CANDIDATES = 20
_CONTRADICTIONS = 20
_LINKS = 100
_SUMMARY_CHARS = 500
"""How much is told of an entry that is only pointed at."""


def name_of(view: Any) -> dict[str, Any]:
    """How an entry is called, who said it, and whether it is kept from git."""
    from quire.model.records import origin_shown

    origin = origin_shown(view.source["type"] or "profile", reviewed=view.reviewed is not False)
    return {"ref": view.ref, "origin": origin, **({"private": True} if view.private else {})}


def fitting(views: Sequence[Any]) -> Sequence[Any]:
    """As many of the first entries as an answer can hold; one, however long it is."""
    room, number = _ENTRIES_CHARS, 0
    while number < min(len(views), _ENTRIES) and (number == 0 or len(views[number].value) <= room):
        room -= len(views[number].value)
        number += 1
    return views[:number]


def flags_of(view: Any) -> dict[str, Any]:
    """That something in the entry reads like instructions, where it does."""
    from quire.fields.envelope import flag_fields
    from quire.guard.effects import flags_of as found_in

    return flag_fields(found_in("\n".join(map(str, view.entry.values()))))


def entries_text(said: Sequence[str], views: Sequence[Any], call: Call) -> str:
    """Entries to be read: what they say, and of the rest what is not as usual."""
    from quire.model.text import cut
    from quire.surfaces.mcp.answers import fenced_items

    items = [
        {
            **name_of(view),
            "value": cut(view.value, _TEXT_CHARS) if len(views) > 1 else view.value,
            "tags": view.tags,
            "importance": None if view.importance == IMPORTANCE else view.importance,
            "confidence": view.confidence,
            "status": None if view.status == ACTIVE else view.status,
            "links": [f"{link['relation']} {link['target']}" for link in view.links],
            "updated": view.updated_at[:10],
        }
        for view in views
    ]
    fenced = [call.fence.notice(), fenced_items(items, call.fence)] if items else []
    return "\n".join((*said, *fenced))


def session_given(found: Any, call: Call) -> Given:
    """A session that begins: what the program says of it, and then what the entries say."""
    from quire.fields.profile import profile_session_start_fields
    from quire.surfaces.mcp.answers import fenced_text, with_flags
    from quire.verbs.plain import short_lists

    fields = profile_session_start_fields(found)
    matters = {item["id"] for item in fields.pop("matters")}  # the context tells the same entries
    said = [f"Session {found.session_count}. Active entries: {found.total}."]
    if not found.counted:
        said.append("It was not counted: the document is only read.")
    if found.name_assigned:
        said.append("The assistant had no name and was given one: ask the user, then `remember` assistant/name.")
    if found.proposals:
        said.append(f"Proposals of `reflect`: {found.proposals}.")
    is_told = f"{ASSISTANT}.{NAME}" in matters
    told = [] if is_told or not found.assistant_name else [f"The assistant's name: {found.assistant_name}"]
    pairs = found.contradictions[:_CONTRADICTIONS]
    told += [f"To be resolved: {link.source} contradicts {link.target}." for link in pairs]
    lines = [" ".join(said)]
    if told or found.context:
        inside = "\n".join((*told, found.context))
        lines += [call.fence.notice(), fenced_text(inside, call.fence, origin="profile")]
    flagged = with_flags(short_lists(fields, _CONTRADICTIONS), "context", "assistant_name")
    return Given(fields=flagged, text="\n".join(lines), warnings=found.warnings)


def candidates_given(fields: Mapping[str, Any], call: Call) -> Given:
    """Nothing was written, since these say it already."""
    from quire.model.text import cut
    from quire.surfaces.mcp.answers import fenced_items, with_flags

    found = [with_flags(item, "value") for item in fields["candidates"][:_CANDIDATES]]
    known = "this is known already" if fields["recommendation"] == "NOOP" else "an entry says nearly this"
    said = f"Not remembered: {known}. `remember` under its key changes it; force=true adds yours beside it."
    items = [{"ref": item["ref"], "value": cut(item["value"], _SUMMARY_CHARS), "tags": item["tags"]} for item in found]
    kept = {"action": fields["action"], "candidates": found, "recommendation": fields["recommendation"]}
    return Given(fields=kept, text="\n".join((said, call.fence.notice(), fenced_items(items, call.fence))))


def links_given(fields: Mapping[str, Any], call: Call) -> Given:
    """What an entry is linked to and what to it; of the other entries as much as shows what they are about."""
    from quire.surfaces.mcp.answers import fenced_items
    from quire.verbs.plain import short_lists

    ends = (("outgoing", "target", "source"), ("incoming", "source", "target"))
    sides = {side: [_link(link, own) for link in fields[side]] for side, _, own in ends}
    found = {"ref": fields["entry"]["ref"], **short_lists(sides, _LINKS)}
    items = []
    for side, other, _ in ends:
        for link in found[side]:
            said = f"this entry {link['relation']} it" if side == "outgoing" else f"it {link['relation']} this entry"
            rest = {"value": link["entry_summary"], "status": link["status"] or "gone"}
            items.append({"ref": f"profile:{link[other]}", "link": said, **rest})
    if not items:
        return Given(fields=found, text="It is not linked to anything.")
    return Given(fields=found, text=f"{call.fence.notice()}\n{fenced_items(items, call.fence)}")


def _link(link: Mapping[str, Any], own: str) -> dict[str, Any]:
    from quire.model.text import cut
    from quire.surfaces.mcp.answers import with_flags

    item = {name: value for name, value in link.items() if name != own}
    return with_flags({**item, "entry_summary": cut(link["entry_summary"], _SUMMARY_CHARS)}, "entry_summary")


def page_given(page: Any, nothing: str, call: Call) -> Given:
    """A page, or the sentence that there is nothing on it."""
    from quire.fields.profile import profile_page_fields
    from quire.surfaces.mcp.answers import fenced_text, with_flags

    fenced = f"{call.fence.notice()}\n{fenced_text(page.text, call.fence, origin='profile')}"
    fields = with_flags(profile_page_fields(page), "profile")
    return Given(fields=fields, text=fenced if page.text else nothing, warnings=page.warnings)
