"""`memory journal mcp`: serve MCP, as clients configured for `agent-memory mcp` call it."""

from __future__ import annotations

from quire.model.errors import UsageError
from quire.surfaces.cli.commands import CliOption, Command, Session
from quire.surfaces.cli.input import number

_EXAMPLES = """Examples:
  agent-memory mcp                                     over standard input and output, for a client
  agent-memory mcp --transport=http --port=8765        on a port of this machine, with a token

\b
The server is memory-mcp with the journal's tools; `memory docs mcp` has details.
"""

_LAST_PORT = 65535


def run(session: Session, transport: str, host: str | None, port: str | None, allowed_hosts: str | None) -> None:
    """Serve the journal's tools to MCP clients.

    The same as `memory-mcp --toolset journal`, for configurations of the original program.
    """
    from quire.files.programs import become_server

    words = ["--toolset", "journal", *(["--project", session.start] if session.start else [])]
    if transport == "stdio":
        for name, value in (("--host", host), ("--port", port), ("--allowed-hosts", allowed_hosts)):
            if value is not None:
                raise UsageError(f"{name} is for --transport=http.", hint="Add --transport=http, or leave it out.")
        become_server(words)
    if port is None:
        raise UsageError("--transport=http needs a port.", hint="Give --port; 0 takes any free one.")
    wanted = number("port", port) or 0
    if not 0 <= wanted <= _LAST_PORT:
        raise UsageError(f"{wanted} is not a port.", hint="Ports are 0 to 65535.")
    words += ["--http", "--port", str(wanted)]
    words += ["--host", host] if host else []
    for name in (allowed_hosts or "").split(","):
        words += ["--allow-host", name.strip()] if name.strip() else []
    become_server(words)


MCP = Command(
    run=run,
    examples=_EXAMPLES,
    options=(
        CliOption(
            name="--transport",
            into="transport",
            metavar="HOW",
            choices=("stdio", "http"),
            default="stdio",
            help="Over standard input and output (default), or on a port.",
        ),
        CliOption(
            name="--host", into="host", metavar="ADDRESS", help="The address to listen on; 127.0.0.1 by default."
        ),
        CliOption(name="--port", into="port", metavar="PORT", help="The port to listen on; 0 takes any free one."),
        CliOption(
            name="--allowed-hosts",
            into="allowed_hosts",
            metavar="HOSTS",
            help="Host headers to accept besides those of this machine, separated by commas.",
        ),
    ),
    paths=("host",),
)
