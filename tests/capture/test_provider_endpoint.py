"""An endpoint that speaks the chat protocol: a real server that answers well, badly, slowly and without end."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from provider_making import KEY, SESSION, Desk, Server, completion, drip, serving, status

from quire.capture.providers.availability import available
from quire.capture.providers.failures import BadAnswer, ProgramMissing, ProviderFailed, SignedOut, TimedOut
from quire.capture.providers.openai import endpoint_of
from quire.layers.journal.shapes import output_schemas


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def desk(tmp_path: Path, server: Server) -> Desk:
    desk = Desk(tmp_path, OPENAI_API_KEY=KEY)
    desk.with_endpoint(server.url)
    return desk


def test_a_question_and_its_answer(desk: Desk, server: Server) -> None:
    server.answers = [status(200, completion(SESSION, read=2000, written=300))]
    answer = desk.ask("openai")
    assert (answer.value, answer.calls, answer.warnings) == (SESSION, 1, ())
    assert answer.cost_usd == pytest.approx(2000 * 15e-6 + 300 * 75e-6)
    assert desk.day() == {"spent": 52_500, "calls": 1, "open": {}}
    (request,) = server.requests
    assert request["path"] == "/v1/chat/completions"
    assert request["headers"]["Authorization"] == f"Bearer {KEY}"
    body = request["body"]
    assert body["model"] == "small"
    assert body["max_completion_tokens"] == 3000
    form = body["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"] == {"name": "session", "strict": True, "schema": output_schemas()["importedSession"]}
    assert "limit the cache" in body["messages"][0]["content"]


def test_prices_are_those_of_the_settings(desk: Desk, server: Server) -> None:
    server.answers = [status(200, completion(SESSION, read=1_000_000, written=0))]
    desk.with_endpoint(server.url, input_per_million_usd=0.25, output_per_million_usd=0)
    assert desk.ask("openai").cost_usd == 0.25


def test_a_wrong_shape_is_asked_for_once_more(desk: Desk, server: Server) -> None:
    server.answers = [status(200, completion({"summary": "x"})), status(200, completion(SESSION))]
    answer = desk.ask("openai")
    assert (answer.value, answer.calls) == (SESSION, 2)
    second = server.requests[1]["body"]["messages"][0]["content"]
    assert "normalized.signals must be an object." in second
    assert desk.day()["calls"] == 2


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe\x00", b"[]", b'{"choices": []}', b'{"choices": [{"message": {"content": null}}]}'],
)
def test_what_is_no_answer_is_told_after_the_second_try(desk: Desk, server: Server, body: bytes) -> None:
    server.answers = [status(200, body)]
    with pytest.raises(BadAnswer):
        desk.ask("openai")
    assert len(server.requests) == 2
    assert desk.day()["spent"] > 0


@pytest.mark.parametrize("code", [401, 403])
def test_a_key_that_is_not_accepted(desk: Desk, server: Server, code: int) -> None:
    said = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}).encode()
    server.answers = [status(code, said)]
    with pytest.raises(SignedOut) as found:
        desk.ask("openai")
    assert_no_key(found.value)
    assert desk.day() == {"spent": 0, "calls": 1, "open": {}}
    assert len(server.requests) == 1


@pytest.mark.parametrize(("code", "free"), [(400, True), (404, True), (429, True), (500, False), (503, False)])
def test_a_failure_of_the_endpoint(desk: Desk, server: Server, code: int, free: bool) -> None:
    server.answers = [status(code, json.dumps({"error": {"message": f"no luck with {KEY} today"}}).encode())]
    with pytest.raises(ProviderFailed) as found:
        desk.ask("openai")
    assert type(found.value) is ProviderFailed
    assert found.value.message == f"The endpoint failed with status {code}: no luck with [key] today"
    assert found.value.details["status"] == code
    assert_no_key(found.value)
    assert (desk.day()["spent"] == 0) is free
    assert len(server.requests) == 1


def test_a_redirect_is_not_followed(desk: Desk, server: Server) -> None:
    with serving() as other:
        other.answers = [status(200, completion(SESSION))]
        server.answers = [status(307, Location=other.url + "/chat/completions")]
        with pytest.raises(ProviderFailed, match="redirect"):
            desk.ask("openai")
        assert other.requests == []


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nX-Slow: ",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"",
    ],
    ids=["in the head", "in the body", "without a length", "in the first line"],
)
def test_a_slow_drip_ends_at_the_time_limit(desk: Desk, server: Server, head: bytes) -> None:
    server.answers = [drip(b"1", head)]
    desk.with_seconds(1.0)
    with pytest.raises(TimedOut):
        desk.ask("openai")
    assert desk.day()["spent"] > 0


def test_silence_ends_at_the_time_limit(desk: Desk, server: Server) -> None:
    server.answers = [lambda _handler: time.sleep(4)]
    desk.with_seconds(0.5)
    with pytest.raises(TimedOut):
        desk.ask("openai")


def test_a_server_that_accepts_nobody_ends_at_the_time_limit(desk: Desk) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        desk.with_endpoint(f"http://127.0.0.1:{deaf.getsockname()[1]}", timeout_seconds=0.5)
        with pytest.raises(TimedOut):
            desk.ask("openai")


def test_a_huge_answer_is_none(desk: Desk, server: Server) -> None:
    server.answers = [status(200, b"x" * 6_000_000)]
    with pytest.raises(BadAnswer, match="more than 4 MiB"):
        desk.ask("openai")


def test_an_answer_cut_off_in_the_middle_is_a_failure(desk: Desk, server: Server) -> None:
    def half(handler: Any) -> None:
        handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n{"choices"')
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)

    server.answers = [half]
    with pytest.raises(ProviderFailed, match="closed in the middle"):
        desk.ask("openai")
    assert desk.day()["spent"] > 0


def test_what_is_no_http_is_a_failure(desk: Desk, server: Server) -> None:
    server.answers = [lambda handler: handler.wfile.write(b"SSH-2.0-OpenSSH\r\n\r\n") and None]
    with pytest.raises(ProviderFailed):
        desk.ask("openai")


def test_where_nobody_listens_nothing_is_spent(desk: Desk) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    desk.with_endpoint(f"http://127.0.0.1:{port}/v1")
    with pytest.raises(ProviderFailed, match="Connection refused"):
        desk.ask("openai")
    assert desk.day() == {"spent": 0, "calls": 1, "open": {}}


def test_a_model_that_refuses_or_runs_out_of_room(desk: Desk, server: Server) -> None:
    refusal = {"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}
    server.answers = [
        status(200, json.dumps({"choices": [refusal]}).encode()),
        status(200, completion('{"summary": "x', finish_reason="length")),
    ]
    with pytest.raises(BadAnswer, match="refused"):
        desk.ask("openai")
    with pytest.raises(BadAnswer, match="cut off"):
        desk.ask("openai")


def test_without_a_report_of_its_use_all_that_was_set_aside_counts(desk: Desk, server: Server) -> None:
    answer = json.loads(completion(SESSION))
    for usage in (None, {"prompt_tokens": -5, "completion_tokens": 1}, {"prompt_tokens": "many"}):
        server.answers = [status(200, json.dumps({**answer, "usage": usage}).encode())]
        found = desk.ask("openai")
        assert found.cost_usd > 0.2
        assert "did not report its cost" in found.warnings[0]


@pytest.mark.parametrize(
    "url",
    [
        "http://api.example.com/v1",
        "http://127.0.0.1.example.com/v1",
        "http://2130706433/v1",
        "ftp://127.0.0.1/v1",
        "file:///etc/passwd",
        "127.0.0.1:80",
        "https://",
        "https://user:pass@api.example.com/v1",
        "https://api.example.com/v1?x=1",
        "https://api.example.com/v1#x",
        "https://api.example.com:port/v1",
        "https://[::1/v1",
        "https://api.example.com/v 1",
        "",
    ],
)
def test_addresses_that_are_never_asked(desk: Desk, url: str) -> None:
    desk.with_endpoint(url)
    with pytest.raises(ProgramMissing):
        desk.ask("openai")
    assert not (desk.home / "spend.json").exists()


@pytest.mark.parametrize(
    ("url", "host", "port", "path"),
    [
        ("https://api.example.com/v1/", "api.example.com", 443, "/v1/chat/completions"),
        ("http://localhost:8080", "localhost", 8080, "/chat/completions"),
        ("http://[::1]:9/v1", "::1", 9, "/v1/chat/completions"),
    ],
)
def test_addresses_that_may_be_asked(desk: Desk, url: str, host: str, port: int, path: str) -> None:
    desk.with_endpoint(url)
    found = endpoint_of(desk.settings.openai, desk.world)
    assert (found.host, found.port, found.path, found.secure) == (host, port, path, url.startswith("https"))
    assert KEY not in repr(found)


def test_a_server_on_this_machine_needs_no_key(desk: Desk, server: Server) -> None:
    env = {name: value for name, value in desk.world.env.items() if name != "OPENAI_API_KEY"}
    desk.world = msgspec.structs.replace(desk.world, env=env)
    server.answers = [status(200, completion(SESSION))]
    assert desk.ask("openai").value == SESSION
    assert "Authorization" not in server.requests[0]["headers"]
    desk.with_endpoint("https://api.example.com/v1")
    with pytest.raises(SignedOut, match="OPENAI_API_KEY is not set"):
        desk.ask("openai")


def test_the_key_is_in_the_variable_that_the_settings_name(desk: Desk, server: Server) -> None:
    desk.world = msgspec.structs.replace(desk.world, env={**desk.world.env, "MY_KEY": "other-key"})
    desk.with_endpoint(server.url, key_variable="MY_KEY")
    server.answers = [status(200, completion(SESSION))]
    desk.ask("openai")
    assert server.requests[0]["headers"]["Authorization"] == "Bearer other-key"


@pytest.mark.parametrize("key", [f"{KEY}\r\nX-Evil: 1", f"{KEY} two", "schlüssel-" + KEY])
def test_a_key_that_is_none_is_neither_sent_nor_shown(desk: Desk, server: Server, key: str) -> None:
    desk.world = msgspec.structs.replace(desk.world, env={**desk.world.env, "OPENAI_API_KEY": key})
    with pytest.raises(SignedOut) as found:
        desk.ask("openai")
    assert_no_key(found.value)
    assert server.requests == []


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for localhost that nobody vouches for, with its key."""
    if not shutil.which("openssl"):
        pytest.skip("openssl makes the certificate")
    path = tmp_path / "localhost.pem"
    line = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    line += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(path) + ".key", "-out", str(path)]
    subprocess.run(line, check=True, capture_output=True)
    path.write_text(path.read_text() + Path(str(path) + ".key").read_text())
    return path


def test_an_encrypted_endpoint_must_prove_who_it_is(
    desk: Desk, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(certificate) as server:
        desk.with_endpoint(server.url)
        server.answers = [status(200, completion(SESSION))]
        with pytest.raises(ProviderFailed, match="self-signed certificate"):
            desk.ask("openai")
        assert server.requests == []
        assert desk.day()["spent"] == 0
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert desk.ask("openai").value == SESSION
        server.answers = [drip(b"1", b"HTTP/1.1 200 OK\r\n\r\n")]
        desk.with_seconds(1.0)
        with pytest.raises(TimedOut):
            desk.ask("openai")


def test_an_encrypted_endpoint_that_never_shakes_hands_ends_at_the_time_limit(desk: Desk) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(5)
        desk.with_endpoint(f"https://127.0.0.1:{deaf.getsockname()[1]}", timeout_seconds=0.5)
        with pytest.raises(TimedOut):
            desk.ask("openai")
    assert desk.day()["spent"] == 0


def test_an_endpoint_is_available_where_it_may_be_asked(desk: Desk, server: Server) -> None:
    found = available(desk.settings, desk.world, versions=True)[2]
    assert (found.found, found.path) == (True, server.url + "/chat/completions")
    assert server.requests == []


def assert_no_key(error: ProviderFailed) -> None:
    told = " ".join(
        [error.message, str(error.hint), str(error.details), repr(error.__cause__), repr(error.__context__)]
    )
    assert KEY not in told
