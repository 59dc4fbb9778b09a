"""What is wired in each client, and what a hook loads to read one event."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from quire.clients.hooks.dialects import dialect_of
from quire.clients.hooks.read_event import read_event
from quire.clients.hooks.reply import connected_events, room_for
from quire.clients.hooks.types import CLIENTS, EVENTS, HookEvent, Room

WIRED = {
    "claude": [
        ("session-start", "SessionStart", "", 10),
        ("prompt", "UserPromptSubmit", "", 5),
        ("before-edit", "PreToolUse", "Edit|Write|MultiEdit|NotebookEdit", 5),
        ("turn-end", "Stop", "", 10),
        ("before-compaction", "PreCompact", "", 10),
        ("after-compaction", "PostCompact", "", 10),
        ("session-end", "SessionEnd", "", 3),
    ],
    "codex": [
        ("session-start", "SessionStart", "", 10),
        ("prompt", "UserPromptSubmit", "", 5),
        ("before-edit", "PreToolUse", "apply_patch", 5),
        ("before-compaction", "PreCompact", "", 10),
        ("turn-end", "Stop", "", 10),
        ("session-end", "SessionEnd", "", 3),
    ],
    "cursor": [
        ("session-start", "sessionStart", "", 10),
        ("before-compaction", "preCompact", "", 10),
        ("turn-end", "stop", "", 10),
        ("session-end", "sessionEnd", "", 5),
    ],
    "gemini": [
        ("session-start", "SessionStart", "", 10),
        ("prompt", "BeforeAgent", "", 5),
        ("turn-end", "AfterAgent", "", 10),
        ("session-end", "SessionEnd", "", 5),
    ],
    "opencode": [
        ("session-start", "session.created", "", 5),
        ("prompt", "chat.message", "", 2),
        ("before-edit", "tool.execute.before", "edit|multiedit|write|patch|apply_patch", 2),
        ("before-compaction", "experimental.session.compacting", "", 5),
        ("after-compaction", "session.compacted", "", 5),
        ("turn-end", "session.idle", "", 5),
        ("session-end", "session.deleted", "", 3),
    ],
    "copilot": [
        ("session-start", "sessionStart", "", 10),
        ("before-compaction", "preCompact", "", 10),
        ("turn-end", "agentStop", "", 10),
        ("session-end", "sessionEnd", "", 5),
    ],
    "cline": [],
}
_LOADED = """
import sys
from quire.clients.hooks.read_event import read_event
from quire.clients.hooks.reply import reply, room_for
event = read_event(sys.argv[1], "session-start", b'{"cwd": "/w", "source": "startup"}')
reply(event, "text"), room_for(event)
print(*sorted(name for name in sys.modules if name.startswith("quire.") or "." not in name))
"""


@pytest.mark.parametrize("client", CLIENTS)
def test_these_hooks_are_wired(client: str) -> None:
    wired = [(each.event, each.native, each.matcher, each.seconds) for each in connected_events(client)]
    assert wired == WIRED[client]


@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_wired_is_read_as_what_it_was_wired_for(client: str) -> None:
    for each in connected_events(client):
        read = read_event(client, each.event, b"{}")
        assert (read.event, read.native) == (each.event, each.native)
        assert read_event(client, each.native, b"{}") == read
        assert dialect_of(client).natives[each.native] == each.event


@pytest.mark.parametrize("client", CLIENTS)
def test_a_matcher_names_tools_that_write_files(client: str) -> None:
    for each in connected_events(client):
        tools = set(each.matcher.split("|")) if each.matcher else set()
        assert tools <= dialect_of(client).editors
        assert bool(tools) == (each.event == "before-edit")


@pytest.mark.parametrize("client", CLIENTS)
def test_before_a_prompt_or_an_edit_nobody_waits_for_a_hook_without_an_answer(client: str) -> None:
    for each in connected_events(client):
        if each.event in ("prompt", "before-edit"):
            assert room_for(HookEvent(client=client, event=each.event, native=each.native)) != Room(0, 0)


def test_every_native_event_is_one_of_ours() -> None:
    for client in CLIENTS:
        dialect = dialect_of(client)
        assert set(dialect.natives.values()) <= set(EVENTS)
        assert dialect.carries | dialect.subagents <= set(dialect.natives)


@pytest.mark.parametrize("client", [client for client in CLIENTS if client != "cline"])
def test_a_hook_loads_its_own_dialect_and_nothing_heavy(client: str) -> None:
    done = subprocess.run([sys.executable, "-c", _LOADED, client], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    ours = {name for name in loaded if name.startswith("quire.clients.")}
    assert ours == {
        f"quire.clients.{name}"
        for name in (
            "hooks",
            *(f"hooks.{each}" for each in ("dialects", "payload", "read_event", "reply", "types", client)),
        )
    }
    rooms = {name.split(".")[1] for name in loaded if name.startswith("quire.")}
    assert rooms == {"clients"}
    assert not loaded & {
        "json",
        "dataclasses",
        "pathlib",
        "subprocess",
        "click",
        "apsw",
        "asyncio",
        "logging",
        "tempfile",
    }


def _cells() -> dict[tuple[str, str], str]:
    """The page's table of events: what it says by client and event."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "hooks.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if re.match(r"\| `[a-z-]+` \| \*\*", line)]
    clients = ("claude", "codex", "cursor", "gemini", "opencode", "copilot")
    return {(client, row[0].strip("`")): cell for row in rows for client, cell in zip(clients, row[1:], strict=True)}


def test_the_page_says_which_events_there_are_and_which_are_wired() -> None:
    cells = _cells()
    assert {event for _, event in cells} == set(EVENTS)
    for (client, event), cell in cells.items():
        dialect = dialect_of(client)
        # The second shape of a client is told beside the table, and so are subagents.
        names = [name for name, ours in dialect.natives.items() if ours == event and name not in dialect.subagents]
        names = [name for name in names if client != "copilot" or name[0].islower()]
        wired = {each.native for each in connected_events(client) if each.event == event}
        # A start with the source `compact` is told there too.
        again = {"SessionStart"} if event == "after-compaction" and client in ("claude", "codex") else set()
        assert set(re.findall(r"\*\*(.+?)\*\*", cell)) == wired | again, (client, event)
        said = re.sub(r"\*text\*| with the source `compact`|\*\*", "", cell)
        assert set(re.findall(r"[\w.]+", said)) == {*names, *again}, (client, event)
        assert ("*text*" in cell) == bool(dialect.carries & {*names, *again}), (client, event)
