"""Fields of what is not about one memory: the projects of this machine, the pages of the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.fields.envelope import all_fields
from quire.model.errors import QuireError

if TYPE_CHECKING:
    from quire.upkeep.projects import Registered
    from quire.upkeep.reset import Reset
    from quire.upkeep.status import ProjectRow


def projects_fields(found: Sequence[Registered]) -> dict[str, Any]:
    """Every registered project."""
    return {"projects": msgspec.to_builtins(found)}


def project_fields(entry: Registered) -> dict[str, Any]:
    """The project that was added or forgotten."""
    return {"project": all_fields(entry)}


def pruned_fields(gone: Sequence[Registered]) -> dict[str, Any]:
    """The projects that were forgotten since nothing is there."""
    return {"projects_removed": msgspec.to_builtins(gone)}


def statuses_fields(rows: Sequence[ProjectRow], registry_path: str) -> dict[str, Any]:
    """Every project at a glance, or why it cannot be told."""
    return {"registry_path": registry_path, "projects": list(map(_row_fields, rows))}


def _row_fields(row: ProjectRow) -> dict[str, Any]:
    fields = all_fields(row.entry)
    fields["needs_reset"] = row.error is not None and row.error.code == "MemoryUnsupportedStorageVersion"
    fields["error"] = None if row.error is None else _error_fields(row.error)
    fields["status"] = None if row.status is None else all_fields(row.status)
    return fields


def resets_fields(every: Sequence[Reset], failed: Sequence[tuple[str, QuireError]]) -> dict[str, Any]:
    """The projects that were reset, and those that could not be."""
    failures = [{"project_root": root, **_error_fields(error)} for root, error in failed]
    return {"projects_reset": msgspec.to_builtins(every), "projects_failed": failures}


def _error_fields(error: QuireError) -> dict[str, Any]:
    return {"code": error.code, "message": error.message}


def reset_planned_fields(roots: Sequence[str], *, destroy: bool) -> dict[str, Any]:
    """Which projects would be reset."""
    return {"dry_run": True, "project_roots": list(roots), "destroy": destroy}
