"""Fields of how clients are wired: what was done, and how it is now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quire.fields.envelope import all_fields, own_fields

if TYPE_CHECKING:
    from quire.clients.wiring.types import Integrated, IntegrationStatus


def integrated_fields(done: Integrated) -> dict[str, Any]:
    """Each part of each client, and each file; in a dry run with the difference it would make."""
    fields = own_fields(done)
    if not done.dry_run:
        for file in fields["files"]:
            del file["diff"]
    fields["complete"] = done.is_clean
    return fields


def integration_status_fields(found: IntegrationStatus) -> dict[str, Any]:
    """Every client, and each of its parts."""
    return {"clients": [all_fields(one) for one in found.clients]}
