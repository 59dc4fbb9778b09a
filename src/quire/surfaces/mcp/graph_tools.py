"""The tools over the product's graph, and over all layers where a question may be answered by any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from quire.surfaces.mcp.tool import Call, Given, Ref, Tool
from quire.verbs.verb import Arguments

if TYPE_CHECKING:
    from quire.project import Project

Layers = Annotated[list[Literal["graph", "facts", "profile", "journal"]], msgspec.Meta(max_length=4)]


class InspectArguments(Arguments, frozen=True, kw_only=True):
    id: Annotated[Ref, msgspec.Meta(description="a ref, such as decision.x or fact:…")]


def inspect_memory(project: Project, given: InspectArguments, call: Call) -> Given:
    from quire.fields.looking import looked_fields
    from quire.surfaces.mcp.graph_shown import record_text
    from quire.verbs.ask.inspect import inspect_any

    looked = inspect_any(project, given.id)
    fields = looked_fields(looked)
    return Given(fields=fields, text=record_text(looked, fields, call.fence))


GRAPH: tuple[Tool | str, ...] = (
    "query_memory",
    "save_memory",
    Tool(
        name="inspect_memory",
        title="Look at one record",
        says="One record in full by its ref, with relations, evidence and verdict. Use it for refs that an answer "
        "named. Not for searching: query_memory.",
        takes=InspectArguments,
        run=inspect_memory,
    ),
    "status_memory",
    "brief_memory",
    "sync_memory",
    "why_memory",
    "check_memory",
    "diff_memory",
    "confirm_memory",
)
