"""Working memory: up to 25 pinned facts per mind, shown in every turn.

What someone pinned and what was merely read of late are kept apart: a pin is only ever released, never pushed out.
What was read fills the slots that the pins leave.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec

from quire.files.json_files import pretty
from quire.files.local_files import LOCAL_VERSION, LocalFile, read_object, spoiled, write_local
from quire.files.paths import is_text
from quire.layers.facts.layout import FOLDER
from quire.layers.facts.types import Id
from quire.model.errors import InputError
from quire.model.records import Problem
from quire.model.text import cut
from quire.model.times import instant

WORKING = "working.json"
SLOTS = 25
SESSIONS_MOST = 200
SESSION_CHARS = 160


class PinnedFact(msgspec.Struct, frozen=True):
    """A fact that someone wants kept in view, and since when."""

    id: Id
    at: str


class Working(msgspec.Struct, frozen=True):
    """The working memory of one session, the newest pin last."""

    pins: tuple[PinnedFact, ...] = ()
    released_at: str = ""
    """When everything was last released. What was read before no longer counts."""


def read_working(root: str, session: str = "") -> tuple[Working, list[Problem]]:
    """The working memory of a session, and what is wrong with the file."""
    _check_session(session)
    found, sessions = _read(root)
    found, working = _working_of(found, sessions.get(session, {}))
    return working, [found.problem] if found.problem else []


def write_working(root: str, session: str, working: Working, token: str) -> list[str]:
    """Store the working memory of a session; the names of the sessions that were forgotten for it.

    The sessions stand in the order in which they were last written. Of too many, those without pins go first.
    """
    from quire.guard.admission import refuse_secret

    _check_session(session)
    refuse_secret(session, "session")
    _check_pins(working)
    found, sessions = _read(root)
    before = sessions.pop(session, {})
    found, _ = _working_of(found, before)
    kept = before if isinstance(before, dict) else {}
    pins = _by_id(kept.get("pins"))
    sessions[session] = {
        **kept,
        "pins": [{**pins.get(item.id, {}), "id": item.id, "at": item.at} for item in working.pins],
        "released_at": working.released_at,
    }
    forgotten = _too_many(sessions, session)
    for name in forgotten:
        del sessions[name]
    write_local(root, found, pretty({"version": LOCAL_VERSION, **found.fields, "sessions": sessions}), token)
    return forgotten


def pin(working: Working, ids: Iterable[str], now: str) -> tuple[Working, dict[str, str]]:
    """Pin facts, and what became of each: `pinned`, `already pinned` (and now the newest), or `no slot`."""
    pins = {item.id: item for item in working.pins}
    outcome: dict[str, str] = {}
    for name in dict.fromkeys(ids):
        if name in pins:
            del pins[name]
            outcome[name] = "already pinned"
        elif len(pins) < SLOTS:
            outcome[name] = "pinned"
        else:
            outcome[name] = "no slot"
            continue
        pins[name] = PinnedFact(name, now)
    return msgspec.structs.replace(working, pins=tuple(pins.values())), outcome


def unpin(working: Working, ids: Iterable[str] | None, now: str) -> tuple[Working, dict[str, str]]:
    """Release pins, and what became of each: `released` or `not pinned`. None releases everything there is in view."""
    held = [item.id for item in working.pins]
    if ids is None:
        return Working(released_at=now), dict.fromkeys(held, "released")
    outcome = {name: "released" if name in held else "not pinned" for name in ids}
    left = tuple(item for item in working.pins if item.id not in outcome)
    return msgspec.structs.replace(working, pins=left), outcome


def follow(working: Working, moves: Mapping[str, str | None]) -> Working:
    """Pins whose facts were replaced now name the replacement, in the same place; None drops a pin.

    Where the replacement is pinned as well, its own pin stays.
    """
    targets = [_end_of(item.id, moves) for item in working.pins]
    taken = {item.id for item, target in zip(working.pins, targets, strict=True) if target == item.id}
    pins: list[PinnedFact] = []
    for item, target in zip(working.pins, targets, strict=True):
        if target == item.id:
            pins.append(item)
        elif target is not None and target not in taken:
            taken.add(target)
            pins.append(PinnedFact(target, item.at))
    return msgspec.structs.replace(working, pins=tuple(pins))


def automatic(working: Working, accessed: Mapping[str, str], exclude: Collection[str] = ()) -> list[str]:
    """The facts last read since everything was released, newest first, as many as slots are left beside the pins."""
    left = SLOTS - len(working.pins)
    released = instant(working.released_at) if working.released_at else None
    barred = {item.id for item in working.pins}.union(exclude)
    times = [(name, instant(at)) for name, at in accessed.items() if name not in barred]
    read = [(name, at) for name, at in times if at is not None and (released is None or at > released)]
    # Two steady sorts: newest first, and among equal times by id.
    read.sort(key=lambda item: item[0])
    read.sort(key=lambda item: item[1], reverse=True)
    return [name for name, _ in read[: max(left, 0)]]


def _end_of(name: str, moves: Mapping[str, str | None]) -> str | None:
    """Where a chain of replacements leads; a chain that bites its tail leads nowhere, and the pin stays."""
    seen = {name}
    at: str | None = name
    while at is not None and at in moves:
        at = moves[at]
        if at in seen:
            return name
        if at is not None:
            seen.add(at)
    return at


def working_problem(root: str) -> Problem | None:
    """What keeps the file from being used at all."""
    return _read(root)[0].problem


def _read(root: str) -> tuple[LocalFile, dict[str, Any]]:
    found = read_object(root, FOLDER, WORKING)
    sessions = found.fields.get("sessions", {})
    if not isinstance(sessions, dict):
        return spoiled(found, "`sessions` is not an object"), {}
    return found, dict(sessions)


def _working_of(found: LocalFile, entry: Any) -> tuple[LocalFile, Working]:
    try:
        working = msgspec.convert(entry, Working)
    except msgspec.ValidationError as error:
        return spoiled(found, f"the session is not as it should be ({error})"), Working()
    pins: dict[str, PinnedFact] = {}
    for item in working.pins:
        pins.pop(item.id, None)  # of two pins of one fact the newer holds
        pins[item.id] = item
    return found, msgspec.structs.replace(working, pins=tuple(pins.values()))


def _by_id(pins: Any) -> dict[str, dict[str, Any]]:
    """The stored pins, for the keys of theirs that only other programs know."""
    items = pins if isinstance(pins, list) else []
    return {item["id"]: item for item in items if isinstance(item, dict) and isinstance(item.get("id"), str)}


def _too_many(sessions: dict[str, Any], writing: str) -> list[str]:
    """Which sessions have to go. Never the one that is written, nor the one that is used when none is named."""
    surplus = max(len(sessions) - SESSIONS_MOST, 0)
    others = [name for name in sessions if name not in ("", writing)]
    others.sort(key=lambda name: bool(_by_id(sessions[name].get("pins"))) if isinstance(sessions[name], dict) else True)
    return others[:surplus]


def _check_session(session: str) -> None:
    if len(session) > SESSION_CHARS or not session.isprintable():
        raise InputError(
            f"The name of a session has at most {SESSION_CHARS} characters, all of them printable.",
            hint="Give a shorter or plainer name, or none.",
            details={"field": "session", "limit": SESSION_CHARS},
        )


def _check_pins(working: Working) -> None:
    """What is written must be readable again: one odd id would make the whole session unreadable."""
    for item in working.pins:
        try:
            msgspec.convert(item.id, Id)
            usable = is_text(item.id) and is_text(item.at)
        except msgspec.ValidationError:
            usable = False
        if not usable:
            raise InputError(
                f"`{cut(ascii(item.id), 60)}` is not the id of a fact; nothing was pinned.",
                hint="Give the ids as the facts name them: no blanks, up to 160 characters.",
                details={"field": "fact_ids"},
            )
