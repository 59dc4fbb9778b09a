"""Fields of what a purge did. The texts themselves are in none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quire.fields.envelope import all_fields

if TYPE_CHECKING:
    from quire.verbs.admin.purge import Purged


def purged_fields(done: Purged) -> dict[str, Any]:
    """Where the texts stood, and where they still do."""
    return all_fields(done)
