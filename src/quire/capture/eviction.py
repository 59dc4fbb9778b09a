"""Choose the messages to remove: all before the last turns, never a call without its answer."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from quire.capture.message import Message, is_system, is_turn, tool_calls, tool_results
from quire.capture.quotable_text import safe_text
from quire.capture.summary import READ_CHARS, ReadMessage
from quire.capture.summary_form import Summary
from quire.capture.summary_parser import is_from_later_version, read_summary


class EvictionPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Which messages go and which stay, and what the summaries among those that go say."""

    front: list[Message]
    """From the part that goes, what always stays: system messages, and summaries that we cannot read."""
    going: list[Message]
    """In their order, with the summaries of earlier runs."""
    tail: list[Message]
    earlier: list[Summary]
    said: list[ReadMessage]
    """What goes, without the summaries."""
    turns: int
    """Turns among what goes."""
    turns_in_all: int


def plan_eviction(messages: Sequence[Message], keep_turns: int) -> EvictionPlan:
    read = [_without_summary(message) for message in messages]
    turns = [number for number, (_, message) in enumerate(read) if _is_turn(message)]
    wanted = len(messages) if not keep_turns else turns[-keep_turns] if len(turns) >= keep_turns else 0
    cut = _cut(messages, wanted)
    earlier = [summary for summary, _ in read[:cut] if summary]
    turn = sum(summary.turns for summary in earlier)
    front: list[Message] = []
    going: list[Message] = []
    said: list[ReadMessage] = []
    for original, (summary, message) in zip(messages[:cut], read[:cut], strict=True):
        if is_system(message) or _cannot_be_read(message):
            front.append(original)
            continue
        going.append(original)
        turn += _is_turn(message)
        if not summary or _is_turn(message):
            text = safe_text(message.content, READ_CHARS) if message.role in ("user", "assistant") else ""
            said.append(ReadMessage(max(turn, 1), message, text))
    return EvictionPlan(
        front=front,
        going=going,
        tail=list(messages[cut:]),
        earlier=earlier,
        said=said,
        turns=sum(number < cut for number in turns),
        turns_in_all=len(turns),
    )


def _without_summary(message: Message) -> tuple[Summary | None, Message]:
    """A summary of an earlier run, and the message as if it had come without it.

    Only a user's message can hold one: what a tool returned, or an assistant repeats, is not ours.
    """
    if message.role != "user":
        return None, message
    summary, rest = read_summary(message.content)
    return summary, Message(message.role, rest, message.raw) if summary else message


def _cannot_be_read(message: Message) -> bool:
    return message.role == "user" and is_from_later_version(message.content)


def _is_turn(message: Message) -> bool:
    return is_turn(message) and not _cannot_be_read(message)


def _cut(messages: Sequence[Message], wanted: int) -> int:
    """Where to cut: not after the wanted place, and not between a call and its answer."""
    calls: dict[str, int] = {}
    asked: list[int] = []
    for number, message in enumerate(messages):
        # An answer belongs to the nearest call before it: some writers use the same ids again and again.
        asked.append(min((calls.get(result.id, number) for result in tool_results(message)), default=number))
        for call in tool_calls(message):
            calls[call.id] = calls[""] = number
    cut, seen = wanted, len(messages)
    while seen > cut:
        seen -= 1
        cut = min(cut, asked[seen])
    return cut
