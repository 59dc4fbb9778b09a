"""Fields of what was found in files of other programs, and imported from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quire.fields.inbox import proposal_fields, settled_fields

if TYPE_CHECKING:
    from quire.verbs.inbox.host_import import ImportedHosts
    from quire.verbs.inbox.review import Settled


def imported_fields(done: ImportedHosts, settled: Settled | None = None) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "sources": [
            {
                "kind": found.source.kind,
                "path": found.source.shown,
                "scope": found.source.scope,
                "items": found.items,
                "new": found.new,
                "skipped": found.skipped,
            }
            for found in done.sources
        ],
        "results": [proposal_fields(item) for item in done.proposals],
        "waiting": [item.id for item in done.waiting],
        "known": done.known,
        "rejected": done.rejected,
        "dry_run": done.dry_run,
    }
    if settled is not None:
        fields["accepted"] = settled_fields(settled)
    return fields
