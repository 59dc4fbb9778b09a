"""Answer each request of the protocol with plain values.

The same answers are sent by the fast path, which replies while the SDK is still being loaded, and by the SDK itself, so
that it makes no difference who was asked. Envelopes, eras and transports are theirs; what is said is decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import cached_property
from typing import TYPE_CHECKING, Any

from quire.model.errors import QuireError
from quire.surfaces.mcp.tool_calls import Ticket, ToolCalls

if TYPE_CHECKING:
    from quire.guard.boundary import Boundary

INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
"""How the handshake era says that there is no such resource; since 2026-07-28 it is an invalid parameter."""

_QUERY, _OLD_QUERY = "journal_query", "memory_query"
_URI_CHARS = 2000

LISTS_TTL, READS_TTL = 3_600_000, 2_000
CACHE_HINTS = {
    "server/discover": (LISTS_TTL, "public"),
    "tools/list": (LISTS_TTL, "public"),
    "prompts/list": (LISTS_TTL, "public"),
    "resources/list": (LISTS_TTL, "public"),
    "resources/templates/list": (LISTS_TTL, "public"),
    "resources/read": (READS_TTL, "private"),
}
"""For how many milliseconds an answer may be kept, and whether for this user only."""


class Refused(Exception):
    """A request that is wrong in itself: an error of the protocol, not a result."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        from quire.guard.hostile_text import make_safe
        from quire.guard.redaction import InputSecrets

        # It repeats what was asked for.
        withheld = InputSecrets((message, data))
        super().__init__(withheld.text(message))
        self.code = code
        self.message = make_safe(withheld.text(message))
        self.data = withheld.value(data)


class Replies:
    """Everything that one server can be asked."""

    def __init__(self, tool_calls: ToolCalls) -> None:
        self.tool_calls = tool_calls

    @cached_property
    def tools(self) -> list[dict[str, Any]]:
        from quire.surfaces.mcp.schemas import tool_fields

        return [tool_fields(tool) for tool in self.tool_calls.tools.values()]

    def list(self, method: str) -> dict[str, Any]:
        """The lists, which are always the same and always whole: there is never a next page."""
        if method == "tools/list":
            return {"tools": self.tools}
        if method == "prompts/list":
            from quire.surfaces.mcp.prompts import list_prompts

            return {"prompts": list_prompts()}
        from quire.surfaces.mcp.resources import list_resources, list_templates

        if method == "resources/list":
            return {"resources": list_resources()}
        return {"resourceTemplates": list_templates()}

    def call(
        self, name: str, arguments: Mapping[str, Any], ticket: Ticket, *, may_write: bool = True
    ) -> Future[dict[str, Any]]:
        """A tool's result, in time."""
        if name == _OLD_QUERY and name not in self.tool_calls.tools and _QUERY in self.tool_calls.tools:
            # What repositories tell agents about `agent-memory mcp` names it so.
            name = _QUERY
        if name not in self.tool_calls.tools:
            from quire.surfaces.mcp.catalogue import toolset_of

            home = toolset_of(name)
            hint = (
                f"It is in the toolset `{home}`: start memory-mcp with --toolset core,{home}."
                if home
                else f"There are {', '.join(self.tool_calls.tools)}."
            )
            raise Refused(INVALID_PARAMS, f"Unknown tool: {name[:80]}", {"hint": hint})
        return self.tool_calls.call(name, arguments, ticket, may_write=may_write)

    def read(self, uri: str, *, modern: bool) -> Future[dict[str, Any]]:
        """A resource, in time; a `Refused` where there is none."""
        from quire.surfaces.mcp.resources import read_resource

        code = INVALID_PARAMS if modern else RESOURCE_NOT_FOUND
        told = {"uri": uri[:_URI_CHARS]}
        return self._work(lambda: read_resource(uri, lambda: self.tool_calls.project(None), self._fence), code, told)

    def prompt(self, name: str, arguments: Mapping[str, str]) -> Future[dict[str, Any]]:
        """A prompt's messages, in time; a `Refused` where it cannot be made."""
        from quire.surfaces.mcp.prompts import get_prompt

        return self._work(
            lambda: get_prompt(name, arguments, lambda: self.tool_calls.project(None), self._fence), INVALID_PARAMS
        )

    def _work(
        self, job: Callable[[], dict[str, Any]], code: int, told: Mapping[str, str] | None = None
    ) -> Future[dict[str, Any]]:
        def work() -> dict[str, Any]:
            try:
                return job()
            except QuireError as error:
                raise Refused(code, error.message, {"code": error.code, "hint": error.hint, **(told or {})}) from None
            except Exception as error:
                from quire.verbs.envelope import crashed

                fault = crashed(error)
                raise Refused(INTERNAL_ERROR, fault.message, {"code": fault.code, "hint": fault.hint}) from None

        return self.tool_calls.work(work)

    def _fence(self) -> Boundary:
        from quire.guard.boundary import make_boundary

        return make_boundary(self.tool_calls.world.token)
