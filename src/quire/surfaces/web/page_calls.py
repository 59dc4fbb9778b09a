"""Run the page's questions and actions: projects by name, answers cached while nothing changes on disk.

Work is done on threads. The same question asked many times at once is worked out once. What changes records of a
project is done one at a time, and can be undone as long as this process lives.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from quire.files.freshness import Freshness
from quire.files.world import World
from quire.model.errors import NotFound, QuireError, UsageError
from quire.model.text import cut
from quire.model.times import timestamp
from quire.project import Project
from quire.surfaces.server.executor import Executor
from quire.surfaces.web.answers import acted_fields, fields_of, read_arguments
from quire.verbs.admin.projects import registered_projects
from quire.verbs.page.actions import PageAction, perform
from quire.verbs.page.change_token import TokenMemo, change_token
from quire.verbs.page.page_view import new_verdicts
from quire.verbs.page.table import VIEWS
from quire.verbs.page.undo import Acted, undo_acted
from quire.verbs.page.views import view_name
from quire.verbs.plain import json_line

if TYPE_CHECKING:
    from quire.upkeep.projects import Registered
    from quire.upkeep.views.shared_verdicts import KnownVerdicts

Result = TypeVar("Result")

HERE = "here"
"""The name of the project that the page was opened in, where the list of projects does not know it."""
_FRESH_SECONDS = 1.0
"""So long a look at the disk counts; a change that is reported is looked for anew."""
_KEPT_ANSWERS = 64
_KEPT_BYTES = 64 * 1024 * 1024
_KEPT_ACTS = 100
_KEPT_ACTS_BYTES = 64 * 1024 * 1024


class PageAnswer(msgspec.Struct, frozen=True):
    """An answer as it is sent, and the state of the disk that it was made of."""

    data: bytes
    version: str


class _Seen(msgspec.Struct):
    """What is remembered of a project between two questions."""

    project: Project
    guard: threading.Lock
    known: KnownVerdicts
    memo: TokenMemo
    version: str = ""
    looked: float = -1e9


class _Done(msgspec.Struct, frozen=True):
    project: str
    acted: Acted

    @property
    def size(self) -> int:
        return sum(len(item.before or b"") + len(item.after or b"") for item in self.acted.changes)


class PageCalls:
    """Answers the questions of one page and does its actions, on threads."""

    def __init__(self, world: World, start: str, *, may_write: bool) -> None:
        self.world = world
        self.may_write = may_write
        self._start = start
        self._executor = Executor()
        self._guard = threading.Lock()
        self._seen: dict[str, _Seen] = {}
        self._kept: OrderedDict[tuple[str, ...], PageAnswer] = OrderedDict()
        self._under_way: dict[tuple[str, ...], asyncio.Future[PageAnswer]] = {}
        self._acts: OrderedDict[str, _Done] = OrderedDict()
        self._freshness = Freshness()

    # -- asked --------------------------------------------------------------------------------

    async def ask(self, name: str, path: str, query: Mapping[str, str]) -> PageAnswer:
        """Answer a question about a project as it is now."""
        if path not in VIEWS:
            raise NotFound(f"There is no `{cut(path, 60)}` here.", hint="The page asks for what there is.")
        version = await self.work(lambda: self.version(name))
        key = (version, name, path, *(f"{field}={value}" for field, value in sorted(query.items())))
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            return kept
        waiting = self._under_way.get(key)
        if waiting is None:
            waiting = self._under_way[key] = asyncio.ensure_future(self._worked_out(key, name, path, dict(query)))
            waiting.add_done_callback(lambda _: self._under_way.pop(key, None))
        return await asyncio.shield(waiting)

    async def _worked_out(self, key: tuple[str, ...], name: str, path: str, query: dict[str, str]) -> PageAnswer:
        def work() -> bytes:
            view = VIEWS[path]
            given = read_arguments(view.takes, query)
            found = self._answered(name, key[0], lambda project: view.run(project, given))
            return json_line({"data": fields_of(found, has_body=view.has_body)}).encode()

        answered = PageAnswer(await self.work(work), key[0])
        self._kept[key] = answered
        size = sum(len(item.data) for item in self._kept.values())
        while len(self._kept) > 1 and (len(self._kept) > _KEPT_ANSWERS or size > _KEPT_BYTES):
            size -= len(self._kept.popitem(last=False)[1].data)
        return answered

    def _answered(self, name: str, version: str, answer: Callable[[Project], Any]) -> Any:
        """An answer of the project; what it takes to know of verdicts is kept for others about the same state."""
        project = self.project(name)
        with self._guard:
            seen = self._seen.get(name)
        if seen is None or seen.version != version:
            return answer(project)
        known = project.known_verdicts = seen.known
        asked = known.asked
        try:
            return answer(project)
        finally:
            if known.asked != asked:
                seen.memo.verdict_rounds += 1

    def work(self, job: Callable[[], Result]) -> asyncio.Future[Result]:
        """Run a job on a thread."""
        return asyncio.wrap_future(self._executor.submit(job))

    # -- projects -----------------------------------------------------------------------------

    def projects(self) -> list[dict[str, Any]]:
        """Every project of this machine; the one that the page was opened in comes first."""
        current = self.current()
        entries = [(entry.registry_id, entry.project["name"], entry.project_root) for entry in self._registered()]
        if current == HERE:
            entries.append((HERE, view_name(self._here()), self._here().root))
        told = [self._entry(name, called, root, current == name) for name, called, root in entries]
        return sorted(told, key=lambda entry: (not entry["current"], not entry["available"], entry["name"].casefold()))

    def _entry(self, name: str, called: str, root: str, is_current: bool) -> dict[str, Any]:
        problem = ""
        if not os.path.isdir(root):
            problem = "The folder is gone."
        elif not self._opened(root).initialized():
            problem = "There is no memory in it any more."
        told = {"id": name, "name": called or os.path.basename(root), "root": self._shown(root), "current": is_current}
        return {**told, "available": not problem, "problem": problem}

    def _shown(self, root: str) -> str:
        home = self.world.home.rstrip("/")
        return f"~{root[len(home) :]}" if home and root.startswith(f"{home}/") else root

    def current(self) -> str:
        """The name of the project that the page was opened in; empty where it was opened in none."""
        try:
            here = self._here()
        except QuireError:
            return ""  # the folder went while the page was open; the other projects are still there
        if not here.initialized():
            return ""
        root = os.path.realpath(here.root)
        for entry in self._registered():
            if os.path.realpath(entry.project_root) == root:
                return entry.registry_id
        return HERE

    def registry_path(self) -> str:
        return self._shown(os.path.join(self.world.memory_home, "projects.json"))

    def _registered(self) -> list[Registered]:
        try:
            return registered_projects(self.world)
        except QuireError:
            return []

    def _here(self) -> Project:
        return Project.open(self._start, self.world)

    def _opened(self, root: str) -> Project:
        return Project(root, msgspec.structs.replace(self.world, cwd=root))

    def project(self, name: str) -> Project:
        """The project of that name: one of the list, or the one that the page was opened in. Nothing else."""
        root = next((entry.project_root for entry in self._registered() if entry.registry_id == name), "")
        if not root and name == HERE and self.current() == HERE:
            root = self._here().root
        if not root or not os.path.isdir(root):
            raise NotFound(
                f"There is no project `{cut(name, 60)}` here.",
                hint="`memory projects` lists them; `memory init` creates one.",
                details={"project": cut(name, 60)},
            )
        project = self._opened(root)
        project.read_only = not self.may_write
        project.freshness = self._freshness
        return project

    # -- how the disk looks ---------------------------------------------------------------------

    def version(self, name: str, *, at_once: bool = False) -> str:
        """One text for the state of a project on disk."""
        project = self.project(name)
        with self._guard:
            seen = self._seen.get(name)
            if seen is None or seen.project.root != project.root:
                seen = self._seen[name] = _Seen(project, threading.Lock(), new_verdicts(), TokenMemo())
        with seen.guard:
            if at_once or monotonic() - seen.looked > _FRESH_SECONDS:
                version = change_token(seen.project, seen.memo)
                if version != seen.version:
                    seen.version, seen.known = version, new_verdicts()
                seen.looked = monotonic()
            return seen.version

    def prepare(self) -> None:
        """Look at the project that the page was opened in before anybody asks: the first view waits less."""
        self._executor.submit(self._prepare)

    def _prepare(self) -> None:
        with contextlib.suppress(QuireError, OSError):
            name = self.current()
            if name:
                self.version(name)

    # -- told -----------------------------------------------------------------------------------

    async def act(self, name: str, action: PageAction) -> dict[str, Any]:
        """Do something to a record."""
        self._refuse_readers()
        return await self._write(name, lambda project: perform(project, action))

    async def undo(self, name: str, undo: str) -> dict[str, Any]:
        """Take back what was done."""
        self._refuse_readers()
        with self._guard:
            done = self._acts.get(undo)
        if done is None or done.project != name:
            raise NotFound(
                "There is no such change to undo.",
                hint="This page can undo only its own changes since it was started; git has the rest.",
            )
        told = await self._write(name, lambda project: undo_acted(project, done.acted))
        with self._guard:
            self._acts.pop(undo, None)
        return told

    async def _write(self, name: str, work: Callable[[Project], Acted]) -> dict[str, Any]:
        def job() -> dict[str, Any]:
            acted = work(self.project(name))
            undo = self.world.token() if acted.changes else ""
            with self._guard:
                if undo:
                    self._acts[undo] = _Done(name, acted)
                size = sum(item.size for item in self._acts.values())
                while len(self._acts) > _KEPT_ACTS or (size > _KEPT_ACTS_BYTES and len(self._acts) > 1):
                    size -= self._acts.popitem(last=False)[1].size
            with contextlib.suppress(QuireError, OSError):
                self.version(name, at_once=True)  # it is done, whatever becomes of the next look
            return acted_fields(acted, undo)

        return await asyncio.wrap_future(self._executor.submit(job, writes_to=name))

    def acts(self, name: str) -> list[dict[str, Any]]:
        """What was done here and can be undone, the newest first."""
        with self._guard:
            done = [(undo, item.acted) for undo, item in self._acts.items() if item.project == name]
        return [acted_fields(acted, undo) for undo, acted in reversed(done)]

    def _refuse_readers(self) -> None:
        if not self.may_write:
            raise UsageError(
                "This page is read-only.",
                hint="`memory view --write` opens a page that can change records.",
                details={},
            )

    def now(self) -> str:
        return timestamp(self.world.now())

    def close(self) -> None:
        """What is being written is completed; nothing else is begun."""
        self._executor.close()
