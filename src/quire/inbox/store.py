"""Read and write the proposals of this machine, `.memory/local/inbox.jsonl`, one per line.

Whoever writes holds the lock of `.memory/`. What was settled stays for a while, so that the same thing found again in
another session is not proposed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from quire.files.json_files import json_value
from quire.files.local_files import LocalFile, damaged_lines, read_local, write_local
from quire.inbox.layout import FILE, FOLDER
from quire.inbox.proposals import Proposal, by_beginning
from quire.model.errors import NotFound
from quire.model.records import Problem
from quire.model.text import cut

SETTLED_KEPT = 2_000
PENDING_MOST = 2_000
"""So many may wait; more are left out until some are settled."""
_BYTES = 32 * 1024 * 1024


class Waiting(msgspec.Struct, frozen=True):
    """A proposal without its words: nobody has approved them."""

    id: str
    kind: str = ""
    origin: str = ""
    status: str = "pending"


class Inbox(msgspec.Struct, frozen=True, kw_only=True):
    """The proposals, the oldest first."""

    proposals: tuple[Proposal, ...] = ()
    problems: tuple[Problem, ...] = ()
    found: LocalFile

    @property
    def pending(self) -> list[Proposal]:
        return [item for item in self.proposals if item.status == "pending"]

    def find(self, proposal_id: str) -> Proposal | None:
        return next((item for item in self.proposals if item.id == proposal_id), None)

    def with_new(self, items: Iterable[Proposal]) -> tuple[Inbox, list[Proposal]]:
        """The inbox with these, as far as they are new; which were. One that is known gains evidence, and no more."""
        held = {item.id: item for item in self.proposals}
        waiting = len(self.pending)
        added = []
        for item in items:
            known = held.get(item.id)
            if known is not None:
                if known.status == "pending":
                    held[item.id] = _with_evidence(known, item)
            elif waiting < PENDING_MOST:
                held[item.id] = item
                waiting += 1
                added.append(item)
        return msgspec.structs.replace(self, proposals=tuple(held.values())), added

    def with_changed(self, changed: Mapping[str, Proposal]) -> Inbox:
        """Other states of some, in their places; one whose words changed has another id."""
        after = {changed.get(item.id, item).id: changed.get(item.id, item) for item in self.proposals}
        return msgspec.structs.replace(self, proposals=tuple(after.values()))


def _with_evidence(known: Proposal, again: Proposal) -> Proposal:
    evidence = tuple(dict.fromkeys((*known.evidence, *again.evidence)))[:8]
    by = "user" if "user" in (known.by, again.by) else known.by
    return msgspec.structs.replace(known, evidence=evidence, by=by)


def read_inbox(root: str) -> Inbox:
    """Read the inbox; a line that cannot be read is skipped and reported."""
    found = read_local(root, FOLDER, FILE, _BYTES)
    held: dict[str, Proposal] = {}
    bad = 0
    for line in filter(bytes.strip, (found.data or b"").split(b"\n")):
        item = _proposal_in(line)
        if item is None:
            bad += 1
        else:
            held[item.id] = item
    if bad:
        found = damaged_lines(found, bad, "The next change keeps a copy of the file beside it.")
    problems = (found.problem,) if found.problem else ()
    return Inbox(proposals=tuple(held.values()), problems=problems, found=found)


def _proposal_in(line: bytes) -> Proposal | None:
    """The proposal of a line; a line that is not UTF-8 anywhere holds none."""
    try:
        return json_value(line.decode(), Proposal)
    except UnicodeDecodeError:
        return None


def sound_lines(data: bytes) -> bytes:
    """The lines that are proposals, as they stand."""
    return b"".join(line + b"\n" for line in data.split(b"\n") if _proposal_in(line) is not None)


def count_pending(root: str) -> int:
    return len(pending_kinds(root))


def pending_kinds(root: str) -> list[Waiting]:
    """What waits, without taking it apart: only what kind it is of and where it comes from."""
    states: dict[str, Waiting] = {}
    for line in (read_local(root, FOLDER, FILE, _BYTES).data or b"").split(b"\n"):
        state = json_value(line, Waiting)
        if state is not None:
            states[state.id] = state
    return [state for state in states.values() if state.status == "pending"]


def write_inbox(root: str, inbox: Inbox, token: str) -> None:
    """Write it. Of what was settled, the latest stay."""
    settled = sorted((item for item in inbox.proposals if item.status != "pending"), key=lambda item: item.settled_at)
    dropped = {item.id for item in settled[: max(0, len(settled) - SETTLED_KEPT)]}
    encode = msgspec.json.Encoder().encode
    lines = [encode(item) for item in inbox.proposals if item.id not in dropped]
    write_local(root, inbox.found, b"".join(line + b"\n" for line in lines), token)


def named_proposal(inbox: Inbox, name: str) -> Proposal:
    """By its id, or by the beginning of it."""
    found = by_beginning({item.id: item for item in inbox.proposals}, name)
    if found is None:
        raise NotFound(
            f"There is no proposal `{cut(name, 40)}`.",
            hint="`memory inbox` lists them with their ids.",
            details={"field": "id", "id": cut(name, 40)},
        )
    return found
