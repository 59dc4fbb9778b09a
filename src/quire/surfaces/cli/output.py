"""What the command prints: one JSON envelope or text for people; diagnostics on stderr; the exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from quire.model import ErrorKind, Problem, QuireError, Verdict

if TYPE_CHECKING:
    from quire.project import Project

EXIT_CODES: dict[ErrorKind, int] = {"failed": 1, "usage": 2, "not_ready": 3}

__all__ = [
    "EXIT_CODES",
    "answer",
    "counted",
    "crashed",
    "fail",
    "json_text",
    "say",
    "usage_failed",
    "verdict_fields",
    "warn",
]


def answer(project: Project | None, data: Any, warnings: Iterable[Problem] = ()) -> None:
    """The envelope of a command that did what it was asked."""
    meta = {"project_root": project.root, "memory_root": project.graph.folder} if project else {}
    _print({"ok": True, "data": data, "warnings": [problem_fields(item) for item in warnings], "meta": meta})


def fail(error: QuireError, *, as_json: bool) -> int:
    """Say what went wrong and what to do; the exit code."""
    if as_json:
        fields: dict[str, Any] = {"code": error.code, "message": error.message, "hint": error.hint}
        fields["details"] = error.details
        _print({"ok": False, "error": fields, "warnings": [], "meta": {}})
    else:
        _say_error(f"error: {error.message}")
        issues = error.details.get("issues", [])
        for issue in issues if len(issues) > 1 else ():
            place = f"{issue['field']}: " if issue.get("field") else ""
            _say_error(f"  - {place}{issue['message']}")
            if issue.get("hint"):
                _say_error(f"    {issue['hint']}")
        hints = [error.hint, *(issue.get("hint") for issue in issues if len(issues) == 1)]
        for hint in dict.fromkeys(hint for hint in hints if hint):
            _say_error(f"hint: {hint}")
    return EXIT_CODES[error.kind]


def usage_failed(message: str, command: str, *, as_json: bool) -> int:
    """A command line that cannot be understood."""
    hint = f"`{command} --help` shows how it is used."
    if message.startswith("No such option"):
        hint += " Put `--` before a text that begins with a dash."
    if as_json:
        fields = {"code": "MemoryUsage", "message": message, "hint": hint, "details": {}}
        _print({"ok": False, "error": fields, "warnings": [], "meta": {}})
    else:
        _say_error(f"error: {message}")
        _say_error(f"hint: {hint}")
    return EXIT_CODES["usage"]


def crashed(error: Exception, *, as_json: bool) -> int:
    """A fault of the program itself: said plainly, with what a report needs."""
    import traceback

    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(where.filename)}:{where.lineno}"
    message = f"Quire itself failed ({type(error).__name__} at {place}: {error})."
    hint = "This is a bug: report it with the command you ran. MEMORY_DEBUG=1 prints the whole trace."
    if os.environ.get("MEMORY_DEBUG") == "1":
        traceback.print_exception(error)
    return fail(QuireError(message, hint=hint), as_json=as_json)


def counted(number: int, thing: str, things: str = "") -> str:
    """`1 line`, `2 lines`."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def say(text: str = "", colour: str | None = None) -> None:
    """A line for people, with nothing in it that a terminal would act on; a colour only on a terminal."""
    _write(sys.stdout, text, colour if sys.stdout.isatty() and not _plain_terminal() else None)


def warn(warnings: Iterable[Problem]) -> None:
    for problem in warnings:
        line = f":{problem.line}" if problem.line else ""
        where = f"{problem.path}{line}" if problem.path else problem.field
        place = f"{where}: " if where else ""
        _say_error(f"warning: {place}{problem.message}")
        if problem.hint:
            _say_error(f"         {problem.hint}")


def problem_fields(problem: Problem) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(problem)
    return fields


def verdict_fields(verdict: Verdict | None) -> dict[str, Any]:
    """The verdict as a word, and beside it how it is known."""
    if verdict is None:
        return {"verdict": None}
    checked: dict[str, Any] = msgspec.to_builtins(verdict)
    return {"verdict": checked.pop("verdict"), "checked": checked}


def _say_error(text: str) -> None:
    _write(sys.stderr, text)


def _plain_terminal() -> bool:
    return "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"


def _write(stream: TextIO, text: str, colour: str | None = None) -> None:
    if not text.isascii() or not text.replace("\n", "").replace("\t", "").isprintable():
        from quire.guard import make_safe

        text = make_safe(text)
    if colour:
        text = f"\x1b[{colour}m{text}\x1b[0m"
    # Bytes, so that a terminal or a locale without UTF-8 cannot fail us.
    stream.flush()
    stream.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    stream.buffer.flush()


def _as_text(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_as_text(name): _as_text(item) for name, item in value.items()}
    return [_as_text(item) for item in value] if isinstance(value, list | tuple) else value


def json_text(value: Any) -> str:
    """One line of JSON, whatever the texts in it hold."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        # A command line or a file's name may hold bytes that are no text; they are shown, not sent on.
        return msgspec.json.encode(_as_text(value)).decode()


def _print(envelope: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json_text(envelope).encode() + b"\n")
    sys.stdout.buffer.flush()
