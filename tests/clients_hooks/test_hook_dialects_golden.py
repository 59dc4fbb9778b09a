"""What every client sends at every event, and exactly what is made of it and answered."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cases import each
from promised import proves
from quire.clients.hooks.read_event import read_event
from quire.clients.hooks.reply import reply, room_for
from quire.clients.hooks.types import CLIENTS, EVENTS, HookEvent, Room

PAYLOADS = Path(__file__).parent / "payloads"
GOLDEN = sorted(path for path in PAYLOADS.rglob("*.json") if not path.name.endswith(".expected.json"))
TEXT = 'The orders table is append-only <see decision.orders> — "never" update it.\n'
# What a client never tells.
MISSING = {
    ("cursor", "after-compaction"),
    ("gemini", "after-compaction"),
    ("copilot", "after-compaction"),
    *(("cline", event) for event in EVENTS),
}


def _expected(path: Path) -> dict[str, Any]:
    return json.loads(path.with_name(f"{path.stem}.expected.json").read_bytes())


@proves("P10.5", "H6")
@each("path", GOLDEN)
def test_a_payload_becomes_one_event_and_one_answer(path: Path) -> None:
    expected = _expected(path)
    event = read_event(path.parent.name, str(expected["asked"]), path.read_bytes())
    assert event == msgspec.convert(expected["event"], HookEvent)
    assert event.client == path.parent.name
    assert room_for(event) == Room(*expected["room"])
    assert reply(event, TEXT) == str(expected["text"]).encode()
    assert reply(event, "") == reply(event, " \n\t") == str(expected["no_text"]).encode()


@proves("P10.5", "H6")
def test_every_event_of_every_client_has_a_payload_or_a_refusal() -> None:
    seen = {(path.parent.name, str(_expected(path)["event"]["event"])) for path in GOLDEN}
    assert seen | MISSING == {(client, event) for client in CLIENTS for event in EVENTS}
    assert not seen & MISSING


@pytest.mark.parametrize(("client", "event"), sorted(MISSING - {("cline", event) for event in EVENTS}))
def test_an_event_that_a_client_does_not_have_is_refused(client: str, event: str) -> None:
    with pytest.raises(ValueError, match=rf"has no event for {event}\.$"):
        read_event(client, event, b"{}")


@pytest.mark.parametrize("event", EVENTS)
def test_cline_has_no_hooks_to_read(event: str) -> None:
    with pytest.raises(ValueError, match=r"^Cline has no shell hooks, only plugins"):
        read_event("cline", event, b"{}")


@pytest.mark.parametrize(
    "path", sorted(PAYLOADS.glob("copilot/*-by-claudes-settings.json")), ids=lambda path: path.stem
)
def test_copilot_is_known_where_it_runs_a_hook_that_was_wired_for_claude(path: Path) -> None:
    expected = _expected(path)
    event = read_event("claude", str(expected["asked"]), path.read_bytes())
    assert event == msgspec.convert(expected["event"], HookEvent)
    assert reply(event, TEXT) == str(expected["text"]).encode()


def test_what_a_hook_said_at_the_start_is_no_part_of_a_prompt() -> None:
    def prompt(client: str, said: str) -> str:
        return read_event(client, "prompt", json.dumps({"prompt": said}).encode()).prompt

    said = "<hook_context>Refunds: &lt;see&gt;</hook_context>\n\nAdd a test for <hook_context>"
    assert prompt("gemini", said) == "Add a test for <hook_context>"
    assert prompt("gemini", f"Why {said}") == f"Why {said}"
    assert prompt("gemini", "<hook_context> is never closed") == "<hook_context> is never closed"
    assert prompt("claude", said) == said


def test_what_the_payload_names_counts_more_than_what_was_asked() -> None:
    naming = [path for path in GOLDEN if {"hook_event_name", "event"} & set(json.loads(path.read_bytes()))]
    assert {path.parent.name for path in naming} == set(CLIENTS) - {"cline"}
    for path in naming:
        meant = msgspec.convert(_expected(path)["event"], HookEvent)
        for asked in (*EVENTS, "PreToolUse", "nonsense"):
            assert read_event(path.parent.name, asked, path.read_bytes()) == meant


@pytest.mark.parametrize(
    ("client", "native", "event"),
    [
        ("claude", "UserPromptSubmit", "prompt"),
        ("claude", "userpromptsubmit", "prompt"),
        ("codex", "Stop", "turn-end"),
        ("cursor", "beforeSubmitPrompt", "prompt"),
        ("gemini", "PreCompress", "before-compaction"),
        ("opencode", "session.idle", "turn-end"),
        ("copilot", "agentStop", "turn-end"),
        ("copilot", "Stop", "turn-end"),
    ],
)
def test_an_event_may_be_asked_for_by_the_clients_name(client: str, native: str, event: str) -> None:
    read = read_event(client, native, b"{}")
    assert read.event == event
    assert read.native.casefold() == native.casefold()


def test_a_start_after_a_compaction_is_the_event_after_it_whatever_was_asked() -> None:
    for asked in ("session-start", "after-compaction", "SessionStart"):
        read = read_event("claude", asked, b'{"source": "compact"}')
        assert (read.event, read.native, read.source) == ("after-compaction", "SessionStart", "compact")
        assert room_for(read) == Room(2_000, 8_000)
    done = read_event("claude", "after-compaction", b'{"compact_summary": "Short."}')
    assert (done.native, done.summary, room_for(done)) == ("PostCompact", "Short.", Room(0, 0))


def test_an_agent_that_is_no_subagent_is_the_session_itself() -> None:
    payload = b'{"hook_event_name": "SessionStart", "session_id": "s", "agent_type": "reviewer"}'
    assert read_event("claude", "session-start", payload).agent == ""


def test_an_event_that_nobody_listens_to_is_refused_by_its_name() -> None:
    with pytest.raises(
        ValueError, match=r"^Claude Code named its event 'PostToolUse', which Quire does not listen to\.$"
    ):
        read_event("claude", "before-edit", b'{"hook_event_name": "PostToolUse"}')
    with pytest.raises(ValueError, match=r"^'SessionBegin' is not an event of Codex, and none of: session-start, "):
        read_event("codex", "SessionBegin", b"{}")
    with pytest.raises(ValueError, match=r"^'emacs' is not a client with hooks. Clients with hooks: claude, codex, "):
        read_event("emacs", "prompt", b"{}")
