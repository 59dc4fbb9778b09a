"""The pipe: however the bytes arrive, the messages are the same, and one that is too long is refused by its id."""

from __future__ import annotations

import itertools
import json
import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.surfaces.mcp import wire as module
from quire.surfaces.mcp.wire import LINE_MOST, TooLong, Wire

SHORT = 2_000
"""The longest message where a test shortens it: long enough that both edges of a longer one are told apart."""


class Pipes:
    """A wire between two pipes; this process keeps its own standard streams."""

    def __init__(self) -> None:
        received, self.feed = os.pipe()
        self.answers, sent = os.pipe()
        kept = [os.dup(0), os.dup(1)]
        try:
            os.dup2(received, 0)
            os.dup2(sent, 1)
            self.wire = Wire()
            self.stdin_is_empty = os.read(0, 1) == b""
            self.stdout_is_stderr = os.fstat(1).st_ino == os.fstat(2).st_ino
        finally:
            for number, descriptor in enumerate(kept):
                os.dup2(descriptor, number)
                os.close(descriptor)
        os.close(received)
        os.close(sent)

    def take(self, *chunks: bytes) -> list[bytes | TooLong]:
        """Feed these one by one; every message that came of them."""
        found: list[bytes | TooLong] = []
        for chunk in chunks:
            for start in range(0, len(chunk), 32_768):
                os.write(self.feed, chunk[start : start + 32_768])
                while (item := self.wire.next(0)) != b"":
                    assert item is not None
                    found.append(item)
        return found

    def close(self) -> None:
        for descriptor in (self.feed, self.answers, self.wire._in, self.wire._out):
            with_closed(descriptor)


def with_closed(descriptor: int) -> None:
    try:
        os.close(descriptor)
    except OSError:
        return


@pytest.fixture(scope="module")
def lasting() -> Iterator[Pipes]:
    """One for all: after the end of a line nothing of it is left."""
    pipes = Pipes()
    yield pipes
    pipes.close()


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    pipes = Pipes()
    yield pipes
    pipes.close()


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LINE_MOST", SHORT)


def cut_at(data: bytes, places: list[int]) -> list[bytes]:
    """The data in pieces, cut at these places."""
    ends = sorted({place % (len(data) + 1) for place in places} | {0, len(data)})
    return [data[start:end] for start, end in itertools.pairwise(ends)]


# -- any lines in any pieces ----------------------------------------------------------------------


LINES = st.lists(
    st.one_of(
        st.binary(max_size=80).map(lambda data: data.replace(b"\n", b"")),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=20),
            lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
            max_leaves=8,
        ).map(lambda value: json.dumps(value).encode()),
        st.sampled_from([b"", b" ", b"\r", b"\t \r", b"\xff\xfe", b"{}\r", b"\x00"]),
    ),
    max_size=12,
)
PLACES = st.lists(st.integers(0, 10_000), max_size=20)


@given(lines=LINES, places=PLACES)
def test_any_lines_in_any_pieces_are_the_same_messages(lasting: Pipes, lines: list[bytes], places: list[int]) -> None:
    data = b"".join(line + b"\n" for line in lines)
    assert lasting.take(*cut_at(data, places)) == [line for line in lines if line.strip()]


@given(
    sizes=st.lists(st.integers(SHORT - 3, SHORT + 1_500) | st.integers(0, 40), min_size=1, max_size=6), places=PLACES
)
def test_any_lines_of_any_length(lasting: Pipes, sizes: list[int], places: list[int]) -> None:
    lines = [b"x" * size for size in sizes]
    data = b"".join(line + b"\n" for line in lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LINE_MOST", SHORT)
        found = lasting.take(*cut_at(data, places))
    assert found == [line if len(line) <= SHORT else TooLong(None) for line in lines if line]


# -- messages that are too long -------------------------------------------------------------------


IDS = st.one_of(
    st.integers(-(10**17), 10**17),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=60),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
)


@given(name=IDS, first=st.booleans(), tight=st.booleans(), places=PLACES, filler=st.sampled_from('xé\\"{}[]:, '))
def test_one_that_is_too_long_is_known_by_its_id(
    lasting: Pipes, name: str | int, first: bool, tight: bool, places: list[int], filler: str
) -> None:
    params = {"text": filler * SHORT, "id": "inner"}
    ends: dict[str, Any] = {"jsonrpc": "2.0", "id": name} if first else {"jsonrpc": "2.0"}
    message = {**ends, "method": "tools/call", "params": params, **({} if first else {"id": name})}
    line = json.dumps(message, separators=(",", ":") if tight else None, ensure_ascii=tight).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LINE_MOST", SHORT)
        found = lasting.take(*cut_at(b'{"a":1}\n' + line + b'\n{"b":2}\n', places))
    assert found == [b'{"a":1}', TooLong(name), b'{"b":2}']


NO_ID = {
    "none": b'{"jsonrpc":"2.0","method":"notifications/x","params":{"text":"XX"}}',
    "in the middle": b'{"jsonrpc":"2.0","method":"ping","id":3,"params":{"text":"XX"}}',
    "only inside": b'{"jsonrpc":"2.0","method":"ping","params":{"text":"XX","id":3}}',
    "only further inside": b'{"jsonrpc":"2.0","params":{"a":{"text":"XX","id":3}},"method":"ping"}',
    "in a text": b'{"jsonrpc":"2.0","method":"ping","params":{"text":"XX\\"id\\":3}"}}',
    "null": b'{"jsonrpc":"2.0","id":null,"method":"ping","text":"XX"}',
    "an object": b'{"jsonrpc":"2.0","id":{"a":1},"method":"ping","text":"XX"}',
    "true": b'{"jsonrpc":"2.0","id":true,"method":"ping","text":"XX"}',
    "a fraction": b'{"jsonrpc":"2.0","id":1.5,"method":"ping","text":"XX"}',
    "a power": b'{"jsonrpc":"2.0","id":1e3,"method":"ping","text":"XX"}',
    "too many digits": b'{"jsonrpc":"2.0","id":' + b"9" * 30 + b',"method":"ping","text":"XX"}',
    "a long text": b'{"jsonrpc":"2.0","id":"' + b"a" * 300 + b'","method":"ping","text":"XX"}',
    "no JSON": b'{"jsonrpc":"2.0","id":"\\q","method":"ping","text":"XX"}',
    "no JSON at the end": b'{"jsonrpc":"2.0","text":"XX","id":"\\q"}',
    "no UTF-8": b'{"jsonrpc":"2.0","id":"\xff\xfe","method":"ping","text":"XX"}',
    "half a character": b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping","text":"XX"}',
    "a control character": b'{"jsonrpc":"2.0","id":"a\x01","method":"ping","text":"XX"}',
    "no message": b'["id":3,"XX"]',
    "blanks": b"  XX  ",
}


@pytest.mark.parametrize("given", NO_ID)
@pytest.mark.usefixtures("short")
def test_no_id_is_given_where_none_is_sure(pipes: Pipes, given: str) -> None:
    """A wrong one would be the answer to another request; and nothing that is sent ends the server."""
    line = NO_ID[given].replace(b"XX", b"x" * SHORT)
    assert pipes.take(line + b"\n", b'{"id":9}\n') == [TooLong(None), b'{"id":9}']


@given(head=st.binary(max_size=40), tail=st.binary(max_size=40))
def test_no_line_is_too_bad_to_be_refused(lasting: Pipes, head: bytes, tail: bytes) -> None:
    start = b'{"jsonrpc":"2.0","id":"' + head.replace(b"\n", b"")
    line = start + b"x" * SHORT + tail.replace(b"\n", b"") + b'"}'
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LINE_MOST", SHORT)
        first, second = lasting.take(line + b"\n", b"{}\n")
    assert isinstance(first, TooLong)
    assert second == b"{}"


def test_the_real_limit_is_8_mib_to_the_byte(pipes: Pipes) -> None:
    frame = b'{"jsonrpc":"2.0","id":1,"text":"'
    fits = frame + b"x" * (LINE_MOST - len(frame) - 2) + b'"}'
    assert len(fits) == LINE_MOST == 8 * 1024 * 1024
    assert pipes.take(fits + b"\n") == [fits]
    assert pipes.take(fits[:-2] + b'x"}\n') == [TooLong(1)]


@pytest.mark.usefixtures("short")
def test_of_one_that_is_too_long_little_is_kept(pipes: Pipes) -> None:
    for _ in range(40):
        assert pipes.take(b"x" * 30_000) == []
        assert len(pipes.wire._kept) + len(pipes.wire._first) < 2 * SHORT
    assert pipes.take(b"\n") == [TooLong(None)]


# -- the ends -------------------------------------------------------------------------------------


def test_the_standard_streams_are_out_of_the_way(pipes: Pipes) -> None:
    """A stray print goes to standard error, and no program that is started eats a message."""
    assert pipes.stdin_is_empty
    assert pipes.stdout_is_stderr
    assert not os.get_inheritable(pipes.wire._in)
    assert not os.get_inheritable(pipes.wire._out)


def test_the_end_of_the_client_is_the_end(pipes: Pipes) -> None:
    assert pipes.take(b'{"id":1}\n{"half":') == [b'{"id":1}']
    os.close(pipes.feed)
    assert pipes.wire.next(0) is None
    assert pipes.wire.next(None) is None


def test_nothing_came_in_time(pipes: Pipes) -> None:
    assert pipes.wire.next(0.01) == b""
    os.write(pipes.feed, b'{"half"')
    assert pipes.wire.next(0.01) == b""
    os.write(pipes.feed, b":1}\n")
    assert pipes.wire.next(None) == b'{"half":1}'


def test_what_many_threads_send_arrives_whole(pipes: Pipes) -> None:
    texts = [chr(97 + number) * 9_000 for number in range(8)]

    def send(text: str) -> None:
        for _ in range(4):
            pipes.wire.send({"t": text})

    threads = [threading.Thread(target=send, args=[text]) for text in texts]
    for thread in threads:
        thread.start()
    data = b""
    while data.count(b"\n") < 32:
        data += os.read(pipes.answers, 65_536)
    for thread in threads:
        thread.join()
    found = [json.loads(line)["t"] for line in data.splitlines()]
    assert sorted(found) == sorted(texts * 4)


def test_each_message_is_one_line_whatever_it_holds(pipes: Pipes) -> None:
    sent = {"text": "a\nb\r\u2028\u2029\x00\ud800", "key\n": 1}
    pipes.wire.send(sent)
    data = os.read(pipes.answers, 65_536)
    assert (data.count(b"\n"), data[-1:]) == (1, b"\n")
    assert json.loads(data)["text"] == "a\nb\r\u2028\u2029\x00\\ud800"


def test_a_client_that_no_longer_listens_is_noticed_and_not_waited_for(pipes: Pipes) -> None:
    assert pipes.wire.gone is False
    os.close(pipes.answers)
    pipes.wire.send({"a": 1})
    assert pipes.wire.gone is True
    pipes.wire.send({"a": 2})
