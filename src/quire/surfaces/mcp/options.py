"""Read the server's options: command line, then environment, then the user's settings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import msgspec

from quire import __version__
from quire.model.errors import InputError, UsageError
from quire.surfaces.mcp.catalogue import TOOLSETS, read_toolsets

TOOLSET_VARIABLE = "MEMORY_TOOLSET"
TOKEN_VARIABLE, READ_TOKEN_VARIABLE = "MEMORY_MCP_TOKEN", "MEMORY_MCP_READ_TOKEN"
PROJECT_VARIABLES = ("MEMORY_PROJECT", "CLAUDE_PROJECT_DIR")
SETTINGS = "mcp.json"
DEFAULT_PORT = 8765
_AS_GIVEN = ("http", "host", "port", "public", "rate", "sdk_first")


class ServerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for."""

    toolsets: tuple[str, ...] = ("core",)
    projects: tuple[str, ...] = ()
    """The folder it stands in, then others that it may open; empty for the current folder."""
    only: bool = False
    """Whether `project_root` may name nothing but these."""
    http: bool = False
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    public: bool = False
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    token: str = ""
    read_token: str = ""
    rate: int = 0
    """Requests a second for one token; the usual number where 0."""
    sdk_first: bool = False


class ServerSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`mcp.json` in the user's memory folder."""

    toolset: str | list[str] = ""


def read_options(arguments: Sequence[str], env: Mapping[str, str], memory_home: str, program: str) -> ServerOptions:
    """The options; help and mistakes end the process, as command lines do."""
    given: Mapping[str, Any] = vars(_parse(arguments, program)) if arguments else {}
    token = _token(given.get("token_file"), env.get(TOKEN_VARIABLE, ""), "--token-file")
    read_token = _token(given.get("read_token_file"), env.get(READ_TOKEN_VARIABLE, ""), "--read-token-file")
    named = tuple(given.get("project") or ())
    if not named:
        named = tuple(env[name] for name in PROJECT_VARIABLES if env.get(name))[:1]
    return ServerOptions(
        toolsets=_toolsets(given.get("toolset"), env, memory_home),
        projects=named,
        only=bool(given.get("only") or given.get("http")),
        allowed_hosts=tuple(given.get("allow_host") or ()),
        allowed_origins=tuple(given.get("allow_origin") or ()),
        token=token,
        read_token=read_token,
        **{name: given[name] for name in _AS_GIVEN if name in given},
    )


def _toolsets(named: str | None, env: Mapping[str, str], memory_home: str) -> tuple[str, ...]:
    if named is not None:
        return read_toolsets(named, "--toolset")
    if env.get(TOOLSET_VARIABLE, "").strip():
        return read_toolsets(env[TOOLSET_VARIABLE], TOOLSET_VARIABLE)
    path = os.path.join(memory_home, SETTINGS) if memory_home else ""
    if path and os.path.exists(path):
        try:
            with open(path, "rb") as file:
                found = msgspec.json.decode(file.read(1 << 16), type=ServerSettings).toolset
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(
                f"{path} cannot be read: {error}.", hint='It holds one object, such as {"toolset": "core,facts"}.'
            ) from None
        text = found if isinstance(found, str) else ",".join(found)
        if text:
            return read_toolsets(text, path)
    return ("core",)


def _token(path: str | None, named: str, option: str) -> str:
    """A secret from a file or the environment; never from the command line, which everybody on the machine can read."""
    if path is None:
        return named.strip()
    try:
        with open(path, encoding="ascii") as file:
            token = file.read(4096).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{option}: {path} cannot be read: {error}.", hint="Name a file with one token.") from None
    if not token:
        raise InputError(f"{option}: {path} is empty.", hint="Name a file with one token.")
    return token


def _parse(arguments: Sequence[str], program: str) -> Any:
    import argparse

    class Parser(argparse.ArgumentParser):
        """It repeats what cannot be read, but no secret in it."""

        def error(self, message: str) -> NoReturn:
            from quire.guard.redaction import InputSecrets

            super().error(InputSecrets((*arguments, message)).text(message))

    parser = Parser(
        prog=program,
        description="The project's memory for MCP clients: over standard input and output, or on a local port.",
        epilog="Documentation: `memory docs mcp`, and for each client `memory docs clients`.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "--toolset",
        metavar="NAMES",
        help=f"the toolsets to offer, comma-separated: {', '.join(TOOLSETS)}; core by default",
    )
    add(
        "--project",
        metavar="DIR",
        action="append",
        help="the project to work on; repeat it for others that clients can open",
    )
    add("--only", action="store_true", help="allow only the projects named with --project")
    add("--http", action="store_true", help="serve streamable HTTP instead of standard input and output")
    add("--host", default="127.0.0.1", help="the address to listen on; 127.0.0.1 by default")
    add("--port", type=int, default=DEFAULT_PORT, help=f"the port; {DEFAULT_PORT} by default, 0 for any free one")
    add("--public", action="store_true", help="allow an address that other machines can reach")
    add(
        "--allow-host",
        metavar="HOST",
        action="append",
        help="a Host header to accept besides the loopback ones; host or host:port",
    )
    add("--allow-origin", metavar="ORIGIN", action="append", help="an Origin header to accept; none by default")
    add("--token-file", metavar="FILE", help=f"file with the token that can read and write; or set {TOKEN_VARIABLE}")
    add("--read-token-file", metavar="FILE", help=f"file with a token that can only read; or set {READ_TOKEN_VARIABLE}")
    add("--rate", type=int, default=0, metavar="N", help="requests a second for one token; 50 by default")
    add("--sdk-first", action="store_true", help="load the protocol library before the first answer")
    add("--version", action="version", version=f"{program} {__version__}")
    given = parser.parse_args(list(arguments))
    _check(given)
    return given


def _check(given: Any) -> None:
    """What does not go together."""
    http_only = {
        "--host": given.host != "127.0.0.1",
        "--port": given.port != DEFAULT_PORT,
        "--public": given.public,
        "--allow-host": given.allow_host,
        "--allow-origin": given.allow_origin,
        "--token-file": given.token_file,
        "--read-token-file": given.read_token_file,
        "--rate": given.rate,
    }
    if not given.http:
        for name, used in http_only.items():
            if used:
                raise UsageError(f"{name} is for --http.", hint="Add --http, or leave it out.")
    if not 0 <= given.port <= 65535:
        raise UsageError(f"{given.port} is not a port.", hint="Ports are 0 to 65535.")
    if given.rate < 0:
        raise UsageError("--rate must be positive.", hint="Leave it out for 50 requests a second.")
    if given.only and not given.project:
        raise UsageError("--only needs --project.", hint="Name the projects that clients can open.")
