"""Run tool calls: check arguments, open the project, run the tool, assemble the result.

Knows nothing of the protocol's envelopes and nothing of transports; hands back results as plain values. Work is done on
threads: questions side by side, changes of one project one after another in the order in which they came.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from quire.files.freshness import Freshness
from quire.model.errors import Cancelled, InputError, LockBusy, NotInitialized, QuireError
from quire.surfaces.mcp.tool import Call, ServedTool, Told, unheard
from quire.surfaces.server.executor import Executor
from quire.verbs.verb import Arguments

if TYPE_CHECKING:
    from quire.files.world import World
    from quire.project import Project


class Ticket:
    """A call under way, and how the client withdraws it."""

    def __init__(self, progress: Told | None = None) -> None:
        self._tell: Told = progress or unheard
        self._told = -1.0
        self._withdrawn = threading.Event()

    def progress(self, done: float, total: float | None, message: str) -> None:
        """Say how far the call is. Only what is further than before is reported, as the protocol wants it."""
        if done > self._told:
            self._told = done
            self._tell(done, total, message)

    def withdraw(self) -> None:
        self._withdrawn.set()

    def wanted(self) -> None:
        if self._withdrawn.is_set():
            raise Cancelled("The call was cancelled.", hint="It changed nothing after that.")


class ToolCalls:
    """The calls of one server."""

    def __init__(
        self,
        tools: Mapping[str, ServedTool] | Callable[[], Mapping[str, ServedTool]],
        world: World,
        start: str,
        only: Sequence[str] | None = None,
    ) -> None:
        self._tools = tools
        self.world = world
        self._start = start
        self._only = only
        self._executor = Executor()
        self._beginning = threading.Lock()
        self._begun: set[str] = set()
        self._freshness = Freshness()

    @cached_property
    def tools(self) -> dict[str, ServedTool]:
        """By name. Their verbs are imported when someone first asks for them, after the greeting."""
        return dict(self._tools() if callable(self._tools) else self._tools)

    def call(
        self, name: str, arguments: Mapping[str, Any], ticket: Ticket | None = None, *, may_write: bool = True
    ) -> Future[dict[str, Any]]:
        """Have a tool called. Never fails: what goes wrong is the result."""
        from quire.guard.redaction import InputSecrets

        tool = self.tools[name]
        ticket = ticket or Ticket()
        withheld = InputSecrets(arguments)
        try:
            if tool.writes and not may_write:
                raise InputError(
                    f"`{name}` changes the memory, and this token can only read.",
                    hint="Use a token with the scope `write`, or ask the user to make the change.",
                    details={"scope": "write"},
                )
            given = self._given(tool, arguments)
            project = self.project(given.project_root)
            project.read_only = not may_write
            project.progress = _Progress(ticket)
            project.world = msgspec.structs.replace(project.world, sleep=lambda seconds: self._wait(ticket, seconds))
        except Exception as error:
            return _done(withheld.value(self._failed(error)))
        writes_to = project.root if tool.writes else None
        return self.work(lambda: withheld.value(self._run(tool, given, project, ticket)), writes_to)

    def work(self, job: Callable[[], dict[str, Any]], writes_to: str | None = None) -> Future[dict[str, Any]]:
        """Do something on a thread. Never fails: that too many wait is the result."""
        try:
            return self._executor.submit(job, writes_to=writes_to)
        except LockBusy as busy:
            return _done(self._failed(busy))

    def project(self, root: str | None) -> Project:
        """The project the server stands in, or another one that is initialised: nothing else on the disk."""
        from quire.project import Project

        here = Project.open(self._start, self.world)
        if root is not None:
            here = self._other(root)
        elif not self._allows(here.root):
            raise NotInitialized(
                "The server has no current project.", hint="Name one of its projects as `project_root`."
            )
        project = Project(here.root, msgspec.structs.replace(self.world, cwd=here.root))
        project.freshness = self._freshness
        return project

    def _other(self, root: str) -> Project:
        from quire.project import Project

        refused = NotInitialized(
            "`project_root` is not an initialised project that this server can open.",
            hint="Give the folder of a project where `memory init` was run, or leave it out.",
            details={"field": "project_root"},
        )
        try:
            found = Project.open(os.path.join(self._start, root), self.world)
        except (QuireError, OSError, ValueError):
            raise refused from None
        if not found.initialized() or not self._allows(found.root):
            raise refused
        return found

    def _wait(self, ticket: Ticket, seconds: float) -> None:
        """Wait for another writer, unless nobody waits for us any more."""
        ticket.wanted()
        if self._executor.is_closing:
            raise Cancelled("The server ends.", hint="Nothing was changed.")
        self.world.sleep(seconds)

    def _allows(self, root: str) -> bool:
        """Whether this project may be opened: any, or one that holds a folder that was named."""
        from quire.project import Project

        return self._only is None or any(Project.open(place, self.world).root == root for place in self._only)

    def settle(self, seconds: float) -> None:
        """The server ends: what waits for another writer is given up, and what is being written is completed."""
        self._executor.finish_writes(seconds)

    @contextlib.contextmanager
    def _first_alone(self, root: str) -> Iterator[None]:
        """The first question in a project makes its index. Who asks at the same moment waits for it: to make one is no
        work for two, and they would be in each other's way for as long as a database waits."""
        self._beginning.acquire()
        if root in self._begun:
            self._beginning.release()
            yield
            return
        try:
            yield
        finally:
            self._begun.add(root)
            self._beginning.release()

    def _run(self, tool: ServedTool, given: Arguments, project: Project, ticket: Ticket) -> dict[str, Any]:
        from quire.guard.boundary import make_boundary
        from quire.surfaces.mcp.answers import success

        try:
            ticket.wanted()
            fence = make_boundary(self.world.token)
            call = Call(fence=fence, progress=ticket.progress, wanted=ticket.wanted)
            with contextlib.nullcontext() if tool.writes else self._first_alone(project.root):
                return success(project, tool.run(project, given, call), fence)
        except Exception as error:
            return self._failed(error)

    def _given(self, tool: ServedTool, arguments: Mapping[str, Any]) -> Arguments:
        """The arguments, checked. Numbers and lists that came as text are read, since models send them so."""
        try:
            unknown = next((name for name in arguments if name in tool.left_out), None)
            if unknown is not None:
                raise msgspec.ValidationError(f"Object contains unknown field `{unknown}`")
            given = msgspec.convert(_unpacked(tool.takes, arguments), tool.takes, strict=False)
            missing = next((name for name in tool.needs if arguments.get(name) is None), None)
            if missing is not None:
                raise msgspec.ValidationError(f"Object missing required field `{missing}`")
            return given
        except msgspec.ValidationError as error:
            said = str(error)
        except RecursionError:
            said = "The arguments are nested too deeply"
        names = [field.encode_name for field in msgspec.structs.fields(tool.takes)]
        takes = ", ".join(name for name in names if name not in tool.left_out)
        raise InputError(
            f"The arguments of `{tool.name}` are not valid: {said.replace('`$.', '`').replace(' - at `$`', '')}.",
            hint=f"It takes: {takes}.",
            details={"field": said.partition("`$.")[2].partition("`")[0], "takes": takes.split(", ")},
        )

    def _failed(self, error: Exception) -> dict[str, Any]:
        from quire.guard.boundary import make_boundary
        from quire.surfaces.mcp.answers import failure
        from quire.verbs.envelope import crashed

        fence = make_boundary(self.world.token)
        if isinstance(error, QuireError):
            return failure(error, fence)
        if self.world.env.get("MEMORY_DEBUG") == "1":
            import traceback

            traceback.print_exception(error)
        return failure(crashed(error), fence)


class _Progress:
    """Tells a client how far a call is, in numbers that only grow; gives up where it has withdrawn the call."""

    def __init__(self, ticket: Ticket) -> None:
        self._ticket = ticket
        self._before = self._done = 0

    def __call__(self, done: int, total: int, text: str) -> None:
        self._ticket.wanted()
        self._before += self._done if done <= self._done else 0
        self._done = done
        self._ticket.progress(self._before + done, self._before + max(done, total), text)


def _unpacked(takes: type[Arguments], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as they were meant: without nulls that say nothing, with lists and objects that came as text."""
    from quire.files.json_files import has_key_twice

    found = dict(arguments)
    for field in msgspec.structs.fields(takes):
        name, kind = field.encode_name, str(field.type)
        value = found.get(name)
        if value is None and not field.required:
            found.pop(name, None)
        elif (
            isinstance(value, str)
            and value[:1] in ("[", "{")
            and ("list[" in kind or "dict[" in kind or kind == "typing.Any")
        ):
            try:
                found[name] = msgspec.json.decode(value)
            except (msgspec.DecodeError, RecursionError):
                continue
            if has_key_twice(value.encode("utf-8", "replace"), found[name]):
                raise InputError(
                    f"A key occurs twice in one object of `{name}`.",
                    hint="Send each key once.",
                    details={"field": name},
                )
    return found


def _done(result: dict[str, Any]) -> Future[dict[str, Any]]:
    future: Future[dict[str, Any]] = Future()
    future.set_result(result)
    return future
