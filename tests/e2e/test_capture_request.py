"""An agent is asked, at most once per session, what should last: where somebody chose it, and there is something."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hooks_here import SILENCE, Hooks

from installed import Git, Memory

NAME = "3f2a1b4c-10da-4411-8cd2-4aa7b569dbd9"
TALK = (
    "The order list is slow. Should we keep it in Redis, or in the process?",
    "I'd keep the order list in the process for 30 seconds, because Redis is one more service.",
    "Yes, do that.",
    "Done.",
    "Always use uv instead of pip, because the lock file is what CI installs.",
    "Understood.",
)
SMALL_TALK = ("What does this function do?", "It adds two numbers.", "Thanks.", "You are welcome.")
WORDS = {"claude": ("Stop", "block"), "codex": ("Stop", "block"), "gemini": ("AfterAgent", "deny")}


@pytest.fixture
def shop(memory: Memory, repo: Path, git: Git) -> Hooks:
    memory.init("--no-guidance")
    git.commit()
    assert memory("integrate", "--capture", "agent").code == 0
    return Hooks(repo, memory.env)


def session(shop: Hooks, client: str = "claude", talk: tuple[str, ...] = TALK, name: str = NAME) -> dict[str, Any]:
    """A session in the client's own form and place, and what its hook says at the end of a turn."""
    home = Path(shop.env["HOME"])
    if client == "claude":
        path, lines = home / ".claude/projects/-harbor" / f"{name}.jsonl", claude_lines(shop, talk, name)
    elif client == "codex":
        path, lines = home / ".codex/sessions/2026/03/01" / f"rollout-x-{name}.jsonl", codex_lines(shop, talk, name)
    else:
        path, lines = home / ".gemini/tmp/harbor/chats" / f"session-{name[:8]}.json", gemini_lines(talk, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    native = WORDS.get(client, ("Stop", ""))[0]
    return {"session_id": name, "transcript_path": str(path), "hook_event_name": native, "stop_hook_active": False}


def claude_lines(shop: Hooks, talk: tuple[str, ...], name: str) -> list[dict[str, Any]]:
    return [
        {
            "type": ("user", "assistant")[number % 2],
            "sessionId": name,
            "cwd": str(shop.root),
            "uuid": f"u-{number}",
            "timestamp": f"2090-03-01T10:0{number}:00.000Z",
            "message": {"role": ("user", "assistant")[number % 2], "content": text},
        }
        for number, text in enumerate(talk)
    ]


def codex_lines(shop: Hooks, talk: tuple[str, ...], name: str) -> list[dict[str, Any]]:
    meta = {"id": name, "cwd": str(shop.root), "originator": "codex_cli_rs", "timestamp": "2090-03-01T10:00:00Z"}
    lines: list[dict[str, Any]] = [{"timestamp": "2090-03-01T10:00:00Z", "type": "session_meta", "payload": meta}]
    for number, text in enumerate(talk):
        role, form = (("user", "input_text"), ("assistant", "output_text"))[number % 2]
        said = {"type": "message", "role": role, "content": [{"type": form, "text": text}]}
        lines.append({"timestamp": f"2090-03-01T10:0{number}:00Z", "type": "response_item", "payload": said})
    return lines


def gemini_lines(talk: tuple[str, ...], name: str) -> list[dict[str, Any]]:
    messages = [
        {
            "id": f"m{number}",
            "type": ("user", "gemini")[number % 2],
            "content": text,
            "timestamp": f"2090-03-01T10:0{number}:00Z",
        }
        for number, text in enumerate(talk)
    ]
    return [{"sessionId": name, "startTime": "2090-03-01T10:00:00Z", "messages": messages}]


def asked(shop: Hooks, payload: dict[str, Any], client: str = "claude") -> str:
    """What the agent is asked at the end of a turn; empty where the hook is silent."""
    done = shop(client, "turn-end", stdin=payload)
    assert (done.code, done.err) == (0, "")
    if done.out == SILENCE[client]:
        return ""
    answer = json.loads(done.out)
    assert set(answer) == {"decision", "reason"}
    assert answer["decision"] == WORDS[client][1]
    return str(answer["reason"])


def test_each_client_asks_once_and_in_its_own_words(shop: Hooks, memory: Memory) -> None:
    for number, client in enumerate(WORDS):
        name = f"{number}{NAME[1:]}"
        payload = session(shop, client, name=name)
        said = asked(shop, payload, client)
        assert "`propose_memory`" in said
        assert "memory inbox propose" in said
        assert " tokens" in said
        assert len(said) < 800
        # Never again: not as the answer to itself, not at a later turn, not when the session grew.
        assert asked(shop, {**payload, "stop_hook_active": True}, client) == ""
        session(shop, client, (*TALK, *TALK[:4]), name)
        assert asked(shop, payload, client) == ""
    (first, *_), out = shop.receipts(f"0{NAME[1:]}"), memory("receipts").out
    assert (first.event, first.note) == ("turn-end", "asked what should last")
    assert 50 < first.tokens < 250
    assert "asked what should last" in out
    assert memory("inbox", "--json").data["results"] == []


def test_nobody_is_asked_who_did_not_choose_it(shop: Hooks, memory: Memory) -> None:
    assert memory("integrate", "--status").out.count("Capture: ") == 1
    assert memory("doctor", "--json").json["data"]["findings"]
    assert memory("integrate", "--capture", "none").out == "Capture: no agent is asked.\n"
    assert asked(shop, session(shop)) == ""
    assert "Capture" not in memory("integrate", "--status").out
    assert shop.receipts(NAME) == []
    # The choice is this folder's: a copy of the repository does not bring it along.
    memory("integrate", "--capture", "agent")
    copy = shop.root.parent / "copy"
    shutil.copytree(shop.root, copy)
    there = Hooks(copy, memory.env)
    assert asked(there, session(there)) == ""


def test_the_choice_goes_with_the_last_client_that_can_be_asked(shop: Hooks, memory: Memory) -> None:
    memory("integrate", "claude", "codex")
    assert "Capture: " not in memory("integrate", "codex", "--remove").out
    assert "Capture: no agent is asked." in memory("integrate", "--remove").out
    assert asked(shop, session(shop)) == ""


def test_nothing_is_asked_where_nothing_lasts_or_something_was_saved(shop: Hooks, memory: Memory) -> None:
    payload = session(shop, talk=SMALL_TALK)
    assert asked(shop, payload) == ""
    # A little more does not have it looked at again; much more does.
    session(shop, talk=(*SMALL_TALK, "Bye."))
    assert asked(shop, payload) == ""
    session(shop)
    shop.said("claude", "session-start", session_id=NAME)
    assert memory("inbox", "propose", "decision", "Orders stay in the process", "--why", "Redis is a service").code == 0
    assert asked(shop, payload) == ""
    shop.said("claude", "session-start", session_id="another-session")
    memory("inbox", "accept", "--all")
    assert asked(shop, session(shop, name="another-session")) == ""


def test_subagents_and_other_clients_are_never_asked(shop: Hooks) -> None:
    payload = session(shop)
    assert asked(shop, {**payload, "agent_id": "a-1"}) == ""
    assert asked(shop, {**payload, "hook_event_name": "SubagentStop"}) == ""
    for client in ("cursor", "copilot", "opencode"):
        done = shop(client, "turn-end", stdin={"session_id": NAME, "transcript_path": payload["transcript_path"]})
        assert (done.code, done.out) == (0, SILENCE[client])
    # Copilot runs Claude's hooks, too, and its sessions cannot be read.
    assert shop("claude", "turn-end", stdin={**payload, "timestamp": 1}).out == SILENCE["copilot"]


def test_payloads_that_lie(shop: Hooks, tmp_path: Path) -> None:
    payload = session(shop)
    elsewhere = tmp_path / f"{NAME}.jsonl"
    shutil.copy(payload["transcript_path"], elsewhere)
    link = Path(payload["transcript_path"]).with_name("link.jsonl")
    link.symlink_to(elsewhere)
    for wrong in (
        {"transcript_path": str(elsewhere)},
        {"transcript_path": str(link)},
        {"transcript_path": "/dev/zero"},
        {"transcript_path": "x" * 5_000, "session_id": "../../etc"},
        {"transcript_path": None, "session_id": 7},
        {"session_id": ""},
        {"stop_hook_active": True},
    ):
        assert asked(shop, {**payload, **wrong}) == "", wrong
    assert asked(shop, {**payload, "stop_hook_active": "yes"}) != ""


def test_damaged_notes_and_a_full_disk_ask_nobody_twice(shop: Hooks) -> None:
    payload = session(shop)
    asked_file = shop.root / ".memory/local/asked.json"
    asked_file.mkdir()
    assert asked(shop, payload) == ""
    asked_file.rmdir()
    asked_file.write_text('{"version": 1, "sessions": {"a": "b", "c": null}}')
    assert asked(shop, payload) != ""
    assert asked(shop, payload) == ""


def test_hooks_at_once_ask_once(shop: Hooks) -> None:
    payload = session(shop)
    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(lambda _: asked(shop, payload), range(4)))
    assert sum(map(bool, said)) == 1


@pytest.mark.proof
def test_a_long_session_is_heard_at_its_end_within_the_time(shop: Hooks) -> None:
    long = ("Show me the log of the worker.", "x " * 30_000) * 40
    payload = session(shop, talk=(*long, *TALK))
    assert Path(payload["transcript_path"]).stat().st_size > 2_000_000
    assert "`propose_memory`" in asked(shop, payload)
    assert shop.log() == []
