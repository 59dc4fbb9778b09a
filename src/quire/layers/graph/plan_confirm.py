"""Planning, after the rest: which nodes somebody looked at and found still true."""

from __future__ import annotations

from msgspec import UNSET

from quire.layers.graph.plan_state import Planning
from quire.model.vocabulary import LIVE_STATUSES


def confirm_nodes(planning: Planning) -> None:
    retired = planning.retired()
    for number, item in enumerate(planning.intent.confirm):
        field = planning.draft.place("confirm", number, "id")
        draft = planning.existing(item.id, field)
        if draft is None:
            continue
        status = draft.fields["status"]
        if item.id in retired:
            planning.problem("Contradiction", field, f"`{item.id}` is also retired in this intent")
        elif status not in (*LIVE_STATUSES, "closed"):
            hint = 'If it is true again, send it in `nodes` with "status": "active" or "open".'
            planning.problem(
                "StatusNotAllowed", field, f"`{item.id}` is {status}, so it cannot be confirmed", hint=hint
            )
        elif not draft.fields.get("anchors"):
            hint = "Give it anchors to the code that it speaks of."
            planning.warn("NothingToConfirm", field, f"`{item.id}` has no anchors; nothing of it can be checked", hint)
        else:
            draft.confirmed = True
            draft.reason = draft.reason if item.reason is UNSET else item.reason
