"""Choose how a client starts our programs: by name in committed files, by absolute path in a user's own."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import Any

from quire.clients.integration.types import Commands, Scope
from quire.files.programs import own_command

_MILLISECONDS = ("gemini",)
"""Clients that count the time of a hook in milliseconds; the others in seconds."""


def commands_for(scope: Scope, env: Mapping[str, str]) -> Commands:
    """The programs of this scope. What is in a home names the program that runs now: clients may have a short PATH."""
    if scope == "project":
        return Commands()
    python = own_command()[0]
    return Commands(
        quire=_installed("quire", env, (python, "-P", "-m", "quire")),
        server=_installed("memory-mcp", env, (python, "-P", "-m", "quire.surfaces.mcp")),
    )


def _installed(name: str, env: Mapping[str, str], otherwise: tuple[str, ...]) -> tuple[str, ...]:
    """The path of an installed script: where the user's PATH has it, if that is the one beside this interpreter."""
    beside = os.path.join(os.path.dirname(otherwise[0]), name)
    if not os.access(beside, os.X_OK):
        return otherwise
    for folder in env.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, name)
        # Installers link their scripts from a folder that outlives an upgrade.
        if os.path.isabs(folder) and os.path.isfile(path) and os.path.samefile(path, beside):
            return (path,)
    return (beside,)


def hook_command(client: str, event: str, commands: Commands) -> str:
    """The shell text of a hook. It stays as it is for ever: clients trust hooks by their text."""
    return f"{shlex.join([*commands.quire, 'hook', client, event])} || true"


def hook_entries(client: str, commands: Commands) -> dict[str, list[dict[str, Any]]]:
    """Hooks by event in the form of a client: flat for Cursor, with the shell named for Copilot, else in groups."""
    from quire.clients.hooks.reply import connected_events

    hooks: dict[str, list[dict[str, Any]]] = {}
    for wired in connected_events(client):
        matcher = {"matcher": wired.matcher} if wired.matcher else {}
        command, seconds = hook_command(client, wired.event, commands), wired.seconds
        item: dict[str, Any]
        if client == "cursor":
            item = {"command": command, **matcher, "timeout": seconds}
        elif client == "copilot":
            item = {"type": "command", "bash": command, **matcher, "timeoutSec": seconds}
        else:
            timeout = seconds * 1000 if client in _MILLISECONDS else seconds
            item = {**matcher, "hooks": [{"type": "command", "command": command, "timeout": timeout}]}
        hooks.setdefault(wired.native, []).append(item)
    return hooks
