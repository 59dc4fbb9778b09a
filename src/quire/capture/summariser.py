"""Ask a model for a summary: build its input, check its answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

import msgspec

from quire.capture.conversation import PinnedText
from quire.capture.message import is_turn, tool_calls, tool_results
from quire.capture.quotable_text import quote, safe_text
from quire.capture.summary import ReadMessage, tool_name
from quire.capture.summary_form import BLOCKED, CONSTRAINTS, CONTEXT, DECISIONS, DONE, GOAL, IN_PROGRESS, NEXT, Summary

REQUEST_CHARS = 100_000
"""The conversation as a model gets it; of a longer one it gets the end."""
ANSWER_CHARS = 20_000
"""A longer answer is no summary."""
LINE_CHARS = 1_000
"""One line of an answer."""
_USER_CHARS, _ASSISTANT_CHARS, _RESULT_CHARS = 4_000, 1_000, 200
_LEFT_OUT = "[Earlier messages are left out here.]"

_HEADING = re.compile(r"#{1,6}\s+(?P<hashed>\S.{0,59})|\*\*(?P<bold>[^*]{1,60})\*\*")
_BULLET = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_OWN = re.compile(r"<!-- quire:summary [^\n]{0,40}-->")
# The words by which a heading is known, in the order in which they are looked for.
_KNOWN = (
    ("in progress", IN_PROGRESS),
    ("constraint", CONSTRAINTS),
    ("preference", CONSTRAINTS),
    ("decision", DECISIONS),
    ("next", NEXT),
    ("todo", NEXT),
    ("block", BLOCKED),
    ("done", DONE),
    ("complete", DONE),
    ("progress", DONE),
    ("goal", GOAL),
    ("context", CONTEXT),
)
_OURS = ("summary", "pinned", "full text")
_SAY_NOTHING = {"", "none", "none.", "(none)", "n/a", "-", "---"}


class SummaryRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is asked to summarise. `previous` and `pins` are kept whatever it answers, so it repeats neither."""

    evicted: str
    previous: str
    pins: tuple[PinnedText, ...]
    instructions: str


class Summariser(Protocol):
    """A model, or anything that writes a summary; its `name`, if it has one, is reported.

    It answers Markdown with the headings Goal, Constraints & Preferences, Done, In Progress, Blocked, Key Decisions,
    Next Steps, Critical Context. What stands under no known heading goes under Critical Context.
    """

    def __call__(self, request: SummaryRequest) -> str: ...


class NotASummary(Exception):
    """The model's answer cannot be used; the text says why."""


def ask_model(summarise: Summariser, request: SummaryRequest) -> Summary:
    """The model's summary; NotASummary where there is none to use."""
    try:
        answer: object = summarise(request)
    except Exception as error:
        said = quote(safe_text(str(error), 1_000), 200)
        raise NotASummary(f"it failed with {type(error).__name__}{f': {said}' if said else ''}") from error
    if not isinstance(answer, str):
        raise NotASummary(f"it answered {type(answer).__name__} instead of a text")
    if not answer.strip():
        raise NotASummary("its answer is empty")
    if len(answer) > ANSWER_CHARS:
        raise NotASummary(f"its answer has {len(answer):,} characters; the limit is {ANSWER_CHARS:,}")
    entries = entries_of(answer)
    if not entries:
        raise NotASummary("its answer has headings and says nothing under them")
    return Summary(entries=entries)


def entries_of(answer: str) -> dict[str, tuple[str, ...]]:
    """A model's words by section, one entry a line. Our marks are taken out: only we may write them."""
    found: dict[str, list[str]] = {}
    section, named, said = CONTEXT, "", False
    for line in _OWN.sub("", safe_text(answer, ANSWER_CHARS)).split("\n"):
        bare = line.strip()
        heading = _HEADING.fullmatch(bare.removesuffix(":").rstrip())
        if heading:
            section, named = _section_of(heading["hashed"] or heading["bold"])
            continue
        bullet = _BULLET.match(bare)
        words = bare[bullet.end() :] if bullet else bare
        if words.lower() in _SAY_NOTHING or words.startswith("```"):
            continue
        # A heading that we do not know stays with what is said under it.
        entries = found.setdefault(section, [])
        entries += [named] if named else []
        entries.append(quote(words, LINE_CHARS))
        named, said = "", True
    return {name: tuple(entries) for name, entries in found.items()} if said else {}


def _section_of(heading: str) -> tuple[str, str]:
    """Where the words under a heading go, and what is to be said of it where we do not know it."""
    lowered = heading.lower()
    if lowered.startswith(_OURS):
        return CONTEXT, ""
    known = next((section for word, section in _KNOWN if word in lowered), "")
    return (known, "") if known else (CONTEXT, f"{quote(heading, 60)}:")


def conversation_text(said: Sequence[ReadMessage]) -> str:
    """The messages as a model reads them: who said what in which turn, and how the tools fared."""
    names: dict[str, str] = {}
    lines: list[str] = []
    for item in said:
        lines += _lines(item, names)
    length, first = 0, len(lines)
    while first and length + len(lines[first - 1]) + 1 <= REQUEST_CHARS:
        first -= 1
        length += len(lines[first]) + 1
    return "\n".join([_LEFT_OUT, *lines[first:]] if first else lines)


def _lines(item: ReadMessage, names: dict[str, str]) -> list[str]:
    turn = f"[Turn {item.turn}]"
    lines: list[str] = []
    role = item.message.role
    if role in ("user", "assistant") and item.text.strip():
        chars = _USER_CHARS if is_turn(item.message) else _ASSISTANT_CHARS
        shown = item.text if len(item.text) <= chars else item.text[:chars] + "…"
        lines.append(f"{turn} {role.capitalize()}: {shown}")
    for call in tool_calls(item.message):
        names[call.id] = tool_name(call.name)
    for result in tool_results(item.message):
        name = names.get(result.id, "tool")
        outcome = f"ERROR: {quote(safe_text(result.text, 2_000), _RESULT_CHARS)}" if result.failed else "ok"
        lines.append(f"{turn} Tool {name}: {outcome}")
    return lines
