"""One message of a conversation: text, tool calls, results and size in tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from quire.files.json_files import json_value
from quire.model.tokens import count_tokens
from quire.model.untyped import as_dict, as_text

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
MESSAGE_TOKENS = 4
"""What a message costs beside its text: its role and its bounds."""
IMAGE_TOKENS = 1_000
"""An image is counted by this, not by the length of its encoding."""

TEXT_BLOCKS = ("text", "input_text", "output_text")
_SYSTEM = ("system", "developer")
_ANSWERS = ("tool", "function")
# A tool message without a mark of failure: how programs begin or end when they have failed.
_FAILED = re.compile(
    r"\A\s*(?:error|fatal|traceback|exception|failed|failure)\b|\A\s*\{\s*\"error\"\s*:"
    r"|\bexit(?:ed)?(?: with)?(?: code| status)?[: ]{1,2}[1-9]",
    re.I,
)
_LOOKED_AT = 400


class Message(msgspec.Struct, frozen=True):
    """A message: who speaks, its text, and the object it came as, which is given back unchanged."""

    role: str
    content: str
    raw: dict[str, Any]


class ToolCall(msgspec.Struct, frozen=True):
    id: str
    name: str
    arguments: dict[str, Any]


class ToolResult(msgspec.Struct, frozen=True):
    id: str
    """Empty where the writer names none: it answers the call before it."""
    text: str
    failed: bool


def is_system(message: Message) -> bool:
    return message.role in _SYSTEM


def is_turn(message: Message) -> bool:
    """Whether a person speaks here: what a tool answered is no turn, though it may travel as a user's message."""
    if message.role != "user" or next(tool_results(message), None) is not None:
        return False
    return bool(message.content.strip()) or any(
        block.get("type") not in TEXT_BLOCKS for block in _blocks(message.raw.get("content"))
    )


def text_of(content: Any) -> str:
    """What is written in a content: a text, or the text blocks of a list, one per line."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(_texts(content))


def _texts(content: list[Any]) -> Iterator[str]:
    for block in content:
        if isinstance(block, str):
            yield block
        elif isinstance(block, dict) and block.get("type") in TEXT_BLOCKS and isinstance(block.get("text"), str):
            yield block["text"]
        elif isinstance(block, dict) and isinstance(block.get("refusal"), str):
            yield block["refusal"]


def tool_calls(message: Message) -> Iterator[ToolCall]:
    """The tools that a message calls, in their order."""
    for block in _blocks(message.raw.get("content")):
        if _kind(block).endswith("tool_use"):
            yield ToolCall(as_text(block.get("id")), as_text(block.get("name")), as_dict(block.get("input")))
    for call in _blocks(message.raw.get("tool_calls")):
        yield _called(as_text(call.get("id")), call.get("function") or call.get("custom"))
    if isinstance(message.raw.get("function_call"), dict):
        yield _called("", message.raw["function_call"])


def tool_results(message: Message) -> Iterator[ToolResult]:
    """What tools answered in a message."""
    content = message.raw.get("content")
    if message.role in _ANSWERS:
        text = text_of(content)
        yield ToolResult(as_text(message.raw.get("tool_call_id")), text, bool(_FAILED.search(text[:_LOOKED_AT])))
    for block in _blocks(content):
        if _kind(block).endswith("tool_result"):
            yield ToolResult(
                as_text(block.get("tool_use_id")), text_of(block.get("content")), block.get("is_error") is True
            )


def tokens_of(message: Message) -> int:
    """About how many tokens a message costs, with its calls and results; by the one counter."""
    raw = message.raw
    calls = [_json(raw[name]) for name in ("tool_calls", "function_call") if raw.get(name)]
    return MESSAGE_TOKENS + _cost(raw.get("content")) + sum(count_tokens(call) for call in calls)


def encode_messages(messages: Iterable[Mapping[str, Any]]) -> bytes:
    """Messages as JSON Lines. Broken surrogates, which are no UTF-8, are written as escapes, so nothing is lost."""
    return b"".join(_line(message) for message in messages)


def _line(message: Mapping[str, Any]) -> bytes:
    try:
        return _json(message).encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return _json(message, ascii_only=True).encode("ascii") + b"\n"


def _json(value: Any, *, ascii_only: bool = False) -> str:
    import json  # the one encoder here that writes broken surrogates and numbers of any length

    return json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))


def _cost(content: Any) -> int:
    if isinstance(content, str):
        return count_tokens(content)
    if not isinstance(content, list):
        return 0
    return sum(_block_cost(block) if isinstance(block, dict) else _cost(block) for block in content)


def _block_cost(block: dict[str, Any]) -> int:
    kind = _kind(block)
    if kind in TEXT_BLOCKS:
        return count_tokens(as_text(block.get("text")))
    if kind.endswith("tool_result"):
        return _cost(block.get("content"))
    if "image" in kind:
        return IMAGE_TOKENS
    # The signature of a thought is sent along, but it is not text.
    return count_tokens(_json({name: value for name, value in block.items() if name != "signature"}))


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _kind(block: dict[str, Any]) -> str:
    return as_text(block.get("type"))


def _called(name: str, function: Any) -> ToolCall:
    said = as_dict(function)
    arguments = said.get("arguments")
    if isinstance(arguments, str):
        arguments = json_value(arguments)
    return ToolCall(name, as_text(said.get("name")), as_dict(arguments))
