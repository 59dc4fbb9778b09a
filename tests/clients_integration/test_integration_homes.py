"""Clients wired in a user's own configuration: absolute programs, folders named by the environment, nothing lost."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from integration_cases import CLAUDE_SETTINGS, CODEX_CONFIG, GEMINI_SETTINGS, OPENCODE, held, lay

from promised import proves
from quire.clients.integration.manifest import FOLDER
from quire.files.programs import own_command
from quire.files.world import World
from quire.model.errors import InputError
from quire.project import Project
from quire.verbs.agents.connections import connect_clients, connection_status, disconnect_clients

HOME = {
    ".claude.json": b'{\n  "numStartups": 12,\n  "projects": {"/srv/a": {"mcpServers": {}}},\n  "mcpServers": {}\n}',
    ".claude/settings.json": CLAUDE_SETTINGS,
    ".codex/config.toml": CODEX_CONFIG,
    ".codex/hooks.json": b'{"hooks": {"Stop": []}}\n',
    ".cursor/mcp.json": b'{\n\t"mcpServers": {\n\t\t"a": {"url": "https://a.example"}\n\t}\n}\n',
    ".gemini/settings.json": GEMINI_SETTINGS,
    ".config/opencode/opencode.jsonc": OPENCODE,
    ".copilot/mcp-config.json": b'{"mcpServers":{}}',
    ".cline/data/settings/cline_mcp_settings.json": b'{\r\n  "mcpServers": {}\r\n}\r\n',
}


@pytest.fixture
def home(world: World) -> Path:
    return Path(world.home)


@pytest.fixture
def wiring(repo: Path, world: World) -> Project:
    """A project without a memory: what belongs to a user needs none."""
    return Project.open(str(repo), world)


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_every_client_of_a_home_is_wired_and_taken_back(wiring: Project, home: Path, repo: Path) -> None:
    lay(home, HOME)
    before = held(home)

    first = connect_clients(wiring, ["all"], user=True)
    wired = held(home)
    again = connect_clients(wiring, ["all"], user=True)

    assert first.is_clean
    assert {part.status for part in again.parts} == {"unchanged"}
    assert held(home) == wired
    assert {part.path for part in first.parts if part.status == "updated"} == {f"~/{name}" for name in HOME}
    assert held(repo) == {}
    disconnect_clients(wiring, ["all"], user=True)
    assert held(home) == before


@proves("P7.3", "F5")
def test_programs_are_named_by_paths_that_exist(wiring: Project, home: Path) -> None:
    connect_clients(wiring, ["all"], user=True)
    programs = {
        read(home / ".claude.json")["mcpServers"]["quire"]["command"],
        tomllib.loads((home / ".codex/config.toml").read_text())["mcp_servers"]["quire"]["command"],
        read(home / ".cursor/mcp.json")["mcpServers"]["quire"]["command"],
        read(home / ".config/opencode/opencode.json")["mcp"]["quire"]["command"][0],
        read(home / ".copilot/mcp-config.json")["mcpServers"]["quire"]["command"],
        read(home / ".cline/data/settings/cline_mcp_settings.json")["mcpServers"]["quire"]["command"],
    }
    assert len(programs) == 1
    assert os.path.isabs(next(iter(programs)))
    assert os.access(next(iter(programs)), os.X_OK)
    hook = read(home / ".claude/settings.json")["hooks"]["Stop"][0]["hooks"][0]["command"]
    words = shlex.split(hook.removesuffix(" || true"))
    assert os.access(words[0], os.X_OK)
    assert words[-3:] == ["hook", "claude", "turn-end"]
    plugin = (home / ".config/opencode/plugins/quire-memory.js").read_text()
    assert f"spawn({json.dumps(words[0])}, [" in plugin
    assert 'spawn("quire"' not in plugin


def test_a_path_with_blanks_is_one_word_for_the_shell(
    wiring: Project, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my programs"
    folder.mkdir()
    for name in ("python", "quire", "memory-mcp"):
        (folder / name).write_text('#!/bin/sh\necho "$@"\n')
        (folder / name).chmod(0o755)
    monkeypatch.setattr("sys.executable", str(folder / "python"))
    connect_clients(wiring, ["cursor"], user=True)
    command = read(home / ".cursor/hooks.json")["hooks"]["stop"][0]["command"]
    assert command == f"'{folder}/quire' hook cursor turn-end || true"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=True)
    assert done.stdout == b"hook cursor turn-end\n"
    assert read(home / ".cursor/mcp.json")["mcpServers"]["quire"] == {
        "type": "stdio",
        "command": f"{folder}/memory-mcp",
        "args": [],
    }
    assert {part.status for part in connect_clients(wiring, ["cursor"], user=True).parts} == {"unchanged"}


def test_without_installed_scripts_the_interpreter_is_named(
    wiring: Project, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "python3"))
    connect_clients(wiring, ["claude", "opencode"], user=True)
    python = str(tmp_path / "python3")
    assert read(home / ".claude.json")["mcpServers"]["quire"] == {
        "command": python,
        "args": ["-P", "-m", "quire.surfaces.mcp"],
    }
    assert read(home / ".config/opencode/opencode.json")["mcp"]["quire"]["command"] == [
        *own_command()[:3],
        "quire.surfaces.mcp",
    ]
    monkeypatch.undo()
    done = connect_clients(wiring, ["claude", "opencode"], user=True)
    assert {part.part: part.status for part in done.parts if part.client == "claude"} == {
        "mcp": "updated",
        "hooks": "updated",
        "skill": "unchanged",
        "command": "unchanged",
    }
    assert read(home / ".claude.json")["mcpServers"]["quire"]["args"] == []
    disconnect_clients(wiring, user=True)
    assert not (home / ".claude.json").exists()


def test_a_program_that_moved_is_put_right_and_its_options_stay(wiring: Project, home: Path) -> None:
    lay(
        home,
        {
            ".claude.json": b'{"mcpServers": {"quire": {"command": "/old/memory-mcp", "args": ["--toolset", "core"]}}}',
            ".claude/settings.json": (
                b'{"hooks": {"Stop": [{"hooks": [{"type": "command", '
                b'"command": "/old/quire hook claude turn-end || true"}]}]}}'
            ),
        },
    )
    connect_clients(wiring, ["claude"], user=True)
    entry = read(home / ".claude.json")["mcpServers"]["quire"]
    assert entry["args"] == ["--toolset", "core"]
    assert os.access(entry["command"], os.X_OK)
    assert b"/old/" not in (home / ".claude/settings.json").read_bytes()
    assert len(read(home / ".claude/settings.json")["hooks"]["Stop"]) == 1


def test_the_environment_says_where_clients_live(repo: Path, world: World, tmp_path: Path) -> None:
    names = {
        "CLAUDE_CONFIG_DIR": "claude/.claude.json",
        "CODEX_HOME": "codex/config.toml",
        "XDG_CONFIG_HOME": "config/opencode/opencode.json",
        "COPILOT_HOME": "copilot/mcp-config.json",
        "GEMINI_CLI_HOME": "gemini/.gemini/settings.json",
        "CLINE_DIR": "cline/data/settings/cline_mcp_settings.json",
    }
    places = tmp_path / "places"
    env = {**world.env, **{name: str(places / path.split("/")[0]) for name, path in names.items()}}
    wiring = Project.open(str(repo), msgspec.structs.replace(world, env=env))
    connect_clients(wiring, ["all"], user=True)
    for path in names.values():
        assert b"memory-mcp" in (places / path).read_bytes(), path
    assert (places / "claude/settings.json").exists()
    assert (places / "codex/hooks.json").exists()
    disconnect_clients(wiring, user=True)
    assert not places.exists()
    other = {**env, "CLINE_MCP_SETTINGS_PATH": str(tmp_path / "servers.json")}
    connect_clients(Project.open(str(repo), msgspec.structs.replace(world, env=other)), ["cline"], user=True)
    assert (tmp_path / "servers.json").exists()


def test_records_of_a_home_are_nobody_else_s(wiring: Project, world: World) -> None:
    connect_clients(wiring, ["claude"], user=True)
    folder = Path(world.memory_home, FOLDER)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {read(file)["scope"] for file in folder.iterdir()} == {"user"}


def test_dotfiles_that_are_links_stay_links(wiring: Project, home: Path, tmp_path: Path) -> None:
    lay(tmp_path, {"dotfiles/settings.json": b'{"model": "opus"}\n'})
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").symlink_to(tmp_path / "dotfiles/settings.json")
    connect_clients(wiring, ["claude"], user=True)
    assert (home / ".claude/settings.json").is_symlink()
    assert b"hook claude" in (tmp_path / "dotfiles/settings.json").read_bytes()
    disconnect_clients(wiring, ["claude"], user=True)
    assert (tmp_path / "dotfiles/settings.json").read_bytes() == b'{"model": "opus"}\n'


def test_both_scopes_are_told_apart(project: Any, world: World) -> None:
    wiring = Project.open(project.root, world)
    connect_clients(wiring, ["codex"])
    states = {(part.scope, part.part): part.state for part in connection_status(wiring, ["codex"]).clients[0].parts}
    assert states == {
        ("project", "mcp"): "present",
        ("project", "hooks"): "present",
        ("project", "skill"): "present",
        ("project", "guidance"): "present",
        ("user", "mcp"): "missing",
        ("user", "hooks"): "missing",
        ("user", "skill"): "missing",
    }
    connect_clients(wiring, ["codex"], user=True)
    disconnect_clients(wiring, ["codex"])
    found = connection_status(wiring, ["codex"], user=True).clients[0]
    assert found.wired
    assert {part.state for part in found.parts} == {"present"}
    assert not connection_status(wiring, ["codex"], user=False).clients[0].wired


def test_a_user_without_a_home_is_told_so(repo: Path, world: World) -> None:
    wiring = Project.open(str(repo), msgspec.structs.replace(world, env={"PATH": world.env["PATH"]}))
    with pytest.raises(InputError, match="no home folder"):
        connect_clients(wiring, ["claude"], user=True)
    assert len(connection_status(wiring).clients) == 7
