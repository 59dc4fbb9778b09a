"""Answer workflow tools in the form that clients of other programs know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quire.model.text import one_line
from quire.verbs.journal.journal_lines import told
from quire.verbs.verb import Lines, Result

_WORD_CHARS = 80
GIVES = {
    "status": "string",
    "summary": "string",
    "suggestedNextAction": "string",
    "details": "object",
    "warnings": "array",
    "errors": "array",
}


class Workflow(Result, kw_only=True):
    """How it went in a sentence, what to do next, and all of it."""

    summary: str
    action: str
    """Always our own words: it stands outside of the marks."""
    details: dict[str, Any]
    alerts: list[str] = []
    errors: list[str] = []
    failed: bool = False

    def is_incomplete(self) -> bool:
        return self.failed

    def tool_fields(self) -> dict[str, Any]:
        return {"status": self.status(), "suggestedNextAction": self.action, **self.recalled_fields()}

    def recalled_fields(self) -> dict[str, Any]:
        return {
            "summary": self.summary,
            "details": self.details,
            "warnings": self.alerts,
            "errors": self.errors,
        }

    def status(self) -> str:
        return "fail" if self.errors else "warn" if self.alerts else "ok"


def workflow_lines(done: Workflow) -> Lines:
    yield f"Status: {done.status()}"
    yield f"Suggested next action: {one_line(done.action)}"
    details = {name: _on_one_line(value) for name, value in done.details.items()}
    for line in _outline({**done.recalled_fields(), "details": details}):
        yield told(line)


def _on_one_line(value: Any) -> Any:
    """Words by names on one line: below each other, `claude: …` and `codex: …` look like a talk with instructions."""
    if not isinstance(value, dict) or not all(isinstance(item, str | bool) for item in value.values()):
        return value
    words = {name: ("yes" if item else "no") if isinstance(item, bool) else item for name, item in value.items()}
    return ", ".join(f"{name} {word}" for name, word in words.items())


def _outline(value: Mapping[str, Any] | list[Any], depth: int = 0) -> list[str]:
    """Fields as indented lines; what is empty is left out."""
    pad = "  " * depth
    lines: list[str] = []
    named = value.items() if isinstance(value, Mapping) else ((None, item) for item in value)
    for name, item in named:
        head = f"{pad}{name}:" if name is not None else f"{pad}-"
        if item is None or item == "" or (isinstance(item, Mapping | list | tuple) and not item):
            continue
        if isinstance(item, Mapping):
            inner = _outline(item, depth + 1)
            lines += [head, *inner] if name is not None else [f"{head} {inner[0].strip()}", *inner[1:]] if inner else []
        elif isinstance(item, list | tuple):
            if all(isinstance(part, str | int | float | bool) and _is_word(str(part)) for part in item):
                lines.append(f"{head} {', '.join(_word(part) for part in item)}")
            else:
                lines += [head, *_outline(list(item), depth + 1)]
        elif isinstance(item, str) and "\n" in item:
            lines += [head, *(f"{pad}  {line}".rstrip() for line in item.split("\n"))]
        else:
            lines.append(f"{head} {_word(item)}")
    return lines


def _is_word(text: str) -> bool:
    """Whether it can stand in a row with others, separated by commas."""
    return "\n" not in text and len(text) <= _WORD_CHARS and not text.endswith(".")


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
