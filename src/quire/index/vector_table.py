"""Embed a text with a static table of word pieces, read row by row from a mapped file.

A text's vector is the weighted sum of its pieces' rows, so there is no network to run. The sum is taken over all
384 dimensions at once: a row's bytes are spread over 32-bit lanes of one large integer, multiplied by the piece's
weight and added. Rows are stored with an offset of 128, which is taken off again at the end.

The file: a header; a hash table from piece to number; where each piece's text lies; the weights; the texts; the rows.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
import unicodedata
import zlib
from functools import cache

import msgspec

_HEADER = struct.Struct("<8sIIII8s")
_MAGIC = b"QUIREMB1"
_EMPTY = 0xFFFF
_LANE = 4
_WORDS_MOST = 200
_WORD_CHARS = 100
_WEIGHT_MOST = 2**23
"""Beyond this weight of all its words together, a lane of the sum could run over into the next."""
_KNOWN_WORDS = 30_000
"""Words whose sum is kept, about 2 kB each: enough for the vocabulary of a store, bounded for any text."""
_TEACHERS = {"s384-1": "minilm-l6-v2:"}
"""How the names of the spaces begin that a table was made to share, by the table's revision."""
_ASCII_WORDS = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")
_SIGNS = bytes(b"0"[0] if value < 128 else b"1"[0] for value in range(256))
_OFFSET = bytes((value + 128) & 255 for value in range(256))


class Vector(msgspec.Struct, frozen=True):
    """A direction in the embedding space: signs for a quick look, bytes for an exact one."""

    bits: bytes
    values: bytes


class Embedder:
    """The static table. Opening it maps the file; a question touches a handful of its pages."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        magic, self.dimensions, count, slots, texts, revision = _HEADER.unpack_from(self._map)
        if magic != _MAGIC:
            raise ValueError(f"{path} is not an embedding table")
        self.revision = revision.rstrip(b"\0").decode()
        self.teacher = _TEACHERS.get(self.revision, "")
        view, at = memoryview(self._map), _HEADER.size
        self._slots, at = view[at : at + 2 * slots].cast("H"), at + 2 * slots
        self._starts, at = view[at : at + 4 * (count + 1)].cast("I"), at + 4 * (count + 1)
        self._weights, at = view[at : at + 2 * count].cast("H"), at + 2 * count
        self._texts = at
        self._rows = at + texts + (-(at + texts)) % 64
        self._known: dict[str, tuple[int, int]] = {}

    def embed(self, text: str) -> Vector | None:
        """The text's vector; None for a text without words that are known."""
        words = _split(text)[:_WORDS_MOST]
        total, weight, known = 0, 0, self._known
        for word in words:
            lanes, its_weight = known.get(word) or self._learn(word)
            if weight + its_weight > _WEIGHT_MOST:
                break
            total += lanes
            weight += its_weight
        return _quantize(total, 128 * weight, self.dimensions) if weight else None

    def word(self, text: str) -> bytes | None:
        """The direction of one word in lower case; None for a word that the table has to put together from pieces.

        Those are a tenth of all words, and putting one together costs as much as fifteen of the others.
        """
        piece = self._find(text)
        if piece is None:
            return None
        at = self._rows + piece * self.dimensions
        return self._map[at : at + self.dimensions]

    def shares(self, space: str) -> bool:
        """Whether vectors of that space may be compared with this table's: its own, and those of its teacher."""
        return space == self.revision or bool(self.teacher and space.startswith(self.teacher))

    def pieces(self, text: str, most: int, unknown: int) -> list[int]:
        """The first of the text's word pieces by their numbers; what is not known counts as the unknown piece."""
        found: list[int] = []
        for word in _split(text):
            if len(found) >= most:
                break
            found += (self._cut(word) if len(word) <= _WORD_CHARS else []) or [unknown]
        return found[:most]

    def _learn(self, word: str) -> tuple[int, int]:
        """A word's weighted rows as one integer, and the sum of their weights."""
        # What is not known means nothing: two unknown words are not alike.
        pieces = self._cut(word) if len(word) <= _WORD_CHARS else []
        found = sum(map(self._row, pieces)), sum(self._weights[piece] for piece in pieces)
        if len(self._known) < _KNOWN_WORDS:
            self._known[word] = found
        return found

    def _row(self, piece: int) -> int:
        at = self._rows + piece * self.dimensions
        spread = bytearray(self.dimensions * _LANE)
        spread[0::_LANE] = self._map[at : at + self.dimensions].translate(_OFFSET)
        return int.from_bytes(spread, "little") * self._weights[piece]

    def _cut(self, word: str) -> list[int]:
        pieces: list[int] = []
        begin = 0
        while begin < len(word):
            for end in range(min(len(word), begin + 24), begin, -1):
                piece = self._find(word[begin:end] if begin == 0 else f"##{word[begin:end]}")
                if piece is not None:
                    break
            else:
                return []
            pieces.append(piece)
            begin = end
        return pieces

    def _find(self, text: str) -> int | None:
        data = text.encode("utf-8", "surrogatepass")
        slot = zlib.crc32(data) % len(self._slots)
        while (piece := self._slots[slot]) != _EMPTY:
            begin, end = self._starts[piece], self._starts[piece + 1]
            if end - begin == len(data) and self._map[self._texts + begin : self._texts + end] == data:
                return piece
            slot = (slot + 1) % len(self._slots)
        return None


@cache
def embedder() -> Embedder:
    """The table that ships with the program."""
    return Embedder(os.path.join(os.path.dirname(os.path.abspath(__file__)), "static", "static-384.bin"))


def _split(text: str) -> list[str]:
    """Words and marks as the table knows them: lower case, no accents, every mark and ideograph by itself."""
    text = text.lower()
    if text.isascii():
        return _ASCII_WORDS.findall(text)
    text = "".join(char for char in unicodedata.normalize("NFD", text) if unicodedata.category(char) != "Mn")
    # `re` keeps what it compiled; most processes never need these two.
    return re.findall(r"[^\W_]+|[^\w\s]|_", re.sub(r"([\u3400-\u9fff\uf900-\ufaff])", r" \1 ", text))


def _quantize(total: int, shift: int, dimensions: int) -> Vector:
    """One byte for each dimension, scaled by a power of two so that the largest fits, and the signs as bits.

    All lanes are moved and masked at once: `shift` is what the offset of the rows has added to each of them.
    """
    width = dimensions * _LANE
    lanes = memoryview(total.to_bytes(width, "little")).cast("I")
    largest = max(max(lanes) - shift, shift - min(lanes))
    # Rounded, not cut off: half a step taken from every dimension would make all texts a little alike.
    drop = max(0, (largest + (largest >> 7)).bit_length() - 7)
    ones = _every_lane(dimensions)
    moved = total + ones * ((128 << drop) + (1 << drop >> 1) - shift)
    data = ((moved >> drop) & (ones * 255)).to_bytes(width, "little")[0::_LANE].translate(_OFFSET)
    return Vector(bits=int(data.translate(_SIGNS), 2).to_bytes(dimensions // 8, "big"), values=data)


@cache
def _every_lane(dimensions: int) -> int:
    """The number one in every lane."""
    return int.from_bytes((b"\x01" + b"\0" * (_LANE - 1)) * dimensions, "little")
