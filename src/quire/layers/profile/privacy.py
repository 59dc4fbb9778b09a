"""Move personal entries from the shared document to a private one, and back."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from quire.files.json_files import pretty
from quire.files.layout import LOCAL
from quire.files.local_files import ASIDE, ensure_local
from quire.files.transaction import FileUpdate, apply_changes, update_of
from quire.files.world import World
from quire.layers.profile.access import Readings, as_read
from quire.layers.profile.document import ProfileDocument, empty_document
from quire.layers.profile.entries import name_of, read_entry, split_name, time_text, told
from quire.layers.profile.forgotten import Forgotten, change_with
from quire.layers.profile.layout import BACKUP, FILE, FOLDER, HOME_FOLDER, PRIVATE, PRIVATE_CATEGORIES, SETTING
from quire.layers.profile.places import AT_HOME, HERE, SHARED, ProfilePlaces
from quire.layers.profile.store import current_documents, folded, held_bytes
from quire.model.errors import Conflict, InputError, InvalidStore, UnsupportedVersion
from quire.model.text import cut

_SETTING_VERSION = 1


class Move(msgspec.Struct, kw_only=True):
    """What moving would do."""

    before: str
    after: str
    """`shared`, `here` or `home`"""
    target: str
    """The document that the entries go to."""
    moved: list[str]
    copied: list[str]
    """Entries that stay in the user's home as well: other projects may use them."""
    differing: list[str]
    """Entries that both documents have and that say different things."""
    linked: list[str]
    """Entries of the shared document that name one that will not be in it."""


class _Plan(msgspec.Struct):
    shared: ProfileDocument
    target: ProfileDocument
    others: list[tuple[ProfileDocument, bool]]
    """Where entries come from, and whether they go from there."""
    move: Move
    replaced: list[Forgotten]


def retarget(places: ProfilePlaces, place: str) -> ProfilePlaces:
    """The places to lock for a move: the user's home, too, where entries come from there or go there."""
    return msgspec.structs.replace(places, private=AT_HOME) if AT_HOME in (places.private, place) else places


def plan_move(places: ProfilePlaces, world: World, place: str) -> Move:
    """What would be moved, and what stands against it; nothing is written."""
    return _plan(places, world, place, "").move


def refuse_undecided(move: Move, prefer: str) -> None:
    """Where both documents have an entry and do not agree, someone has to say whose holds."""
    if move.differing and not prefer:
        raise Conflict(
            f"In both documents, and not the same: {', '.join(move.differing[:5])}"
            + (f" and {len(move.differing) - 5} more." if len(move.differing) > 5 else "."),
            hint="Choose with --prefer target or --prefer source; the other version can be restored.",
            details={"entries": move.differing},
        )


def carry_out(places: ProfilePlaces, world: World, place: str, prefer: str = "") -> Move:
    """Move them. The caller holds the locks of both places. What loses where two differ can be restored."""
    plan = _plan(places, world, place, prefer)
    move = plan.move
    refuse_undecided(move, prefer)
    after = msgspec.structs.replace(places, private=place)
    here = os.path.join(places.root, FOLDER)
    ensure_local(places.root, FOLDER, world.token())
    if place == AT_HOME:
        # First there, so that what is on its way is twice, never nowhere.
        home = os.path.join(places.home, HOME_FOLDER)
        change = _change(home, FILE, _next(plan.target))
        apply_changes(home, [change] if change else [], [], world.token(), whole=True)
    # Everything goes into the document, what branches added, too: nothing of what is private now stays beside it.
    changes = [_change(here, FILE, plan.shared.render()), *folded(places.root)] if plan.shared.is_changed else []
    if place == HERE:
        changes.append(_change(here, PRIVATE, _next(plan.target)))
    elif places.private == HERE:
        twin = held_bytes(os.path.join(here, PRIVATE))
        changes += [_change(here, f"{LOCAL}/{BACKUP}", twin), _change(here, PRIVATE, None)]
    setting = pretty({"version": _SETTING_VERSION, "place": AT_HOME}) if after.private == AT_HOME else None
    if places.problem is not None:
        changes.append(_change(here, f"{SETTING}{ASIDE}", held_bytes(os.path.join(here, SETTING))))
    changes.append(_change(here, SETTING, setting))
    if plan.replaced:
        changes.append(change_with(places.root, plan.replaced))
    apply_changes(here, [item for item in changes if item], [], world.token(), whole=True)
    return move


def _next(document: ProfileDocument) -> bytes:
    """What the file is to hold: one that nothing was put into stays as it is."""
    return document.render() if document.is_changed or not document.data else document.data


def _change(root: str, path: str, data: bytes | None) -> FileUpdate | None:
    """The next bytes of a file; None where they are what is there."""
    found = held_bytes(os.path.join(root, path))
    return None if found == data else update_of(path, found, data)


def _plan(places: ProfilePlaces, world: World, place: str, prefer: str) -> _Plan:
    if place not in (SHARED, HERE, AT_HOME):
        raise InputError(f"Unknown place `{cut(place, 40)}`.", hint="It is here, home or shared.")
    if place == AT_HOME and not places.home:
        raise InputError("There is no home folder.", hint="Set MEMORY_HOME to a folder of yours.")
    try:
        shared, private = current_documents(places)
    except (InvalidStore, UnsupportedVersion):
        if place != SHARED or places.private != AT_HOME:
            raise
        # The user's own document cannot be read; whoever turns away from it needs nothing of it.
        shared, private = current_documents(msgspec.structs.replace(places, private=SHARED))
    shared = shared or empty_document(f"{FOLDER}/{FILE}")
    new = msgspec.structs.replace(places, private=place)
    others: list[tuple[ProfileDocument, bool]] = []
    if private is not None and place != places.private:
        others.append((private, places.private != AT_HOME))
    if place == SHARED:
        target = shared
    else:
        found = private if place == places.private else current_documents(new)[1]
        target = found or empty_document(new.private_name)
        others.append((shared, True))
    for document in (shared, target, *(document for document, _ in others)):
        if not document.is_writable:
            raise document.refuse_version()
        document.refuse_loss()
    move = Move(before=places.private, after=place, target=target.where, moved=[], copied=[], differing=[], linked=[])
    plan = _Plan(shared, target, others, move, [])
    _carry(plan, time_text(world.now()), prefer)
    if private is not None and places.private == HERE and place != HERE:
        _refuse_rest(private)
    if place != SHARED:
        gone = set(move.moved)
        move.linked = sorted(
            name_of(category, key)
            for category in shared.categories()
            for key in shared.keys(category)
            if any(link.target in gone for link in _links(shared, category, key))
        )
    return plan


def _refuse_rest(twin: ProfileDocument) -> None:
    """Before a twin goes: nothing may be left in it that is no entry, and so was not carried over."""
    left = [name_of(category, key) for category in twin.categories() for key in twin.keys(category)]
    left += twin.unknown()
    if left:
        shown = ", ".join(cut(name, 60) for name in left[:5])
        raise InvalidStore(
            f"`{twin.where}` holds values that are not records and would be lost: {shown}.",
            hint="Nothing was changed. Correct or remove it by hand.",
            details={"path": twin.where, "left": left[:50]},
        )


def _links(document: ProfileDocument, category: str, key: str) -> tuple[Any, ...]:
    try:
        return read_entry(category, key, document.fields(category, key) or {}).links
    except ValueError:
        return ()


def _carry(plan: _Plan, now: str, prefer: str) -> None:
    """Put every entry that is to go into the target, and take it out of where it was."""
    for source, leaves in plan.others:
        only = PRIVATE_CATEGORIES if source is plan.shared else tuple(source.categories())
        for category in only:
            for key in source.keys(category):
                fields = source.fields(category, key)
                if fields is None:
                    continue  # what is no entry stays where it is
                name = name_of(category, key)
                known = plan.target.fields(category, key)
                if known is None and plan.target.has(category, key):
                    continue
                if known is not None and told(known) != told(fields):
                    plan.move.differing.append(name)
                    keeps = fields if prefer == "source" else known
                    plan.replaced.append(_set_aside(now, name, known if keeps is fields else fields))
                    fields = keeps
                elif known is not None:
                    fields = _read_more(known, fields)
                if known != fields:
                    plan.target.put(category, key, fields)
                (plan.move.moved if leaves else plan.move.copied).append(name)
                if leaves:
                    source.remove(category, key)


def _read_more(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Of two that say the same, what was read of either: the larger count, the later time."""
    one, other = (read_entry("", "", {"value": "", **fields}) for fields in (first, second))
    last = as_read(one, Readings({one.name: 1}, {one.name: other.last_accessed or ""})).last_accessed
    count = max(one.access_count, other.access_count)
    if (count, last) == (one.access_count, one.last_accessed):
        return first
    return {**first, "access_count": count, "last_accessed": last}


def _set_aside(now: str, name: str, fields: dict[str, Any]) -> Forgotten:
    category, key = split_name(name)
    return Forgotten(at=now, category=category, key=key, fields=fields, incoming=(), private=True)
