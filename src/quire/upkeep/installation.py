"""Describe the installation: the program, its commands, and its files for this user."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from typing import Literal

import msgspec

from quire import __version__
from quire.files import disk
from quire.files.durable_write import ensure_folder
from quire.files.json_files import json_value
from quire.files.paths import read_or_none
from quire.files.programs import own_command
from quire.files.world import World
from quire.index.health import engine
from quire.model.text import cut
from quire.upkeep.findings import Finding, finding
from quire.upkeep.projects import ProjectRegistry, Registered

Kind = Literal["ours", "other", "foreign", "missing"]
COMMANDS = {
    "memory": "the command for people",
    "quire": "the same command by the name that hooks use",
    "memory-mcp": "the server for MCP clients",
    "agent-memory": "the journal's own name",
}
_HEAD_BYTES = 4096
_PAGE = ("surfaces", "web", "static", "index.html")
_MARK = b"quire.surfaces"
"""What every script of ours imports."""

_ENVIRONMENTS = ("VIRTUAL_ENV", "CONDA_PREFIX")
"""Variables that name a virtual environment while it is active."""
_LINKS = (".local/bin", "bin")
"""Folders of a home that are for a user's own programs."""


class CommandSeen(msgspec.Struct, frozen=True, kw_only=True):
    """What a shell would start by a name: us, another installation of Quire, another program, or nothing."""

    name: str
    kind: Kind
    path: str = ""


def seen_command(name: str, env: Mapping[str, str]) -> CommandSeen:
    """What stands on the PATH under a name of ours. It is looked at, never run."""
    for folder in env.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):
            return CommandSeen(name=name, kind=_kind(path, name), path=path)
    return CommandSeen(name=name, kind="missing")


def _kind(path: str, name: str) -> Kind:
    python = own_command()[0]
    beside = os.path.join(os.path.dirname(python), name)
    if os.path.isfile(beside) and os.path.samefile(path, beside):
        return "ours"
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return "foreign"
    if _MARK not in head:
        return "foreign"
    return "ours" if os.fsencode(python) in head else "other"


# -- whether agents reach it ----------------------------------------------------------------


def unreachable(name: str, env: Mapping[str, str]) -> str:
    """Why an agent that is started from elsewhere does not find a command by its name; empty where it does."""
    seen = seen_command(name, env)
    if seen.kind == "missing":
        return "not on the PATH"
    if seen.kind == "foreign":
        return f"another program ({seen.path})"
    active = _active(env)
    if not active or seen_command(name, {"PATH": _path_without(env, active)}).kind in ("ours", "other"):
        return ""
    return f"on the PATH only while the virtual environment {active} is active"


def _active(env: Mapping[str, str]) -> str:
    """The virtual environment that is active, if this program is in it; the one that conda begins with is always."""
    folder = next((env[name] for name in _ENVIRONMENTS if os.path.isabs(env.get(name, ""))), "")
    if not folder or (not env.get("VIRTUAL_ENV") and env.get("CONDA_DEFAULT_ENV") == "base"):
        return ""
    return folder if os.path.realpath(os.path.dirname(own_command()[0])) == _commands_in(folder) else ""


def _commands_in(environment: str) -> str:
    return os.path.realpath(os.path.join(environment, "bin"))


def _path_without(env: Mapping[str, str], environment: str) -> str:
    folders = env.get("PATH", "").split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if os.path.realpath(folder) != _commands_in(environment))


def reach_hint(env: Mapping[str, str]) -> str:
    """How commands get to a place where every agent finds them."""
    folder = _link_folder(env)
    if folder:
        return f"`memory doctor --fix` links the commands into {folder}, which is on your PATH."
    return (
        "Install Quire with `pipx` or `uv tool`, or link its commands into a folder that is on the PATH of your login "
        "shell. Or use `memory integrate --user`, which names the commands by their paths."
    )


def _link_folder(env: Mapping[str, str]) -> str:
    home = env.get("HOME", "")
    active = _active(env)
    on_path = (_path_without(env, active) if active else env.get("PATH", "")).split(os.pathsep)
    return next((path for name in _LINKS if home and (path := os.path.join(home, name)) in on_path), "")


def link_commands(env: Mapping[str, str]) -> list[str]:
    """Link the commands that agents do not find into a folder of the user's own programs; the links that were made."""
    folder, beside = _link_folder(env), os.path.dirname(own_command()[0])
    made = []
    for name in COMMANDS if folder else ():
        link, target = os.path.join(folder, name), os.path.join(beside, name)
        if unreachable(name, env) and os.access(target, os.X_OK) and not os.path.lexists(link):
            ensure_folder(folder)
            disk.link(target, link)
            made.append(link)
    return made


# -- the program ----------------------------------------------------------------------------


def look_at_program(env: Mapping[str, str]) -> list[Finding]:
    """Versions, the database, and where the commands are."""
    python = own_command()[0]
    found = [
        finding("program", "version", f"Quire {__version__}"),
        finding("program", "python", f"Python {platform.python_version()} ({python})"),
        _database(),
        _page(),
    ]
    return [*found, *(_command(name, env) for name in COMMANDS), *_environment(env)]


def _environment(env: Mapping[str, str]) -> list[Finding]:
    """That the commands are there for this shell alone."""
    active = _active(env)
    names = [name for name in COMMANDS if seen_command(name, env).kind == "ours" and unreachable(name, env)]
    if not active or not names:
        return []
    listed = ", ".join(f"`{name}`" for name in names)
    said = f"{listed}: on the PATH only while the virtual environment {active} is active. Agents start outside it."
    fixable = bool(_link_folder(env))
    return [finding("program", "environment", said, "warning", reach_hint(env), fixable=fixable)]


def _database() -> Finding:
    made = engine()
    said = f"SQLite {made.sqlite} (apsw {made.binding})"
    if not made.fault:
        return finding("program", "database", f"{said}, with full text and vectors")
    said = f"{said}: no index can be made with it ({made.fault})."
    return finding("program", "database", said, "error", "Reinstall Quire with its dependencies.")


def _page() -> Finding:
    """Whether the page of `memory view` came with this installation: it is built when the package is."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if os.path.isfile(os.path.join(package, *_PAGE)):
        return finding("program", "page", "The page of `memory view` is built.")
    said = "The page of `memory view` is not built, so it cannot be shown; everything else works."
    hint = "Install the released package, which holds it; in a checkout, `make viewer` builds it."
    return finding("program", "page", said, "note", hint)


def _command(name: str, env: Mapping[str, str]) -> Finding:
    seen = seen_command(name, env)
    if seen.kind == "ours":
        return finding("program", name, seen.path)
    if seen.kind == "missing":
        folder = os.path.dirname(own_command()[0])
        there = os.path.isfile(os.path.join(folder, name))
        message = f"`{name}`, {COMMANDS[name]}, is not on the PATH."
        hint = f"Put {folder} on your PATH{_or_link(env)}." if there else "Reinstall Quire with its commands."
    elif seen.kind == "other":
        message = f"`{name}` on the PATH is another installation of Quire: {seen.path}"
        hint = (
            f"This installation runs with {own_command()[0]}. Remove one of the two, or change the order of your PATH."
        )
    else:
        message = f"`{name}` on the PATH is another program: {seen.path}"
        hint = (
            "Use `quire`, which is the same command."
            if name == "memory"
            else "Put the folder of Quire's commands before it on your PATH."
        )
    fixable = seen.kind == "missing" and bool(_link_folder(env))
    return finding("program", name, message, "warning", hint, fixable=fixable)


def _or_link(env: Mapping[str, str]) -> str:
    folder = _link_folder(env)
    return f"; --fix links it into {folder}" if folder else ""


# -- the machine ----------------------------------------------------------------------------


def look_at_machine(world: World) -> list[Finding]:
    """The folder that is the user's, and the projects that it lists."""
    home = world.memory_home
    if not home:
        said = "There is no home folder: no list of projects, no settings of your own."
        return [finding("machine", "home", said, "warning", "Set HOME, or MEMORY_HOME to a folder of yours.")]
    return [_home(home), *_registry(world)]


def _home(home: str) -> Finding:
    place = home
    while not os.path.lexists(place) and os.path.dirname(place) != place:
        place = os.path.dirname(place)
    if os.path.isdir(place) and os.access(place, os.W_OK | os.X_OK):
        made = "" if place == home else " (created when needed)"
        return finding("machine", "home", f"{home}{made}")
    said = f"{home} cannot be written to: {place} {'is not a folder' if not os.path.isdir(place) else 'is closed'}."
    return finding("machine", "home", said, "error", "Make it writable, or set MEMORY_HOME to another folder.")


def _registry(world: World) -> list[Finding]:
    registry = ProjectRegistry(world)
    if not os.path.lexists(registry.path):
        return [finding("machine", "projects", "No project is listed yet.")]
    projects = registry.projects()
    if not projects and not _is_registry(registry.path):
        said = f"The list of projects cannot be read: {registry.path}"
        hint = "`memory init` in a project starts a new list and keeps this file beside it."
        return [finding("machine", "projects", said, "warning", hint)]
    dead = dead_projects(world)
    if not dead:
        return [finding("machine", "projects", f"{len(projects):,} listed")]
    names = ", ".join(cut(entry.project_root, 120) for entry in dead[:3]) + (" …" if len(dead) > 3 else "")
    said = f"{len(dead):,} of {len(projects):,} listed projects no longer have a memory: {names}"
    hint = "`memory projects prune` or --fix removes them from the list."
    return [finding("machine", "projects", said, "warning", hint, fixable=True)]


def dead_projects(world: World) -> list[Registered]:
    """Listed projects without a memory. One that is damaged, or of another version, is not dead."""
    registry = ProjectRegistry(world)
    return [entry for entry in registry.projects() if registry.is_gone(entry)]


def _is_registry(path: str) -> bool:
    fields = json_value(read_or_none(path) or b"", dict[str, msgspec.Raw]) or {}
    return bytes(fields.get("projects", msgspec.Raw(b""))).strip() == b"[]"
