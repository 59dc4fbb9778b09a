"""Fields of receipts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quire.clients.receipts import Receipt


def receipts_fields(found: Sequence[Receipt], total: int) -> dict[str, Any]:
    return {"results": [_receipt(item) for item in found], "total": total}


def _receipt(item: Receipt) -> dict[str, Any]:
    fields: dict[str, Any] = {"at": item.at, "client": item.client, "event": item.event, "session": item.session}
    fields |= {"files": list(item.files), "considered": item.considered, "budget": item.budget, "tokens": item.tokens}
    fields["milliseconds"] = item.milliseconds
    for outcome in ("included", "trimmed", "withheld"):
        fields[outcome] = [
            {"ref": one.ref, "why": one.why, "tokens": one.tokens, "verdict": one.verdict}
            for one in item.items
            if one.outcome == outcome
        ]
    return fields
