"""Choose the proposals that a verb is about, and record what was decided on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from quire.inbox.layout import FOLDER
from quire.model.errors import InputError, QuireError
from quire.model.records import as_warning
from quire.model.times import timestamp

if TYPE_CHECKING:
    from quire.inbox.proposals import Proposal, Status
    from quire.inbox.store import Inbox
    from quire.project import Project
    from quire.verbs.inbox.options import ChosenProposals, Sieve
    from quire.verbs.inbox.results import Settled


def named_proposals(project: Project, given: ChosenProposals) -> list[Proposal]:
    """The proposals that are meant, all of them waiting."""
    from quire.inbox.store import named_proposal, read_inbox

    project.ready()
    inbox = read_inbox(project.root)
    if not given.ids:
        return chosen_from(inbox, given)
    found = list({item.id: item for item in (named_proposal(inbox, name) for name in given.ids)}.values())
    if not found:
        raise InputError("No proposal is named.", hint="Give ids, or --all.", details={"field": "id"})
    for item in found:
        if item.status != "pending":
            raise InputError(
                f"`{item.id}` was {item.status} already.",
                hint="`memory inbox lift` undoes a rejection." if item.status == "rejected" else None,
                details={"field": "id", "id": item.id},
            )
    return found


def waiting(project: Project) -> int:
    """How many proposals are pending."""
    from quire.inbox.store import count_pending

    return count_pending(project.root)


def settled_as(project: Project, item: Proposal, status: Status, **fields: str) -> Proposal:
    return msgspec.structs.replace(item, status=status, settled_at=timestamp(project.world.now()), **fields)


def write_settled(project: Project, done: Settled, lifted: Iterable[str] = ()) -> Settled:
    """Write down in the inbox what was settled, and what may be proposed again."""
    from quire.files.write_access import write_access
    from quire.inbox.store import read_inbox, write_inbox

    changed = {item.id: item for item in done.done}
    with write_access(project.root, FOLDER, project.world, "settle proposals"):
        inbox = read_inbox(project.root)
        done.warnings += [problem for problem in inbox.problems if problem not in done.warnings]
        for name in lifted:
            item = inbox.find(name)
            if item is not None and item.status == "rejected":
                changed[name] = msgspec.structs.replace(item, status="pending", settled_at="", reason="")
        done.left = len(inbox.pending)
        if changed:
            after = inbox.with_changed(changed)
            done.left = len(after.pending)
            try:
                write_inbox(project.root, after, project.world.token())
            except QuireError as error:
                done.warnings.append(as_warning(error))
    return done


def chosen_from(inbox: Inbox, given: Sieve, status: str = "pending") -> list[Proposal]:
    """The proposals of a status that are of this source and kind, by whom and from where."""
    return [
        item
        for item in inbox.proposals
        if status in ("all", item.status)
        and given.source in (None, item.source)
        and given.kind in (None, item.kind)
        and given.by in (None, item.by)
        and (given.origin is None or _is_from(item, given.origin))
    ]


def _is_from(item: Proposal, origin: str) -> bool:
    """A part of where it is from. Of a session only whole parts: the name of one may begin that of another."""
    if item.origin.startswith("session:"):
        return f":{origin.strip(':')}:" in f":{item.origin}:"
    return origin in item.origin
