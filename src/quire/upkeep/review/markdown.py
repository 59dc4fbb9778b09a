"""Write a review as a Markdown comment: within the size that forges allow, with record text as data."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quire.guard.hostile_text import make_safe, safe_line
from quire.model.text import counted, cut, one_line
from quire.upkeep.review.findings import CODES, LEVELS, Review, ReviewFinding

MARKER = "<!-- quire:memory-review -->"
"""The first line of a comment, by which the next run finds it and writes it anew."""
CHARS = 60_000
"""A comment on GitHub holds 65,536 characters."""
_ROOM = 400
_NEARBY = 20
_NAME_CHARS = 200
_TICKS = re.compile(r"`+")
_OUTCOMES = {
    "passed": "Nothing here stops the change.",
    "blocked": "**Findings stop this change.**",
    "not checked": "**Not checked.**",
}


def markdown_of(review: Review) -> str:
    """The comment. Where it would be too long, the mildest findings are only counted."""
    text = "\n".join(_head(review)) + "\n"
    left = len(review.findings)
    for heading, findings in _groups(review):
        part = f"\n### {heading} ({len(findings)})\n\n"
        for finding in findings:
            said = "\n".join(_item(finding)) + "\n"
            if len(text) + len(part) + len(said) > CHARS - _ROOM:
                more = f"{counted(left, 'more finding')}: `memory review` shows {'it' if left == 1 else 'them'}."
                return f"{text}\n{more}\n"
            text += part + said
            part = ""
            left -= 1
    return text


def _head(review: Review) -> Iterator[str]:
    yield MARKER
    yield "## Memory review"
    yield ""
    yield _OUTCOMES[review.outcome] + (f" {review.not_checked}" if review.not_checked else "")
    counts = {level: sum(one.level == level and not one.waived for one in review.findings) for level in LEVELS[:0:-1]}
    shown = ", ".join(f"{number} {level}" for level, number in counts.items() if number) or "no findings"
    looked = f"{counted(review.files, 'changed file')}, {counted(review.records, 'record')}"
    yield f"{code_span(review.change)}: {looked}; {shown}."
    if review.nearby:
        shown = ", ".join(map(code_span, review.nearby[:_NEARBY])) + (" …" if len(review.nearby) > _NEARBY else "")
        yield f"- Also below their anchors, in parts they do not speak of: {shown}"
    for waiver in review.waivers:
        used = counted(waiver.used, "finding")
        yield f"- Waived: `{waiver.code}` ({used}) by {code_span(waiver.commit[:9])}: {code_span(waiver.reason)}"
    for problem in review.warnings[:10]:
        yield f"- {code_span(problem.message)}"


def _groups(review: Review) -> Iterator[tuple[str, list[ReviewFinding]]]:
    """The findings of one level and code together, the strictest first."""
    groups: dict[tuple[str, str], list[ReviewFinding]] = {}
    for finding in review.findings:
        groups.setdefault((finding.level, finding.code), []).append(finding)
    for (level, code), findings in groups.items():
        yield f"{code} {CODES[code].title} · {level}", findings


def _item(finding: ReviewFinding) -> Iterator[str]:
    place = f" — {code_span(f'{finding.path}:{finding.line}')}" if finding.path else ""
    owners = f" — owners: {' '.join(map(code_span, finding.owners))}" if finding.owners else ""
    yield f"- {make_safe(one_line(finding.message))}{place}{owners}"
    if finding.waived:
        yield f"  Waived: {code_span(finding.waived)}"
    said = [finding.title, *finding.details] if finding.title else list(finding.details)
    if said:
        yield from (f"  {line}" for line in _fenced([cut(safe_line(text), 300) for text in said]))


def _fenced(lines: list[str]) -> list[str]:
    """Lines as data: no run of ticks in them can end the block."""
    longest = max((len(run) for line in lines for run in _TICKS.findall(line)), default=0)
    ticks = "`" * max(3, longest + 1)
    return [f"{ticks}text", *lines, ticks]


def code_span(text: str) -> str:
    """A name as code, whatever it holds: nobody is notified by it, and no mark in it counts."""
    shown = cut(safe_line(text.encode("utf-8", "backslashreplace").decode()), _NAME_CHARS) or " "
    ticks = "`" * (max((len(run) for run in _TICKS.findall(shown)), default=0) + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{ticks}{space}{shown}{space}{ticks}"
