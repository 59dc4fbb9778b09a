"""The inbox: what was proposed, and what a person says to it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.layers.graph.layout import FOLDER
from quire.model.errors import InputError, QuireError
from quire.model.records import Problem
from quire.model.times import timestamp
from quire.project import Project, as_warning, note_record
from quire.verbs.facts.notes import notes, settling_lock
from quire.verbs.graph.changes import save
from quire.verbs.inbox.accept import TASK, accept_proposal, accept_together
from quire.verbs.inbox.proposal_duplicates import (
    digests_of,
    inbox_full,
    node_saying,
    nodes_by_words,
    packs_of,
    said_by_records,
    texts_of,
    words_field,
)

if TYPE_CHECKING:
    from quire.inbox.proposals import Proposal
    from quire.inbox.rejections import Rejection, Rejections
    from quire.inbox.store import Inbox

_FEW = 4
"""So many proposals that cannot be accepted together are accepted each alone."""


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """The inbox as it is shown."""

    proposals: list[Proposal]
    counts: dict[str, int]
    """How many there are of each status."""
    warnings: list[Problem]


class Settled(msgspec.Struct, kw_only=True):
    """What was settled, and what could not be."""

    done: list[Proposal] = []
    failed: list[tuple[Proposal, QuireError]] = []
    rejections: list[Rejection] = []
    files: list[str] = []
    undecided: list[Proposal] = []
    """Those that were left out because their own source calls them undecided: each of them is accepted by its id."""
    left: int = 0
    """How many still wait."""
    warnings: list[Problem] = []


class Added(msgspec.Struct, kw_only=True):
    """What became of proposals that were handed in."""

    added: list[Proposal] = []
    known: int = 0
    """Said already: by a record, or by a proposal that waits or was settled."""
    rejected: int = 0
    warnings: list[Problem] = []


def inbox(project: Project, *, status: str = "pending", by: str | None = None, origin: str | None = None) -> Shown:
    """The proposals that wait, or those of another status, the oldest first."""
    from quire.inbox.store import read_inbox

    project.ready()
    found = read_inbox(project.root)
    counts: dict[str, int] = {}
    for item in found.proposals:
        counts[item.status] = counts.get(item.status, 0) + 1
    return Shown(proposals=_chosen(found, by, origin, status), counts=counts, warnings=list(found.problems))


def inbox_add(
    project: Project, proposals: Iterable[Proposal], *, dry_run: bool = False, replacing: Collection[str] = ()
) -> Added:
    """Hand in proposals. What a record says already, and what was rejected, is left out.

    A new one from an origin among `replacing` takes the place of those from there that wait.
    """
    from quire.files.write_access import write_access
    from quire.inbox.rejections import read_rejections
    from quire.inbox.store import read_inbox, write_inbox

    project.ready()
    wanted = list(proposals)
    now = timestamp(project.world.now())
    rejections = read_rejections(project.root)
    done = Added(warnings=list(rejections.problems))
    said = _said(project) if wanted else set()
    new = []
    for item in wanted:
        if any(rejections.match(text) for text in texts_of(item)):
            done.rejected += 1
        elif not item.updates and digests_of(item) & said:
            done.known += 1
        else:
            new.append(msgspec.structs.replace(item, proposed_at=item.proposed_at or now))
    if dry_run:
        before = read_inbox(project.root)
        done.added = before.with_new(new)[1]
    else:
        with write_access(project.root, FOLDER, project.world, "add proposals"):
            before = read_inbox(project.root)
            after, done.added = before.with_new(new)
            after = after.with_changed(_replaced(project, before, done.added, replacing))
            if after.proposals != before.proposals:
                write_inbox(project.root, after, project.world.token())
    held = {item.id for item in (*before.proposals, *done.added)}
    left = sum(item.id not in held for item in new)
    done.known += len(new) - len(done.added) - left
    done.warnings += inbox_full(left) if left else []
    return done


def _replaced(
    project: Project, inbox: Inbox, added: Iterable[Proposal], origins: Collection[str]
) -> dict[str, Proposal]:
    """What waited of sources that say something else now."""
    new = {item.origin for item in added if item.origin in origins}
    return {item.id: _settled(project, item, "withdrawn") for item in inbox.pending if item.origin in new}


def _said(project: Project) -> set[str]:
    """What records and notes say, by digest: on another machine no inbox tells what was accepted."""
    from quire.inbox.proposals import value_digest

    return project.with_index(said_by_records) | {value_digest(note.text) for note in notes(project)[0]}


# -- yes --------------------------------------------------------------------------------


def inbox_accept(
    project: Project,
    names: Sequence[str] = (),
    *,
    everything: bool = False,
    by: str | None = None,
    origin: str | None = None,
) -> Settled:
    """Make records of proposals: of these, or with `everything` of all that wait, by whom and from where."""
    _proposals(project, names, everything=everything, by=by, origin=origin)
    with settling_lock(project, "accept proposals"):
        chosen = _proposals(project, names, everything=everything, by=by, origin=origin)
        # What is not decided where it comes from is a decision of its own for whoever accepts it.
        undecided = [item for item in chosen if everything and item.standing == "open"]
        done = _accept(project, [item for item in chosen if item not in undecided])
        done.undecided = undecided
        if not project.world.is_agents:
            _note_accepted(project, done.done)
        return done


def _note_accepted(project: Project, accepted: Sequence[Proposal]) -> None:
    """Whoever accepts has looked; an agent that says so of itself has not."""
    project.note_reviewed(item.ref for item in accepted)
    notes = (str(item.fields.get("text", item.text)).strip() for item in accepted if item.into == "notes")
    project.note_records_reviewed([note_record(0, text) for text in notes])


def _accept(project: Project, chosen: list[Proposal]) -> Settled:
    done = Settled()
    # Features before what depends on them; what one cannot be saved with does not stop the others.
    ordered = sorted(chosen, key=lambda item: (item.into != "graph", item.into, item.kind != "feature"))
    said = project.with_index(nodes_by_words) if ordered and ordered[0].into == "graph" else {}
    for pack in packs_of(ordered):
        fresh = [item for item in pack if item.into == "graph" and not item.updates]
        known = {item.id: ref for item in fresh if (ref := node_saying(item, said))}
        done.done += [_settled(project, item, "accepted", ref=known[item.id]) for item in pack if item.id in known]
        _accept_pack(project, [item for item in pack if item.id not in known], done)
        # Who is interrupted later finds that these are settled.
        _written_down(project, done)
    return done if ordered else _written_down(project, done)


def _accept_pack(project: Project, pack: list[Proposal], done: Settled) -> None:
    """Write the records of some proposals together; where that cannot be, half of them, at last each alone."""
    made = accept_together(project, pack)
    if made is not None:
        done.warnings += made[1]
        done.done += [_settled(project, item, "accepted", ref=ref) for item, ref in zip(pack, made[0], strict=True)]
    elif len(pack) > _FEW:
        middle = len(pack) // 2
        _accept_pack(project, pack[:middle], done)
        _accept_pack(project, pack[middle:], done)
    else:
        _accept_each(project, pack, done)


def _accept_each(project: Project, items: Iterable[Proposal], done: Settled) -> None:
    for item in items:
        try:
            ref, warnings = accept_proposal(project, item)
        except QuireError as error:
            done.failed.append((item, error))
            continue
        done.warnings += warnings
        done.done.append(_settled(project, item, "accepted", ref=ref))


# -- no, and not so ---------------------------------------------------------------------


def inbox_edit(
    project: Project, name: str, *, text: str | None = None, fields: dict[str, Any] | None = None
) -> Proposal:
    """Another wording of a proposal that waits, or other fields of it; nothing is accepted with that."""
    _proposals(project, [name])
    with settling_lock(project, "edit a proposal"):
        (item,) = _proposals(project, [name])
        return _edited(project, item, text, fields)


def _edited(project: Project, item: Proposal, text: str | None, fields: dict[str, Any] | None) -> Proposal:
    from quire.files.write_access import write_access
    from quire.guard.admission import admit
    from quire.inbox.proposals import TEXT_CHARS, proposal_id
    from quire.inbox.store import read_inbox, write_inbox

    changed = dict(item.fields) | (fields or {})
    said = item.text
    if text is not None:
        said, _ = admit(text, "text", most=TEXT_CHARS)
        changed[words_field(item)] = said
    for field, value in changed.items():
        if isinstance(value, str):
            admit(value, field, most=TEXT_CHARS)
    _check_form(project, item, changed)
    after = msgspec.structs.replace(item, id=proposal_id(said), text=said, fields=changed)
    with write_access(project.root, FOLDER, project.world, "edit a proposal"):
        inbox = read_inbox(project.root)
        if after.id != item.id and inbox.find(after.id) is not None:
            raise InputError(f"`{after.id}` says that already.", hint="Reject one of the two.")
        inbox = inbox.with_changed({item.id: after})
        if after.id != item.id:
            # As it was first said it stays known: else the next look at its source would propose it again.
            inbox, _ = inbox.with_new([_settled(project, item, "withdrawn")])
        write_inbox(project.root, inbox, project.world.token())
    return after


def _check_form(project: Project, item: Proposal, fields: dict[str, Any]) -> None:
    """Refuse what could not be accepted later, as far as its shape tells."""
    if item.into == "graph":
        save(project, {"task": TASK, "nodes": [{**fields, "related": []}]}, dry_run=True)
    elif item.into == "facts":
        from quire.layers.facts.drafts import section_named

        section_named(str(fields.get("section", "")))
    elif item.into == "profile":
        from quire.layers.profile.rules import allowed_category

        allowed_category(str(fields.get("category", "")))


def inbox_reject(
    project: Project,
    names: Sequence[str] = (),
    *,
    reason: str = "",
    everything: bool = False,
    by: str | None = None,
    origin: str | None = None,
    value: str | None = None,
) -> Settled:
    """Say no: to proposals, or to a `value` that nobody proposed. From now on it is refused, whoever writes it."""
    from quire.guard.admission import admit
    from quire.inbox.proposals import TEXT_CHARS
    from quire.inbox.rejections import Rejection

    if reason:
        reason, _ = admit(reason, "reason", most=500)
    if value is not None:
        project.ready()
        value, _ = admit(value, "value", most=TEXT_CHARS)
        now = timestamp(project.world.now())
        said = Rejection(value=value, reason=reason, rejected_at=now, origin="user")
        return _reject(project, Settled(rejections=[said]), [], reason)
    _proposals(project, names, everything=everything, by=by, origin=origin)
    with settling_lock(project, "reject proposals"):
        chosen = _proposals(project, names, everything=everything, by=by, origin=origin)
        return _reject(project, Settled(), chosen, reason)


def _reject(project: Project, done: Settled, chosen: list[Proposal], reason: str) -> Settled:
    from quire.files.write_access import write_access
    from quire.inbox.rejections import Rejection, write_rejection

    now = timestamp(project.world.now())
    for item in chosen:
        done.rejections.append(
            Rejection(value=item.text, kind=item.kind, reason=reason, rejected_at=now, origin=item.origin)
        )
        done.done.append(_settled(project, item, "rejected", reason=reason))
    with write_access(project.root, FOLDER, project.world, "reject"):
        for rejection in done.rejections:
            done.files.append(write_rejection(project.root, rejection, project.world.token()))
    return _written_down(project, done)


def inbox_rejected(project: Project) -> Rejections:
    """Everything that was rejected; also what was lifted since."""
    from quire.inbox.rejections import read_rejections

    project.ready()
    return read_rejections(project.root)


def inbox_lift(project: Project, names: Sequence[str]) -> Settled:
    """Allow again what was rejected. That it was rejected, and when it was lifted, stays on record."""
    from quire.files.write_access import write_access
    from quire.inbox.rejections import named_rejection, read_rejections, write_rejection

    project.ready()
    now = timestamp(project.world.now())
    done = Settled()
    with write_access(project.root, FOLDER, project.world, "lift a rejection"):
        rejections = read_rejections(project.root)
        found = [named_rejection(rejections, name) for name in names]
        for item in found:
            lifted = msgspec.structs.replace(item, lifted_at=item.lifted_at or now)
            done.rejections.append(lifted)
            done.files.append(write_rejection(project.root, lifted, project.world.token()))
    return _written_down(project, done, lifted={item.id for item in done.rejections})


# -- what all of them need ----------------------------------------------------------------


def _proposals(
    project: Project,
    names: Sequence[str],
    *,
    everything: bool = False,
    by: str | None = None,
    origin: str | None = None,
) -> list[Proposal]:
    """The proposals that are meant, all of them waiting."""
    from quire.inbox.store import named_proposal, read_inbox

    project.ready()
    inbox = read_inbox(project.root)
    if everything:
        return _chosen(inbox, by, origin)
    found = list({item.id: item for item in (named_proposal(inbox, name) for name in names)}.values())
    if not found:
        raise InputError("No proposal is named.", hint="Give ids, or --all.", details={"field": "id"})
    for item in found:
        if item.status != "pending":
            raise InputError(
                f"`{item.id}` was {item.status} already.",
                hint="`memory inbox lift` takes a rejection back." if item.status == "rejected" else None,
                details={"field": "id", "id": item.id},
            )
    return found


def _settled(project: Project, item: Proposal, status: Any, **fields: str) -> Proposal:
    return msgspec.structs.replace(item, status=status, settled_at=timestamp(project.world.now()), **fields)


def _written_down(project: Project, done: Settled, lifted: Iterable[str] = ()) -> Settled:
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


def _chosen(inbox: Inbox, by: str | None, origin: str | None, status: str = "pending") -> list[Proposal]:
    return [
        item
        for item in inbox.proposals
        if status in ("all", item.status)
        and (by is None or item.by == by)
        and (origin is None or _is_from(item, origin))
    ]


def _is_from(item: Proposal, origin: str) -> bool:
    """A part of where it is from. Of a session only whole parts: the name of one may begin that of another."""
    if item.origin.startswith("session:"):
        return f":{origin.strip(':')}:" in f":{item.origin}:"
    return origin in item.origin
