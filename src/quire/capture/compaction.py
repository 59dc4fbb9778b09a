"""Compact a conversation: replace older messages by a summary that keeps decisions, constraints and open work.

A checkpoint is kept first. Pins and requests survive word for word, a summary of an earlier run is carried over, and
the messages that stay are given back as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from quire.capture.conversation import KEEP_TURNS_MOST, PinnedText
from quire.capture.message import Message, encode_messages, is_system, is_turn, tokens_of, tool_calls, tool_results
from quire.capture.quotable_text import quote, safe_pin, safe_text
from quire.capture.summariser import NotASummary, Summariser, SummaryRequest, ask_model, conversation_text
from quire.capture.summary import READ_CHARS, ReadMessage, summarise_offline
from quire.capture.summary_form import QuotedBlock, Summary, bound, first_request, join, newest_request, render_summary
from quire.capture.summary_parser import is_from_later_version, read_summary
from quire.model.errors import InputError
from quire.model.records import Problem
from quire.model.text import counted, trim


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


KEEP_TURNS = 2
REQUEST_CHARS = 4_000
"""A request, or instructions, word for word up to this length."""
OFFLINE = "offline"

_NAME_CHARS = 300


class Compacted(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a conversation. Where nothing changed, `messages` is what came in and `note` says why."""

    messages: list[dict[str, Any]]
    summary: str
    before_tokens: int
    after_tokens: int
    evicted: int
    """Messages that the summary now stands for; an earlier summary is not counted."""
    kept: int
    """Messages given back as they were."""
    changed: bool
    note: str
    summarised_by: str
    warnings: list[Problem]


def compact(
    messages: Sequence[Message],
    *,
    pins: Sequence[PinnedText] = (),
    instructions: str = "",
    keep_turns: int = KEEP_TURNS,
    summarise: Summariser | None = None,
    checkpoint: Callable[[bytes], str] | None = None,
) -> Compacted:
    """Replace all but the last turns by a summary, if that makes the conversation smaller.

    `checkpoint` gets the messages that go, as JSON Lines, before anything is decided; what it returns is named in the
    summary as the place of the full text. If it fails, nothing is compacted.
    """
    if not 0 <= keep_turns <= KEEP_TURNS_MOST:
        raise InputError(
            f"The number of turns to keep must be from 0 to {KEEP_TURNS_MOST:,}, not {keep_turns}.",
            hint=f"Leave it out to keep the last {KEEP_TURNS}.",
            details={"field": "keep_turns", "minimum": 0, "maximum": KEEP_TURNS_MOST},
        )
    before = sum(tokens_of(message) for message in messages)
    plan = plan_eviction(messages, keep_turns)
    if not plan.said:
        return _unchanged(messages, before, _nothing_to_do(plan, keep_turns))
    name = checkpoint(encode_messages(message.raw for message in plan.going)) if checkpoint else ""
    full_text = quote(safe_text(name, _NAME_CHARS), _NAME_CHARS)
    warnings: list[Problem] = []
    wanted = _wanted_pins(pins, warnings)
    intents = _intents(plan, instructions, has_full_text=bool(full_text))
    entries, author = _entries(plan, wanted, instructions, summarise, warnings)
    summary = _whole(plan, entries, wanted, intents, full_text)
    opening = {"role": "user", "content": summary}
    after = sum(tokens_of(message) for message in (*plan.front, Message("user", summary, opening), *plan.tail))
    if after >= before:
        kept_in = f" The removed messages are kept in {full_text}." if full_text else ""
        note = f"Not compacted: with the summary it would have {after:,} tokens instead of {before:,}.{kept_in}"
        return _unchanged(messages, before, note, warnings)
    return Compacted(
        messages=[*(message.raw for message in plan.front), opening, *(message.raw for message in plan.tail)],
        summary=summary,
        before_tokens=before,
        after_tokens=after,
        evicted=len(plan.said),
        kept=len(plan.front) + len(plan.tail),
        changed=True,
        note=f"Compacted: {counted(len(plan.said), 'message')} became a summary; {before:,} tokens are now {after:,}.",
        summarised_by=author,
        warnings=warnings,
    )


def _nothing_to_do(plan: EvictionPlan, keep_turns: int) -> str:
    turns = "1 user turn" if plan.turns_in_all == 1 else f"{plan.turns_in_all} user turns"
    kept = "the last one stays" if keep_turns == 1 else f"the last {keep_turns} stay"
    return f"Nothing to compact yet: the conversation has {turns}, and {kept}."


def _unchanged(messages: Sequence[Message], tokens: int, note: str, warnings: Sequence[Problem] = ()) -> Compacted:
    return Compacted(
        messages=[message.raw for message in messages],
        summary="",
        before_tokens=tokens,
        after_tokens=tokens,
        evicted=0,
        kept=len(messages),
        changed=False,
        note=note,
        summarised_by="",
        warnings=list(warnings),
    )


def _wanted_pins(pins: Sequence[PinnedText], warnings: list[Problem]) -> tuple[PinnedText, ...]:
    wanted: dict[str, PinnedText] = {}
    for pin in pins:
        if not trim(pin.content):
            continue
        name, content = quote(safe_text(pin.id, 160), 160), safe_pin(pin.content)
        wanted.setdefault(content, PinnedText(name, content))
        if content != pin.content:
            warnings.append(
                Problem(
                    code="PinChanged",
                    severity="warning",
                    message=f"The pin `{name}` holds a secret or a hidden character; that part is written out.",
                    hint="Correct the pinned text and pin it again.",
                )
            )
    return tuple(wanted.values())


def _requests(plan: EvictionPlan) -> list[ReadMessage]:
    """Those that survive word for word: the first of the whole conversation, and the newest."""
    requests = [item for item in plan.said if is_turn(item.message) and item.text.strip()]
    is_first = not any(summary.turns for summary in plan.earlier)
    return [*requests[:1], *requests[1:][-1:]] if is_first else requests[-1:]


def _intents(plan: EvictionPlan, instructions: str, *, has_full_text: bool) -> tuple[QuotedBlock, ...]:
    rest = "the rest is in the full text" if has_full_text else "the rest is left out"

    def block(title: str, text: str) -> QuotedBlock:
        mark = f"\n[Cut after {REQUEST_CHARS:,} characters; {rest}.]"
        return QuotedBlock(title, text if len(text) <= REQUEST_CHARS else text[:REQUEST_CHARS] + mark)

    is_first = not any(summary.turns for summary in plan.earlier)
    blocks = [
        block(first_request(item.turn) if is_first and not number else newest_request(item.turn), item.text)
        for number, item in enumerate(_requests(plan))
    ]
    if trim(instructions):
        blocks.append(block("Instructions for the summary", safe_text(instructions, READ_CHARS)))
    return tuple(blocks)


def _entries(
    plan: EvictionPlan,
    pins: tuple[PinnedText, ...],
    instructions: str,
    summarise: Summariser | None,
    warnings: list[Problem],
) -> tuple[Summary, str]:
    """What the messages said, and who wrote it down."""
    if summarise is not None:
        request = SummaryRequest(
            evicted=conversation_text(plan.said),
            previous=render_summary(join(plan.earlier)) if plan.earlier else "",
            pins=pins,
            instructions=safe_text(instructions, READ_CHARS),
        )
        name = getattr(summarise, "name", None)
        author = quote(safe_text(name, 80), 80) if isinstance(name, str) and trim(name) else "model"
        try:
            return ask_model(summarise, request), author
        except NotASummary as error:
            said = f"The summary is made by rules, since the model `{author}` gave none: {error}."
            hint = "Check that the model answers, or leave it out."
            warnings.append(Problem(code="SummariserFailed", severity="warning", message=said, hint=hint))
    return summarise_offline(plan.said, quoted=frozenset(item.turn for item in _requests(plan))), OFFLINE


def _whole(
    plan: EvictionPlan, entries: Summary, pins: tuple[PinnedText, ...], intents: tuple[QuotedBlock, ...], full_text: str
) -> str:
    first, last = plan.said[0].turn, plan.said[-1].turn
    new = msgspec.structs.replace(
        entries,
        turns=plan.turns,
        messages=len(plan.said),
        pins=tuple(QuotedBlock(f"Pin {pin.id}".rstrip(), pin.content) for pin in pins),
        intents=intents,
        full_texts=(f"turns {first} to {last}: {full_text}",) if full_text else (),
    )
    return render_summary(bound(join([*plan.earlier, new])))
