"""Fold letters to small Latin ones without accents, lookalikes included, so that disguises hide nothing."""

from __future__ import annotations

import functools

from quire.guard.hostile_text import without_unseen

# Letters that look like Latin ones; those that only sound like them would not deceive anybody.
_LOOKALIKES = {
    other: letter
    for letter, others in {
        "a": "аАαΑа",
        "b": "ВвΒβЬь",
        "c": "сСϲϹ",
        "d": "ԁԀ",
        "e": "еЕεΕёЁє",
        "g": "ԍց",
        "h": "һҺНнΗհ",
        "i": "іІїЇιΙι",
        "j": "јЈ",
        "k": "кКκΚ",
        "l": "Ӏӏ",
        "m": "мМΜ",
        "n": "ηΝпո",
        "o": "оОοΟօσ",
        "p": "рРρΡ",
        "q": "ԛԚզ",
        "r": "гг",
        "s": "ѕЅՏ",
        "t": "тТτΤ",
        "u": "υսՍ",
        "v": "νѵ",
        "w": "ԝԜωш",
        "x": "хХχΧ",
        "y": "уУΥγ",
        "z": "ζΖ",
    }.items()
    for other in others
}
# Blocks with letters and marks that fold to Latin ones; everything else stays as it is.
_FOLDED = (
    *((0x80, 0x58F), (0x1D00, 0x1EFF), (0x2000, 0x214F), (0x2160, 0x217F), (0x2460, 0x24FF), (0x2C60, 0x2C7F)),
    *((0xA640, 0xA7FF), (0xFB00, 0xFB06), (0xFF01, 0xFF5E), (0x1D400, 0x1D7FF), (0x1F110, 0x1F189)),
)


def folded(text: str) -> str:
    """Small Latin letters, as far as the characters are such or look like them; none that nobody sees."""
    return text.lower() if text.isascii() else folded_seen(without_unseen(text))


def folded_seen(text: str) -> str:
    """The same for a text without unseen characters."""
    if text.isascii():
        return text.lower()
    chars = set(text)
    letters = {ord(char): _fold(char) for char in chars if any(first <= ord(char) <= last for first, last in _FOLDED)}
    return (text.translate(letters) if letters else text).lower()


@functools.lru_cache(8192)
def _fold(char: str) -> str:
    import unicodedata

    if char in _LOOKALIKES:
        return _LOOKALIKES[char]
    if char in "\u2018\u2019\u02bc\u2032`":
        return "'"
    if unicodedata.combining(char):
        return ""
    plain = unicodedata.normalize("NFKC", char)
    if plain.isascii():
        return plain
    if "LATIN" in unicodedata.name(char, ""):
        from anyascii import anyascii

        return anyascii(plain)
    return plain if len(plain) < 4 else char
