"""The envelope around every answer, and what all results share: problems, verdicts, one line of JSON."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.model.errors import QuireError
from quire.model.records import Problem
from quire.model.verdicts import Verdict

if TYPE_CHECKING:
    from quire.project import Project

_TEXTS = ("title", "content", "narrative", "value")
"""What a record of any layer says, by the names of its fields."""


def succeeded(project: Project | None, data: Any, warnings: Iterable[Problem] = ()) -> dict[str, Any]:
    """The envelope of what was done as it was asked."""
    meta = {"project_root": project.root, "memory_root": project.graph.folder} if project else {}
    return {"ok": True, "data": data, "warnings": [problem_fields(item) for item in warnings], "meta": meta}


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


def all_fields(result: Any) -> dict[str, Any]:
    """Everything a result holds."""
    fields: dict[str, Any] = msgspec.to_builtins(result)
    return fields


def own_fields(result: Any) -> dict[str, Any]:
    """Everything but the result's warnings, which the envelope carries."""
    fields = all_fields(result)
    fields.pop("warnings", None)
    return fields


def problem_fields(problem: Problem) -> dict[str, Any]:
    return all_fields(problem)


def verdict_fields(verdict: Verdict | None) -> dict[str, Any]:
    """The verdict as a word, and beside it how it is known."""
    if verdict is None:
        return {"verdict": None}
    checked = all_fields(verdict)
    return {"verdict": checked.pop("verdict"), "checked": checked}


def view_fields(view: Any) -> dict[str, Any]:
    """A record as it is told, with its verdict at the end, and what doing as it says could do."""
    fields = all_fields(view)
    fields.pop("verdict", None)
    return {**fields, **verdict_fields(view.verdict), **effect_fields(*(fields.get(name) for name in _TEXTS))}


def effect_fields(*texts: str | None) -> dict[str, Any]:
    """What doing as these texts say could do; nothing where that is nothing."""
    from quire.guard.effects import effects_of

    return flag_fields(effects_of("\n".join(text for text in texts if text)))


def flag_fields(flags: Sequence[str]) -> dict[str, Any]:
    """Flags by their codes, and of those that are effects the plain words."""
    if not flags:
        return {}
    from quire.guard.effects import words_of

    words = words_of(flags)
    return {"flags": list(flags), **({"flag_words": words} if words else {})}
