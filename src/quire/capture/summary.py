"""Summarise a conversation without a model, by rules that quote what a reader needs to continue.

The same messages give the same summary, byte for byte. Every entry is one line quoted from the conversation, with its
turn and who said it. The rules know English words; of other languages they keep the requests, the tools and the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from quire.capture.message import Message, ToolCall, ToolResult, is_turn, tool_calls, tool_results
from quire.capture.quotable_text import quote, safe_text, sentences
from quire.capture.summary_form import (
    BLOCKED,
    CONSTRAINTS,
    CONTEXT,
    DECISIONS,
    DONE,
    GOAL,
    IN_PROGRESS,
    NEXT,
    SECTIONS,
    Summary,
    same_entry,
)

READ_CHARS = 20_000
"""So much of each message is read for the summary; the full text has all of it."""
ENTRY_CHARS = 300
"""One entry, without its label."""
ENTRIES = {
    GOAL: 60,
    CONSTRAINTS: 100,
    DONE: 40,
    IN_PROGRESS: 10,
    BLOCKED: 30,
    DECISIONS: 100,
    NEXT: 30,
    CONTEXT: 100,
}
"""Entries of one summary by section: the newest stay, the others are counted."""

_CONSTRAINT = re.compile(
    r"\b(?:must|never|always|only|do not|don['’]t|prefer\w{0,4}|avoid|should(?: not|n['’]t)|may not"
    r"|make sure|instead of)\b"
    r"|\buse\b.{1,120}?\binstead\b",
    re.I,
)
_DECISION = re.compile(
    r"\b(?:decided|decision|we will|we['’]ll|going with|(?:let['’]s|we) (?:go with|use)|chose|chosen|settled on|opted"
    r"|agreed)\b",
    re.I,
)
_OPEN = re.compile(r"\b(?:blocked|blocker|failing|fails|still broken|(?:does|do)(?: not|n['’]t) work)\b", re.I)
_NEXT = re.compile(
    r"\b(?:todo|to-do|next|then I(?: will|['’]ll)|remaining|remains to|still (?:need|have|has)|left to do|follow-up)\b",
    re.I,
)
_NOT_YET = re.compile(r"\b(?:not|will|need|should|would|could|can|let me|going to|to be)\b|(?:n['’]t|['’]ll)\b", re.I)
_FINISHED = re.compile(
    r"\b(?:done|fixed|implemented|added|created|updated|removed|renamed|refactored|completed?|finished|resolved"
    r"|works now|pass(?:es|ed|ing)?)\b",
    re.I,
)
_ONGOING = re.compile(r"\b(?:working on|in progress|currently|let me|I['’]ll|I will|I['’]m|I am|going to|now)\b", re.I)
_PATHS = ("file_path", "path", "filepath", "filename", "file", "notebook_path", "target_file", "paths", "files")
_COMMANDS = ("command", "cmd", "script")
_CHANGES = re.compile(r"write|edit|patch|create|replace|update|delete|remove|rename|move|insert", re.I)
_SAYS_NOTHING = re.compile(r"[^\w.:-]+")
_NAME_CHARS = 40
_PATHS_MOST = 20
_ARGUMENT_CHARS = 160


class ReadMessage(msgspec.Struct, frozen=True):
    """A message with its turn, and its text as far as it is read and may be shown."""

    turn: int
    message: Message
    text: str


class _Notes:
    """What is noted on the way through the messages: entries by section, each said once; calls without an answer."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
        self.waiting: dict[str, tuple[int, ToolCall]] = {}
        self.failures: dict[tuple[str, str], str] = {}

    def add(self, section: str, turn: int, who: str, words: str) -> str:
        entry = f"(turn {turn}, {who}) {quote(words, ENTRY_CHARS)}"
        key = same_entry(entry)
        self.found[section].setdefault(key, entry)
        return key


def summarise_offline(said: Sequence[ReadMessage], *, quoted: frozenset[int] = frozenset()) -> Summary:
    """The entries for these messages. The requests of the turns in `quoted` stand elsewhere word for word."""
    notes = _Notes()
    last = said[-1].turn if said else 0
    for item in said:
        if is_turn(item.message) and item.turn not in quoted and item.text.strip():
            notes.add(GOAL, item.turn, "user", item.text)
        if item.message.role in ("user", "assistant"):
            _note_sentences(notes, item, is_last=item.turn == last)
        _note_tools(notes, item)
    for turn, call in notes.waiting.values():
        notes.add(IN_PROGRESS, turn, tool_name(call.name), f"called {_named(call)}, no answer yet")
    entries, left_out = {}, {}
    for section, found in notes.found.items():
        gone = max(0, len(found) - ENTRIES[section])
        if found:
            entries[section] = tuple(found.values())[gone:]
        if gone:
            left_out[section] = gone
    return Summary(entries=entries, left_out=left_out)


def _note_sentences(notes: _Notes, item: ReadMessage, *, is_last: bool) -> None:
    role = item.message.role
    for sentence in sentences(item.text):
        section = _section_of(sentence, role, is_last=is_last)
        if section:
            notes.add(section, item.turn, role, sentence)


def _section_of(sentence: str, role: str, *, is_last: bool) -> str:
    if sentence.endswith("?"):
        return ""
    if _DECISION.search(sentence):
        return DECISIONS
    if role == "user" and _CONSTRAINT.search(sentence):
        return CONSTRAINTS
    if _OPEN.search(sentence):
        return BLOCKED
    if _NEXT.search(sentence):
        return NEXT
    if role != "assistant":
        return ""
    if _FINISHED.search(sentence) and not _NOT_YET.search(sentence):
        return DONE
    return IN_PROGRESS if is_last and _ONGOING.search(sentence) else ""


def tool_name(name: str) -> str:
    """A tool's name as it can stand in a line."""
    return _SAYS_NOTHING.sub("_", name)[:_NAME_CHARS] or "tool"


def _note_tools(notes: _Notes, item: ReadMessage) -> None:
    """Which tool did what to which file. A failure is open until the same call succeeds."""
    for call in tool_calls(item.message):
        # A writer that gives no ids calls one tool at a time.
        notes.waiting[call.id] = (item.turn, call)
    for result in tool_results(item.message):
        turn, call = notes.waiting.pop(result.id, (item.turn, ToolCall(result.id, "", {})))
        target = (call.name, "\n".join([_command(call), *_paths(call)]))
        if result.failed:
            notes.failures[target] = notes.add(BLOCKED, turn, tool_name(call.name), _failure(call, result))
        else:
            notes.found[BLOCKED].pop(notes.failures.pop(target, ""), None)
            _note_success(notes, turn, call)


def _note_success(notes: _Notes, turn: int, call: ToolCall) -> None:
    name = tool_name(call.name)
    verb = "changed" if _CHANGES.search(call.name) else "used"
    for path in _paths(call):
        notes.add(CONTEXT, turn, name, f"{verb} {path}")
    command = _command(call)
    if command:
        notes.add(DONE, turn, name, f"ran {command}")


def _failure(call: ToolCall, result: ToolResult) -> str:
    lines = [line for line in safe_text(result.text, READ_CHARS).split("\n") if line.strip()] or ["no reason given"]
    # A stack of calls ends with the reason; everything else begins with it.
    reason = lines[-1] if lines[0].startswith("Traceback") else lines[0]
    return f"{_named(call)} failed: {quote(reason, ENTRY_CHARS - _ARGUMENT_CHARS - 20)}"


def _named(call: ToolCall) -> str:
    return _command(call) or next(_paths(call), "") or tool_name(call.name)


def _command(call: ToolCall) -> str:
    for name in _COMMANDS:
        value = call.arguments.get(name)
        if isinstance(value, list):
            value = " ".join(part for part in value if isinstance(part, str))
        if isinstance(value, str) and value.strip():
            return _argument(value)
    return ""


def _paths(call: ToolCall) -> Iterator[str]:
    for name in _PATHS:
        value = call.arguments.get(name)
        for path in (value if isinstance(value, list) else [value])[:_PATHS_MOST]:
            if isinstance(path, str) and path.strip():
                yield _argument(path)


def _argument(value: Any) -> str:
    return quote(safe_text(value, READ_CHARS), _ARGUMENT_CHARS)
