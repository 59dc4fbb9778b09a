"""Connect clients to the journal alone; no record of the change is kept.

A record would be of no use: what is written here stands under a name of its own, which nobody takes back.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from quire.clients.integration.file_plan import FilePlan, PartOutcome
from quire.clients.integration.file_writer import BY_HAND, FileWriter, LeftAlone
from quire.clients.integration.journal_parts import CONFIG_VARIABLE, JournalPart
from quire.clients.integration.types import Scope, Status, Surroundings
from quire.files.world import World
from quire.model.errors import QuireError

Action = Literal["CREATE", "UPDATE", "UNCHANGED", "KEPT", "SKIPPED", "UNREADABLE", "FAILED"]
Condition = Literal["present", "missing", "managed_mismatch", "unreadable"]

_KEPT = "It was changed since Quire wrote it; --repair restores it."
_SKIPPED = "It is in your home folder and was not changed; --yes changes it."
_NOTES: dict[Condition, str] = {
    "present": "is there.",
    "missing": "is missing.",
    "managed_mismatch": "was changed since Quire wrote it.",
    "unreadable": "cannot be found",
}
_ACTIONS: dict[Status, Action] = {
    "created": "CREATE",
    "updated": "UPDATE",
    "unchanged": "UNCHANGED",
    "kept": "KEPT",
    "unreadable": "UNREADABLE",
    "refused": "FAILED",
    "failed": "FAILED",
}


class JournalPartSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A part as it is now."""

    client: str
    key: str
    label: str
    status: Condition
    path: str
    scope: Scope
    note: str
    reason: str = ""
    hint: str = ""

    @property
    def name(self) -> str:
        return f"{self.client}.{self.key}"


class JournalPartDone(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one part, or would become of it."""

    component: str
    client: str
    scope: Scope
    action: Action
    path: str
    note: str
    reason: str = ""
    hint: str = ""


def look_at_part(part: JournalPart, around: Surroundings, world: World) -> JournalPartSeen:
    """A part as it is now. What cannot be read is reported, never raised."""
    status: Condition = "unreadable"
    reason = hint = ""
    try:
        if not part.path:
            raise LeftAlone(
                "there is no home folder to look for it in", f"Set HOME, or name the file with {CONFIG_VARIABLE}."
            )
        found = part.look(FileWriter(part.scope, around, world).read(part.path))
        status = "managed_mismatch" if found.state == "changed" else found.state
    except LeftAlone as error:
        reason, hint = error.reason, error.hint
    except ValueError as error:
        reason, hint = f"{error}", BY_HAND
    except QuireError as error:
        reason, hint = error.message, error.hint or ""
    except OSError as error:
        reason, hint = f"it cannot be read ({error.strerror or error})", "Check its owner and its type."
    reason = reason.rstrip(".")
    return JournalPartSeen(
        client=part.client,
        key=part.key,
        label=part.label,
        status=status,
        path=part.shown,
        scope=part.scope,
        note=f"{part.subject} {_NOTES[status]}{f': {reason}.' if reason else ''}",
        reason=reason,
        hint=hint,
    )


def connect_journal(
    parts: Iterable[JournalPart], around: Surroundings, world: World, *, repair: bool, dry_run: bool, user: bool
) -> tuple[JournalPartDone, ...]:
    """Write what is missing or not as it should be; with `repair` only the latter.

    Files in the user's home are changed only with `user`. What the user changed in a file that is ours alone stays
    unless it is to be repaired. A file that cannot be changed is reported, and stops no other.
    """
    found = (_wire(part, around, world, repair=repair, dry_run=dry_run, user=user) for part in parts)
    return tuple(done for done in found if done is not None)


def _wire(
    part: JournalPart, around: Surroundings, world: World, *, repair: bool, dry_run: bool, user: bool
) -> JournalPartDone | None:
    seen = look_at_part(part, around, world)
    if seen.status == "unreadable":
        return _done(part, "UNREADABLE", reason=seen.reason, hint=seen.hint)
    may_write = not dry_run and (user or part.scope == "project")
    writer = FileWriter(part.scope, around, world, dry_run=not may_write)
    written = writer.write(part.path, part.shown, (part.client,), lambda current: _plan(part, current, repair))
    if written.file is None:
        return None
    file, outcome = written.file, written.fault or written.outcomes[part.client, part.name]
    action = _ACTIONS[outcome.status]
    if written.fault:
        return _done(part, action, reason=file.reason.rstrip("."), hint=file.hint)
    if action in ("CREATE", "UPDATE") and not dry_run and not may_write:
        return _done(part, "SKIPPED", note=_SKIPPED)
    return _done(part, action, note=_KEPT if action == "KEPT" else "")


def _plan(part: JournalPart, current: bytes | None, repair: bool) -> FilePlan | None:
    state = part.look(current).state
    after = current
    if repair and state != "changed":
        return None
    if state == "present":
        outcome = PartOutcome("unchanged")
    elif part.is_whole and state == "changed" and not repair:
        outcome = PartOutcome("kept")
    else:
        after, outcome = part.apply(current, True), PartOutcome("created" if current is None else "updated")
        if part.look(after).state != "present":
            raise LeftAlone("its layout cannot be changed safely", BY_HAND)
    return FilePlan(base=current, after=after, outcomes={(part.client, part.name): outcome})


def _done(part: JournalPart, action: Action, *, note: str = "", reason: str = "", hint: str = "") -> JournalPartDone:
    return JournalPartDone(
        component=part.name,
        client=part.client,
        scope=part.scope,
        action=action,
        path=part.shown,
        note=note or part.purpose,
        reason=reason,
        hint=hint,
    )
