"""Remove secrets from text that is shown or stored, and from answers that repeat the input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quire.guard.hostile_text import without_unseen
from quire.guard.patterns import pattern
from quire.guard.secrets import SecretFinding, find_secrets, secret_values
from quire.model.untyped import with_texts

LEFT_OUT = "[secret left out]"
GIVEN_UP = "[text left out: too many secrets]"
_ROUNDS = 20
_PIECE = 8
"""So much of a secret in a row is too much: messages cut what they quote, and write it in small letters."""
_LONGEST = 16_384
_BEGIN, _END = "-----BEGIN", "-----END"
_WORD = r"[^\s\"'`]+"


def redacted(text: str, mark: str = LEFT_OUT, given_up: str = GIVEN_UP) -> tuple[str, int]:
    """The text with a mark in the place of every certain secret, and how many there were; `{}` says what it was."""
    count = 0
    for _ in range(_ROUNDS):
        found = [finding for finding in find_secrets(text) if finding.certain]
        if not found:
            return text, count
        # Looked at again afterwards: behind one secret there may be the rest of it, or the next hundred.
        text = _masked(text, found, mark)
        count += len(found)
    return given_up, count


def _masked(text: str, found: list[SecretFinding], mark: str) -> str:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    parts: list[str] = []
    shown = 0
    for finding in found:
        start = starts[finding.line - 1] + finding.column - 1
        if start >= shown:
            parts += (text[shown:start], mark.format(finding.what))
            shown = _end(text, start, finding.rule)
    return "".join((*parts, text[shown:]))


def _end(text: str, start: int, rule: str) -> int:
    """Where a secret ends, seen generously: with its word, or with the key's block."""
    if "private-key" in rule or rule == "gcp-service-account-key":
        stop = text.find(_END, start)
        closed = text.find("-----", stop + len(_END)) if stop >= 0 else -1
        return closed + 5 if closed >= 0 else len(text)
    word = pattern(_WORD).match(text, start)
    line = text.find("\n", start)
    return word.end() if word else len(text) if line < 0 else line


class InputSecrets:
    """The secrets in what someone gave, kept out of everything that is said in answer to it."""

    def __init__(self, given: Any) -> None:
        self._values = {value[:_LONGEST].lower() for text in _texts(given) for value in _secrets(text)}

    def __bool__(self) -> bool:
        return bool(self._values)

    def text(self, text: str) -> str:
        """The text without them, and without what of them it quotes."""
        if not self._values:
            return text
        # Position by position: some letters become longer in lower case.
        folded = text.lower() if text.isascii() else "".join(char.lower()[:1] for char in text)
        held = [piece for value in self._values for piece in _pieces(folded, value)]
        parts: list[str] = []
        shown = 0
        for start, end in _joined(held):
            parts += (text[shown:start], LEFT_OUT)
            shown = end
        return "".join((*parts, text[shown:]))

    def value(self, value: Any) -> Any:
        """The same in every text of a value."""
        return with_texts(value, self.text, names=True) if self._values else value


def _secrets(text: str) -> Iterator[str]:
    yield from secret_values(text)
    if (plain := without_unseen(text)) != text:
        yield from secret_values(plain)


def _texts(value: Any) -> Iterator[str]:
    """All texts of a value, however deep it is."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            waiting += (*item.keys(), *item.values())
        elif isinstance(item, list | tuple):
            waiting += item


def _pieces(folded: str, value: str) -> Iterator[tuple[int, int]]:
    """Where something of a value is: the whole of it, or a piece that is long enough to matter."""
    size = min(_PIECE, len(value))
    for offset in range(len(value) - size + 1):
        piece = value[offset : offset + size]
        start = folded.find(piece)
        while start >= 0:
            yield start, start + size
            start = folded.find(piece, start + 1)


def _joined(pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(pieces):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
