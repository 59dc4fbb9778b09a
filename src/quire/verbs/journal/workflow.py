"""What the tools about the journal as a whole answer, in the form that clients of other programs know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quire.model.text import one_line
from quire.verbs.journal.shown import told
from quire.verbs.outline import outline_lines
from quire.verbs.verb import Line, Result

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


def workflow_lines(done: Workflow) -> Iterator[Line]:
    yield f"Status: {done.status()}"
    yield f"Suggested next action: {one_line(done.action)}"
    details = {name: _on_one_line(value) for name, value in done.details.items()}
    for line in outline_lines({**done.recalled_fields(), "details": details}):
        yield told(line)


def _on_one_line(value: Any) -> Any:
    """Words by names on one line: below each other, `claude: …` and `codex: …` look like a talk with instructions."""
    if not isinstance(value, dict) or not all(isinstance(item, str | bool) for item in value.values()):
        return value
    words = {name: ("yes" if item else "no") if isinstance(item, bool) else item for name, item in value.items()}
    return ", ".join(f"{name} {word}" for name, word in words.items())
