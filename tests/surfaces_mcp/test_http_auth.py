"""The doorkeeper alone: in which order it looks, what it lets through, and how it counts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promised import proves
from quire.surfaces.server.http_auth import GRANTED, READ, WRITE, HttpAuth, Rules

WRITER, READER = "writer-0123456789abcdef", "reader-fedcba9876543210"
HOST = ("host", "127.0.0.1:8765")
RULES = Rules(
    path="/mcp",
    tokens={WRITER: WRITE, READER: READ},
    hosts=frozenset({"127.0.0.1:8765", "memory.example"}),
    origins=frozenset({"https://app.example"}),
    rate=2,
    host_hint="; see --allow-host",
    origin_hint="; see --allow-origin",
)
Headers = Sequence[tuple[str, str]]


class Hall:
    """What lies behind the door, and a clock that stands until it is told to go on."""

    def __init__(self, rules: Rules = RULES) -> None:
        self.now = 1000.0
        self.seen: list[dict[str, Any]] = []
        self.keeper = HttpAuth(self.app, rules, lambda: self.now)

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        self.seen.append(dict(scope))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"come in"})

    def ask(self, headers: Headers = (), path: str = "/mcp", method: str = "POST") -> tuple[int, dict[str, str], str]:
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        scope = {"type": "http", "method": method, "path": path, "headers": raw, "query_string": b""}
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            raise AssertionError("nothing of the body is read at the door")

        asyncio.run(self.keeper(scope, receive, send))
        start, *bodies = sent
        found = {name.decode(): value.decode() for name, value in start["headers"]}
        return start["status"], found, b"".join(item["body"] for item in bodies).decode()

    def comes_in(self, token: str = WRITER) -> bool:
        status = self.ask([HOST, bearer(token)])[0]
        assert status in (200, 429)
        return status == 200


def bearer(token: str) -> tuple[str, str]:
    return "authorization", f"Bearer {token}"


# -- who is let in --------------------------------------------------------------------------------


@pytest.mark.parametrize(("token", "may"), [(WRITER, WRITE), (READER, READ)])
def test_what_a_token_may_do_is_passed_on(token: str, may: str) -> None:
    hall = Hall()
    assert hall.ask([HOST, bearer(token)]) == (200, {}, "come in")
    assert hall.seen[0][GRANTED] == may


@proves("P10.2", "H2")
def test_nobody_can_say_himself_what_he_may_do() -> None:
    hall = Hall()
    hall.ask([HOST, bearer(READER), (GRANTED, WRITE), ("x-quire-granted", WRITE)])
    assert hall.seen[0][GRANTED] == READ


@proves("P10.1", "H1")
def test_in_this_order() -> None:
    """Whoever does not even know the name of the house learns nothing of the rest."""
    hall = Hall()
    wrong = [("host", "evil.com"), ("origin", "http://evil.com"), ("authorization", "Bearer x")]
    said = "This Host is not served here; see --allow-host."
    assert hall.ask(wrong, "/other") == (421, {"content-type": TEXT, "content-length": str(len(said))}, said)
    assert hall.ask([HOST, *wrong[1:]], "/other")[0] == 403
    assert hall.ask([HOST, wrong[2]], "/other")[0] == 404
    status, headers, _ = hall.ask([HOST, wrong[2]])
    assert (status, headers["www-authenticate"]) == (401, 'Bearer realm="memory"')
    assert hall.seen == []


TEXT = "text/plain; charset=utf-8"
HOSTS: dict[str, Headers] = {
    "none": [],
    "two": [HOST, HOST],
    "two that differ": [HOST, ("host", "evil.com")],
    "in other letters of the header": [("Host", "evil.com")],
    "empty": [("host", "")],
    "a space": [("host", " 127.0.0.1:8765")],
    "part of one": [("host", "127.0.0.1")],
    "more than one": [("host", "127.0.0.1:87650")],
}


@proves("P10.1", "H1")
@pytest.mark.parametrize("given", HOSTS)
def test_names_that_are_not_ours(given: str) -> None:
    assert Hall().ask([*HOSTS[given], bearer(WRITER)])[0] == 421


@pytest.mark.parametrize("host", ["MEMORY.example", "memory.EXAMPLE", "memory.example"])
def test_names_are_the_same_in_any_letters_and_so_for_whoever_looks_again(host: str) -> None:
    hall = Hall()
    assert hall.ask([("Host", host), ("ORIGIN", "https://APP.example"), bearer(WRITER)])[0] == 200
    headers = {name.lower(): value for name, value in hall.seen[0]["headers"]}
    assert (headers[b"host"], headers[b"origin"]) == (b"memory.example", b"https://app.example")


@proves("P10.1", "H1")
@pytest.mark.parametrize("origin", ["http://evil.com", "null", "", "https://app.example/", "https://app.example.evil"])
def test_origins_that_are_not_allowed(origin: str) -> None:
    hall = Hall()
    assert hall.ask([HOST, ("origin", origin), bearer(WRITER)])[0] == 403
    assert hall.ask([HOST, ("origin", "https://app.example"), ("origin", origin), bearer(WRITER)])[0] == 403
    assert hall.seen == []


@pytest.mark.parametrize("path", ["", "/", "/mcp/", "/MCP", "//mcp", "/mcp\x00", "/mcp?x", "mcp"])
def test_other_addresses(path: str) -> None:
    assert Hall().ask([HOST, bearer(WRITER)], path)[0] == 404


@proves("P10.2", "H2")
@given(value=st.text(st.characters(max_codepoint=255), max_size=60))
def test_no_text_is_a_token_but_the_tokens(value: str) -> None:
    hall = Hall()
    scheme, _, rest = value.partition(" ")
    expected = 200 if scheme.lower() == "bearer" and rest.strip() in (WRITER, READER) else 401
    assert hall.ask([HOST, ("authorization", value)])[0] == expected


@proves("P10.2", "H2")
@given(
    scheme=st.sampled_from(["Bearer", "bearer", "BEARER", "Basic", "Token", "Bear", "Bearer:", ""]),
    blanks=st.sampled_from(["", " ", "  ", "\t", " \t"]),
    token=st.sampled_from([WRITER, READER, WRITER[:-1], WRITER + "x", WRITER.upper(), f"{WRITER} {READER}", "", "é"]),
)
def test_a_token_counts_only_whole_and_after_its_word(scheme: str, blanks: str, token: str) -> None:
    right = scheme.lower() == "bearer" and " " in blanks[:1] and token in (WRITER, READER)
    assert Hall().ask([HOST, ("authorization", f"{scheme}{blanks}{token}")])[0] == (200 if right else 401)


def test_what_could_be_read_in_two_ways_is_not_read() -> None:
    """Of a request with a length and in pieces, a proxy may see another end than we do."""
    hall = Hall()
    status, headers, _ = hall.ask([HOST, bearer(WRITER), ("content-length", "4"), ("transfer-encoding", "chunked")])
    assert (status, headers["connection"]) == (400, "close")
    assert hall.seen == []
    assert hall.ask([HOST, bearer(WRITER), ("transfer-encoding", "chunked")])[0] == 200


def test_starting_and_ending_is_passed_on() -> None:
    hall, sent = Hall(), []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(hall.keeper({"type": "lifespan"}, send, send))  # type: ignore[arg-type]
    assert hall.seen == [{"type": "lifespan"}]


def test_what_is_no_request_does_not_come_in() -> None:
    hall = Hall()

    async def nothing(*_: Any) -> Any:
        return {"type": "websocket.connect"}

    scope = {"type": "websocket", "path": "/mcp", "headers": []}
    asyncio.run(hall.keeper(scope, nothing, nothing))
    assert hall.seen == []


# -- how often ------------------------------------------------------------------------------------


def test_a_burst_of_four_seconds_and_not_one_more() -> None:
    hall = Hall()
    assert [hall.comes_in() for _ in range(10)] == [True] * 8 + [False] * 2


def test_how_long_to_wait_is_said_in_whole_seconds() -> None:
    hall = Hall(slow := Rules(path="/mcp", tokens=RULES.tokens, hosts=RULES.hosts, origins=RULES.origins, rate=1))
    assert slow.rate == 1
    for _ in range(4):
        assert hall.comes_in()
    status, headers, said = hall.ask([HOST, bearer(WRITER)])
    assert (status, said) == (429, "Too many requests; try again in a moment.")
    # One is there again in exactly a second; whoever came exactly then would be let in.
    assert headers["retry-after"] == "2"
    hall.now += 0.25
    assert hall.ask([HOST, bearer(WRITER)])[1]["retry-after"] == "1"
    hall.now += 0.75
    assert hall.comes_in()


def test_what_is_left_grows_with_time_and_only_so_far() -> None:
    hall = Hall()
    for _ in range(8):
        assert hall.comes_in()
    hall.now += 0.25
    assert not hall.comes_in()
    hall.now += 0.25
    assert hall.comes_in()
    assert not hall.comes_in()
    hall.now += 1.5
    assert [hall.comes_in() for _ in range(4)] == [True, True, True, False]
    hall.now += 3600
    assert [hall.comes_in() for _ in range(9)] == [True] * 8 + [False]


def test_who_is_turned_away_loses_nothing_by_asking() -> None:
    hall = Hall()
    for _ in range(8):
        hall.comes_in()
    for _ in range(50):
        hall.now += 0.009
        assert not hall.comes_in()
    hall.now += 0.051
    assert hall.comes_in()


def test_each_token_is_counted_for_itself_and_strangers_for_nobody() -> None:
    hall = Hall()
    for headers in ([HOST], [HOST, bearer("x")], [("host", "evil.com"), bearer(WRITER)]):
        for _ in range(20):
            assert hall.ask(headers)[0] in (401, 421)
    for _ in range(20):
        assert hall.ask([HOST, bearer(WRITER)], "/other")[0] == 404
    assert [hall.comes_in(WRITER) for _ in range(9)] == [True] * 8 + [False]
    assert [hall.comes_in(READER) for _ in range(9)] == [True] * 8 + [False]


@given(pauses=st.lists(st.integers(0, 24).map(lambda part: part / 8), max_size=60), rate=st.sampled_from([1, 2, 4, 50]))
def test_over_any_time_no_more_than_the_burst_and_the_rate(pauses: list[float], rate: int) -> None:
    hall = Hall(Rules(path="/mcp", tokens=RULES.tokens, hosts=RULES.hosts, origins=RULES.origins, rate=rate))
    left, came = 4.0 * rate, []
    for pause in pauses:
        hall.now += pause
        left = min(4.0 * rate, left + pause * rate)
        expected = left >= 1
        assert hall.comes_in() == expected
        left -= expected
        came.append((hall.now, expected))
    for start, (begun, _) in enumerate(came):
        for end, (now, _) in enumerate(came[start:], start):
            assert sum(let_in for _, let_in in came[start : end + 1]) <= 4 * rate + (now - begun) * rate
