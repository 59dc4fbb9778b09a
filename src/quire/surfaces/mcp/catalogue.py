"""List the tools, and choose which of them a server offers.

Every name means one thing, whichever toolsets are asked for together; only where the journal is asked for alone, it
answers under the name of the original, too. `docs/reference/mcp-tools.md` is the map.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TYPE_CHECKING

import msgspec

from quire.model.errors import UsageError
from quire.model.vocabulary import LAYER_NAMES
from quire.verbs.table import tools_of

if TYPE_CHECKING:
    from quire.surfaces.mcp.tool import ServedTool

_CORE = {
    "graph": ("query_memory", "save_memory", "inspect_memory", "status_memory", "brief_memory", "sync_memory"),
    "facts": ("memory_recall", "memory_store"),
}
TOOLSETS = ("core", *LAYER_NAMES, "all")


def read_toolsets(text: str, where: str) -> tuple[str, ...]:
    """`core,facts` as names of toolsets; `where` says who asked for them."""
    names = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    for name in names:
        if name not in TOOLSETS:
            raise UsageError(f"{where} names the toolset `{name[:40]}`.", hint=f"There are {', '.join(TOOLSETS)}.")
    if not names:
        raise UsageError(f"{where} names no toolset.", hint=f"There are {', '.join(TOOLSETS)}.")
    return names


def chosen_tools(toolsets: Iterable[str]) -> dict[str, ServedTool]:
    """The tools of these sets, each once, always in the same order."""
    wanted = set(LAYER_NAMES) if "all" in toolsets else set(toolsets)
    core = "core" in wanted
    return {
        tool.name: tool
        for home in LAYER_NAMES
        if home in wanted or (core and home in _CORE)
        for tool in _tools(home, None if home in wanted else _CORE[home])
    }


def served_tools(toolsets: Iterable[str]) -> dict[str, ServedTool]:
    """The tools of a server for these sets."""
    names = set(toolsets)
    tools = chosen_tools(names)
    if names == {"journal"}:
        # As it is called in the original program; elsewhere this name belongs to the facts.
        query = tools["journal_query"]
        tools["memory_query"] = msgspec.structs.replace(
            query,
            name="memory_query",
            says="The same as journal_query, under its older name.",
            left_out=tuple(name for name in query.left_out if name != "output"),
        )
    return tools


def toolset_of(name: str) -> str | None:
    """The set that holds a tool."""
    return next((home for home in LAYER_NAMES if name in tools_of(home)), None)


def _tools(home: str, names: Container[str] | None = None) -> tuple[ServedTool, ...]:
    """The tools of a set, or those of them that are named."""
    from quire.surfaces.mcp.declared import tool_named

    return tuple(tool_named(name, module) for name, module in tools_of(home).items() if names is None or name in names)
