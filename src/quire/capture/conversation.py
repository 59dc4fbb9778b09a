"""Read a conversation: a JSON array, an object with messages and pins, or one message per line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from quire.capture.message import ROLES, TEXT_BLOCKS, Message, text_of
from quire.files.json_files import input_text, parse_strict
from quire.model import limits
from quire.model.errors import InputError, InvalidJson
from quire.model.text import trim

MESSAGES = 50_000
"""Messages in one conversation."""
PINS = 256
KEEP_TURNS_MOST = 1_000
_FIELDS = ("messages", "pins", "instructions", "keep_turns")
# Who may say nothing: a call of a tool needs no words, and a tool may have nothing to say.
_MAY_BE_SILENT = ("assistant", "tool", "function")
_HINT = (
    'Send a JSON array of messages, {"messages": […], "pins": […], "instructions": "…"}, or one message per line; '
    "nothing was changed."
)
_TOO_LONG = "Leave out images and the longest answers of tools, or compact it in parts."


class PinnedText(msgspec.Struct, frozen=True):
    """A text that every compaction keeps as it is."""

    id: str
    content: str


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """What was handed in. `keep_turns` is None where nothing was said about it."""

    messages: list[Message]
    pins: list[PinnedText] = []
    instructions: str = ""
    keep_turns: int | None = None


def read_conversation(data: bytes, source: str) -> Conversation:
    """The conversation in these bytes; `source` is how an error names them."""
    text = input_text(data, source, too_long=_TOO_LONG, empty=_HINT)
    try:
        value = _lines(text, source) if _is_lines(text) else parse_strict(text, source)
    except InvalidJson as error:
        raise InvalidJson(error.message, hint=_HINT, details=error.details) from None
    return _conversation(value)


def _messages(value: Any) -> list[Message]:
    if not isinstance(value, list):
        raise _refused("messages", "The messages must be an array.", ("array",))
    if len(value) > MESSAGES:
        raise InputError(
            f"The conversation has {len(value):,} messages; the limit is {MESSAGES:,}.",
            hint="Compact it in parts.",
            details={"field": "messages", "limit": MESSAGES},
        )
    return [_message(item, number) for number, item in enumerate(value)]


def _is_lines(text: str) -> bool:
    """Several lines of which the first is a whole object; an object that goes over several lines begins otherwise."""
    first, _, rest = text.strip().partition("\n")
    if not first.startswith("{") or not rest:
        return False
    import json

    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _lines(text: str, source: str) -> list[Any]:
    found = []
    for number, line in enumerate(text.split("\n")):
        if line.strip():
            try:
                found.append(parse_strict(line, source))
            except InvalidJson:
                # Once more, where it stands in the file, so that the error counts its lines.
                found.append(parse_strict("\n" * number + line, source))
    return found


def _conversation(value: Any) -> Conversation:
    if isinstance(value, list):
        return Conversation(messages=_messages(value))
    if not isinstance(value, dict):
        raise _refused("<input>", "The conversation must be an array or an object.", ("array", "object"))
    if "role" in value:
        return Conversation(messages=_messages([value]))
    for name in value:
        if name not in _FIELDS:
            # What is no ordinary key is not repeated: it may be a credential that slipped to the wrong side of a colon.
            shown = name if name.isidentifier() and len(name) <= 24 else "<key>"
            raise _refused(shown, f"`{shown}` is not known beside the messages.", _FIELDS)
    if "messages" not in value:
        raise _refused("messages", "The object has no `messages`.", _FIELDS)
    instructions = value.get("instructions") or ""
    if not isinstance(instructions, str):
        raise _refused("instructions", "`instructions` must be a text.", ("string",))
    return Conversation(
        messages=_messages(value["messages"]),
        pins=_pins(value.get("pins")),
        instructions=instructions,
        keep_turns=_keep_turns(value.get("keep_turns")),
    )


def _pins(value: Any) -> list[PinnedText]:
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > PINS:
        raise _refused("pins", f"`pins` must be an array of at most {PINS} entries.", ("array",))
    return [_pin(item, f"pins[{number}]", number + 1) for number, item in enumerate(value)]


def _pin(value: Any, field: str, number: int) -> PinnedText:
    if isinstance(value, str):
        value = {"content": value}
    if not isinstance(value, dict):
        raise _refused(field, f"Pin {number} must be a text or an object.", ("string", '{"id", "content"}'))
    # A pin without a name is called by its number, so that no two are taken for one.
    name, content = value.get("id") or str(number), value.get("content")
    if not isinstance(name, str):
        raise _refused(f"{field}.id", f"Pin {number}: `id` must be a text.", ("string",))
    if not isinstance(content, str) or not trim(content):
        raise _refused(f"{field}.content", f"Pin {number}: `content` must be a text that says something.", ("string",))
    if len(content) > limits.BODY_CHARS:
        said = f"Pin {number} is {len(content):,} characters long; the limit is {limits.BODY_CHARS:,}."
        raise _refused(f"{field}.content", said, ("string",))
    return PinnedText(name, content)


def _keep_turns(value: Any) -> int | None:
    if value is None or (type(value) is int and 0 <= value <= KEEP_TURNS_MOST):
        return value
    said = f"`keep_turns` must be a whole number from 0 to {KEEP_TURNS_MOST:,}."
    raise _refused("keep_turns", said, ("integer",))


def _message(value: Any, number: int) -> Message:
    for field, said, allowed in _faults(value):
        raise _refused(f"messages[{number}]{field}", f"Message {number + 1}: {said}.", allowed)
    return Message(value["role"], text_of(value.get("content")), value)


Fault = tuple[str, str, tuple[str, ...]]


def _faults(value: Any) -> Iterator[Fault]:
    """What is wrong with a message: the field, what must be there, what is allowed."""
    if not isinstance(value, dict):
        yield "", "it must be an object", ("object",)
        return
    role, content = value.get("role"), value.get("content")
    if not isinstance(role, str) or role not in ROLES:
        yield ".role", f"`role` must be one of {', '.join(ROLES)}", ROLES
    if content is None:
        if role not in _MAY_BE_SILENT:
            yield ".content", "`content` is missing", ("string", "array")
    elif isinstance(content, list):
        for number, block in enumerate(content):
            yield from _block_faults(block, f".content[{number}]")
    elif not isinstance(content, str):
        yield ".content", "`content` must be a text or an array of blocks", ("string", "array")
    yield from _call_faults(value.get("tool_calls"))


def _block_faults(block: Any, field: str) -> Iterator[Fault]:
    if isinstance(block, str):
        return
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str):
        yield field, "a block of its content must be an object with a `type`", ("string", "object")
        return
    needed: tuple[str, ...] = ()
    if kind in TEXT_BLOCKS:
        needed = ("text",)
    elif kind.endswith("tool_use"):
        needed = ("id", "name")
    elif kind.endswith("tool_result"):
        needed = ("tool_use_id",)
    for name in needed:
        if not isinstance(block.get(name), str):
            yield f"{field}.{name}", f"a block of type {kind[:40]} needs `{name}`, a text", ("string",)


def _call_faults(calls: Any) -> Iterator[Fault]:
    if calls is None:
        return
    if not isinstance(calls, list):
        yield ".tool_calls", "`tool_calls` must be an array", ("array",)
        return
    for number, call in enumerate(calls):
        named = (call.get("function") or call.get("custom")) if isinstance(call, dict) else None
        if not isinstance(named, dict) or not isinstance(named.get("name"), str):
            yield f".tool_calls[{number}]", "a call needs `function` with a `name`", ("object",)


def _refused(field: str, said: str, allowed: tuple[str, ...]) -> InputError:
    return InputError(said, hint=_HINT, details={"field": field, "allowed": list(allowed)})
