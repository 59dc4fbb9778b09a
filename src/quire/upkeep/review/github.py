"""Write a review as annotations of a GitHub workflow, which shows ten errors and ten warnings of a step."""

from __future__ import annotations

from collections.abc import Iterator

from quire.guard.hostile_text import make_safe
from quire.model.text import cut, one_line
from quire.upkeep.review.findings import CODES, Review, ReviewFinding

_MOST = 10
_CHARS = 1_000
_COMMANDS = {"block": "error", "warn": "warning"}


def annotations_of(review: Review) -> Iterator[str]:
    """The strictest findings as commands of a workflow; notes and the rest belong into the summary of the step."""
    for level, command in _COMMANDS.items():
        told = [finding for finding in review.findings if finding.level == level and not finding.waived]
        yield from (_annotation(command, finding) for finding in told[:_MOST])
    if review.not_checked:
        yield f"::warning title=Memory review::{_data(f'Not checked. {review.not_checked}')}"


def _annotation(command: str, finding: ReviewFinding) -> str:
    place = f"file={_property(finding.path)},line={finding.line}," if finding.path else ""
    title = _property(f"{finding.code} {CODES[finding.code].title}")
    owners = f" Owners: {' '.join(finding.owners)}." if finding.owners else ""
    said = f" “{one_line(finding.title)}”" if finding.title else ""
    return f"::{command} {place}title={title}::{_data(f'{finding.message}{said}{owners} {CODES[finding.code].help}')}"


def _data(text: str) -> str:
    """A value that ends no line and begins no command."""
    safe = make_safe(cut(one_line(text), _CHARS).encode("utf-8", "backslashreplace").decode())
    return safe.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    plain = text.encode("utf-8", "backslashreplace").decode()
    for char, spelled in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C")):
        plain = plain.replace(char, spelled)
    return plain
