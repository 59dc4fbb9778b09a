"""List the configuration files of each client, in a project and for a user, and our parts of each."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any, Literal, Protocol

from quire.clients.integration.commands import commands_for, hook_entries
from quire.clients.integration.entries import MISSING, JsonServer, TomlServer, find_member, read_document
from quire.clients.integration.forge_parts import forge_parts
from quire.clients.integration.hook_items import Hooks
from quire.clients.integration.places import config_folders
from quire.clients.integration.types import FORGES, Commands, Form, Made, Part, Scope, Seen, Surroundings
from quire.clients.integration.whole_files import MarkedSection, WholeFile
from quire.clients.integration.yaml_items import YamlItems
from quire.clients.texts.opencode import OPENCODE_PLUGIN_PATH, opencode_plugin_text
from quire.clients.texts.rules import rules_text
from quire.clients.texts.skill import SKILL_PATH, skill_text
from quire.clients.texts.slash import SLASH_NAMES, slash_text
from quire.files.paths import read_or_none

NAME = "quire"
"""What the server is called in every client."""
_SCHEMA = '{\n  "$schema": "https://opencode.ai/config.json"\n}\n'
_INCLUDED = (b"@AGENTS.md", b"@./AGENTS.md")

_WORKSPACE = ("--project", "${workspaceFolder}")
_FOLDERS = {"copilot": ".github"}
"""The folders in a project whose names are not those of their clients."""

Name = Literal["mcp", "hooks", "skill", "rules", "plugin", "command", "review", "comment", "fold", "jobs", "include"]


class _Editing(Protocol):
    def apply(self, data: bytes | None, force: bool, /) -> bytes: ...
    def strip(self, data: bytes, made: Made | None, /) -> bytes: ...
    def look(self, data: bytes | None, /) -> Seen: ...
    def keys(self, data: bytes | None, /) -> Made: ...
    def is_void(self, data: bytes, /) -> bool: ...


def parts_of(client: str, scope: Scope, around: Surroundings, *, possible: bool = False) -> list[Part]:
    """Everything that a client needs in this scope, in the order in which it is reported.

    With `possible`, also what it may have needed when the project looked otherwise.
    """
    if client in FORGES and scope == "user":
        return []
    made = PartsOfClient(client, scope, around, possible)
    return list(forge_parts(made) if client in FORGES else _MAKERS[client](made))


class PartsOfClient:
    """One client in one scope: what its parts have in common."""

    def __init__(self, client: str, scope: Scope, around: Surroundings, possible: bool) -> None:
        self.client = client
        self.possible = possible
        self.scope: Scope = scope
        self.around = around
        self.folders = config_folders(around)
        self.in_project = scope == "project"
        self.folder = _FOLDERS.get(client, f".{client}") if self.in_project else self.folders.get(client, "")
        self.commands: Commands = commands_for(scope, around.env)

    def server(self, *more: str) -> dict[str, Any]:
        """The command line of the server, in the two fields that most clients have."""
        program, *arguments = (*self.commands.server, *more)
        return {"command": program, "args": arguments}

    def part(self, name: Name, path: str, editing: _Editing) -> Part:
        whole = os.path.join(self.around.root, path) if self.scope == "project" else path
        return Part(
            name=name,
            client=self.client,
            scope=self.scope,
            path=whole,
            shown=path if self.scope == "project" else _from_home(path, self.around.home),
            form=_FORMS[type(editing)],
            apply=editing.apply,
            strip=editing.strip,
            look=editing.look,
            keys=editing.keys,
            is_void=editing.is_void,
        )

    def at(self, *names: str) -> str:
        """A path in the client's own folder."""
        return os.path.join(self.folder, *names)

    def hooks(self, name: str, *, version: int | None = None) -> Part:
        """Its hooks in a file of its folder."""
        editing = Hooks(self.client, hook_entries(self.client, self.commands), version=version)
        return self.part("hooks", self.at(name), editing)

    def slash_commands(self) -> Iterator[Part]:
        """The files of the slash commands."""
        ending = "toml" if self.client == "gemini" else "md"
        for name in SLASH_NAMES:
            path = self.at("commands", f"{name}.{ending}")
            yield self.part("command", path, WholeFile(slash_text(self.client, name)))

    def has(self, *names: str) -> bool:
        return any(os.path.lexists(os.path.join(self.around.root, name)) for name in names)


_FORMS: dict[type, Form] = {
    JsonServer: "jsonc",
    Hooks: "jsonc",
    TomlServer: "toml",
    WholeFile: "text",
    MarkedSection: "section",
    YamlItems: "section",
}


def _from_home(path: str, home: str) -> str:
    return f"~/{os.path.relpath(path, home)}" if home and path.startswith(os.path.join(home, "")) else path


# -- clients --------------------------------------------------------------------------------


def _claude(one: PartsOfClient) -> Iterator[Part]:
    # Without a folder of its own the state lies beside the folder, not in it.
    state = one.folder if one.around.env.get("CLAUDE_CONFIG_DIR") else one.around.home
    path = ".mcp.json" if one.in_project else os.path.join(state, ".claude.json")
    yield one.part("mcp", path, JsonServer(("mcpServers", NAME), one.server()))
    yield one.hooks("settings.json")
    yield one.part("skill", one.at(SKILL_PATH), WholeFile(skill_text()))
    yield from one.slash_commands()


def _codex(one: PartsOfClient) -> Iterator[Part]:
    entry = one.server()
    fields = entry if entry["args"] else {"command": entry["command"]}
    yield one.part("mcp", one.at("config.toml"), TomlServer(("mcp_servers", NAME), fields))
    yield one.hooks("hooks.json")
    skills = "" if one.in_project else one.around.home
    yield one.part("skill", os.path.join(skills, ".agents", SKILL_PATH), WholeFile(skill_text()))


def _cursor(one: PartsOfClient) -> Iterator[Part]:
    entry = {"type": "stdio", **one.server(*(_WORKSPACE if one.in_project else ()))}
    yield one.part("mcp", one.at("mcp.json"), JsonServer(("mcpServers", NAME), entry))
    yield one.hooks("hooks.json", version=1)
    if one.in_project:
        yield one.part("rules", one.at("rules/quire-memory.mdc"), WholeFile(rules_text("cursor")))
    yield from one.slash_commands()


def _gemini(one: PartsOfClient) -> Iterator[Part]:
    yield one.part("mcp", one.at("settings.json"), JsonServer(("mcpServers", NAME), one.server()))
    yield one.hooks("settings.json")
    if one.in_project and (one.possible or _needs_gemini_section(one)):
        yield one.part("rules", "GEMINI.md", MarkedSection(rules_text("gemini")))
    yield from one.slash_commands()


def _opencode(one: PartsOfClient) -> Iterator[Part]:
    entry = {"type": "local", "command": list(one.commands.server), "enabled": True}
    for path in _opencode_files(one, one.around.root if one.in_project else one.folder):
        shown = os.path.basename(path) if one.in_project else path
        yield one.part("mcp", shown, JsonServer(("mcp", NAME), entry, _SCHEMA))
    yield one.part("plugin", one.at(OPENCODE_PLUGIN_PATH), WholeFile(_plugin(one)))
    yield from one.slash_commands()


def _copilot(one: PartsOfClient) -> Iterator[Part]:
    text = json.dumps({"version": 1, "hooks": hook_entries(one.client, one.commands)}, indent=2) + "\n"
    hooks = one.part("hooks", one.at("hooks", "quire-memory.json"), WholeFile(text))
    if not one.in_project:
        entry = {"type": "local", **one.server(), "tools": ["*"]}
        yield one.part("mcp", one.at("mcp-config.json"), JsonServer(("mcpServers", NAME), entry))
        yield hooks
        return
    yield one.part("mcp", ".mcp.json", JsonServer(("mcpServers", NAME), {**one.server(), "tools": ["*"]}))
    if one.has(".vscode"):
        # The editor reads a file of its own, which the command line does not.
        entry = {"type": "stdio", **one.server(*_WORKSPACE)}
        yield one.part("mcp", ".vscode/mcp.json", JsonServer(("servers", NAME), entry))
    yield hooks
    if one.has(".github/copilot-instructions.md"):
        yield one.part("rules", ".github/copilot-instructions.md", MarkedSection(rules_text("copilot")))


def _cline(one: PartsOfClient) -> Iterator[Part]:
    env = one.around.env
    if not one.in_project:
        data = env.get("CLINE_DATA_DIR") or one.at("data")
        path = env.get("CLINE_MCP_SETTINGS_PATH") or os.path.join(data, "settings", "cline_mcp_settings.json")
        entry = {**one.server(), "disabled": False}
        yield one.part("mcp", os.path.join(one.around.home, path), JsonServer(("mcpServers", NAME), entry))
    elif os.path.isfile(os.path.join(one.around.root, ".clinerules")):
        yield one.part("rules", ".clinerules", MarkedSection(rules_text("cline")))
    else:
        yield one.part("rules", ".clinerules/quire-memory.md", WholeFile(rules_text("cline")))


_MAKERS: dict[str, Callable[[PartsOfClient], Iterator[Part]]] = {
    "claude": _claude,
    "codex": _codex,
    "cursor": _cursor,
    "gemini": _gemini,
    "opencode": _opencode,
    "copilot": _copilot,
    "cline": _cline,
}


# -- contents -------------------------------------------------------------------------------


def _opencode_files(one: PartsOfClient, folder: str) -> list[str]:
    """The file that is there, in either spelling; the plain one where both are, or none."""
    plain, commented = os.path.join(folder, "opencode.json"), os.path.join(folder, "opencode.jsonc")
    if one.possible:
        return [plain, commented]
    return [commented if os.path.lexists(commented) and not os.path.lexists(plain) else plain]


def _plugin(one: PartsOfClient) -> str:
    text = opencode_plugin_text()
    if one.scope == "project":
        return text
    program, *arguments = one.commands.quire
    words = "".join(f"{json.dumps(word)}, " for word in arguments)
    return text.replace('spawn("quire", [', f"spawn({json.dumps(program)}, [{words}")


def _needs_gemini_section(one: PartsOfClient) -> bool:
    """Whether Gemini CLI reads nothing that has the guidance: it knows AGENTS.md only where its settings name it."""
    root = one.around.root
    path = os.path.join(root, "GEMINI.md")
    if os.path.lexists(path):
        real = os.path.realpath(path)
        data = read_or_none(os.path.realpath(real)) or b""
        return os.path.basename(real) not in ("AGENTS.md", "CLAUDE.md") and not any(word in data for word in _INCLUDED)
    settings = (os.path.join(root, ".gemini/settings.json"), os.path.join(one.folders["gemini"], "settings.json"))
    return not any("AGENTS.md" in _context_names(path) for path in settings)


def _context_names(path: str) -> list[Any]:
    try:
        found = find_member(read_document(read_or_none(os.path.realpath(path))), ("context", "fileName"))
    except ValueError:
        return []
    return [] if found is MISSING else found if isinstance(found, list) else [found]
