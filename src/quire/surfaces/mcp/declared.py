"""Make tools of declared verbs: schema from the argument type, the call, a result marked as data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from quire.surfaces.mcp.tool import Call, Given, ServedTool
from quire.verbs.table import load
from quire.verbs.verb import Arguments, Result, command_only

if TYPE_CHECKING:
    from quire.project import Project


def tool_named(name: str, module: str) -> ServedTool:
    """The tool of the verb in a module, by its name in the table."""
    verb = load(module)
    tool = verb.tool
    assert tool is not None, f"{module} is in the table with a tool, and declares none"

    def run(project: Project, given: Arguments, call: Call) -> Given:
        from quire.surfaces.mcp.tool_text import problem_for_tools, text_of, tool_options
        from quire.verbs.plain import brief, plain

        options = tool_options(verb)
        if verb.writes:
            call.wanted()
        beside = {"fence": call.fence} if verb.fenced else {}
        result = verb.run(project, msgspec.structs.replace(given, **tool.given), **beside)
        fields = brief(result)
        whole = plain(result) if any(name not in fields for name in tool.gives) else {}
        return Given(
            fields={**{name: whole[name] for name in tool.gives if name not in fields}, **fields},
            text=text_of(verb.lines(result), call.fence, options),
            warnings=[problem_for_tools(problem, options) for problem in result.warnings]
            if isinstance(result, Result)
            else [],
            failed=isinstance(result, Result) and result.is_incomplete(),
        )

    return ServedTool(
        **msgspec.structs.asdict(tool),
        name=name,
        takes=verb.takes,
        run=run,
        left_out=command_only(verb.takes) + tuple(tool.given),
        writes=verb.writes,
    )
