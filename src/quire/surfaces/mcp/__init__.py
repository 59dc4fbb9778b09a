"""`memory-mcp`, the server for MCP clients: says when it arrives until it does."""

import sys

__all__ = ["main"]


def main() -> None:
    """Answer on stderr, so that a client that starts it by mistake sees the reason in its log."""
    sys.stderr.write("memory-mcp arrives with a later version of Quire; use the `memory` command until then.\n")
    raise SystemExit(3)
