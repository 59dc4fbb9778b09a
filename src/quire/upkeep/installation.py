"""The installation as this process finds it: the program and its commands, and what it keeps for the user."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from typing import Literal

import msgspec

from quire import __version__
from quire.files import World, own_command, read_bytes
from quire.index import engine
from quire.model import cut
from quire.upkeep.findings import Finding
from quire.upkeep.projects import Registered, Registry

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

__all__ = ["CommandSeen", "dead_projects", "look_at_machine", "look_at_program", "seen_command"]


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


# -- the program ----------------------------------------------------------------------------


def look_at_program(env: Mapping[str, str]) -> list[Finding]:
    """Versions, the database, and where the commands are."""
    python = own_command()[0]
    found = [
        Finding(section="program", name="version", message=f"Quire {__version__}"),
        Finding(section="program", name="python", message=f"Python {platform.python_version()} ({python})"),
        _database(),
        _page(),
    ]
    return [*found, *(_command(name, env) for name in COMMANDS)]


def _database() -> Finding:
    made = engine()
    said = f"SQLite {made.sqlite} (apsw {made.binding})"
    if not made.fault:
        return Finding(section="program", name="database", message=f"{said}, with full text and vectors")
    return Finding(
        section="program",
        name="database",
        state="error",
        message=f"{said}: no index can be made with it ({made.fault}).",
        hint="Install quire-memory anew, with its dependencies.",
    )


def _page() -> Finding:
    """Whether the page of `memory view` came with this installation: it is built when the package is."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if os.path.isfile(os.path.join(package, *_PAGE)):
        return Finding(section="program", name="page", message="The page of `memory view` is built.")
    return Finding(
        section="program",
        name="page",
        state="note",
        message="The page of `memory view` is not built, so that it cannot be shown; everything else works.",
        hint="Install the released package, which holds it; in a checkout, `make viewer` builds it.",
    )


def _command(name: str, env: Mapping[str, str]) -> Finding:
    seen = seen_command(name, env)
    if seen.kind == "ours":
        return Finding(section="program", name=name, message=seen.path)
    if seen.kind == "missing":
        folder = os.path.dirname(own_command()[0])
        there = os.path.isfile(os.path.join(folder, name))
        message = f"`{name}`, {COMMANDS[name]}, is not on the PATH."
        hint = f"Put {folder} on your PATH." if there else "Install quire-memory with pipx or `uv tool install`."
    elif seen.kind == "other":
        message = f"`{name}` on the PATH is another installation of Quire: {seen.path}"
        hint = f"This one runs with {own_command()[0]}. Remove one of the two, or change the order of your PATH."
    else:
        message = f"`{name}` on the PATH is another program: {seen.path}"
        hint = (
            "Use `quire`, which is the same command."
            if name == "memory"
            else "Put the folder of Quire's commands before it on your PATH."
        )
    return Finding(section="program", name=name, state="warning", message=message, hint=hint)


# -- the machine ----------------------------------------------------------------------------


def look_at_machine(world: World) -> list[Finding]:
    """The folder that is the user's, and the projects that it lists."""
    home = world.memory_home
    if not home:
        return [
            Finding(
                section="machine",
                name="home",
                state="warning",
                message="There is no home folder: no list of projects, no settings of your own.",
                hint="Set HOME, or MEMORY_HOME to a folder of yours.",
            )
        ]
    return [_home(home), *_registry(world)]


def _home(home: str) -> Finding:
    place = home
    while not os.path.lexists(place) and os.path.dirname(place) != place:
        place = os.path.dirname(place)
    if os.path.isdir(place) and os.access(place, os.W_OK | os.X_OK):
        made = "" if place == home else " (made when it is needed)"
        return Finding(section="machine", name="home", message=f"{home}{made}")
    return Finding(
        section="machine",
        name="home",
        state="error",
        message=f"{home} cannot be written to: {place} {'is no folder' if not os.path.isdir(place) else 'is closed'}.",
        hint="Make it writable, or set MEMORY_HOME to another folder.",
    )


def _registry(world: World) -> list[Finding]:
    registry = Registry(world)
    if not os.path.lexists(registry.path):
        return [Finding(section="machine", name="projects", message="No project is listed yet.")]
    projects = registry.projects()
    if not projects and not _is_registry(registry.path):
        return [
            Finding(
                section="machine",
                name="projects",
                state="warning",
                message=f"The list of projects cannot be read: {registry.path}",
                hint="`memory init` in a project begins a new one, and keeps this one beside it.",
            )
        ]
    dead = dead_projects(world)
    if not dead:
        return [Finding(section="machine", name="projects", message=f"{len(projects):,} listed")]
    names = ", ".join(cut(entry.project_root, 120) for entry in dead[:3]) + (" …" if len(dead) > 3 else "")
    return [
        Finding(
            section="machine",
            name="projects",
            state="warning",
            message=f"{len(dead):,} of {len(projects):,} listed projects have no memory any more: {names}",
            hint="`memory projects prune` forgets them; so does --fix.",
            fixable=True,
        )
    ]


def dead_projects(world: World) -> list[Registered]:
    """Listed projects without a memory. One that is damaged, or of another version, is not dead."""
    registry = Registry(world)
    return [entry for entry in registry.projects() if registry.is_gone(entry)]


def _is_registry(path: str) -> bool:
    try:
        fields = msgspec.json.decode(read_bytes(path), type=dict[str, msgspec.Raw])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return bytes(fields.get("projects", msgspec.Raw(b""))).strip() == b"[]"
