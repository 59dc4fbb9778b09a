"""Wiring that is interrupted, repeated by another version, or overtaken by another program: the way back stays."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from integration_cases import CLAUDE_SETTINGS, MCP_TABS, held, lay

from promised import proves
from quire.files import disk
from quire.files.world import World
from quire.model.errors import UnsupportedVersion
from quire.project import Project
from quire.verbs.agents.connections import connect_clients, disconnect_clients

FILES = {".claude/settings.json": CLAUDE_SETTINGS, ".mcp.json": MCP_TABS, "CLAUDE.md": b"# Harbor\n"}


class Crash(BaseException):
    """The power is gone."""


@pytest.fixture
def wiring(project: Project, world: World) -> Project:
    return Project.open(project.root, world)


@pytest.fixture
def older(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An earlier version, whose texts and hooks were others."""
    from quire.clients.hooks.types import Wired

    def wire() -> None:
        events = (
            Wired(event="session-start", native="SessionStart", matcher="startup", seconds=60),
            Wired(event="turn-end", native="SubagentStop", matcher="", seconds=1),
        )
        monkeypatch.setattr("quire.clients.hooks.reply.connected_events", lambda _client: events)
        monkeypatch.setattr("quire.clients.integration.catalogue.skill_text", lambda: "old\n")

    return wire


def stop_at(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """End the world at the n-th change of the disk; what a handler would tidy up is not done either."""
    seen = iter(range(10**6))

    def count(_operation: str, _path: str) -> None:
        if next(seen) >= number:
            raise Crash

    monkeypatch.setattr(disk, "before", count)


def count_operations(monkeypatch: pytest.MonkeyPatch, work: Any) -> int:
    seen: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(disk, "before", lambda operation, _path: seen.append(operation))
        work()
    return len(seen)


@pytest.mark.proof
def test_a_crash_at_any_moment_leaves_the_way_back(
    wiring: Project, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(repo, FILES)
    before = held(repo)
    total = count_operations(monkeypatch, lambda: connect_clients(wiring, ["claude"]))
    disconnect_clients(wiring, ["claude"])
    assert held(repo) == before
    for number in range(total):
        with monkeypatch.context() as patch:
            stop_at(patch, number)
            with pytest.raises(Crash):
                connect_clients(wiring, ["claude"])
        sweep(repo)
        if number % 2:
            connect_clients(wiring, ["claude"])
        disconnect_clients(wiring, ["claude"])
        assert held(repo) == before, number


@pytest.mark.proof
def test_a_crash_while_it_is_taken_back_leaves_the_way_back(
    wiring: Project, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(repo, FILES)
    before = held(repo)
    connect_clients(wiring, ["claude"])
    total = count_operations(monkeypatch, lambda: disconnect_clients(wiring, ["claude"]))
    for number in range(total):
        connect_clients(wiring, ["claude"])
        with monkeypatch.context() as patch:
            stop_at(patch, number)
            with pytest.raises(Crash):
                disconnect_clients(wiring, ["claude"])
        sweep(repo)
        disconnect_clients(wiring, ["claude"])
        assert held(repo) == before, number


@pytest.mark.proof
def test_a_crash_during_an_upgrade_leaves_the_way_back(
    wiring: Project, repo: Path, monkeypatch: pytest.MonkeyPatch, older: Any
) -> None:
    lay(repo, FILES)
    before = held(repo)
    for number in range(40):
        with monkeypatch.context():
            older()
            connect_clients(wiring, ["claude"])
        monkeypatch.undo()
        with monkeypatch.context() as patch:
            stop_at(patch, number)
            with contextlib.suppress(Crash):
                connect_clients(wiring, ["claude"])
        sweep(repo)
        disconnect_clients(wiring, ["claude"])
        assert held(repo) == before, number


def test_an_upgrade_replaces_the_texts_and_the_hooks(
    wiring: Project, repo: Path, monkeypatch: pytest.MonkeyPatch, older: Any
) -> None:
    lay(repo, FILES)
    before = held(repo)
    older()
    connect_clients(wiring, ["claude"])
    assert (repo / ".claude/skills/quire-memory/SKILL.md").read_text() == "old\n"
    assert b"SubagentStop" in (repo / ".claude/settings.json").read_bytes()
    monkeypatch.undo()

    done = connect_clients(wiring, ["claude"])

    assert {part.part: part.status for part in done.parts} == {
        "mcp": "unchanged",
        "hooks": "updated",
        "skill": "updated",
        "command": "unchanged",
        "guidance": "unchanged",
    }
    assert b"SubagentStop" not in (repo / ".claude/settings.json").read_bytes()
    disconnect_clients(wiring, ["claude"])
    assert held(repo) == before


def test_an_upgrade_after_an_edit_of_the_user_keeps_the_edit(
    wiring: Project, repo: Path, monkeypatch: pytest.MonkeyPatch, older: Any
) -> None:
    lay(repo, FILES)
    older()
    connect_clients(wiring, ["claude"])
    path = repo / ".claude/settings.json"
    path.write_bytes(path.read_bytes().replace(b'"opus"', b'"sonnet" /* cheaper */'))
    monkeypatch.undo()
    connect_clients(wiring, ["claude"])
    assert b"SubagentStop" not in path.read_bytes()
    assert b"quire hook claude prompt" in path.read_bytes()
    disconnect_clients(wiring, ["claude"])
    assert path.read_bytes() == CLAUDE_SETTINGS.replace(b'"opus"', b'"sonnet" /* cheaper */')


def test_a_change_made_meanwhile_by_another_program_is_not_lost(
    wiring: Project, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(repo, {".mcp.json": b'{"mcpServers": {}}\n'})
    overtaken = []

    def overtake(operation: str, path: str) -> None:
        if operation == "create" and path.startswith(f"{repo}/.quire-") and not overtaken:
            overtaken.append(path)
            (repo / ".mcp.json").write_bytes(b'{"mcpServers": {"a": {"command": "a"}}}\n')

    with monkeypatch.context() as patch:
        patch.setattr(disk, "before", overtake)
        assert connect_clients(wiring, ["claude"]).is_clean
    assert overtaken
    assert list(json.loads((repo / ".mcp.json").read_text())["mcpServers"]) == ["a", "quire"]
    disconnect_clients(wiring, ["claude"])
    assert (repo / ".mcp.json").read_bytes() == b'{"mcpServers": {"a": {"command": "a"}}}\n'


def test_a_file_that_never_rests_is_given_up(wiring: Project, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(repo, {".mcp.json": b"{}\n"})
    count = iter(range(100))

    def overtake(operation: str, path: str) -> None:
        if operation == "create" and path.startswith(f"{repo}/.quire-"):
            (repo / ".mcp.json").write_text(json.dumps({"n": next(count)}))

    with monkeypatch.context() as patch:
        patch.setattr(disk, "before", overtake)
        done = connect_clients(wiring, ["copilot"])
    file = next(file for file in done.files if file.path == ".mcp.json")
    assert (file.status, next(count)) == ("failed", 3)
    assert json.loads((repo / ".mcp.json").read_text()) == {"n": 2}
    assert not [one for one in (repo / ".memory/integrations").iterdir() if "mcp-json" in one.name]


def test_a_record_of_a_newer_version_stops_everything(wiring: Project, repo: Path) -> None:
    connect_clients(wiring, ["cline"])
    record = next((repo / ".memory/integrations").iterdir())
    record.write_text(record.read_text().replace('"version": 1', '"version": 2'))
    before = held(repo)
    with pytest.raises(UnsupportedVersion, match="newer version"):
        disconnect_clients(wiring, ["cline"])
    assert held(repo) == before


def test_a_damaged_record_is_told_and_the_form_alone_is_enough(wiring: Project, repo: Path) -> None:
    lay(repo, {".mcp.json": MCP_TABS})
    connect_clients(wiring, ["claude"])
    for record in (repo / ".memory/integrations").iterdir():
        if "CLAUDE" not in record.name:
            record.write_text("{")
    done = disconnect_clients(wiring, ["claude"])
    assert {problem.code for problem in done.warnings} == {"IntegrationRecordDamaged"}
    assert (repo / ".mcp.json").read_bytes() == MCP_TABS
    assert not (repo / ".claude").exists() or not any((repo / ".claude").rglob("*.*"))


@proves("P7.2", "F3")
def test_a_record_that_a_repository_brings_leads_nowhere_else(wiring: Project, repo: Path, tmp_path: Path) -> None:
    """A record is a file like any other: whoever made the repository may have written it."""
    (tmp_path / "empty").mkdir()
    connect_clients(wiring, ["cline"])
    record = next((repo / ".memory/integrations").iterdir())
    fields = json.loads(record.read_text())
    fields["made_folders"] += ["../empty", str(tmp_path / "empty"), ".git/refs/tags"]
    record.write_text(json.dumps(fields))
    disconnect_clients(wiring, ["cline"])
    assert (tmp_path / "empty").is_dir()
    assert (repo / ".git/refs/tags").is_dir()


def sweep(repo: Path) -> None:
    """What a killed writer leaves beside a file goes with the next one that writes there; here, it lives on."""
    for path in repo.rglob(".quire-*.tmp"):
        path.unlink()
