"""Sort names as the original program does: punctuation, digits, letters, then case.

The stores we share are sorted by the root collation of Unicode, and a hash over a bundle depends on that order. For
ASCII the order here is exactly that one. Beyond ASCII it is one of our own that follows the same idea and needs no
tables: a text is taken apart into base characters and marks; base characters are compared first, then marks, then
case and width. Blanks come first, then punctuation, symbols, currencies, digits by their value, Latin letters, then
all other letters by their code points, katakana as hiragana, and last what no standard knows. Two texts that differ
only in what cannot be seen are distinguished by their code points, so that the order is total.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterator

_ASCII = "\t\n\v\f\r\x85\u2028\u2029 _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"
_PLACES = {char: place for place, char in enumerate(_ASCII)}
_BETWEEN = 0x110000
"""Between two characters of the list above there is room for all others."""
_BLANK, _MARK, _SYMBOL, _CURRENCY, _NINE, _Z = (_PLACES[char] * _BETWEEN for char in " %~$9z")
_OTHERS = _Z + _BETWEEN
_LAST = _OTHERS * 2
# Latin letters that are a letter and a mark to the eye, and for which Unicode has no decomposition.
_STROKES = {"ø": "o\u0338", "ł": "l\u0338", "æ": "a\u0333e", "œ": "o\u0333e"}
_AFTER = {"đ": "d", "ð": "d", "ħ": "h", "ı": "i", "ŋ": "n", "ĸ": "q", "ŧ": "t"}
_WHOLE = "йЙ"
"""A letter of its own, although Unicode takes it apart."""
# Small kana and a final sigma are forms of a letter, as capitals are.
_FORMS = str.maketrans("ぁぃぅぇぉっゃゅょゎゕゖς", "あいうえおつやゆよわかけσ")
_HAN = ((0x3400, 0x4DBF), (0x20000, 0x3FFFF))

Key = tuple[tuple[int, ...], tuple[tuple[int, ...], ...], tuple[int, ...], str]


@functools.lru_cache(maxsize=4096)
def collation_key(text: str) -> Key:
    """What to sort names by: `sorted(names, key=collation_key)`."""
    if text.isascii() and text.isprintable():
        lower = text.lower()
        case = tuple([int(char != small) for char, small in zip(text, lower, strict=True)])
        return tuple([_PLACES[char] * _BETWEEN for char in lower]), (), case, text
    primary: list[int] = []
    marks: list[list[int]] = []
    case_and_width: list[int] = []
    for place, shade in _elements(text):
        if place is not None:
            primary.append(place)
            marks.append([])
            case_and_width.append(shade)
        elif marks:
            marks[-1].append(shade)
        else:
            # A mark without a letter before it stands for itself.
            marks.append([shade])
            primary.append(0)
            case_and_width.append(0)
    marked = tuple(map(tuple, marks)) if any(marks) else ()
    return tuple(primary), marked, tuple(case_and_width), text


def _elements(text: str) -> Iterator[tuple[int | None, int]]:
    """The base characters with their place and their case, and the marks with None."""
    for written in unicodedata.normalize("NFC", text):
        wide = 0
        parts = unicodedata.normalize("NFD", written)
        if written in _WHOLE:
            parts = written
        elif parts == written and not written.isascii():
            parts = unicodedata.normalize("NFKD", written)
            wide = 2 if parts != written else 0
        for part in parts:
            plain = _plain_form(part)
            shade = wide + (2 if part == "ß" else int(plain != part))
            for char in "".join(_STROKES.get(one, one) for one in plain):
                kind = unicodedata.category(char)
                if kind in ("Mn", "Me"):
                    yield None, ord(char)
                elif kind not in ("Cc", "Cf") or char in _PLACES:
                    yield _place(char, kind), shade


def _plain_form(char: str) -> str:
    """The letter in lower case, katakana as hiragana."""
    if char == "ß":
        return "ss"
    if "\u30a1" <= char <= "\u30f6":
        char = chr(ord(char) - 0x60)
    return char.lower().translate(_FORMS)


def _place(char: str, kind: str) -> int:
    found = _PLACES.get(char)
    if found is not None:
        return found * _BETWEEN
    point = ord(char)
    if kind[0] == "N" and unicodedata.digit(char, None) is not None:
        return _PLACES[str(unicodedata.digit(char))] * _BETWEEN
    if kind in ("Cn", "Cs", "Co"):
        return _LAST + point
    if char in _AFTER:
        return _PLACES[_AFTER[char]] * _BETWEEN + point
    if any(first <= point <= last for first, last in _HAN):
        return _OTHERS + _BETWEEN + point
    bands = {"Z": _BLANK, "P": _MARK, "S": _CURRENCY if kind == "Sc" else _SYMBOL, "N": _NINE}
    return bands.get(kind[0], _Z if point < 0x250 else _OTHERS) + point
