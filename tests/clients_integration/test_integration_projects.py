"""Clients wired in a project, with files as people have them: in, again, damaged, repaired, out, byte for byte."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from integration_cases import CLAUDE_SETTINGS, CODEX_CONFIG, COPILOT_TEXT, MCP_TABS, PROJECTS, held, lay

from quire.files.world import World
from quire.model.errors import InputError, NotInitialized
from quire.project import Project
from quire.verbs.agents.connections import connect_clients, connection_status, disconnect_clients
from quire.verbs.graph.save import save_nodes

CLIENTS = ("claude", "codex", "cursor", "gemini", "opencode", "copilot", "cline")


@pytest.fixture
def wiring(project: Project, world: World) -> Project:
    """A project with a memory."""
    return Project.open(project.root, world)


def statuses(done: Any) -> dict[tuple[str, str, str], str]:
    return {(part.client, part.part, part.path): part.status for part in done.parts}


@pytest.mark.parametrize("name", PROJECTS)
def test_what_is_put_in_comes_out_byte_for_byte(name: str, wiring: Project, repo: Path) -> None:
    client, files = PROJECTS[name]
    lay(repo, files)
    before = held(repo)

    first = connect_clients(wiring, [client])
    wired = held(repo)
    again = connect_clients(wiring, [client])

    assert first.is_clean
    assert wired != before
    assert {"created", "updated", "unchanged"} >= set(statuses(first).values())
    assert set(statuses(again).values()) == {"unchanged"}
    assert held(repo) == wired
    assert disconnect_clients(wiring, [client]).is_clean
    assert held(repo) == before
    assert not (repo / ".memory/integrations").exists()
    assert disconnect_clients(wiring, [client]).parts == ()


@pytest.mark.proof(keep=6)
@pytest.mark.parametrize("name", PROJECTS)
def test_a_lost_record_costs_nothing_but_what_only_it_knows(name: str, wiring: Project, repo: Path) -> None:
    client, files = PROJECTS[name]
    lay(repo, files)
    before = held(repo)
    connect_clients(wiring, [client])
    for file in (repo / ".memory/integrations").iterdir():
        if not file.name.startswith(("CLAUDE-md", "AGENTS-md")):
            file.unlink()

    disconnect_clients(wiring, [client])

    after = {path: data for path, data in held(repo).items() if not path.endswith("/")}
    for path, data in after.items():
        assert b"quire" not in data, path
        if path.endswith((".json", ".jsonc")):
            assert before.get(path, b"").strip() == data.strip() or b"{}" in before[path] or before[path] == b""
        else:
            assert before[path].strip() == data.strip()


def test_the_text_that_stands_in_a_settings_file(wiring: Project, repo: Path) -> None:
    lay(repo, {".claude/settings.json": b'{\n    "model": "opus",\n    "hooks": {\n        "Stop": []\n    }\n}\n'})
    connect_clients(wiring, ["claude"])

    text = (repo / ".claude/settings.json").read_text()

    assert text.startswith(
        '{\n    "model": "opus",\n    "hooks": {\n        "Stop": [\n            {\n                "hooks": [\n'
        '                    {\n                        "type": "command",\n'
        '                        "command": "quire hook claude turn-end || true",\n'
    )
    hooks = json.loads(text)["hooks"]
    assert [hook["command"] for group in hooks["PreToolUse"] for hook in group["hooks"]] == [
        "quire hook claude before-edit || true"
    ]
    assert hooks["PreToolUse"][0]["matcher"] == "Edit|Write|MultiEdit|NotebookEdit"
    assert "matcher" not in hooks["Stop"][0]


def test_other_people_s_lines_stay_where_they_are(wiring: Project, repo: Path) -> None:
    lay(repo, {".claude/settings.json": CLAUDE_SETTINGS, ".mcp.json": MCP_TABS, ".codex/config.toml": CODEX_CONFIG})
    connect_clients(wiring, ["claude", "codex"])

    settings = (repo / ".claude/settings.json").read_bytes()
    servers = (repo / ".mcp.json").read_bytes()
    codex = (repo / ".codex/config.toml").read_bytes()

    for line in CLAUDE_SETTINGS.splitlines():
        assert line.strip().replace(b",", b"") in settings.replace(b",", b"")
    assert b'"command": "agent-memory hook start"' in settings
    assert b"\n" not in servers.replace(b"\r\n", b"")
    assert b'\r\n\t\t"quire": {\r\n\t\t\t"command": "memory-mcp",\r\n\t\t\t"args": []\r\n\t\t}\r\n\t}\r\n}' in servers
    assert not servers.endswith(b"\n")
    assert codex == CODEX_CONFIG + b'\n[mcp_servers.quire]\ncommand = "memory-mcp"\n'


def test_the_forms_of_the_other_clients(wiring: Project, repo: Path) -> None:
    (repo / ".vscode").mkdir()
    connect_clients(wiring, ["all"])

    def read(name: str) -> Any:
        return json.loads((repo / name).read_text())

    assert read(".mcp.json") == {"mcpServers": {"quire": {"command": "memory-mcp", "args": [], "tools": ["*"]}}}
    workspace = {"type": "stdio", "command": "memory-mcp", "args": ["--project", "${workspaceFolder}"]}
    assert read(".cursor/mcp.json") == {"mcpServers": {"quire": workspace}}
    assert read(".vscode/mcp.json") == {"servers": {"quire": workspace}}
    assert read("opencode.json") == {
        "$schema": "https://opencode.ai/config.json",
        "mcp": {"quire": {"type": "local", "command": ["memory-mcp"], "enabled": True}},
    }
    gemini = read(".gemini/settings.json")
    assert gemini["mcpServers"] == {"quire": {"command": "memory-mcp", "args": []}}
    start = gemini["hooks"]["SessionStart"][0]["hooks"][0]
    assert start["timeout"] >= 1000
    assert start["command"] == "quire hook gemini session-start || true"
    cursor = read(".cursor/hooks.json")
    assert list(cursor) == ["version", "hooks"]
    assert cursor["hooks"]["sessionStart"][0]["command"] == "quire hook cursor session-start || true"
    copilot = read(".github/hooks/quire-memory.json")
    assert copilot["version"] == 1
    assert copilot["hooks"]["sessionStart"][0]["bash"] == "quire hook copilot session-start || true"
    assert (repo / ".agents/skills/quire-memory/SKILL.md").read_bytes() == (
        repo / ".claude/skills/quire-memory/SKILL.md"
    ).read_bytes()
    everything = b"".join(held(repo).values())
    assert str(repo).encode() not in everything


def test_two_clients_share_a_file_and_leave_it_one_by_one(wiring: Project, repo: Path) -> None:
    lay(repo, {".mcp.json": MCP_TABS})
    connect_clients(wiring, ["claude"])
    alone = (repo / ".mcp.json").read_bytes()
    connect_clients(wiring, ["copilot"])
    both = (repo / ".mcp.json").read_bytes()

    assert b'"tools"' in both
    assert b'"tools"' not in alone
    first = disconnect_clients(wiring, ["copilot"])
    assert (repo / ".mcp.json").read_bytes() == alone
    assert statuses(first)["copilot", "mcp", ".mcp.json"] == "kept"
    disconnect_clients(wiring, ["claude"])
    assert (repo / ".mcp.json").read_bytes() == MCP_TABS


def test_what_the_user_writes_afterwards_stays(wiring: Project, repo: Path) -> None:
    lay(repo, {".mcp.json": b'{\n  "mcpServers": {\n    "a": {"command": "a"}\n  }\n}\n'})
    connect_clients(wiring, ["claude"])
    text = (repo / ".mcp.json").read_text()
    (repo / ".mcp.json").write_text(text.replace('{"command": "a"}', '{"command": "a2"}, "b": {"command": "b"}'))
    settings = json.loads((repo / ".claude/settings.json").read_text())
    settings["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "say done"}]})
    settings["model"] = "opus"
    (repo / ".claude/settings.json").write_text(json.dumps(settings))

    assert set(statuses(connect_clients(wiring, ["claude"])).values()) == {"unchanged"}
    disconnect_clients(wiring, ["claude"])

    assert (repo / ".mcp.json").read_text() == (
        '{\n  "mcpServers": {\n    "a": {"command": "a2"}, "b": {"command": "b"}\n  }\n}\n'
    )
    assert json.loads((repo / ".claude/settings.json").read_text()) == {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]},
        "model": "opus",
    }


def test_containers_that_were_there_before_stay_although_they_are_empty(wiring: Project, repo: Path) -> None:
    lay(repo, {".mcp.json": b'{"mcpServers": {}, "x": 1}\n', ".cursor/hooks.json": b'{"version": 1, "hooks": {}}\n'})
    connect_clients(wiring, ["claude", "cursor"])
    for name in (".mcp.json", ".cursor/hooks.json"):
        (repo / name).write_bytes((repo / name).read_bytes() + b"\n")

    disconnect_clients(wiring, ["all"])

    assert json.loads((repo / ".mcp.json").read_text()) == {"mcpServers": {}, "x": 1}
    assert json.loads((repo / ".cursor/hooks.json").read_text()) == {"version": 1, "hooks": {}}


def test_the_user_s_own_options_of_the_server_are_kept(wiring: Project, repo: Path) -> None:
    connect_clients(wiring, ["claude", "codex"])
    path, codex = repo / ".mcp.json", repo / ".codex/config.toml"
    path.write_text(path.read_text().replace('"args": []', '"args": ["--toolset", "core"], "env": {"A": "b"}'))
    codex.write_text(codex.read_text() + 'args = ["--toolset", "core"]\n')
    changed = path.read_bytes(), codex.read_bytes()

    assert set(statuses(connect_clients(wiring, ["claude", "codex"])).values()) == {"unchanged"}
    assert (path.read_bytes(), codex.read_bytes()) == changed
    disconnect_clients(wiring, ["all"])
    assert not path.exists()
    assert not codex.exists()


def test_an_entry_of_somebody_else_is_refused_and_with_force_replaced(wiring: Project, repo: Path) -> None:
    theirs = b'{"mcpServers": {"quire": {"command": "quire-press", "args": ["serve"]}}}\n'
    lay(repo, {".mcp.json": theirs})

    refused = connect_clients(wiring, ["claude"])
    assert statuses(refused)["claude", "mcp", ".mcp.json"] == "refused"
    assert statuses(refused)["claude", "hooks", ".claude/settings.json"] == "created"
    assert not refused.is_clean
    assert (repo / ".mcp.json").read_bytes() == theirs

    assert connect_clients(wiring, ["claude"], force=True).is_clean
    assert json.loads((repo / ".mcp.json").read_text())["mcpServers"]["quire"]["command"] == "memory-mcp"
    disconnect_clients(wiring, ["claude"])
    assert (repo / ".mcp.json").read_bytes() == theirs


def test_a_server_over_http_is_wired_already(wiring: Project, repo: Path) -> None:
    mine = b'{"mcpServers": {"quire": {"type": "http", "url": "http://127.0.0.1:8765/mcp"}}}'
    lay(repo, {".mcp.json": mine})
    assert statuses(connect_clients(wiring, ["claude"]))["claude", "mcp", ".mcp.json"] == "unchanged"
    disconnect_clients(wiring, ["claude"])
    assert (repo / ".mcp.json").read_bytes() == mine


def test_a_secret_that_would_be_replaced_is_not_copied(wiring: Project, repo: Path) -> None:
    key = "ghp_" + "a8Zk3LmP0qRsT7uVwXyB1cD2eF4gH5iJ6kL9"
    theirs = json.dumps({"mcpServers": {"quire": {"command": "other", "env": {"GITHUB_TOKEN": key}}}}).encode()
    lay(repo, {".mcp.json": theirs})
    done = connect_clients(wiring, ["claude"], force=True)
    assert statuses(done)["claude", "mcp", ".mcp.json"] == "refused"
    assert (repo / ".mcp.json").read_bytes() == theirs
    assert all(key not in file.read_text() for file in (repo / ".memory/integrations").iterdir())


def test_repair_repairs_what_was_damaged_and_leaves_what_is_not_wired(wiring: Project, repo: Path) -> None:
    connect_clients(wiring, ["claude", "cursor"])
    good = held(repo)
    skill = repo / ".claude/skills/quire-memory/SKILL.md"
    skill.write_text("# mine\n")
    (repo / ".cursor/rules/quire-memory.mdc").unlink()
    hooks = json.loads((repo / ".cursor/hooks.json").read_text())
    hooks["hooks"]["stop"][0]["timeout"] = 99
    (repo / ".cursor/hooks.json").write_text(json.dumps(hooks, indent=2) + "\n")

    seen = {
        (one.client, part.part): part.state
        for one in connection_status(wiring, user=False).clients
        for part in one.parts
    }
    assert seen["claude", "skill"] == "changed"
    assert seen["cursor", "rules"] == "missing"
    assert seen["cursor", "hooks"] == "changed"
    assert seen["cursor", "mcp"] == "present"
    assert seen["gemini", "mcp"] == "missing"

    assert (
        statuses(connect_clients(wiring, ["claude"]))["claude", "skill", ".claude/skills/quire-memory/SKILL.md"]
        == "kept"
    )
    assert skill.read_text() == "# mine\n"
    done = connect_clients(wiring, repair=True)
    assert done.clients == ("claude", "cursor")
    assert held(repo) == good
    disconnect_clients(wiring)
    assert held(repo) == {name: data for name, data in good.items() if name in ("AGENTS.md", ".gitignore")}
    with pytest.raises(InputError, match="Not connected here: cline"):
        connect_clients(wiring, ["cline"], repair=True)


def test_our_file_that_the_user_changed_is_not_removed(wiring: Project, repo: Path) -> None:
    connect_clients(wiring, ["cline"])
    rules = repo / ".clinerules/quire-memory.md"
    rules.write_text("mine\n")
    done = disconnect_clients(wiring, ["cline"])
    assert statuses(done)["cline", "rules", ".clinerules/quire-memory.md"] == "kept"
    assert rules.read_text() == "mine\n"


def test_a_file_of_the_user_with_our_name_is_put_back(wiring: Project, repo: Path) -> None:
    lay(repo, {".clinerules/quire-memory.md": b"theirs\n"})
    assert statuses(connect_clients(wiring, ["cline"]))["cline", "rules", ".clinerules/quire-memory.md"] == "kept"
    connect_clients(wiring, ["cline"], force=True)
    assert (repo / ".clinerules/quire-memory.md").read_bytes() != b"theirs\n"
    disconnect_clients(wiring, ["cline"])
    assert (repo / ".clinerules/quire-memory.md").read_bytes() == b"theirs\n"


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        (".mcp.json", b'{"mcpServers": ', "line 1"),
        (".mcp.json", b'{"mcpServers": []}', "`mcpServers` is not an object"),
        (".mcp.json", b"[1]", "it holds no object"),
        (".mcp.json", b"\xff\xfe{}", "not UTF-8"),
        (".claude/settings.json", b'{"hooks": {"Stop": {}}}', "`hooks.Stop` is not a list"),
        (".claude/settings.json", b'{"hooks": "none"}', "`hooks` is not an object"),
    ],
)
def test_what_cannot_be_understood_is_told_and_left_alone(
    name: str, data: bytes, said: str, wiring: Project, repo: Path
) -> None:
    lay(repo, {name: data})
    done = connect_clients(wiring, ["claude"])
    file = next(file for file in done.files if file.path == name)
    assert file.status == "unreadable"
    assert said in file.reason
    assert file.hint
    assert not done.is_clean
    assert (repo / name).read_bytes() == data
    assert (repo / ".claude/skills/quire-memory/SKILL.md").exists()
    state = {part.path: part.state for part in connection_status(wiring, ["claude"]).clients[0].parts}
    assert state[name] == "unreadable"
    assert disconnect_clients(wiring, ["claude"]).is_clean is False
    assert (repo / name).read_bytes() == data


def test_inline_tables_of_toml_are_never_garbled(wiring: Project, repo: Path) -> None:
    data = b'mcp_servers = { docs = { command = "npx" } }\n'
    lay(repo, {".codex/config.toml": data})
    done = connect_clients(wiring, ["codex"])
    assert statuses(done)["codex", "mcp", ".codex/config.toml"] == "unreadable"
    assert (repo / ".codex/config.toml").read_bytes() == data


def test_links_are_followed_inside_the_project_and_nowhere_else(wiring: Project, repo: Path, tmp_path: Path) -> None:
    lay(repo, {"config/settings.json": b'{"model": "opus"}\n'})
    (repo / ".claude").mkdir()
    (repo / ".claude/settings.json").symlink_to("../config/settings.json")
    outside = tmp_path / "mcp.json"
    outside.write_bytes(b"{}")
    (repo / ".mcp.json").symlink_to(outside)
    before = held(repo)

    done = connect_clients(wiring, ["claude"])

    assert statuses(done)["claude", "mcp", ".mcp.json"] == "failed"
    assert outside.read_bytes() == b"{}"
    assert (repo / ".claude/settings.json").is_symlink()
    assert b"quire hook claude" in (repo / "config/settings.json").read_bytes()
    disconnect_clients(wiring, ["claude"])
    assert held(repo) == before


def test_a_read_only_file_is_left_alone_and_modes_stay(wiring: Project, repo: Path) -> None:
    lay(repo, {".mcp.json": b"{}\n", ".claude/settings.json": b"{}\n"})
    (repo / ".mcp.json").chmod(0o444)
    (repo / ".claude/settings.json").chmod(0o600)
    done = connect_clients(wiring, ["claude"])
    assert statuses(done)["claude", "mcp", ".mcp.json"] == "refused"
    assert (repo / ".mcp.json").read_bytes() == b"{}\n"
    assert (repo / ".claude/settings.json").stat().st_mode & 0o777 == 0o600
    disconnect_clients(wiring, ["claude"])
    assert (repo / ".claude/settings.json").stat().st_mode & 0o777 == 0o600


def test_a_folder_in_the_place_of_a_file_stops_nothing_else(wiring: Project, repo: Path) -> None:
    (repo / ".mcp.json").mkdir()
    done = connect_clients(wiring, ["claude"])
    assert statuses(done)["claude", "mcp", ".mcp.json"] == "unreadable"
    assert statuses(done)["claude", "hooks", ".claude/settings.json"] == "created"


def test_hooks_among_somebody_else_s_in_one_group_are_taken_out_alone(wiring: Project, repo: Path) -> None:
    ours = {"type": "command", "command": "quire hook claude turn-end || true"}
    theirs = {"type": "command", "command": "say done"}
    lay(repo, {".claude/settings.json": json.dumps({"hooks": {"Stop": [{"hooks": [theirs, ours]}]}}).encode()})
    assert statuses(connect_clients(wiring, ["claude"]))["claude", "hooks", ".claude/settings.json"] == "updated"
    stop = json.loads((repo / ".claude/settings.json").read_text())["hooks"]["Stop"]
    assert stop[0] == {"hooks": [theirs]}
    assert len(stop) == 2
    disconnect_clients(wiring, ["claude"])
    assert json.loads((repo / ".claude/settings.json").read_text()) == {"hooks": {"Stop": [{"hooks": [theirs]}]}}


def test_gemini_has_a_section_only_where_it_does_not_read_the_guidance(wiring: Project, repo: Path) -> None:
    lay(repo, {".gemini/settings.json": b'{"context": {"fileName": "AGENTS.md"}}'})
    connect_clients(wiring, ["gemini"])
    assert not (repo / "GEMINI.md").exists()
    (repo / "GEMINI.md").write_text("@AGENTS.md\n")
    connect_clients(wiring, ["gemini"])
    assert (repo / "GEMINI.md").read_text() == "@AGENTS.md\n"
    (repo / "GEMINI.md").write_text("Be brief.\n")
    connect_clients(wiring, ["gemini"])
    assert (repo / "GEMINI.md").read_text().startswith("Be brief.\n\n<!-- memory:start -->\n## Project memory\n")


def test_instructions_of_copilot_keep_their_line_ends(wiring: Project, repo: Path) -> None:
    lay(repo, {".github/copilot-instructions.md": COPILOT_TEXT})
    connect_clients(wiring, ["copilot"])
    data = (repo / ".github/copilot-instructions.md").read_bytes()
    assert data.startswith(COPILOT_TEXT + b"\r\n<!-- memory:start -->\r\n")
    assert b"\n" not in data.replace(b"\r\n", b"")


def test_guidance_of_init_stays_and_what_wiring_added_goes(wiring: Project, repo: Path, project: Project) -> None:
    before = (repo / "AGENTS.md").read_bytes()
    lay(repo, {"CLAUDE.md": b"# Harbor\n"})
    done = connect_clients(wiring, ["claude"])
    assert statuses(done)["claude", "guidance", "CLAUDE.md"] == "updated"
    # A save refreshes the map in it: it is no longer what was written.
    save_nodes(
        project, {"task": "t", "nodes": [{"kind": "feature", "title": "Retries", "body": "B.", "stage": "shipped"}]}
    )
    assert b"Retries" in (repo / "CLAUDE.md").read_bytes()
    disconnect_clients(wiring, ["claude"])
    assert (repo / "CLAUDE.md").read_bytes() == b"# Harbor\n"
    assert b"<!-- memory:start -->" in (repo / "AGENTS.md").read_bytes()
    assert before.split(b"<!-- memory:map")[0] == (repo / "AGENTS.md").read_bytes().split(b"<!-- memory:map")[0]


def test_a_dry_run_shows_every_change_and_makes_none(wiring: Project, repo: Path) -> None:
    lay(repo, {".mcp.json": b'{"a": 1}'})
    before = held(repo)
    done = connect_clients(wiring, ["claude", "cline"], dry_run=True)
    diffs = {file.path: file.diff for file in done.files}
    assert held(repo) == before
    assert not (repo / ".memory/integrations").exists()
    assert diffs[".mcp.json"] == (
        "--- a/.mcp.json\n+++ b/.mcp.json\n@@ -1 +1 @@\n"
        '-{"a": 1}\n\\ No newline at end of file\n'
        '+{"a": 1, "mcpServers": {"quire": {"command": "memory-mcp", "args": []}}}\n\\ No newline at end of file\n'
    )
    assert diffs[".clinerules/quire-memory.md"].startswith(
        "--- /dev/null\n+++ b/.clinerules/quire-memory.md\n@@ -0,0 +1,"
    )
    connect_clients(wiring, ["claude", "cline"])
    wired = held(repo)
    gone = {file.path: file.diff for file in disconnect_clients(wiring, dry_run=True).files}
    assert held(repo) == wired
    assert gone[".clinerules/quire-memory.md"].startswith("--- a/.clinerules/quire-memory.md\n+++ /dev/null\n")
    assert '-{"a": 1, "mcpServers"' in gone[".mcp.json"]


def test_clients_are_found_by_their_signs(wiring: Project, repo: Path, world: World) -> None:
    with pytest.raises(InputError, match="No client was found"):
        connect_clients(Project.open(str(repo), _bare(world)))
    lay(repo, {".cursor/rules/a.mdc": b""})
    Path(world.home, ".codex").mkdir()
    done = connect_clients(Project.open(str(repo), _bare(world)))
    assert done.clients == ("codex", "cursor")
    found = {one.client: one for one in connection_status(wiring, user=False).clients}
    assert tuple(found) == CLIENTS
    assert (found["codex"].installed, found["codex"].wired) == (True, True)
    assert (found["cursor"].in_project, found["cline"].in_project) == (True, False)
    assert not found["copilot"].wired


def test_there_must_be_a_memory_and_a_known_client(repo: Path, world: World, wiring: Project, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Unknown client `emacs`"):
        connect_clients(wiring, ["emacs"])
    other = tmp_path / "other"
    other.mkdir()
    for call in (connect_clients, disconnect_clients):
        with pytest.raises(NotInitialized):
            call(Project.open(str(other), world), ["claude"])
    assert os.listdir(other) == []


def _bare(world: World) -> World:
    import msgspec

    return msgspec.structs.replace(world, env={**world.env, "PATH": ""})
