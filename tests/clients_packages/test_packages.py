"""The ready packages: that `plugins/` is what the program builds, and that each is what its client reads."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from cases import each
from quire import __version__
from quire.clients.hooks.reply import connected_events
from quire.clients.hooks.types import EVENTS
from quire.clients.texts.rules import package_context_text
from quire.clients.texts.skill import skill_text

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from make_plugins import MARKETPLACE_NAME, PACKAGE_CLIENTS, PACKAGE_NAME, build_package, build_plugins

PLUGINS = Path(__file__).parents[2] / "plugins"
KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
EVENTS_OF = {
    "claude": {
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PreCompact",
        "PostCompact",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "SessionEnd",
    },
    "codex": {
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PreCompact",
        "PostCompact",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "SessionEnd",
    },
    "gemini": {"SessionStart", "BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "PreCompress", "SessionEnd"},
}


def data(client: str, path: str) -> Any:
    return json.loads(build_package(client)[path])


def test_the_folder_holds_what_is_built() -> None:
    there = {
        path.relative_to(PLUGINS).as_posix(): path.read_bytes().decode()
        for path in PLUGINS.rglob("*")
        if path.is_file()
    }
    assert there == build_plugins(), "run: .venv/bin/python tools/make_plugins.py"


def test_the_files_of_each_package() -> None:
    common = ["README.md", "hooks/hooks.json", "skills/quire-memory/SKILL.md"]
    own = {
        "claude": [".claude-plugin/plugin.json", ".mcp.json"],
        "codex": [".codex-plugin/plugin.json", ".mcp.json"],
        "gemini": ["GEMINI.md", "gemini-extension.json"],
    }
    assert {client: sorted(build_package(client)) for client in PACKAGE_CLIENTS} == {
        client: sorted(common + paths) for client, paths in own.items()
    }
    lists = {".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json"}
    assert {path for path in build_plugins() if path.split("/")[0] not in PACKAGE_CLIENTS} == lists


def test_there_is_no_package_for_others() -> None:
    with pytest.raises(ValueError, match="no package for 'cursor'; there are for claude, codex, gemini"):
        build_package("cursor")


def test_the_same_is_built_each_time() -> None:
    assert build_plugins() == build_plugins()
    assert list(build_plugins()) == sorted(build_plugins())


def test_claude_code_reads_its_manifest() -> None:
    manifest = data("claude", ".claude-plugin/plugin.json")
    assert set(manifest) == {"name", "version", "description", "author", "license", "keywords"}
    assert (manifest["name"], manifest["version"]) == (PACKAGE_NAME, __version__)
    assert set(manifest["author"]) == {"name"}


def test_codex_reads_its_manifest() -> None:
    manifest = data("codex", ".codex-plugin/plugin.json")
    shared = {"name", "version", "description", "author", "license", "keywords"}
    assert set(manifest) == shared | {"skills", "hooks", "mcpServers", "interface"}
    assert (manifest["name"], manifest["version"]) == (PACKAGE_NAME, __version__)
    files = build_package("codex")
    for key in ("skills", "hooks", "mcpServers"):
        assert manifest[key].startswith("./")
        assert [path for path in files if path.startswith(manifest[key].removeprefix("./"))], key
    assert set(manifest["interface"]) == {
        "displayName",
        "shortDescription",
        "longDescription",
        "developerName",
        "category",
        "capabilities",
        "defaultPrompt",
    }
    prompts = manifest["interface"]["defaultPrompt"]
    assert len(prompts) <= 3
    assert all(len(prompt) <= 128 for prompt in prompts)


def test_gemini_cli_reads_its_manifest() -> None:
    manifest = data("gemini", "gemini-extension.json")
    assert set(manifest) == {"name", "version", "description", "mcpServers", "contextFileName"}
    assert (manifest["name"], manifest["version"]) == (PACKAGE_NAME, __version__)
    assert build_package("gemini")[manifest["contextFileName"]] == package_context_text()
    assert manifest["mcpServers"] == {"quire": {"command": "memory-mcp"}}


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_the_server_is_started_in_the_project(client: str) -> None:
    assert data(client, ".mcp.json") == {"mcpServers": {"quire": {"command": "memory-mcp"}}}


@pytest.mark.parametrize("client", PACKAGE_CLIENTS)
def test_the_hooks_are_those_that_are_wired(client: str) -> None:
    hooks = data(client, "hooks/hooks.json")
    assert set(hooks) == {"hooks"}
    found = []
    for native, groups in hooks["hooks"].items():
        for group in groups:
            assert set(group) <= {"matcher", "hooks"}
            for hook in group["hooks"]:
                assert set(hook) == {"type", "command", "timeout"}
                assert hook["type"] == "command"
                found.append((native, group.get("matcher", ""), hook["command"], hook["timeout"]))
    unit = 1000 if client == "gemini" else 1
    wanted = [
        (wired.native, wired.matcher, f"quire hook {client} {wired.event} || true", wired.seconds * unit)
        for wired in connected_events(client)
    ]
    assert wanted
    assert sorted(found) == sorted(wanted)
    assert set(hooks["hooks"]) <= EVENTS_OF[client]
    assert {wired.event for wired in connected_events(client)} <= set(EVENTS)


def test_the_lists_lead_to_the_packages() -> None:
    files = build_plugins()
    claude = json.loads(files[".claude-plugin/marketplace.json"])
    assert set(claude) == {"name", "owner", "metadata", "plugins"}
    assert (claude["name"], set(claude["owner"]), set(claude["metadata"])) == (
        MARKETPLACE_NAME,
        {"name"},
        {"description"},
    )
    assert [(set(plugin), plugin["name"], plugin["source"]) for plugin in claude["plugins"]] == [
        ({"name", "source", "description"}, PACKAGE_NAME, "./claude")
    ]
    codex = json.loads(files[".agents/plugins/marketplace.json"])
    assert set(codex) == {"name", "interface", "plugins"}
    assert codex["name"] == MARKETPLACE_NAME
    assert codex["plugins"] == [
        {
            "name": PACKAGE_NAME,
            "source": {"source": "local", "path": "./codex"},
            "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
            "category": "Productivity",
        }
    ]
    assert "claude/.claude-plugin/plugin.json" in files
    assert "codex/.codex-plugin/plugin.json" in files


def test_names_are_of_the_form_that_clients_ask_for() -> None:
    for name in (PACKAGE_NAME, MARKETPLACE_NAME):
        assert KEBAB.fullmatch(name)
        assert "claude" not in name


@each("path", sorted(build_plugins()))
def test_nothing_of_one_machine_is_in_a_file(path: str) -> None:
    text = build_plugins()[path]
    assert not re.search(r"(?<![\w.*<>])/(?:home|root|Users|usr|opt|work|tmp|var|private)\b|[A-Z]:\\|~/", text)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert "\r" not in text
    if path.endswith(".json"):
        assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"


def test_every_package_has_the_same_skill() -> None:
    found = {build_package(client)["skills/quire-memory/SKILL.md"] for client in PACKAGE_CLIENTS}
    assert found == {skill_text()}
