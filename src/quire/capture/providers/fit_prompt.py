"""Trim a prompt to its size limit: which parts go first, and the note that says what was removed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec

from quire.layers.journal.canonical import line_bytes

_SEPARATORS = {"\u2028": "\\u2028", "\u2029": "\\u2029", "\x85": "\\u0085"}


class PromptBlock(msgspec.Struct, frozen=True):
    """A named part of a prompt: one JSON value."""

    name: str
    value: Any

    @property
    def text(self) -> str:
        """The value on one line, so that nothing in it can look like a line of ours."""
        text = line_bytes(self.value).decode("utf-8")
        for char, escape in _SEPARATORS.items():
            text = text.replace(char, escape)
        return text


class Trim(msgspec.Struct, frozen=True):
    """One way to make a prompt shorter.

    `items` takes the last items of a list away, `start` the beginning of a text, `whole` the value. `key` says where in
    the block it lies; an empty one is the block itself.
    """

    block: str
    key: str
    way: Literal["items", "start", "whole"]

    @property
    def place(self) -> str:
        return f"{self.block}.{self.key}" if self.key else self.block


def fit(
    blocks: Sequence[PromptBlock], trims: Sequence[Trim], room: int
) -> tuple[list[PromptBlock], dict[str, int], int]:
    """The blocks in at most `room` bytes, as far as the ways lead, taken in their order.

    What was left out is listed by place: items of a list, bytes of the others. The last number is the bytes that
    are still too many.
    """
    found = {block.name: block for block in blocks}
    sizes = {name: len(block.text.encode("utf-8")) for name, block in found.items()}
    left_out: dict[str, int] = {}
    for trim in trims:
        excess = sum(sizes.values()) - room
        if excess <= 0:
            break
        block = found.get(trim.block)
        if block is None:
            continue
        shorter, gone = _shorter(block.value, trim, excess)
        if gone:
            found[trim.block] = PromptBlock(trim.block, shorter)
            sizes[trim.block] = len(found[trim.block].text.encode("utf-8"))
            left_out[trim.place] = gone
    return list(found.values()), left_out, max(0, sum(sizes.values()) - room)


def _shorter(value: Any, trim: Trim, excess: int) -> tuple[Any, int]:
    if trim.key:
        if not isinstance(value, dict) or trim.key not in value:
            return value, 0
        inner, gone = _WAYS[trim.way](value[trim.key], excess)
        return {**value, trim.key: inner}, gone
    return _WAYS[trim.way](value, excess)


def _fewer(value: Any, excess: int) -> tuple[Any, int]:
    if not isinstance(value, list):
        return value, 0
    kept = list(value)
    while kept and excess > 0:
        excess -= len(line_bytes(kept.pop())) + 1
    return kept, len(value) - len(kept)


def _end_of(value: Any, excess: int) -> tuple[Any, int]:
    """The end of a text, from a line on where there is one near."""
    if not isinstance(value, str):
        return value, 0
    # One character may take up to six bytes when it is escaped, and at least one: what goes is measured, not guessed.
    gone, start = 0, 0
    step = max(64, len(value) // 200)
    while start < len(value) and gone < excess:
        gone += len(line_bytes(value[start : start + step])) - 2
        start += step
    line = value.find("\n", start, start + 2_000)
    kept = value[line + 1 if line >= 0 else start :]
    return kept, len(value.encode("utf-8", "surrogatepass")) - len(kept.encode("utf-8", "surrogatepass"))


def _nothing(value: Any, _excess: int) -> tuple[Any, int]:
    return None, 0 if value is None else len(line_bytes(value))


_WAYS: dict[str, Callable[[Any, int], tuple[Any, int]]] = {"items": _fewer, "start": _end_of, "whole": _nothing}
