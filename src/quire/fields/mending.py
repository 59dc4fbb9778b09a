"""Fields of what a repair did, of the repairs that are kept, and of one that was taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quire.fields.envelope import all_fields, own_fields

if TYPE_CHECKING:
    from quire.verbs.admin.repair import Repaired, Repairs, TakenBack


def repaired_fields(done: Repaired) -> dict[str, Any]:
    """What was mended, or would be; which files; where they are as they were; and how the memory is now."""
    return {**own_fields(done), "name": done.name or None}


def repairs_fields(found: Repairs) -> dict[str, Any]:
    """The repairs that can be taken back, the newest first."""
    return all_fields(found)


def taken_back_fields(done: TakenBack) -> dict[str, Any]:
    """Which files are as they were."""
    return all_fields(done)
