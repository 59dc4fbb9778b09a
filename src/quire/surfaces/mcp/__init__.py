"""`memory-mcp`, the server for MCP clients."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None, program: str = "memory-mcp") -> int:
    """Serve until the client goes. What goes wrong before that is said on stderr, where clients keep their logs."""
    from quire.files.world import real_world
    from quire.model.errors import QuireError
    from quire.surfaces.mcp.catalogue import served_tools
    from quire.surfaces.mcp.options import read_options
    from quire.surfaces.mcp.replies import Replies
    from quire.surfaces.mcp.tool_calls import ToolCalls

    try:
        world = real_world()
        options = read_options(sys.argv[1:] if arguments is None else arguments, world.env, world.memory_home, program)
        places = [os.path.join(world.cwd, place) for place in options.projects] or [world.cwd]
        tools = partial(served_tools, options.toolsets)
        tool_calls = ToolCalls(tools, world, places[0], places if options.only else None)
        if not options.http:
            from quire.surfaces.mcp.stdio import serve_stdio

            return serve_stdio(Replies(tool_calls), at_once=options.sdk_first)
        from quire.surfaces.mcp.http import serve_http

        return serve_http(Replies(tool_calls), options)
    except QuireError as error:
        from quire.guard.hostile_text import make_safe
        from quire.guard.redaction import InputSecrets

        said = f"{program}: {error.message}\n" + (f"hint: {error.hint}\n" if error.hint else "")
        sys.stderr.write(make_safe(InputSecrets(said).text(said)))
        return {"failed": 1, "usage": 2, "not_ready": 3}[error.kind]
