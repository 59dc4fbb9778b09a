"""Who is let in over HTTP: only with a token, only under our own name, from no page of another origin."""

from __future__ import annotations

import contextlib
import errno
import json
import socket
from collections.abc import Iterator

import pytest
from mcp_here import folder
from mcp_http_here import READER, WRITER, Door, bearer, empty_project, modern_headers, request_of, started

from promised import proves

JSON = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")]
LIST = request_of("tools/list")
BODY = json.dumps(LIST).encode()
ASKED = [*JSON, *modern_headers(LIST)]
WELCOME = [*ASKED, bearer(WRITER)]


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    allowed = (
        *("--allow-host", "memory.example", "--allow-host", "proxy.example:8443", "--allow-host", "[fd00::1]"),
        *("--allow-origin", "https://app.example", "--allow-origin", "http://localhost:3000"),
    )
    with folder() as place, started(empty_project(place), "--rate", "100000", *allowed) as door:
        yield door


@pytest.mark.parametrize("token", [WRITER, READER])
def test_whoever_has_a_token_is_served(door: Door, token: str) -> None:
    reply = door.ask([*ASKED, bearer(token)], BODY)
    assert reply.status == 200
    assert len(json.loads(reply.body)["result"]["tools"]) == 8


def test_the_scheme_is_read_in_any_case(door: Door) -> None:
    assert door.ask([*ASKED, ("authorization", f"bEARER {WRITER}")], BODY).status == 200


WRONG = {
    "none": [],
    "empty": [("Authorization", "")],
    "no token": [("Authorization", "Bearer")],
    "an empty token": [("Authorization", "Bearer ")],
    "another": [bearer("another-0123456789abcdef")],
    "too short": [bearer(WRITER[:-1])],
    "too long": [bearer(WRITER + "0")],
    "other letters": [bearer(WRITER.upper())],
    "both at once": [bearer(f"{WRITER}, {READER}")],
    "with a word before it": [("Authorization", f"Bearer Bearer {WRITER}")],
    "no scheme": [("Authorization", WRITER)],
    "wrong scheme": [("Authorization", f"Basic {WRITER}")],
    "token as scheme": [("Authorization", f"Token {WRITER}")],
    "not ASCII": [("Authorization", "Bearer \xff\xfe\xe9")],
    "twice": [bearer(WRITER), bearer(WRITER)],
    "two": [bearer("another-0123456789abcdef"), bearer(WRITER)],
    "in a cookie": [("Cookie", f"token={WRITER}; Authorization={WRITER}")],
    "in a header of its own": [("X-Api-Key", WRITER), ("Proxy-Authorization", f"Bearer {WRITER}")],
}


@proves("P10.2", "H2")
@pytest.mark.parametrize("given", WRONG)
def test_whoever_has_no_token_is_not(door: Door, given: str) -> None:
    reply = door.ask([*ASKED, *WRONG[given]], BODY)
    assert reply.status == 401
    assert reply.header("www-authenticate") == 'Bearer realm="memory"'
    assert reply.text == "Send the server's token: Authorization: Bearer TOKEN."


@proves("P10.2", "H2")
@pytest.mark.parametrize("name", ["token", "access_token", "authorization"])
def test_a_token_in_the_address_is_none(door: Door, name: str) -> None:
    """Addresses are written down by everybody on the way."""
    assert door.ask(ASKED, BODY, path=f"/mcp?{name}={WRITER}").status == 401


@proves("P10.2", "H2")
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS", "PUT", "PATCH", "HEAD", "TRACE", "BREW"])
def test_without_a_token_every_method_is_refused_alike(door: Door, method: str) -> None:
    assert door.ask(ASKED, BODY, method=method).status == 401


# -- the name we are called by --------------------------------------------------------------------


HOSTS = {
    "another": "evil.com",
    "another with our port": "evil.com:{port}",
    "ours as a beginning": "127.0.0.1.evil.com",
    "ours as a beginning, with our port": "127.0.0.1.evil.com:{port}",
    "ours as an end": "evil.localhost:{port}",
    "another port": "127.0.0.1:{other}",
    "not a port": "127.0.0.1",
    "a name with not a port": "localhost",
    "a dot after it": "localhost.:{port}",
    "somebody before it": "evil@127.0.0.1:{port}",
    "another loopback address": "127.0.0.2:{port}",
    "not an address": "0.0.0.0:{port}",
    "as a number": "2130706433:{port}",
    "an address in another form": "127.1:{port}",
    "two in one": "127.0.0.1:{port}, evil.com",
    "an allowed one with another port": "memory.example:{other}",
    "below an allowed one": "sub.memory.example",
    "an allowed one without its port": "proxy.example",
    "empty": " ",
}


@proves("P10.1", "H1")
@pytest.mark.parametrize("given", HOSTS)
def test_under_another_name_nobody_is_here(door: Door, given: str) -> None:
    host = HOSTS[given].format(port=door.port, other=door.port + 1)
    reply = door.ask(WELCOME, BODY, host=host)
    assert (reply.status, reply.text) == (421, "This Host is not served here; see --allow-host.")


NAMES = (
    "127.0.0.1:{port}",
    "localhost:{port}",
    "LocalHost:{port}",
    "[::1]:{port}",
    "memory.example",
    "memory.example:{port}",
    "Memory.Example",
    "proxy.example:8443",
    "[fd00::1]",
    "[fd00::1]:{port}",
)


@pytest.mark.parametrize("name", NAMES)
def test_under_our_own_names_we_are(door: Door, name: str) -> None:
    assert door.ask(WELCOME, BODY, host=name.format(port=door.port)).status == 200


@proves("P10.1", "H1")
def test_whoever_says_no_name_or_two_is_refused(door: Door) -> None:
    assert door.ask(WELCOME, BODY, host=None).status == 400
    assert door.ask([*WELCOME, ("Host", door.name)], BODY).status == 400
    assert door.ask([*WELCOME, ("Host", "evil.com")], BODY).status == 400
    with socket.create_connection((door.host, door.port), timeout=30) as connection:
        connection.sendall(f"POST /mcp HTTP/1.0\r\nAuthorization: Bearer {WRITER}\r\n\r\n".encode())
        assert connection.recv(64).startswith(b"HTTP/1.1 421 ")


@proves("P10.1", "H1")
def test_a_name_in_the_address_counts_for_nothing(door: Door) -> None:
    assert door.ask(WELCOME, BODY, path=f"http://{door.name}/mcp", host="evil.com").status == 421
    assert door.ask(WELCOME, BODY, path="http://evil.com/mcp").status == 404
    forwarded = [("X-Forwarded-Host", door.name), ("Forwarded", f"host={door.name}")]
    assert door.ask([*WELCOME, *forwarded], BODY, host="evil.com").status == 421


# -- pages of other origins -----------------------------------------------------------------------


ORIGINS = {
    "another": "http://evil.com",
    "none that is said": "null",
    "our own address": "http://127.0.0.1:{port}",
    "our own name": "http://localhost:{port}",
    "another scheme": "http://app.example",
    "another port": "https://app.example:8443",
    "an allowed one as a beginning": "https://app.example.evil.com",
    "below an allowed one": "https://x.app.example",
    "with a path": "https://app.example/",
    "two in one": "https://app.example http://evil.com",
    "a file": "file://",
}


@proves("P10.1", "H1")
@pytest.mark.parametrize("given", ORIGINS)
def test_pages_of_other_origins_are_refused(door: Door, given: str) -> None:
    origin = ("Origin", ORIGINS[given].format(port=door.port))
    reply = door.ask([*WELCOME, origin], BODY)
    assert (reply.status, reply.text) == (403, "This Origin is not allowed; see --allow-origin.")


@proves("P10.1", "H1")
def test_two_origins_are_refused_though_both_are_allowed(door: Door) -> None:
    origins = [("Origin", "https://app.example"), ("Origin", "https://app.example")]
    assert door.ask([*WELCOME, *origins], BODY).status == 403


@proves("P10.2", "H2")
@pytest.mark.parametrize("origin", ["https://app.example", "http://localhost:3000", "HTTPS://App.Example"])
def test_an_allowed_origin_still_needs_a_token(door: Door, origin: str) -> None:
    assert door.ask([*ASKED, ("Origin", origin)], BODY).status == 401
    assert door.ask([*WELCOME, ("Origin", origin)], BODY).status == 200


@proves("P10.1", "H1")
def test_a_name_that_was_bent_to_this_machine_reaches_nothing(door: Door) -> None:
    """A page whose name leads here sends its own name and origin, whatever the address is."""
    page = f"evil.com:{door.port}"
    reply = door.ask([*WELCOME, ("Origin", f"http://{page}"), ("Sec-Fetch-Site", "same-origin")], BODY, host=page)
    assert reply.status == 421


@proves("P10.1", "H4")
@pytest.mark.parametrize("origin", ["https://app.example", "http://evil.com"])
def test_nobody_is_told_that_other_origins_may_ask(door: Door, origin: str) -> None:
    """That no answer allows anything to other origins is looked at in every answer; see `mcp_http_here.py`."""
    asks = [("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "authorization")]
    reply = door.ask([("Origin", origin), *asks], method="OPTIONS")
    assert reply.status == (401 if origin == "https://app.example" else 403)
    allowed = door.ask([bearer(WRITER), ("Origin", "https://app.example"), *asks], method="OPTIONS")
    assert allowed.status == 405


# -- other addresses ------------------------------------------------------------------------------


PATHS = (
    "/",
    "/mcp/",
    "//mcp",
    "/mcp/x",
    "/MCP",
    "/sse",
    "/messages",
    "/health",
    "/.well-known/oauth-protected-resource",
)


@proves("P10.2", "H2")
@pytest.mark.parametrize("path", [*PATHS, "/mcp/../mcp", "/mcp;x", "*", "/%00", "/mcp%00", "/..%2fmcp"])
def test_there_is_nothing_at_other_addresses(door: Door, path: str) -> None:
    for headers in (WELCOME, ASKED):
        reply = door.ask(headers, BODY, path=path)
        assert (reply.status, reply.text) == (404, "There is only /mcp here.")


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_without_a_session_there_is_no_stream_and_nothing_to_end(door: Door, method: str) -> None:
    accepted = [bearer(WRITER), ("Accept", "application/json, text/event-stream")]
    assert door.ask(accepted, method=method).status == 400
    assert door.ask([*accepted, ("Mcp-Session-Id", "0" * 32)], method=method).status == 404
    modern = door.ask([*accepted, ("MCP-Protocol-Version", "2026-07-28")], method=method)
    assert (modern.status, modern.header("allow")) == (405, "POST")


@proves("P10.4", "H5")
@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "TRACE", "BREW"])
def test_other_methods_are_refused(door: Door, method: str) -> None:
    assert door.ask([*JSON, bearer(WRITER)], BODY, method=method).status == 405


RAW = {
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 64,
    "a line without end": b"GET " + b"/" * 100_000,
    "lengths that differ": b"POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "a length and chunks": (
        b"POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"0\r\n\r\nGET /mcp HTTP/1.1\r\nHost: {host}\r\n\r\n"
    ),
    "no length at all": b"POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: x\r\n\r\n",
    "a folded header": b"GET /mcp HTTP/1.1\r\nHost: {host}\r\nX: a\r\n b\r\nBad Name: 1\r\n\r\n",
    "control characters": b"GET /mcp HTTP/1.1\r\nHost: {host}\r\nX: \x00\x1b\r\n\r\n",
}


def _say_no_more(connection: socket.socket) -> None:
    """End our side; after a reset there is nothing left to end."""
    try:
        connection.shutdown(socket.SHUT_WR)
    except OSError as error:
        if error.errno != errno.ENOTCONN:
            raise
        raise ConnectionResetError from error


@proves("P10.4", "H5")
@pytest.mark.parametrize("given", RAW)
def test_what_is_no_request_is_refused_and_the_server_goes_on(door: Door, given: str) -> None:
    with socket.create_connection((door.host, door.port), timeout=30) as connection:
        answer = b""
        reset = True
        # A server that does not read on closes, and what it did not read makes that a reset: the answer may be lost.
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(RAW[given].replace(b"{host}", door.name.encode()))
            _say_no_more(connection)
            while more := connection.recv(65_536):
                answer += more
            reset = False
    assert answer[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 401") or reset
    assert answer.count(b"HTTP/1.1") == 1 or (reset and not answer), (
        "one answer, and the rest was never taken for another request"
    )
    assert door.ask(WELCOME, BODY).status == 200
