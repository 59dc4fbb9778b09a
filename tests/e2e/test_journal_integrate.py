"""`memory journal integrate`: Claude Code and Codex wired to the journal, their files changed in place."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from journal_here import Journal, journal_in, on_a_terminal
from journal_recordings import RECORDINGS

from quire.clients.texts.journal import journal_guidance_text, journal_skill_text
from quire.files import disk
from quire.surfaces.cli.journal import COMMAND

VECTORS = RECORDINGS / "_vectors/integrate-merge.json"
MCP = ".mcp.json"
SETTINGS = ".claude/settings.json"
SKILL = ".claude/skills/agent-memory/SKILL.md"
AGENTS = "AGENTS.md"
START = "<!-- agent-memory:codex-integration start -->"
END = "<!-- agent-memory:codex-integration end -->"
ENTRY = {"command": "agent-memory", "args": ["mcp"]}
ORIGINAL = {"command": "npx", "args": ["--no-install", "agent-memory", "mcp"]}
BLOCK = (
    "# agent-memory:codex-mcp start\n"
    "[mcp_servers.agent-memory]\n"
    'command = "agent-memory"\n'
    'args = ["mcp"]\n'
    "# agent-memory:codex-mcp end\n"
)
SECTION = f"{START}\n{journal_guidance_text()}\n{END}\n"
KEYS = {
    "claude": ["mcpProjectConfig", "settingsHooks", "skills"],
    "codex": ["agentsGuidance", "globalMcpConfig"],
}


class Wired(Journal):
    """A project, and what is asked of the verb."""

    @property
    def codex(self) -> Path:
        return Path(self.env["HOME"]) / ".codex/config.toml"

    def put(self, name: str, text: str | bytes) -> Path:
        path = self.codex if name == "codex" else self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def integrate(self, *words: str, code: int = 0) -> Any:
        run = self.journal("integrate", *words, "--json")
        assert run.code == code, run.out
        return run.data

    def actions(self, *words: str, code: int = 0) -> dict[str, str]:
        return {item["component"]: item["action"] for item in self.integrate(*words, code=code)["files"]}

    def states(self) -> dict[str, str]:
        found = self.integrate("--status")
        return {f"{client}.{key}": part["status"] for client in KEYS for key, part in found[client].items()}


@pytest.fixture
def here(environment: dict[str, str], tmp_path: Path) -> Wired:
    made = journal_in(tmp_path, environment)
    return Wired(made.root, made.env)


def files_of(here: Wired) -> dict[str, bytes]:
    found = {}
    for folder, folders, names in os.walk(here.root.parent):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = Path(folder, name)
            found[str(path)] = path.read_bytes()
    if here.codex.exists():
        found["codex"] = here.codex.read_bytes()
    return found


# -- the whole of it --------------------------------------------------------------------------


def test_everything_is_written_told_and_then_left_alone(here: Wired) -> None:
    assert set(here.states().values()) == {"missing"}
    run = here.journal("integrate", "--yes")
    assert (run.code, run.err) == (0, "")
    assert run.out == (
        "Integrated target: all\n"
        "Repair mode: no\n"
        "Dry run: no\n"
        "Changes applied:\n"
        "- project:\n"
        "  [project] CREATE .mcp.json: Claude Code starts `agent-memory mcp`.\n"
        "  [project] CREATE .claude/settings.json: "
        "Hooks at the start of a session and at the end of a turn keep the journal.\n"
        "  [project] CREATE .claude/skills/agent-memory/SKILL.md: A skill says when the journal is of use.\n"
        "  [project] CREATE AGENTS.md: A section in AGENTS.md describes the journal to Codex.\n"
        "- user:\n"
        f"  [user] CREATE {here.codex}: Codex starts `agent-memory mcp`, in all your projects.\n"
        "Additional setup: created .agent-memory/config.json.\n"
        "Global changes were made: yes\n"
        "Suggested verification: memory journal integrate --status\n"
    )
    assert json.loads((here.root / MCP).read_bytes()) == {"mcpServers": {"agent-memory": ENTRY}}
    assert json.loads((here.root / SETTINGS).read_bytes()) == {
        "hooks": {
            "SessionStart": [{"hooks": [{"type": "command", "command": "agent-memory automate ensure-running"}]}],
            "Stop": [{"hooks": [{"type": "command", "command": "agent-memory automate run-once"}]}],
        }
    }
    assert (here.root / SKILL).read_text() == journal_skill_text()
    assert (here.root / AGENTS).read_text() == SECTION
    assert here.codex.read_text() == BLOCK
    assert set(here.states().values()) == {"present"}
    before = files_of(here)
    assert set(here.actions("--yes").values()) == {"UNCHANGED"}
    assert files_of(here) == before


def test_the_status_has_the_form_that_other_programs_know(here: Wired) -> None:
    here.integrate("claude")
    run = here.journal("integrate", "codex", "--status", "--output=json")
    assert run.code == 0
    found = json.loads(run.out)
    assert list(found) == [
        "target",
        "healthy",
        "claude",
        "codex",
        "warnings",
        "missingItems",
        "suggestedNextAction",
    ]
    assert {client: list(found[client]) for client in KEYS} == KEYS
    assert (found["target"], found["healthy"]) == ("codex", False)
    assert found["claude"]["skills"] == {
        "status": "present",
        "path": SKILL,
        "scope": "project",
        "note": "The skill for Claude Code is there.",
    }
    assert found["codex"]["globalMcpConfig"]["scope"] == "user"
    assert found["missingItems"] == ["codex.agentsGuidance", "codex.globalMcpConfig"]
    assert found["suggestedNextAction"] == "`memory journal integrate codex` writes what is missing."
    assert here.integrate("codex", "--status") == found
    assert json.loads(here.journal("integrate", "claude", "--status", "--output=json").out)["healthy"] is True


def test_the_status_as_text(here: Wired) -> None:
    here.integrate("claude")
    here.put(SKILL, "# Mine\n")
    run = here.program("agent-memory", "integrate", "--status")
    assert run.out == (
        "Integration Status:\n"
        "- target: all\n"
        "- overall healthy: no\n"
        "\n"
        "Claude Code:\n"
        "- project MCP: present (.mcp.json)\n"
        "- project hooks: present (.claude/settings.json)\n"
        "- project skill: managed_mismatch (.claude/skills/agent-memory/SKILL.md)\n"
        "\n"
        "Codex:\n"
        "- AGENTS guidance: missing (AGENTS.md)\n"
        f"- global MCP config: missing ({here.codex})\n"
        "\n"
        "Summary:\n"
        "- warnings: claude.skills: The skill for Claude Code was changed since Quire wrote it.\n"
        "- missing items: codex.agentsGuidance, codex.globalMcpConfig\n"
        "- suggested next action: `agent-memory integrate claude --repair` restores what was changed.\n"
    )


def test_looking_and_planning_write_nothing(here: Wired) -> None:
    before = files_of(here)
    here.integrate("--status")
    planned = here.integrate("--dry-run")
    assert {item["action"] for item in planned["files"]} == {"CREATE"}
    assert (planned["config"], planned["dry_run"]) == ("missing", True)
    said = here.journal("integrate", "--dry-run").out
    assert "Planned changes:" in said
    assert ".agent-memory/config.json would be created" in said
    assert here.actions("--repair") == {}
    assert here.journal("integrate", "--repair").out.startswith("Nothing to repair")
    assert files_of(here) == before


def test_a_journal_that_is_there_keeps_its_settings(here: Wired) -> None:
    here.done("init")
    config = here.root / ".agent-memory/config.json"
    config.write_text('{"automation": {"intervalMinutes": 7}}\n')
    assert here.integrate()["config"] == "there"
    assert config.read_text() == '{"automation": {"intervalMinutes": 7}}\n'


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["emacs"], "`emacs` is not a client that the journal"),
        (["claude", "codex"], "Only one client"),
        (["--output=json"], "--output is for --status"),
        (["--repair", "--status"], "exclude each other"),
        (["--status", "--output=xml"], "xml"),
    ],
)
def test_lines_that_make_no_sense_are_refused(here: Wired, words: list[str], message: str) -> None:
    before = files_of(here)
    run = here.journal("integrate", *words)
    assert run.code in (1, 2)
    assert message in run.err
    assert files_of(here) == before


def test_all_before_a_client_adds_nothing(here: Wired) -> None:
    assert set(here.actions("all", "codex")) == {"codex-agents", "codex-global-mcp"}


def test_what_is_told_to_agents_names_tools_and_commands_that_there_are() -> None:
    import re

    from quire.verbs.table import tools_of

    for text in (journal_skill_text(), journal_guidance_text()):
        words = set(re.findall(r"`([a-z]+_[a-z_]+)`", text))
        assert words <= tools_of("journal").keys()
        assert len(words) >= 5
        verbs = set(re.findall(r"`agent-memory ([a-z]+)", text))
        assert verbs <= set(COMMAND.subcommands)


# -- what others have in their files ----------------------------------------------------------


def test_a_file_of_servers_is_changed_in_place(here: Wired) -> None:
    before = '{\r\n\t// ours\r\n\t"z": 1,\r\n\t"mcpServers": {\r\n\t\t"x": {"command": "y"} // theirs\r\n\t}\r\n}'
    path = here.put(MCP, before)
    assert here.actions("claude")["claude-mcp"] == "UPDATE"
    added = (
        '"agent-memory": {\r\n\t\t\t"command": "agent-memory",\r\n\t\t\t"args": [\r\n\t\t\t\t"mcp"\r\n\t\t\t]\r\n\t\t}'
    )
    after = before.replace(" // theirs\r\n", f", // theirs\r\n\t\t{added}\r\n")
    assert path.read_bytes().decode() == after


def test_what_a_user_has_in_our_entry_stays(here: Wired) -> None:
    entry = {"env": {"A": "b"}, "command": "old", "timeout": 5}
    path = here.put(MCP, json.dumps({"mcpServers": {"agent-memory": entry}}))
    assert here.states()["claude.mcpProjectConfig"] == "managed_mismatch"
    assert here.actions("--repair") == {"claude-mcp": "UPDATE"}
    assert json.loads(path.read_bytes()) == {"mcpServers": {"agent-memory": {**entry, **ENTRY}}}


@pytest.mark.parametrize(
    ("entry", "state"),
    [
        (ORIGINAL, "present"),
        ({**ORIGINAL, "env": {"A": "b"}}, "present"),
        ({"command": "/opt/bin/agent-memory", "args": ["mcp"]}, "present"),
        ({"type": "http", "url": "http://127.0.0.1:8765/mcp"}, "present"),
        ({"command": "npx", "args": ["agent-memory", "mcp"]}, "managed_mismatch"),
        ({"command": "npx", "args": ["mcp"]}, "managed_mismatch"),
        ({"command": "agent-memory"}, "managed_mismatch"),
        ({"command": "agent-memory", "args": "mcp"}, "managed_mismatch"),
        (["agent-memory", "mcp"], "managed_mismatch"),
        (None, "managed_mismatch"),
    ],
)
def test_an_entry_that_works_is_left_alone(here: Wired, entry: Any, state: str) -> None:
    path = here.put(MCP, json.dumps({"mcpServers": {"agent-memory": entry}}))
    before = path.read_bytes()
    assert here.states()["claude.mcpProjectConfig"] == state
    expected = "UNCHANGED" if state == "present" else "UPDATE"
    assert here.actions("claude")["claude-mcp"] == expected
    assert (path.read_bytes() == before) is (state == "present")
    assert here.states()["claude.mcpProjectConfig"] == "present"


@pytest.mark.parametrize(
    ("commands", "state"),
    [
        (("agent-memory automate ensure-running --quiet", "agent-memory automate run-once -q || true"), "present"),
        (("npx --no-install agent-memory automate ensure-running", "/opt/agent-memory automate run-once"), "present"),
        (("agent-memory automate ensure-running", "agent-memory automate start"), "managed_mismatch"),
        (("npx agent-memory automate ensure-running", "my-agent-memory automate run-once"), "missing"),
        (("agent-memory automate ensure-running-not", "echo"), "managed_mismatch"),
        (("echo", "echo"), "missing"),
    ],
)
def test_hooks_are_recognised_and_never_run_twice(here: Wired, commands: tuple[str, str], state: str) -> None:
    events = zip(("SessionStart", "Stop"), commands, strict=True)
    hooks: dict[str, Any] = {
        event: [{"matcher": "*", "hooks": [{"type": "command", "command": command}]}] for event, command in events
    }
    hooks["PreToolUse"] = [{"matcher": "Bash", "hooks": []}]
    path = here.put(SETTINGS, json.dumps({"hooks": hooks, "permissions": {"allow": []}}, indent=4))
    assert here.states()["claude.settingsHooks"] == state
    here.actions("claude")
    found = json.loads(path.read_bytes())
    assert found["permissions"] == {"allow": []}
    assert found["hooks"]["PreToolUse"] == hooks["PreToolUse"]
    for event in ("SessionStart", "Stop"):
        assert found["hooks"][event][0] == hooks[event][0]
    if state == "present":
        assert found["hooks"] == hooks
    assert here.states()["claude.settingsHooks"] == "present"


def test_a_section_keeps_the_line_ends_and_the_text_around_it(here: Wired) -> None:
    path = here.put(AGENTS, b"# Mine\r\n\r\nA text.\r\n")
    here.integrate("codex")
    assert path.read_bytes() == b"# Mine\r\n\r\nA text.\r\n\r\n" + SECTION.replace("\n", "\r\n").encode()
    changed = path.read_bytes().replace(b"once", b"twice") + b"Below.\r\n"
    path.write_bytes(changed)
    assert here.states()["codex.agentsGuidance"] == "managed_mismatch"
    assert here.actions("--repair") == {"codex-agents": "UPDATE"}
    assert path.read_bytes() == changed.replace(b"twice", b"once")


def test_an_edited_skill_goes_only_when_that_is_asked_for(here: Wired) -> None:
    here.integrate("claude")
    path = here.put(SKILL, journal_skill_text() + "\nAnd mine.\n")
    done = {item["component"]: item for item in here.integrate("claude")["files"]}
    assert done["claude-skill"]["action"] == "KEPT"
    assert "--repair" in done["claude-skill"]["note"]
    assert path.read_text().endswith("And mine.\n")
    assert here.actions("--repair") == {"claude-skill": "UPDATE"}
    assert path.read_text() == journal_skill_text()
    path.write_bytes(journal_skill_text().replace("\n", "\r\n").encode())
    assert here.states()["claude.skills"] == "present"


# -- the home ---------------------------------------------------------------------------------


def test_the_home_is_left_alone_unless_the_user_says_so(here: Wired) -> None:
    done = {item["component"]: item for item in here.integrate()["files"]}
    assert done["codex-global-mcp"]["action"] == "SKIPPED"
    assert "--yes" in done["codex-global-mcp"]["note"]
    assert not here.codex.parent.exists()
    run = here.journal("integrate", "codex")
    assert (run.code, f"[user] SKIPPED {here.codex}: " in run.out) == (0, True)
    assert "Global changes were made: no\n" in run.out
    assert "say so on a terminal" in here.journal("integrate", "--dry-run").out
    assert here.actions("codex", "--yes")["codex-global-mcp"] == "CREATE"


@pytest.mark.parametrize(("answer", "written"), [("y", True), ("", False), ("n", False), (None, False)])
def test_on_a_terminal_it_asks(here: Wired, answer: str | None, written: bool) -> None:
    code, seen = on_a_terminal(here, "agent-memory", "integrate", "codex", answers=[answer])
    assert code == 0
    assert f"Also change `{here.codex}`, for all your projects? [y/N] " in seen
    assert here.codex.exists() is written
    assert (here.root / AGENTS).exists()


def test_where_the_home_needs_nothing_nobody_is_asked(here: Wired) -> None:
    here.put("codex", BLOCK)
    code, seen = on_a_terminal(here, "agent-memory", "integrate")
    assert code == 0
    assert "[y/N]" not in seen


def test_tables_of_others_are_never_touched(here: Wired) -> None:
    text = (
        "model = 'x' # mine\r\n\r\n[mcp_servers.agent-memory]\r\ncommand = \"old\"\r\nstartup_timeout_sec = 5\r\n"
        '[mcp_servers.agent-memory.env]\r\nK = "v"\r\n[other]\r\na = 1\r\n'
    )
    path = here.put("codex", text)
    assert here.states()["codex.globalMcpConfig"] == "managed_mismatch"
    assert here.actions("--repair", "--yes") == {"codex-global-mcp": "UPDATE"}
    after = path.read_bytes().decode()
    assert tomllib.loads(after) == {
        "model": "x",
        "mcp_servers": {"agent-memory": {**ENTRY, "startup_timeout_sec": 5, "env": {"K": "v"}}},
        "other": {"a": 1},
    }
    assert after.replace("\r\n", "").count("\n") == 0
    for line in text.replace('"old"', '"agent-memory"').splitlines():
        assert line in after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", BLOCK),
        ('model = "x"\n', f'model = "x"\n\n{BLOCK}'),
        ('model = "x"', f'model = "x"\n\n{BLOCK}'),
        ("[a]\r\nb = 1\r\n", "[a]\r\nb = 1\r\n\r\n" + BLOCK.replace("\n", "\r\n")),
    ],
)
def test_a_table_is_added_at_the_end(here: Wired, before: str, after: str) -> None:
    path = here.put("codex", before)
    here.integrate("codex", "--yes")
    assert path.read_bytes().decode() == after


def test_the_configuration_of_codex_may_be_elsewhere(here: Wired, tmp_path: Path) -> None:
    here.env["CODEX_HOME"] = str(tmp_path / "codex")
    assert here.integrate("--status")["codex"]["globalMcpConfig"]["path"] == str(tmp_path / "codex/config.toml")
    here.env["AGENT_MEMORY_CODEX_CONFIG_PATH"] = str(tmp_path / "named/c.toml")
    here.integrate("codex", "--yes")
    assert (tmp_path / "named/c.toml").read_text() == BLOCK
    assert not here.codex.exists()


# -- what cannot be read ----------------------------------------------------------------------

DAMAGED = {
    "not JSON": (MCP, b"{broken", "claude-mcp"),
    "no object": (SETTINGS, b"[]\n", "claude-hooks"),
    "a list of servers": (MCP, b'{"mcpServers": []}', "claude-mcp"),
    "hooks that are a text": (SETTINGS, b'{"hooks": "x"}', "claude-hooks"),
    "an event that is no list": (SETTINGS, b'{"hooks": {"Stop": {}}}', "claude-hooks"),
    "no text": (MCP, b'{"a": "\xff"}', "claude-mcp"),
    "two starts": (AGENTS, f"{START}\n{START}\n{END}\n".encode(), "codex-agents"),
    "not TOML": ("codex", b"# agent-memory:codex-mcp start\nold\n# agent-memory:codex-mcp end\n", "codex-global-mcp"),
    "a table within a line": ("codex", b'mcp_servers = { x = { command = "y" } }\n', "codex-global-mcp"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_file_that_cannot_be_read_is_named_left_alone_and_stops_nothing(here: Wired, name: str) -> None:
    file, data, component = DAMAGED[name]
    path = here.put(file, data)
    run = here.journal("integrate", "--yes")
    assert run.code == 1
    shown = str(here.codex) if file == "codex" else file
    assert f"] UNREADABLE {shown}: " in run.out
    assert f"error: {shown}: " in run.err
    assert "hint: Fix the file by hand" in run.err
    assert path.read_bytes() == data
    done = here.actions("--yes", code=1)
    assert done.pop(component) == "UNREADABLE"
    assert set(done.values()) == {"UNCHANGED"}
    assert len(done) == 4


def test_damage_is_what_the_status_advises_to_repair(here: Wired) -> None:
    here.put(MCP, "{broken")
    found = here.integrate("--status")
    assert found["claude"]["mcpProjectConfig"]["status"] == "unreadable"
    assert found["warnings"][0].startswith("claude.mcpProjectConfig: ")
    assert found["suggestedNextAction"] == "Fix `.mcp.json` by hand, then run `memory journal integrate`."


def test_a_link_out_of_the_project_and_a_file_that_is_locked_are_left_alone(here: Wired, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.json").write_text("{}")
    (here.root / MCP).symlink_to(tmp_path / "elsewhere.json")
    settings = here.put(SETTINGS, "{}")
    settings.chmod(0o444)
    done = here.actions("claude", code=1)
    assert done == {"claude-mcp": "UNREADABLE", "claude-hooks": "FAILED", "claude-skill": "CREATE"}
    assert (tmp_path / "elsewhere.json").read_text() == "{}"
    assert settings.read_text() == "{}"


def test_a_link_inside_the_project_is_followed_and_modes_are_kept(here: Wired) -> None:
    guide = here.put("docs/guide.md", "# Guide\n")
    guide.chmod(0o640)
    (here.root / AGENTS).symlink_to("docs/guide.md")
    here.integrate("codex")
    assert (here.root / AGENTS).is_symlink()
    assert guide.read_text() == f"# Guide\n\n{SECTION}"
    assert guide.stat().st_mode & 0o777 == 0o640


def test_what_somebody_writes_meanwhile_is_not_lost(here: Wired, monkeypatch: pytest.MonkeyPatch) -> None:
    path = here.put(MCP, "{}")
    times = []

    def meddle(operation: str, place: str) -> None:
        if operation == "create" and Path(place).parent == here.root and not times:
            times.append(place)
            path.write_text('{"theirs": 1}')

    monkeypatch.setattr(disk, "before", meddle)
    assert here.actions("claude")["claude-mcp"] == "UPDATE"
    assert len(times) == 1
    assert json.loads(path.read_bytes()) == {"theirs": 1, "mcpServers": {"agent-memory": ENTRY}}


def test_a_file_that_somebody_never_stops_writing_is_told(here: Wired, monkeypatch: pytest.MonkeyPatch) -> None:
    path = here.put(MCP, "{}")

    def meddle(operation: str, place: str) -> None:
        if operation == "create" and Path(place).parent == here.root:
            path.write_bytes(path.read_bytes() + b"\n")

    monkeypatch.setattr(disk, "before", meddle)
    done = here.actions("claude", code=1)
    assert done == {"claude-mcp": "FAILED", "claude-hooks": "CREATE", "claude-skill": "CREATE"}
    assert path.read_text().strip() == "{}"


def test_without_a_home_the_project_is_wired_and_the_rest_is_told(here: Wired) -> None:
    del here.env["HOME"]
    assert here.integrate("--status")["codex"]["globalMcpConfig"]["status"] == "unreadable"
    run = here.journal("integrate", "codex", "--yes")
    assert run.code == 1
    assert "[user] UNREADABLE no home folder: there is no home folder to look for it in.\n" in run.out
    assert "AGENT_MEMORY_CODEX_CONFIG_PATH" in run.err
    assert (here.root / AGENTS).read_text() == SECTION


# -- beside the wiring to the whole memory ----------------------------------------------------


def test_both_wirings_stand_side_by_side_and_one_is_taken_back_alone(here: Wired) -> None:
    assert here("init").code == 0
    assert here("journal", "integrate", "claude").code == 0
    before = files_of(here)
    assert here("integrate", "claude").code == 0
    assert set(json.loads((here.root / MCP).read_bytes())["mcpServers"]) == {"agent-memory", "quire"}
    assert here.actions("claude")["claude-mcp"] == "UNCHANGED"
    assert here("integrate", "claude", "--remove").code == 0
    after = files_of(here)
    assert {name: after[name] for name in before if "/.claude/" in name or name.endswith(MCP)} == {
        name: data for name, data in before.items() if "/.claude/" in name or name.endswith(MCP)
    }
    (here.root / MCP).unlink()
    (here.root / SETTINGS).unlink()
    assert here("integrate", "claude").code == 0
    assert here("journal", "integrate", "claude").code == 0
    assert here("integrate", "claude", "--remove").code == 0
    assert json.loads((here.root / MCP).read_bytes()) == {"mcpServers": {"agent-memory": ENTRY}}
    assert here.states()["claude.settingsHooks"] == "present"


# -- what the original made of the same files -------------------------------------------------


def vectors(name: str) -> list[Any]:
    return json.loads(VECTORS.read_bytes())[name] if VECTORS.exists() else []


def as_ours(value: Any) -> Any:
    """A result of the original with our command in the place of its own."""
    if value == ORIGINAL:
        return ENTRY
    return {key: as_ours(item) for key, item in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize("case", [case for case in vectors("mcpJson") if case["existing"] != '{"mcpServers":[]}'])
def test_servers_as_the_original_merges_them(here: Wired, case: Any) -> None:
    if case["existing"] is not None:
        here.put(MCP, case["existing"])
    here.integrate("claude")
    found = json.loads((here.root / MCP).read_bytes())
    if "env" in (case["existing"] or ""):
        assert found["mcpServers"]["agent-memory"].pop("env") == {"A": "b"}  # which the original loses
    assert found == as_ours(json.loads(case["result"]))
    here.put(MCP, case["result"])
    assert here.states()["claude.mcpProjectConfig"] == "present"


@pytest.mark.parametrize("case", vectors("claudeSettings"))
def test_hooks_as_the_original_merges_them(here: Wired, case: Any) -> None:
    if case["existing"] is not None:
        here.put(SETTINGS, case["existing"])
    here.integrate("claude")
    assert json.loads((here.root / SETTINGS).read_bytes()) == json.loads(case["result"])


@pytest.mark.parametrize("case", vectors("agentsMd"))
def test_sections_as_the_original_merges_them(here: Wired, case: Any) -> None:
    if case["existing"] is not None:
        here.put(AGENTS, case["existing"])
    here.integrate("codex")
    head, _, rest = case["result"].partition(f"{START}\n")
    tail = rest.partition(f"{END}\n")[2]
    assert (here.root / AGENTS).read_text() == head + SECTION + tail
    path = here.put(AGENTS, case["result"])
    assert here.states()["codex.agentsGuidance"] == "present"
    assert here.actions("codex")["codex-agents"] == "UNCHANGED"
    assert path.read_text() == case["result"]


@pytest.mark.parametrize("case", vectors("codexToml"))
def test_tables_as_the_original_merges_them(here: Wired, case: Any) -> None:
    """Where its result can be read, and it lost nothing."""
    before = case["existing"] or ""
    if case["existing"] is not None:
        here.put("codex", before)
    if "\nold\n" in before:
        assert here.actions("codex", "--yes", code=1)["codex-global-mcp"] == "UNREADABLE"
        return
    here.integrate("codex", "--yes")
    found = tomllib.loads(here.codex.read_text())
    if "\r\n" in before:
        assert found == {"mcp_servers": {"agent-memory": ENTRY}}  # where the original writes it twice
        return
    if ".env]" in before:
        assert found["mcp_servers"]["agent-memory"].pop("env") == {"K": "v"}  # which the original loses
    assert found == as_ours(tomllib.loads(case["result"]))
    here.put("codex", case["result"])
    assert here.states()["codex.globalMcpConfig"] == "present"


@pytest.mark.skipif(not VECTORS.exists(), reason="the recordings of the original program are not here")
def test_the_skill_of_the_original_is_left_alone(here: Wired) -> None:
    text = json.loads(VECTORS.read_bytes())["skill"]
    path = here.put(SKILL, f"{text}\n")
    assert here.actions("claude")["claude-skill"] == "UNCHANGED"
    assert path.read_text() == f"{text}\n"
    path.write_text(f"{text} Mine.\n")
    assert here.states()["claude.skills"] == "managed_mismatch"
