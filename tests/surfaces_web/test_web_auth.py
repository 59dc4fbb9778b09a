"""Who may come in to the local page: the token, the address, the origin, and what a request may look like."""

from __future__ import annotations

import json
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route
from web_serving import HARMFUL, PageDoor, Reply, check_sealed, harbor, opened, saved_nodes

from promised import proves
from quire.files.world import real_world
from quire.surfaces.web.app import build_app
from quire.surfaces.web.assets import NAMES, read_assets
from quire.surfaces.web.page_calls import PageCalls
from quire.surfaces.web.serve import POLICY
from quire.surfaces.web.tickets import Tickets
from quire.verbs.page.table import VIEWS
from thorough import LONG

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get")
OPEN = {"/", "/api/ticket", *(f"/{name}" for name in NAMES if name != "index.html")}
JSON = ("Content-Type", "application/json")


@pytest.fixture(scope="module")
def door() -> Iterator[PageDoor]:
    with tempfile.TemporaryDirectory() as place:
        memory = harbor(Path(place))
        saved_nodes(memory)
        with opened(memory) as door:
            yield door


@pytest.fixture(scope="module")
def routes(tmp_path_factory: pytest.TempPathFactory) -> list[Route]:
    """The routes of the app itself: whoever adds one has it tried here."""
    start = str(tmp_path_factory.mktemp("routes"))
    page_calls = PageCalls(real_world(start), start, may_write=True)
    found = build_app(page_calls, read_assets(), Tickets("token", "ticket", lambda: "x")).routes
    page_calls.close()
    assert all(isinstance(route, Route) for route in found)
    return [route for route in found if isinstance(route, Route)]


@pytest.fixture(scope="module")
def addresses(routes: list[Route], door: PageDoor) -> list[str]:
    """An address for every route, and for every answer about a project."""
    project = door.get("/api/session")["project"]
    found = []
    for route in routes:
        path = route.path.replace("{project}", project)
        found += [path.replace("{path:path}", name) for name in VIEWS if name] if "{path:path}" in path else [path]
    assert not [path for path in found if "{" in path], "a route has a part that is not known here"
    assert len(found) == len(set(found)) >= 28
    return found


def shut(door: PageDoor, path: str, *headers: tuple[str, str], method: str = "GET") -> Reply:
    reply = door.ask(path, [*headers, JSON], b"{}" if method == "POST" else b"", method=method)
    check_sealed(reply)
    return reply


# -- the token ------------------------------------------------------------------------------------

BAD: dict[str, Callable[[str], list[tuple[str, str]]]] = {
    "none": lambda token: [],
    "empty": lambda token: [("Authorization", "")],
    "only the scheme": lambda token: [("Authorization", "Bearer")],
    "only the scheme and a space": lambda token: [("Authorization", "Bearer ")],
    "without a scheme": lambda token: [("Authorization", token)],
    "basic": lambda token: [("Authorization", f"Basic {token}")],
    "another scheme": lambda token: [("Authorization", f"Token {token}")],
    "two": lambda token: [("Authorization", f"Bearer {token}"), ("Authorization", f"Bearer {token}")],
    "a wrong one and the right one": lambda token: [
        ("Authorization", "Bearer x"),
        ("Authorization", f"Bearer {token}"),
    ],
    "two in one": lambda token: [("Authorization", f"Bearer {token}, Bearer {token}")],
    "the first character": lambda token: [("Authorization", f"Bearer {_other(token[0])}{token[1:]}")],
    "the last character": lambda token: [("Authorization", f"Bearer {token[:-1]}{_other(token[-1])}")],
    "one less": lambda token: [("Authorization", f"Bearer {token[:-1]}")],
    "one more": lambda token: [("Authorization", f"Bearer {token}0")],
    "capitals": lambda token: [("Authorization", f"Bearer {token.upper()}x")],
    "not ascii": lambda token: [("Authorization", "Bearer \u00e9\u0142")],
    "a cookie": lambda token: [("Cookie", f"token={token}; quire.token={token}")],
    "another header": lambda token: [("X-Token", token), ("Proxy-Authorization", f"Bearer {token}")],
}


def _other(char: str) -> str:
    return "0" if char != "0" else "1"


@pytest.mark.proof(keep=6)
@proves("P10.2", "H2")
@pytest.mark.parametrize("how", BAD)
def test_nothing_of_the_interface_is_told_without_the_token(door: PageDoor, addresses: list[str], how: str) -> None:
    for path in addresses:
        if path not in OPEN:
            for method in ("GET", "POST"):
                reply = shut(door, path, *BAD[how](door.token), method=method)
                assert reply.status == 401, (path, method, reply.body)
                assert reply.header("www-authenticate") == 'Bearer realm="memory"'
                assert b'"data"' not in reply.body


@proves("P10.2", "H2")
def test_the_token_is_taken_from_no_address(door: PageDoor, addresses: list[str]) -> None:
    for path in addresses:
        if path not in OPEN:
            for name in ("token", "access_token", "ticket", "authorization"):
                assert shut(door, f"{path}?{name}={door.token}").status == 401, path


@proves("P10.2", "H2")
def test_what_is_open_holds_no_data(door: PageDoor, addresses: list[str], routes: list[Route]) -> None:
    """The shell and its files alone; and of the interface only what makes a token of a ticket."""
    given = [path for path in addresses if shut(door, path).status == 200]
    assert set(given) == OPEN - {"/api/ticket"}
    for path in given:
        reply = shut(door, path)
        assert reply.body == read_assets()[path.lstrip("/") or "index.html"].data
        assert reply.header("cache-control") == "no-cache"
    assert [route.path for route in routes if route.path in OPEN and route.methods == {"POST"}] == ["/api/ticket"]


def test_with_the_token_every_answer_is_there_and_is_kept_by_no_browser(door: PageDoor, addresses: list[str]) -> None:
    for path in addresses:
        if path not in OPEN:
            if path == "/api/events":
                continue  # never ends
            reply = door.ask(path)
            check_sealed(reply)
            assert reply.status in (200, 400, 405) or path.endswith("/undo"), (path, reply.body)
            assert reply.status == 405 or reply.header("cache-control") == "no-store"
            assert reply.status == 405 or reply.header("content-type") == "application/json"


def test_the_stream_is_sealed_too(door: PageDoor) -> None:
    with door.connect() as connection:
        connection.sendall(
            f"GET /api/events HTTP/1.1\r\nHost: {door.name}\r\n{': '.join(door.bearer)}\r\n\r\n".encode()
        )
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(4096)
    lines = [line.split(": ", 1) for line in head.decode().partition("\r\n\r\n")[0].split("\r\n")[1:]]
    reply = Reply(200, [(name, value) for name, value in lines], b"")
    check_sealed(reply)
    assert reply.header("cache-control") == "no-store"
    assert head.startswith(b"HTTP/1.1 200 ")


@proves("P10.1", "H4")
def test_any_method_on_any_route_is_answered_and_sealed(door: PageDoor, addresses: list[str]) -> None:
    """What is refused changes nothing and tells nothing, also with the token."""
    for path in [*addresses, "/nothing", "/api/nothing", "/api/", "/api"]:
        for method in METHODS:
            if path == "/api/events" and method in ("GET", "HEAD"):
                continue
            reply = door.ask(path, method=method)
            check_sealed(reply)
            assert reply.status in (200, 400, 403, 404, 405), (method, path, reply.status)
            if method not in ("GET", "HEAD", "POST"):
                assert reply.status in (404, 405), (method, path)


@proves("P10.3", "H3")
def test_the_policy_lets_in_nothing_but_ourselves(door: PageDoor) -> None:
    policy = shut(door, "/").header("content-security-policy")
    assert policy == POLICY
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split(";")}
    assert rules["default-src"] == ["'none'"]
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == ["'self'"]
    assert rules["frame-ancestors"] == rules["base-uri"] == rules["form-action"] == ["'none'"]
    assert rules["require-trusted-types-for"] == ["'script'"]
    assert not [word for words in rules.values() for word in words if word.strip("'") in HARMFUL]
    html = shut(door, "/").body.decode()
    assert not [word for word in ("<script>", "style=", "onload", "//") if word in html]


# -- the address ----------------------------------------------------------------------------------

HOSTS: dict[str, list[str]] = {
    "another name": ["evil.example"],
    "another name with the port": ["evil.example:{port}"],
    "a name that leads here": ["127.0.0.1.nip.io:{port}"],
    "a name that begins alike": ["localhost.evil.example:{port}"],
    "a name that ends alike": ["evil-localhost:{port}"],
    "a dot at its end": ["localhost.:{port}"],
    "a dot at the end of the number": ["127.0.0.1.:{port}"],
    "without the port": ["127.0.0.1"],
    "another port": ["127.0.0.1:1"],
    "two ports": ["127.0.0.1:{port}:80"],
    "zeros before the port": ["127.0.0.1:0{port}"],
    "none": [],
    "empty": [""],
    "two": ["127.0.0.1:{port}", "127.0.0.1:{port}"],
    "a right one and a wrong one": ["127.0.0.1:{port}", "evil.example"],
    "a list": ["127.0.0.1:{port}, evil.example"],
    "a user": ["user@127.0.0.1:{port}"],
    "a user that looks right": ["127.0.0.1:{port}@evil.example"],
    "a path": ["127.0.0.1:{port}/"],
    "a scheme": ["http://127.0.0.1:{port}"],
    "another number of this machine": ["127.0.0.2:{port}"],
    "a short number": ["127.1:{port}"],
    "one whole number": ["2130706433:{port}"],
    "not an address": ["0.0.0.0:{port}"],
    "six without brackets": ["::1:{port}"],
    "four in six": ["[::ffff:127.0.0.1]:{port}"],
    "wide letters": ["\uff4c\uff4fcalhost:{port}"],
}


@proves("P10.1", "H1")
@pytest.mark.parametrize("how", HOSTS)
@pytest.mark.parametrize("path", ["/", "/app.js", "/api/session", "/api/ticket"])
def test_other_hosts_are_not_served(door: PageDoor, how: str, path: str) -> None:
    """A name of somebody else that leads to this machine would make this page one of his."""
    named = [("Host", host.replace("{port}", str(door.port))) for host in HOSTS[how]]
    reply = door.ask(path, [*named, door.bearer], host=None)
    check_sealed(reply)
    assert reply.status in (400, 421), reply.status
    assert b"doctype" not in reply.body


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "LocalHost", "[::1]"])
def test_this_machine_has_three_names_in_any_letters(door: PageDoor, host: str) -> None:
    assert door.ask("/api/session", host=f"{host}:{door.port}").status == 200


@proves("P10.1", "H1")
def test_a_whole_address_in_the_request_changes_nothing(door: PageDoor) -> None:
    for target in ("http://evil.example/api/session", f"http://{door.name}/api/session", "*", "evil.example:443"):
        assert door.ask(target).status in (400, 404), target
    assert door.ask("/api/session", [door.bearer, ("X-Forwarded-Host", "evil.example")]).status == 200
    reply = door.ask("/api/session", [door.bearer, ("X-Forwarded-Host", door.name)], host="evil.example")
    assert reply.status == 421


ORIGINS = (
    "http://evil.example",
    "null",
    "",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1:{port}/",
    "http://127.0.0.1:{port}.evil.example",
    "http://user@127.0.0.1:{port}",
    "http://localhost.evil.example:{port}",
    "file://",
    "chrome-extension://abcdefgh",
    "http://127.0.0.1:{port} http://evil.example",
)


@proves("P10.1", "H1")
@pytest.mark.parametrize("origin", ORIGINS)
def test_other_origins_are_turned_away_also_with_the_token(door: PageDoor, addresses: list[str], origin: str) -> None:
    given = ("Origin", origin.replace("{port}", str(door.port)))
    for path in addresses:
        for headers in ([given], [given, door.bearer], [given, ("Origin", door.base), door.bearer]):
            reply = door.ask(path, [*headers, JSON], b"{}", method="POST")
            assert reply.status == 403, (path, reply.body)
            check_sealed(reply)
    assert door.ask("/api/session", [("Origin", door.base), door.bearer]).status == 200


@proves("P10.1", "H4")
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_a_form_of_another_page_does_nothing(door: PageDoor, addresses: list[str], kind: str) -> None:
    """A form cannot say JSON, and a browser says where it comes from; each of both is enough."""
    body = b'{"action":"confirm","ref":"decision.use-the-queue"}'
    for path in addresses:
        for headers in ([], [door.bearer]):
            sent = [("Content-Type", kind), *headers]
            site = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")]
            assert door.ask(path, [*sent, ("Origin", "http://evil.example"), *site], body, method="POST").status == 403
            silent = door.ask(path, [*sent, *site], body, method="POST")
            assert silent.status in (400, 401, 404, 405) or path == "/api/tickets", (path, silent.status)
            assert not headers or silent.status != 401


@proves("P10.1", "H4")
def test_a_page_elsewhere_is_given_no_leave_to_ask(door: PageDoor, addresses: list[str]) -> None:
    asked = [("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "authorization")]
    for path in addresses:
        for origin, status in (("http://evil.example", (403,)), (door.base, (401, 405))):
            reply = door.ask(path, [("Origin", origin), *asked], method="OPTIONS")
            check_sealed(reply)
            assert reply.status in status, (path, reply.status)
        loaded = door.ask(path, [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", "script")])
        check_sealed(loaded)  # also that no page elsewhere may use it
        assert loaded.status == 401 or path in OPEN


# -- what is no request of ours -------------------------------------------------------------------


def test_there_is_nothing_to_upgrade_to(door: PageDoor) -> None:
    upgrade = [
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ]
    for path in ("/", "/api/events", "/api/session"):
        reply = door.ask(path, [*upgrade])
        assert reply.status == (200 if path == "/" else 401)
        check_sealed(reply)
    settings = [("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMAAABkAAQAAP__")]
    assert door.ask("/api/session", [*settings, door.bearer]).status == 200


ODD = {
    "no HTTP": b"GARBAGE\r\n\r\n",
    "another protocol": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "the beginning of a secret talk": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 500 + b"\r\n\r\n",
    "an old one": b"GET /\r\n\r\n",
    "a line without end": b"GET /" + b"a" * 200_000,
    "a header without end": b"GET / HTTP/1.1\r\nHost: {host}\r\nX: " + b"a" * 2_000_000,
    "headers without end": b"GET / HTTP/1.1\r\nHost: {host}\r\n" + b"X: y\r\n" * 100_000,
    "a NUL in the address": b"GET /\0 HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a NUL in a header": b"GET / HTTP/1.1\r\nHost: {host}\r\nX: a\0b\r\n\r\n",
    "a space before the colon": b"GET / HTTP/1.1\r\nHost : {host}\r\n\r\n",
    "a header on two lines": b"GET / HTTP/1.1\r\nHost: {host}\r\nX: a\n\x0bHost: evil\r\n\r\n",
    "two lengths": b"POST /api/ticket HTTP/1.1\r\nHost: {host}\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "a length below nothing": b"POST /api/ticket HTTP/1.1\r\nHost: {host}\r\nContent-Length: -1\r\n\r\n",
    "a length that is no number": b"POST /api/ticket HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0x3\r\n\r\nabc",
    "a length and pieces": (
        b"POST /api/ticket HTTP/1.1\r\nHost: {host}\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "pieces and a length": (
        b"POST /api/ticket HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"
    ),
    "pieces in another form": (
        b"POST /api/ticket HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"
    ),
    "pieces twice": (
        b"POST /api/ticket HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"
    ),
}


@pytest.mark.parametrize("how", ODD)
def test_what_is_no_request_is_refused_once_and_the_connection_ends(door: PageDoor, how: str) -> None:
    """Behind it stands a second one: it is never taken for a request of its own."""
    hidden = f"GET /api/session HTTP/1.1\r\nHost: {door.name}\r\n{': '.join(door.bearer)}\r\n\r\n"
    with door.connect() as connection:
        try:
            connection.sendall(ODD[how].replace(b"{host}", door.name.encode()) + hidden.encode())
            said = b"".join(iter(lambda: connection.recv(65_536), b""))
        except (BrokenPipeError, ConnectionResetError):
            said = b""
    assert b'"data"' not in said
    assert b"HTTP/1.1 200 " not in said
    if said:
        assert said.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 421 ")), said[:80]
        assert b"content-security-policy: " in said
    assert door.ask("/api/session").status == 200


def test_the_older_protocol_is_served_alike(door: PageDoor) -> None:
    assert door.ask("/api/session", version="1.0").status == 200
    assert door.ask("/api/session", [], version="1.0").status == 401
    assert door.ask("/api/session", host=None, version="1.0").status == 421


@pytest.mark.skipif(not LONG, reason="waits for as long as a client may dawdle")
def test_who_never_finishes_a_request_is_sent_away(door: PageDoor) -> None:
    slow: list[socket.socket] = []
    for half in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: ", b"GET /api/session HTTP/1.1\r\nX: y\r\n"):
        slow.append(door.connect(30))
        slow[-1].sendall(half)
    for connection in slow:
        with connection:
            assert connection.recv(1) == b""


BODIES: dict[str, bytes] = {
    "nothing": b"",
    "half": b'{"ticket":',
    "no object": b"[]",
    "no text": b'{"ticket": 1}',
    "none": b'{"ticket": null}',
    "an object": b'{"ticket": {"a": 1}}',
    "a list": b'{"ticket": ["a"]}',
    "a wrong one": b'{"ticket": "abc"}',
    "an empty one": b'{"ticket": ""}',
    "a dash": b'{"ticket": "-"}',
    "half a character": b'{"ticket": "\\ud800"}',
    "another alphabet": '{"ticket": "\u0142\u00e9"}'.encode(),
    "a NUL": b'{"ticket": "\\u0000"}',
    "bytes that are no text": b'{"ticket": "\xff\xfe"}',
    "a mark of order": b'\xef\xbb\xbf{"ticket": "a"}',
    "two bytes each": '{"ticket": "a"}'.encode("utf-16"),
    "deep": b"[" * 100_000,
    "deep and closed": b'{"ticket":' * 50_000 + b"1" + b"}" * 50_000,
    "a long number": b'{"ticket": ' + b"9" * 100_000 + b"}",
    "no number": b'{"ticket": NaN}',
    "a name of the language": b'{"__proto__": {"ticket": "a"}, "constructor": 1}',
    "twice": b'{"ticket": "a", "ticket": "b"}',
}


@pytest.mark.parametrize("how", BODIES)
def test_what_is_no_good_body_is_said_to_be_none(door: PageDoor, addresses: list[str], how: str) -> None:
    for path in [path for path in addresses if path.endswith(("/ticket", "/actions", "/undo"))]:
        reply = door.post(path, BODIES[how])
        check_sealed(reply)
        assert reply.status in (400, 403, 404), (path, reply.status, reply.body[:300])
        assert len(json.dumps(reply.error)) < 1000


@pytest.mark.proof
def test_a_body_is_read_to_its_bound_and_no_further(door: PageDoor) -> None:
    most = 4 * 1024 * 1024
    assert door.post("/api/ticket", b'{"ticket":"' + b"a" * (most - 13) + b'"}').status == 404
    over: dict[str, Any] = door.post("/api/ticket", b'{"ticket":"' + b"a" * most + b'"}').error
    assert over["message"] == "This is too long."
    head = f"POST /api/ticket HTTP/1.1\r\nHost: {door.name}\r\nContent-Type: application/json\r\n"
    claimed = door.raw(f"{head}Content-Length: 9{'9' * 15}\r\n\r\n".encode() + b"a" * (most + 1), "POST")
    assert claimed.status == 400
    pieces = b"".join(b"10000\r\n" + b"a" * 65_536 + b"\r\n" for _ in range(80))
    assert door.raw(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + pieces, "POST").status == 400
    assert door.ask("/api/session").status == 200
