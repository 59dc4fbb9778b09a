"""Command line, MCP server and web page: parse, call a verb, print.

A program of ours begins here, and so with the library that describes our data. That one asks for `typing_extensions`,
which other libraries have brought along, and which takes as long to load as Python itself takes to start. Where it is
missing, the library takes the same names from Python, which has had all of them since 3.11: so it is missing that it
is.
"""

import sys

__all__ = []

if sys.modules.keys().isdisjoint(("msgspec", "typing_extensions")):
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]
