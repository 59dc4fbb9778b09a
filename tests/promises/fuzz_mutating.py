"""Inputs made from other inputs: bytes turned, cut and spliced, lines and keys doubled, values of JSON swapped."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

__all__ = ["TOKENS", "mutated"]

TOKENS: tuple[bytes, ...] = (
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xc3",
    b"\\ud800",
    b"\\udc00\\ud800",
    b"\\u0000",
    b"\\u2028",
    "\u2028".encode(),
    "\u0085".encode(),
    "\u202e".encode(),
    "\u200b\u200d\ufe0f".encode(),
    "\u0130\u0149\ufb03".encode(),
    "e\u0301".encode() * 3,
    "\U000e0041\U0001f468".encode(),
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\x0b\x0c\x1c\x85",
    b"\t",
    b"\x1b[31m\x1b]0;x\x07",
    b"<<<<<<< HEAD\n",
    b"=======\n",
    b">>>>>>> side\n",
    b"||||||| base\n",
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"-1e999",
    b"1e-999",
    b"-0",
    b"9" * 40,
    b"1" + b"0" * 400,
    b"18446744073709551616",
    b"-9223372036854775809",
    b"0.1" + b"0" * 60 + b"1",
    b"true",
    b"null",
    b'""',
    b"{}",
    b"[]",
    b'"__proto__"',
    b'{"":""}',
    b"[" * 60,
    b'{"a":' * 60,
    b"[" * 3000,
    b"/*",
    b"*/",
    b"//",
    b"#",
    b",",
    b":",
    b"'",
    b'"""',
    b"'''",
    b"\\",
    b"```\n",
    b"~~~~\n",
    b"---\n",
    b"<!--",
    b"-->",
    b"<!-- x start -->\n",
    b"../../../etc/passwd",
    b"/dev/stdin",
    b"C:\\CON",
    b"2026-03-02T11:19:00+00:00",
    b"0000-00-00T00:00:00Z",
    b"9999-12-31T23:59:59.999999-23:59",
    b"0001-01-01T00:00:00+23:59",
    b"2026-02-30T25:61:61Z",
    b"**",
    b"{a,b}",
    b"[!a-z]",
    b"?(x|y)",
    b"(",
    b")",
    b"%",
    b"&amp;",
    b"$(id)",
    b"-----BEGIN PRIVATE KEY-----",
    b"a" * 300,
    b" " * 300,
    b"\n" * 100,
    b"=" * 300,
    b"a." * 100,
)
"""What parsers stumble over: odd signs, odd numbers, odd times, marks, openings without an end, long runs."""

_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1.5,
    -0.0,
    2**53,
    2**63,
    -(2**64),
    10**30,
    1e308,
    float("inf"),
    float("nan"),
    "",
    " ",
    "x",
    "\x00",
    "\ud800",
    "\u2028\u202e",
    "a" * 300,
    "../..",
    "2026-03-02T11:19:00Z",
    "0001-01-01T00:00:00+23:59",
    [],
    {},
    [[]],
    [None],
    [""],
    {"": None},
    {"__proto__": {}},
    [1, "1", 1.0, True],
)
_KEYS = ("", "__proto__", "a", "id", "type", "version", "\u2028", "\ud800", "x" * 300, "constructor", "extra")


class _Deep(NamedTuple):
    """Something nested so deeply that it cannot be built here; it is written only."""

    times: int
    form: str


class _Pairs(list[tuple[str, Any]]):
    """An object as the pairs that were written, so that a key may stand twice."""


def mutated(rng: random.Random, data: bytes, corpus: Sequence[bytes], most: int) -> bytes:
    """Another input, by one to six steps; never longer than `most`."""
    changed = _reshaped(rng, data, corpus) if rng.random() < 0.45 else None
    found = data if changed is None else changed
    for _ in range(rng.choice((0, 0, 1)) if changed is not None else rng.choice((1, 1, 1, 2, 3, 6))):
        found = rng.choice(_STEPS)(rng, found, corpus)[: most * 2]
    return found[:most]


def _place(rng: random.Random, data: bytes) -> int:
    return rng.randrange(len(data) + 1)


def _flip(rng: random.Random, data: bytes, _corpus: Sequence[bytes]) -> bytes:
    if not data:
        return bytes([rng.randrange(256)])
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    return bytes(found)


def _cut(rng: random.Random, data: bytes, _corpus: Sequence[bytes]) -> bytes:
    first, last = sorted((_place(rng, data), _place(rng, data)))
    return data[:first] if rng.random() < 0.4 else data[:first] + data[last:]


def _repeat(rng: random.Random, data: bytes, _corpus: Sequence[bytes]) -> bytes:
    first, last = sorted((_place(rng, data), _place(rng, data)))
    part = data[first : min(last, first + 64)]
    return data[:first] + part * rng.choice((2, 3, 50)) + data[first:]


def _splice(rng: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    other = rng.choice(corpus)
    return data[: _place(rng, data)] + other[_place(rng, other) :]


def _token(rng: random.Random, data: bytes, _corpus: Sequence[bytes]) -> bytes:
    place = _place(rng, data)
    over = rng.choice((0, 0, 1, 4))
    return data[:place] + rng.choice(TOKENS) + data[place + over :]


def _number(rng: random.Random, data: bytes, _corpus: Sequence[bytes]) -> bytes:
    """A digit replaced by a token, where there is one: numbers and times are where parsers differ."""
    places = [place for place, byte in enumerate(data) if 48 <= byte <= 57]
    if not places:
        return data
    place = rng.choice(places)
    new = rng.choice((b"", b"0", b"99", b"-1", b"1e400", b"\xd9\xa3", b"\xc2\xb2"))
    return data[:place] + new + data[place + 1 :]


def _lines(rng: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    place = rng.randrange(len(lines))
    kind = rng.randrange(6)
    if kind == 0:
        lines.insert(place, lines[place])
    elif kind == 1:
        del lines[place]
    elif kind == 2:
        lines.insert(place, rng.choice(rng.choice(corpus).split(b"\n")))
    elif kind == 3:
        rng.shuffle(lines)
    elif kind == 4:
        lines[place] = rng.choice((b" ", b"\t", b"> ", b"- ", b"# ", b"    ")) + lines[place]
    else:
        return rng.choice((b"\r\n", b"\r", b"\n\n", "\u2028".encode())).join(lines)
    return b"\n".join(lines)


_STEPS: tuple[Callable[[random.Random, bytes, Sequence[bytes]], bytes], ...] = (
    _flip,
    _cut,
    _repeat,
    _splice,
    _token,
    _token,
    _token,
    _number,
    _lines,
)


def _reshaped(rng: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes | None:
    """The same JSON with one value, key or order changed; None where it is no JSON, nor is one of its lines."""
    lines = [data] if not data.lstrip().startswith(b"{") or data.count(b"\n{") == 0 else data.split(b"\n")
    place = rng.randrange(len(lines))
    try:
        value = json.loads(lines[place], object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, list):
        return None
    for _ in range(rng.choice((1, 1, 2, 4))):
        holder = rng.choice(_holders(value))
        _change(rng, holder, corpus)
    try:
        text = _written(value, ascii_only=rng.random() < 0.5, indent=len(lines) == 1 and b"\n" in data)
    except RecursionError:
        return None
    lines[place] = text.encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def _holders(value: list[Any]) -> list[list[Any]]:
    found: list[list[Any]] = []
    pending = [value]
    while pending and len(found) < 500:
        holder = pending.pop()
        found.append(holder)
        inner = [item for _, item in holder] if isinstance(holder, _Pairs) else holder
        pending += [item for item in inner if isinstance(item, list)]
    return found


def _change(rng: random.Random, holder: list[Any], corpus: Sequence[bytes]) -> None:
    new = _new_value(rng, corpus)
    is_object = isinstance(holder, _Pairs)
    if not holder or rng.random() < 0.15:
        holder.insert(rng.randrange(len(holder) + 1), (rng.choice(_KEYS), new) if is_object else new)
        return
    place = rng.randrange(len(holder))
    kind = rng.randrange(6)
    if kind == 0:
        del holder[place]
    elif kind == 1:
        holder.insert(rng.randrange(len(holder) + 1), copy.copy(holder[place]))
    elif kind == 2:
        rng.shuffle(holder)
    elif is_object:
        name, value = holder[place]
        holder[place] = (rng.choice(_KEYS) if kind == 3 else name, value if kind == 3 else _bent(rng, value, new))
    else:
        holder[place] = _bent(rng, holder[place], new)


def _bent(rng: random.Random, value: Any, new: Any) -> Any:
    """A value of another type or size; of a text also a part, or with something in it."""
    if isinstance(value, str) and rng.random() < 0.6:
        token = rng.choice(TOKENS).decode("utf-8", "replace")
        place = rng.randrange(len(value) + 1)
        return rng.choice((value[:place], value[:place] + token + value[place:], value * 5, value.upper(), token))
    if isinstance(value, list) and rng.random() < 0.3:
        return rng.choice(([value], {"": value}, "[[1]]"))
    return new


def _new_value(rng: random.Random, corpus: Sequence[bytes]) -> Any:
    if rng.random() < 0.15:
        try:
            return json.loads(rng.choice(corpus).split(b"\n")[0], object_pairs_hook=_Pairs)
        except (ValueError, RecursionError):
            return 0
    if rng.random() < 0.05:
        return _Deep(rng.choice((20, 70, 400, 1_100, 2_500)), rng.choice(("[]", '{"a":}', '[{"":}]')))
    return copy.deepcopy(rng.choice(_VALUES))


def _written(value: Any, *, ascii_only: bool, indent: bool, depth: int = 1) -> str:
    if isinstance(value, _Deep):
        opening, closing = (value.form[:-1], value.form[-1:]) if value.form != '[{"":}]' else ('[{"":', "}]")
        return opening * value.times + ("" if value.form == "[]" else "0") + closing * value.times
    if isinstance(value, list | dict):
        pairs = list(value.items()) if isinstance(value, dict) else value
        is_object = isinstance(value, _Pairs | dict)
        parts = [f"{json.dumps(item[0], ensure_ascii=ascii_only)}: " if is_object else "" for item in pairs]
        inner = [item[1] if is_object else item for item in pairs]
        said = [
            part + _written(item, ascii_only=ascii_only, indent=indent, depth=depth + 1)
            for part, item in zip(parts, inner, strict=True)
        ]
        opening, closing = ("{", "}") if is_object else ("[", "]")
        gap = "\n" + "  " * depth if indent and said else ""
        end = "\n" + "  " * (depth - 1) if indent and said else ""
        return opening + gap + ("," + (gap or " ")).join(said) + end + closing
    return json.dumps(value, ensure_ascii=ascii_only)
