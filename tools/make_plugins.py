"""Builds plugin packages for Claude Code, Codex and Gemini CLI, and writes them to plugins/.

Run it with .venv/bin/python tools/make_plugins.py. A package gives a client everything at once, in all projects of a
user: the MCP server, the hooks, the skill. Its texts and its hooks are those that the wiring of a project writes. Files
that are no longer part of a package are removed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from quire import __version__
from quire.clients.integration.commands import hook_entries
from quire.clients.integration.types import Commands
from quire.clients.texts.rules import package_context_text
from quire.clients.texts.skill import SKILL_PATH, skill_text

PLUGINS = Path(__file__).parents[1] / "plugins"
PACKAGE_CLIENTS = ("claude", "codex", "gemini")
PACKAGE_NAME = "quire-memory"
MARKETPLACE_NAME = "quire"
_AUTHOR = "The Quire authors"
_LICENSE = "Apache-2.0"
_DESCRIPTION = "Project memory for coding agents: plain files in your git repository, checked against the code."
_LONG = (
    "Features and their stage, decisions with their reasons, known traps and open questions of a repository, kept as"
    " plain files in it. Agents get relevant records when a session starts and before they edit files. What sessions "
    "learned is proposed for a person to accept."
)
_KEYWORDS = ["agents", "memory", "mcp", "knowledge", "git"]
_HOOKS = "hooks/hooks.json"
_SERVERS = {"quire": {"command": "memory-mcp"}}


def build_package(client: str) -> dict[str, str]:
    """The files of one client's package, by their path in it."""
    if client not in _PACKAGES:
        raise ValueError(f"there is no package for {client!r}; there are for {', '.join(PACKAGE_CLIENTS)}")
    hooks = _json({"hooks": hook_entries(client, Commands())})
    files = {_HOOKS: hooks, SKILL_PATH: skill_text(), "README.md": _readme(client), **_PACKAGES[client]()}
    return dict(sorted(files.items()))


def build_plugins() -> dict[str, str]:
    """All packages, each in the folder of its client, and the two lists that clients find them by."""
    files = {f"{client}/{path}": text for client in PACKAGE_CLIENTS for path, text in build_package(client).items()}
    files[".claude-plugin/marketplace.json"] = _json(_claude_marketplace())
    files[".agents/plugins/marketplace.json"] = _json(_codex_marketplace())
    return dict(sorted(files.items()))


def _claude() -> dict[str, str]:
    # Hooks, servers and skills lie where Claude Code looks by itself: naming the hooks as well would load them twice.
    return {".claude-plugin/plugin.json": _json(_manifest()), ".mcp.json": _json({"mcpServers": _SERVERS})}


def _codex() -> dict[str, str]:
    manifest = _manifest() | {
        "skills": "./skills/",
        "hooks": f"./{_HOOKS}",
        "mcpServers": "./.mcp.json",
        "interface": {
            "displayName": "Quire project memory",
            "shortDescription": _DESCRIPTION,
            "longDescription": _LONG,
            "developerName": _AUTHOR,
            "category": "Productivity",
            "capabilities": ["Read", "Write"],
            "defaultPrompt": ["What does this project's memory know about the code I am about to change?"],
        },
    }
    return {".codex-plugin/plugin.json": _json(manifest), ".mcp.json": _json({"mcpServers": _SERVERS})}


def _gemini() -> dict[str, str]:
    manifest = {
        "name": PACKAGE_NAME,
        "version": __version__,
        "description": _DESCRIPTION,
        "mcpServers": _SERVERS,
        "contextFileName": "GEMINI.md",
    }
    return {"gemini-extension.json": _json(manifest), "GEMINI.md": package_context_text()}


_PACKAGES: dict[str, Callable[[], dict[str, str]]] = {"claude": _claude, "codex": _codex, "gemini": _gemini}


def _manifest() -> dict[str, Any]:
    """What the manifests of Claude Code and Codex have in common."""
    return {
        "name": PACKAGE_NAME,
        "version": __version__,
        "description": _DESCRIPTION,
        "author": {"name": _AUTHOR},
        "license": _LICENSE,
        "keywords": _KEYWORDS,
    }


def _claude_marketplace() -> dict[str, Any]:
    # The version is the manifest's: said twice, the two could differ.
    plugin = {"name": PACKAGE_NAME, "source": "./claude", "description": _DESCRIPTION}
    return {
        "name": MARKETPLACE_NAME,
        "owner": {"name": _AUTHOR},
        "metadata": {"description": _DESCRIPTION},
        "plugins": [plugin],
    }


def _codex_marketplace() -> dict[str, Any]:
    plugin = {
        "name": PACKAGE_NAME,
        "source": {"source": "local", "path": "./codex"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Productivity",
    }
    return {"name": MARKETPLACE_NAME, "interface": {"displayName": "Quire"}, "plugins": [plugin]}


_TITLES = {
    "claude": "Quire for Claude Code",
    "codex": "Quire for Codex",
    "gemini": "Quire for Gemini CLI",
}
_INSTALL = {
    "claude": f"claude plugin marketplace add ./plugins\nclaude plugin install {PACKAGE_NAME}@{MARKETPLACE_NAME}",
    "codex": f"codex plugin marketplace add ./plugins\ncodex plugin add {PACKAGE_NAME}@{MARKETPLACE_NAME}",
    "gemini": "gemini extensions install ./plugins/gemini",
}
_README = """\
# {title}

{description} This package brings the MCP server `memory-mcp`, the hooks that run `quire hook {client} …`, and the skill
`quire-memory`.

It needs the programs `quire` and `memory-mcp` on the `PATH` of your login shell. Without them the hooks do nothing. In
a repository without a memory they say nothing; `memory init` makes one.

Install it from a clone of Quire's repository:

```sh
{install}
```

`memory integrate {client}` connects one repository instead, for everyone who clones it. Use one of the two: with both,
each hook runs twice.

The files here are made by `tools/make_plugins.py`. Version {version}, {license}.
"""


def _readme(client: str) -> str:
    return _README.format(
        title=_TITLES[client],
        description=_DESCRIPTION,
        client=client,
        install=_INSTALL[client],
        version=__version__,
        license=_LICENSE,
    )


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    files = build_plugins()
    for path in sorted(PLUGINS.rglob("*"), reverse=True):
        if path.is_file() and path.relative_to(PLUGINS).as_posix() not in files:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    for name, text in files.items():
        path = PLUGINS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(files)} files in {PLUGINS.name}/")


if __name__ == "__main__":
    main()
