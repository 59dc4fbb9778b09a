"""Which tools there are, and which of them a server shows.

Every name means one thing, whichever toolsets are asked for together; only where the journal is asked for alone, it
answers under the name of the original, too. `docs/reference/mcp-tools.md` is the map.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

import msgspec

from quire.model.errors import UsageError
from quire.verbs.table import tools_of

if TYPE_CHECKING:
    from quire.surfaces.mcp.tool import Tool

_HOMES = {"graph": "graph_tools", "facts": "", "profile": "", "journal": ""}
_CORE = {
    "graph": ("query_memory", "save_memory", "inspect_memory", "status_memory", "brief_memory", "sync_memory"),
    "facts": ("memory_recall", "memory_store"),
}
TOOLSETS = ("core", *_HOMES, "all")


def read_toolsets(text: str, where: str) -> tuple[str, ...]:
    """`core,facts` as names of toolsets; `where` says who asked for them."""
    names = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    for name in names:
        if name not in TOOLSETS:
            raise UsageError(f"{where} names the toolset `{name[:40]}`.", hint=f"There are {', '.join(TOOLSETS)}.")
    if not names:
        raise UsageError(f"{where} names no toolset.", hint=f"There are {', '.join(TOOLSETS)}.")
    return names


def chosen_tools(toolsets: Iterable[str]) -> dict[str, Tool]:
    """The tools of these sets, each once, always in the same order."""
    wanted = set(_HOMES) if "all" in toolsets else set(toolsets)
    core = "core" in wanted
    return {
        tool.name: tool
        for home in _HOMES
        if home in wanted or (core and home in _CORE)
        for tool in _tools(home, None if home in wanted else _CORE[home])
    }


def served_tools(toolsets: Iterable[str]) -> dict[str, Tool]:
    """The tools of a server for these sets."""
    names = set(toolsets)
    tools = chosen_tools(names)
    if names == {"journal"}:
        # As it is called in the original program; elsewhere this name belongs to the facts.
        query = tools["journal_query"]
        tools["memory_query"] = msgspec.structs.replace(
            query,
            name="memory_query",
            says="The same as journal_query, under the name that other programs know.",
            left_out=tuple(name for name in query.left_out if name != "output"),
        )
    return tools


def toolset_of(name: str) -> str | None:
    """The set that holds a tool."""
    return next((home for home in _HOMES if any(tool.name == name for tool in _tools(home))), None)


def _tools(home: str, names: Container[str] | None = None) -> tuple[Tool, ...]:
    """The tools of a set, or those of them that are named."""
    declared = tools_of(home)
    rows: Iterable[Tool | str] = declared
    if _HOMES[home]:
        # In a set that is partly declared, a declared tool stands in the list by its name.
        rows = getattr(import_module(f"quire.surfaces.mcp.{_HOMES[home]}"), home.upper())
    return tuple(_made(row, declared) for row in rows if names is None or _name(row) in names)


def _name(row: Tool | str) -> str:
    return row if isinstance(row, str) else row.name


def _made(row: Tool | str, declared: Mapping[str, str]) -> Tool:
    if not isinstance(row, str):
        return row
    from quire.surfaces.mcp.declared import tool_named

    return tool_named(declared[row])
