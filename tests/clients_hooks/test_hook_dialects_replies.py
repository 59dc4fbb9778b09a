"""Answers: always what the client can parse, never more than text, never a word on what may be done."""

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cases import each
from promised import proves
from quire.clients.hooks.dialects import dialect_of
from quire.clients.hooks.reply import reply, room_for
from quire.clients.hooks.types import CLIENTS, EVENTS, HookEvent, Room

NATIVES = [(client, native, event) for client in CLIENTS for native, event in dialect_of(client).natives.items()]
# Whatever allows, denies, stops, continues, rewrites or speaks as the user.
STEERING = {
    "decision",
    "permission",
    "permissionDecision",
    "permissionDecisionReason",
    "continue",
    "stopReason",
    "reason",
    "behavior",
    "interrupt",
    "cancel",
    "updatedInput",
    "updated_input",
    "modifiedArgs",
    "modifiedPrompt",
    "modifiedResponse",
    "followup_message",
    "user_message",
    "agent_message",
    "systemMessage",
    "suppressOutput",
    "tool_input",
    "clearContext",
    "env",
    "sessionTitle",
}
# The whole of what an answer with a text may look like, by client; a capital letter begins Claude's names.
FLAT = {"cursor": "additional_context", "copilot": "additionalContext", "opencode": "context"}
# What the published schemas of Codex let an answer hold, beside what steers.
CODEX_TAKES_CONTEXT = {"SessionStart", "UserPromptSubmit", "PreToolUse", "SubagentStart"}
TEXTS = st.text(max_size=400) | st.sampled_from(['{"decision":"block"}', '"}\n{"continue":false}', "\ud800", "\0"])


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _keys(inner)


def _event(client: str, native: str, event: str) -> HookEvent:
    return HookEvent(client=client, native=native, event=event)


@proves("P10.5", "H6")
@given(told=st.sampled_from(NATIVES), event=st.sampled_from(EVENTS), text=TEXTS)
def test_an_answer_parses_and_steers_nothing(told: tuple[str, str, str], event: str, text: str) -> None:
    client, native, _ = told
    answer = reply(_event(client, native, event), text)
    assert answer.count(b"\n") == (1 if answer else 0)
    assert answer.endswith(b"\n") or not answer
    if not answer:
        assert client in ("claude", "codex", "opencode")
        return
    said = json.loads(answer.decode("utf-8"))
    assert not set(_keys(said)) & STEERING
    shown = text.encode("utf-8", "replace").decode()
    if said == {}:
        assert client in ("cursor", "gemini", "copilot")
    elif client in FLAT and native[0].islower():
        assert said == {FLAT[client]: shown}
    else:
        assert said == {"hookSpecificOutput": {"hookEventName": native, "additionalContext": shown}}


@each(("client", "native", "event"), NATIVES)
def test_text_is_carried_exactly_where_there_is_room(client: str, native: str, event: str) -> None:
    read = _event(client, native, event)
    carried = b"a fact" in reply(read, "a fact")
    assert carried == (room_for(read) != Room(0, 0))
    assert b"a fact" not in reply(read, "")


@each(("client", "native", "event"), NATIVES)
def test_no_end_of_a_turn_or_a_session_is_ever_answered_with_text(client: str, native: str, event: str) -> None:
    if event in ("turn-end", "session-end"):
        assert room_for(_event(client, native, event)) == Room(0, 0)
        assert reply(_event(client, native, event), "go on") in (b"", b"{}\n")


@proves("P10.5", "H6")
@each(("client", "native", "event"), NATIVES)
def test_architecture_stay_below_what_clients_cut(client: str, native: str, event: str) -> None:
    room = room_for(_event(client, native, event))
    most = {
        "session-start": (2_000, 8_000),
        "after-compaction": (2_000, 8_000),
        "prompt": (400, 1_500),
        "before-edit": (500, 2_000),
        "before-compaction": (500, 2_000),
    }
    assert (room.tokens, room.chars) in ((0, 0), most.get(event, (0, 0)))
    assert room.tokens < 2_500
    assert room.chars < 10_000


@proves("P10.5", "H6")
def test_codex_is_given_text_where_its_schemas_take_it_and_nowhere_else() -> None:
    taken = {
        native for client, native, event in NATIVES if client == "codex" and reply(_event(client, native, event), "x")
    }
    assert taken == CODEX_TAKES_CONTEXT


def test_the_silent_answers() -> None:
    assert {client: dialect_of(client).silence for client in CLIENTS} == {
        "claude": b"",
        "codex": b"",
        "cursor": b"{}\n",
        "gemini": b"{}\n",
        "opencode": b"",
        "copilot": b"{}\n",
        "cline": b"",
    }


def test_a_made_up_event_is_answered_with_silence() -> None:
    assert reply(_event("claude", "Whatever", "prompt"), "x") == b""
    assert reply(_event("gemini", "SessionStart", "whatever"), "x") == b"{}\n"
    assert reply(_event("cline", "TaskStart", "session-start"), "x") == b""
