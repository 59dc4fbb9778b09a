"""Plan one file's new content from its bytes, the record of earlier changes, and the wanted parts.

Where nobody else wrote to a file since, it is first taken back to what it was, exactly, and then changed anew: so any
number of runs, also of different versions, leaves the same way back. Where someone did, their text stays: parts are
added and taken out inside it. So it is, too, where a record that the repository brought says more than what we do.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from quire.clients.integration.entries import read_document, text_of
from quire.clients.integration.manifest import Manifest, known_base
from quire.clients.integration.types import Form, Made, Part, Status
from quire.files.toml_scanner import read_toml

_VERSION = ("version",)


def agrees(parts: Sequence[Part], base: bytes | None, current: bytes | None) -> bool:
    """Whether a file differs from what it was before (`base`) by these parts alone."""
    form = parts[0].form
    if form == "text":
        return base is None
    try:
        made = frozenset[tuple[str, ...]]().union(*(part.keys(current) - part.keys(base) for part in parts))
        left = current or b""
        for part in parts:
            left = part.strip(left, made)
        if base is None:
            return all(part.is_void(left) for part in parts)
        return bool(_meaning(form, left, made) == _meaning(form, base, made))
    except (ValueError, RecursionError):
        return False


def _meaning(form: Form, data: bytes, made: Made) -> Any:
    """What a file says, without blanks, comments and empty containers, which come and go with what is in them."""
    if form == "section":
        return data.split()
    value = read_document(data) if form == "jsonc" else read_toml(text_of(data).removeprefix("\ufeff"))
    if _VERSION in made:
        # It stays where someone else's hooks have come to need it.
        value = {name: held for name, held in value.items() if name != "version"}
    return json.dumps(_solid(value), sort_keys=True, default=str)


def _solid(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: kept for name, held in value.items() if (kept := _solid(held)) not in ({}, [])}
    return [_solid(held) for held in value] if isinstance(value, list) else value


_KEPT = "it was changed since Quire wrote it; --repair restores it"
_KEPT_LAST = "it was changed since Quire wrote it; remove it yourself if nothing in it is yours"
_FOREIGN = "another program has the entry `quire`; --force replaces it"
_NEEDED = "another client also uses it"
_THEIRS = "Quire did not write it"
_NOT_PUT_BACK = "its earlier content was recorded on another machine and is not restored; git may have it"
_IN_PLACE = "it replaced a file of yours and was changed since; remove it yourself"


class PartOutcome(msgspec.Struct, frozen=True):
    """What becomes of one part."""

    status: Status
    reason: str = ""


class FilePlan(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it would be (`after`), as it was before us (`base`), and what that means for each part."""

    base: bytes | None
    after: bytes | None
    made: Made = frozenset()
    outcomes: Mapping[tuple[str, str], PartOutcome]
    """By client and name of the part."""
    is_left: bool = False
    """Whether the file is someone's to decide about: neither it nor what is known of it changes."""


def plan_install(
    current: bytes | None,
    manifest: Manifest | None,
    wanted: Sequence[Part],
    *,
    force: bool = False,
    anew: bool = False,
    is_own: bool = False,
) -> FilePlan:
    """The file with these parts. `anew` also writes files of ours that someone changed; `force` takes over entries.

    `is_own` says that the user wrote the record on this machine, so that everything in it is believed.
    """
    if wanted[0].form == "text":
        return _install_whole(current, manifest, wanted, anew=anew or force, is_own=is_own)
    base, is_known = known_base(manifest, current, _belief(wanted, current, is_own))
    if not is_known and _is_doubted(manifest, current):
        manifest = None
    after = base if is_known else current
    for part in wanted:
        after = part.apply(after, force)
    if not is_known:
        base = current
        if current is not None and any(_has_ours(part, current, manifest) for part in wanted):
            made = (
                None if manifest is None else frozenset(manifest.made) | (_keys(wanted, after) - _keys(wanted, current))
            )
            base = _stripped(after, wanted, made, _began_empty(manifest))
    made = _keys(wanted, after) - _keys(wanted, base)
    outcomes = {_name(part): _installed(part, current, force) for part in wanted}
    return FilePlan(base=base, after=after, made=made, outcomes=outcomes)


def plan_remove(
    current: bytes | None,
    manifest: Manifest | None,
    gone: Sequence[Part],
    rest: Sequence[Part],
    *,
    is_own: bool = False,
) -> FilePlan | None:
    """The file without some parts, with those that other clients still need; None where nothing of ours is there."""
    if current is None:
        return None if manifest is None else FilePlan(base=None, after=None, outcomes={})
    if gone[0].form == "text":
        return _remove_whole(current, manifest, gone, rest, is_own=is_own)
    base, is_known = known_base(manifest, current, _belief([*gone, *rest], current, is_own))
    needed = {part.name for part in rest}
    note = ""
    if not is_known and _is_doubted(manifest, current):
        # Whoever is not believed in one thing is believed in none: what is ours is known by its form.
        manifest, note = None, _NOT_PUT_BACK
    if is_known:
        after = base
        for part in rest:
            after = part.apply(after, False)
    else:
        made = None if manifest is None else frozenset(manifest.made)
        removed = [part for part in gone if part.name not in needed]
        after = _stripped(current, removed, made, _began_empty(manifest) and not rest)
        base = after if not rest or after is None else _stripped(after, rest, made, _began_empty(manifest))
    if after == current and manifest is None and not note:
        return None
    made = _keys(rest, after) - _keys(rest, base)
    had = [part for part in gone if part.look(current).state != "missing"]
    outcomes = {_name(part): _removed(part, after, part.name in needed, note) for part in had}
    return FilePlan(base=base, after=after, made=made, outcomes=outcomes)


def _install_whole(
    current: bytes | None, manifest: Manifest | None, wanted: Sequence[Part], *, anew: bool, is_own: bool
) -> FilePlan:
    part = wanted[0]
    after = part.apply(current, False)
    base, is_known = known_base(manifest, current, _belief(wanted, current, is_own))
    # Someone changed our file, or had one of this name before us.
    is_changed = current is not None and not is_known and part.look(current).state != "present"
    displaces = manifest is not None and manifest.before is not None
    if is_changed and (displaces or not anew):
        return _left(current, wanted, PartOutcome("kept", _IN_PLACE if displaces else _KEPT))
    if not is_known and displaces and current is not None:
        return _left(current, wanted, PartOutcome("unchanged"))
    if is_changed:
        base = current if manifest is None else None
    return FilePlan(base=base, after=after, outcomes={_name(part): _installed(part, current, True) for part in wanted})


def _remove_whole(
    current: bytes, manifest: Manifest | None, gone: Sequence[Part], rest: Sequence[Part], *, is_own: bool
) -> FilePlan | None:
    base, is_known = known_base(manifest, current, _belief([*gone, *rest], current, is_own))
    if rest:
        return FilePlan(
            base=base if is_known else None,
            after=current,
            outcomes={_name(part): PartOutcome("removed") for part in gone},
        )
    if is_known or gone[0].look(current).state == "present":
        done = PartOutcome("removed", _NOT_PUT_BACK if not is_known and _is_doubted(manifest, current) else "")
        return FilePlan(base=base, after=base, outcomes={_name(part): done for part in gone})
    if manifest is None:
        return None
    return _left(current, gone, PartOutcome("kept", _KEPT_LAST))


def _left(current: bytes | None, parts: Sequence[Part], outcome: PartOutcome) -> FilePlan:
    return FilePlan(base=current, after=current, outcomes={_name(part): outcome for part in parts}, is_left=True)


def _installed(part: Part, current: bytes | None, force: bool) -> PartOutcome:
    seen = part.look(current)
    if seen.state == "present":
        return PartOutcome("unchanged")
    if seen.foreign and not force:
        return PartOutcome("refused", _FOREIGN)
    return PartOutcome("created" if current is None else "updated")


def _removed(part: Part, after: bytes | None, is_needed: bool, note: str) -> PartOutcome:
    if part.look(after).state == "missing":
        return PartOutcome("removed", note)
    return PartOutcome("kept", _NEEDED if is_needed else _THEIRS)


def _stripped(data: bytes | None, parts: Sequence[Part], made: Made | None, may_go: bool) -> bytes | None:
    if data is None:
        return None
    before = data
    for part in parts:
        data = part.strip(data, made)
    if data != before and may_go and all(part.is_void(data) for part in parts):
        return None
    return data


def _belief(parts: Sequence[Part], current: bytes | None, is_own: bool) -> Callable[[bytes | None], bool]:
    """What a way back may do: anything by our own word, and else nothing but to take out what is ours."""
    return lambda base: is_own or agrees(parts, base, current)


def _is_doubted(manifest: Manifest | None, current: bytes | None) -> bool:
    """Whether a record tells of this very file, and was not believed."""
    return known_base(manifest, current, lambda _base: True)[1]


def _began_empty(manifest: Manifest | None) -> bool:
    """Whether there was no file before us, as far as anybody knows."""
    return manifest is None or manifest.before is None


def _has_ours(part: Part, current: bytes, manifest: Manifest | None) -> bool:
    seen = part.look(current)
    return seen.ours or (seen.state != "missing" and manifest is not None and part.client in manifest.clients)


def _keys(parts: Sequence[Part], data: bytes | None) -> Made:
    return frozenset[tuple[str, ...]]().union(*(part.keys(data) for part in parts))


def _name(part: Part) -> tuple[str, str]:
    return part.client, part.name
