"""`memory integrate` as people and agents run it: what it says, what it asks, how it ends."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from commanding import Here, copy_of

from installed import Memory


@pytest.fixture
def here(shared_memory: Memory, tmp_path: Path) -> Here:
    found = copy_of(shared_memory, tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    path = os.pathsep.join([os.path.dirname(sys.executable), "/usr/bin", "/bin"])
    found.env = {**found.env, "HOME": str(home), "MEMORY_HOME": str(home / "registry"), "PATH": path}
    return found


def test_it_says_what_became_of_each_part(here: Here) -> None:
    (here.root / ".cursor").mkdir()
    said = here("integrate")
    assert (said.code, said.err) == (0, "")
    assert said.out == (
        "cursor\n"
        "  created     mcp       .cursor/mcp.json\n"
        "  created     hooks     .cursor/hooks.json\n"
        "  created     rules     .cursor/rules/quire-memory.mdc\n"
        "  created     command   .cursor/commands/memory-stats.md\n"
        "  created     command   .cursor/commands/note.md\n"
        "  created     command   .cursor/commands/notes.md\n"
        "  unchanged   guidance  AGENTS.md\n"
        "Commit these files to share them. Most clients ask once whether you trust them.\n"
    )
    assert here("integrate", "cursor").out.count("unchanged") == 7
    assert here("integrate", "cursor", "--remove").out == (
        "cursor\n"
        "  removed     mcp       .cursor/mcp.json\n"
        "  removed     hooks     .cursor/hooks.json\n"
        "  removed     rules     .cursor/rules/quire-memory.mdc\n"
        "  removed     command   .cursor/commands/memory-stats.md\n"
        "  removed     command   .cursor/commands/note.md\n"
        "  removed     command   .cursor/commands/notes.md\n"
    )
    assert os.listdir(here.root / ".cursor") == []
    assert here("integrate", "--remove").out == "Nothing to disconnect.\n"


COMMANDS = {
    "claude": ".claude/commands/{}.md",
    "cursor": ".cursor/commands/{}.md",
    "gemini": ".gemini/commands/{}.toml",
    "opencode": ".opencode/commands/{}.md",
}


@pytest.mark.parametrize("client", COMMANDS)
def test_slash_commands(here: Here, client: str) -> None:
    """What the client shows the model when a user types them; they run no program by themselves."""
    own = here.root / COMMANDS[client].format("notes")
    own.parent.mkdir(parents=True)
    own.write_text("Show my notes.\n")
    assert "kept" in here("integrate", client).out
    assert own.read_text() == "Show my notes.\n"
    for name, said in (("memory-stats", "`memory facts`"), ("note", "`memory note -`")):
        file = here.root / COMMANDS[client].format(name)
        text = file.read_text()
        assert said in text
        assert ("!`" in text, "!{" in text, "allowed-tools" in text) == (False, False, False)
        if client == "gemini":
            assert set(tomllib.loads(text)) == {"description", "prompt"}
            assert ("{{args}}" in text) == (name == "note")
        elif client != "cursor":
            assert text.startswith("---\ndescription: ")
            assert ("$ARGUMENTS" in text) == (name == "note")
    here("integrate", client, "--remove")
    assert os.listdir(own.parent) == [own.name]
    assert own.read_text() == "Show my notes.\n"


def test_the_same_in_json(here: Here) -> None:
    data = here("integrate", "cline", "--json").data
    assert data == {
        "action": "install",
        "scope": "project",
        "dry_run": False,
        "clients": ["cline"],
        "parts": [
            {
                "client": "cline",
                "part": "rules",
                "scope": "project",
                "path": ".clinerules/quire-memory.md",
                "status": "created",
                "reason": "",
            },
            {
                "client": "cline",
                "part": "guidance",
                "scope": "project",
                "path": "AGENTS.md",
                "status": "unchanged",
                "reason": "",
            },
        ],
        "files": [
            {
                "path": ".clinerules/quire-memory.md",
                "scope": "project",
                "status": "created",
                "clients": ["cline"],
                "reason": "",
                "hint": "",
            }
        ],
        "complete": True,
    }


def test_a_dry_run_prints_the_difference(here: Here) -> None:
    said = here("integrate", "codex", "--dry-run")
    assert said.code == 0
    assert said.out.startswith(
        "--- /dev/null\n+++ b/.codex/config.toml\n@@ -0,0 +1,2 @@\n"
        '+[mcp_servers.quire]\n+command = "memory-mcp"\n--- /dev/null\n'
    )
    assert said.out.endswith("  unchanged   guidance  AGENTS.md\nDry run: nothing was changed.\n")
    assert not (here.root / ".codex").exists()


def test_a_file_that_cannot_be_read_is_named_with_what_to_do(here: Here) -> None:
    (here.root / ".mcp.json").write_text('{"mcpServers": {,}}')
    said = here("integrate", "claude")
    assert said.code == 1
    assert "  unreadable  mcp       .mcp.json" in said.out
    assert "  created     hooks     .claude/settings.json" in said.out
    assert said.err.startswith("warning: .mcp.json: ")
    assert "Fix the file by hand" in said.err
    told = here("integrate", "claude", "--json")
    assert told.code == 1
    assert told.data["complete"] is False
    assert (here.root / ".mcp.json").read_text() == '{"mcpServers": {,}}'


def test_status_shows_each_part_of_each_client(here: Here) -> None:
    here("integrate", "gemini")
    (here.root / "GEMINI.md").unlink()
    said = here("integrate", "gemini", "--status")
    assert said.out == (
        "gemini: connected, not found on this machine, in use in this project\n"
        "  present     mcp       .gemini/settings.json\n"
        "  present     hooks     .gemini/settings.json\n"
        "  missing     rules     GEMINI.md\n"
        "  present     command   .gemini/commands/memory-stats.toml\n"
        "  present     command   .gemini/commands/note.toml\n"
        "  present     command   .gemini/commands/notes.toml\n"
    )
    clients = here("integrate", "--status", "--json").data["clients"]
    assert [one["client"] for one in clients] == [
        "claude",
        "codex",
        "cursor",
        "gemini",
        "opencode",
        "copilot",
        "cline",
        "git",
    ]
    assert {one["client"] for one in clients if one["wired"]} == {"gemini"}
    assert here("integrate", "--repair").code == 0
    assert (here.root / "GEMINI.md").exists()


def test_a_home_is_changed_only_after_a_yes(here: Here) -> None:
    refused = here("integrate", "claude", "--user")
    assert refused.code == 2
    assert "asks first" in refused.err
    assert here("integrate", "claude", "--user", "--json").error["code"] == "MemoryUsage"
    home = Path(here.env["HOME"])
    assert os.listdir(home) == []
    assert here("integrate", "claude", "--user", "--dry-run").code == 0
    assert os.listdir(home) == []
    said = here("integrate", "claude", "--user", "--yes")
    assert said.code == 0
    assert "  created     mcp       ~/.claude.json\n" in said.out
    assert "Commit" not in said.out
    assert not (here.root / ".claude").exists()
    command = json.loads((home / ".claude.json").read_text())["mcpServers"]["quire"]["command"]
    assert os.path.isabs(command)
    assert here("integrate", "--remove", "--user", "--yes").code == 0
    assert sorted(os.listdir(home)) == ["registry"]


@pytest.mark.parametrize(("typed", "code"), [(b"y\n", 0), (b"\n", 1)])
def test_on_a_terminal_it_asks(here: Here, typed: bytes, code: int) -> None:
    master, slave = pty.openpty()
    os.write(master, typed)
    done = subprocess.run(
        [sys.executable, "-m", "quire", "integrate", "cline", "--user"],
        cwd=here.root,
        env=here.env,
        stdin=slave,
        capture_output=True,
        check=False,
        timeout=60,
    )
    os.close(master)
    os.close(slave)
    assert done.returncode == code, done.stderr
    assert b"Connect Quire to your own configuration, for all projects? [y/N] " in done.stderr
    assert Path(here.env["HOME"], ".cline").exists() is (code == 0)


@pytest.mark.parametrize(
    "words", [("--status", "--remove"), ("--repair", "--remove"), ("--status", "--dry-run"), ("--status", "--force")]
)
def test_options_that_exclude_each_other(here: Here, words: tuple[str, ...]) -> None:
    assert here("integrate", "claude", *words).code == 2


def test_without_a_memory_there_is_nothing_to_wire(tmp_path: Path, here: Here) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    said = here("integrate", "claude", "--json", cwd=bare)
    assert (said.code, said.error["code"]) == (3, "MemoryNotInitialized")
    assert os.listdir(bare) == []
    assert here("integrate", "emacs").code == 1


def test_the_memory_finds_nothing_wrong_with_the_records(here: Here) -> None:
    here("integrate", "all")
    assert "StrayFile" not in here("check", "--json").warnings
    assert here("check").code == 0
