"""Fields of proposals, of what was settled, and of what was rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quire.fields.envelope import problem_fields

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quire.inbox.proposals import Proposal
    from quire.inbox.rejections import Rejection
    from quire.verbs.inbox.review import Added, Settled, Shown


def proposal_fields(item: Proposal) -> dict[str, Any]:
    import msgspec

    shown: dict[str, Any] = msgspec.to_builtins(item)
    return {"evidence": [], "status": item.status, **shown}


def inbox_fields(found: Shown) -> dict[str, Any]:
    return {"results": [proposal_fields(item) for item in found.proposals], "counts": found.counts}


def added_fields(done: Added) -> dict[str, Any]:
    return {
        "added": [proposal_fields(item) for item in done.added],
        "known": done.known,
        "rejected": done.rejected,
    }


def settled_fields(done: Settled) -> dict[str, Any]:
    return {
        "settled": [proposal_fields(item) for item in done.done],
        "failed": [
            {"id": item.id, "code": error.code, "message": error.message, "hint": error.hint}
            for item, error in done.failed
        ],
        "rejections": [rejection_fields(item) for item in done.rejections],
        "files_changed": done.files,
        "undecided": [item.id for item in done.undecided],
        "pending": done.left,
    }


def rejection_fields(item: Rejection) -> dict[str, Any]:
    return {
        "id": item.id,
        "value": item.value,
        "kind": item.kind,
        "reason": item.reason,
        "origin": item.origin,
        "rejected_at": item.rejected_at,
        "lifted_at": item.lifted_at or None,
    }


def rejected_fields(items: Iterable[Rejection], problems: Iterable[Any] = ()) -> dict[str, Any]:
    return {
        "results": [rejection_fields(item) for item in items],
        "problems": [problem_fields(problem) for problem in problems],
    }
