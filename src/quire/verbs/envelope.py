"""The JSON envelope of every answer, error and fault."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from quire.model.errors import QuireError
from quire.model.records import Problem

if TYPE_CHECKING:
    from quire.project import Project


def succeeded(project: Project | None, data: Any, warnings: Iterable[Problem] = ()) -> dict[str, Any]:
    """The envelope of what was done as it was asked."""
    meta = {"project_root": project.root, "memory_root": project.graph.folder} if project else {}
    return {"ok": True, "data": data, "warnings": msgspec.to_builtins(list(warnings)), "meta": meta}


def failed(error: QuireError) -> dict[str, Any]:
    """The envelope of what was not done, and why."""
    fields = {"code": error.code, "message": error.message, "hint": error.hint, "details": error.details}
    return {"ok": False, "error": fields, "warnings": [], "meta": {}}


def crashed(error: Exception) -> QuireError:
    """A fault of the program itself: said plainly, with what a report needs."""
    import traceback

    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(where.filename)}:{where.lineno}"
    return QuireError(
        f"Quire itself failed ({type(error).__name__} at {place}: {error}).",
        hint="This is a bug: report it with the command you ran. MEMORY_DEBUG=1 prints the whole trace.",
    )
