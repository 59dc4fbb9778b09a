"""What a project can be asked: one node, the whole state, a question, a change, a line."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from quire.model import limits
from quire.model.errors import GitRequired, InputError, InvalidStore, NotInitialized
from quire.model.records import Problem
from quire.project.rooms import Rooms, as_warning

if TYPE_CHECKING:
    from quire.guard.framing import Fence
    from quire.index.catalog import Index
    from quire.layers.graph.inspect import Inspected
    from quire.retrieval.answer import Answer
    from quire.retrieval.query import Ask
    from quire.upkeep.change_set import ChangeSet
    from quire.upkeep.governing import Governor
    from quire.upkeep.status import Status
    from quire.upkeep.why import Background

_EVERYTHING = 10_000
_SHOWN = 3


class Asking(Rooms):
    """Operations that write nothing but the index."""

    def inspect(self, ref: str) -> Inspected:
        """One node in full."""
        from quire.layers.graph.inspect import inspect_node
        from quire.layers.graph.source import node_record
        from quire.upkeep.verdicts import Verdicts

        self._ready()
        found = inspect_node(self.graph, self._graph_id(ref))
        record = node_record(found.node)
        found.verdict = Verdicts(self.root, self.git)([record])[record.ref]
        return found

    def status(self) -> Status:
        from quire.upkeep.status import memory_status

        self._ready()
        return self._with_index(lambda index: memory_status(self.graph, self.git, index))

    def status_warnings(self, found: Status) -> list[Problem]:
        """What a look at the whole should not pass over: faded facts, files without the map, facts not imported."""
        from quire.layers.facts.originals import not_imported
        from quire.upkeep.guidance import missing_maps

        faded = self.faded_facts() if found.facts else ()
        return [*faded, *missing_maps(self.root), *not_imported(self.root)]

    def query(
        self,
        question: str,
        *,
        budget: int | None = None,
        limit: int = 10,
        kinds: tuple[str, ...] = (),
        tags: tuple[str, ...] = (),
        layers: tuple[str, ...] = (),
        path: str | None = None,
        everything: bool = False,
        strict: bool = False,
        explain: bool = False,
        fence: Fence | None = None,
    ) -> Answer:
        """What the memory knows about a question, or about a file, within a budget of tokens.

        With `strict`, answers alone; with `explain`, also which rule left out what came next.
        """
        from quire.index.search import Filter
        from quire.retrieval.query import Ask

        self._ready_to_ask()
        if not question.strip() and path is None:
            raise InputError(
                "The question is empty.",
                hint='Ask something: memory query "why do retries run in the worker?"',
                details={"field": "question"},
            )
        asked = Ask(
            question=question[: limits.QUESTION_CHARS],
            budget=self._budget(budget),
            limit=limits.within(limit, "limit", 1, limits.RESULTS_MOST),
            allowed=Filter(layers=layers, kinds=kinds, tags=tags),
            governs=self._governor(path) if path is not None else None,
            about=f"what governs {path}" if path is not None else "",
            everything=everything,
            strict=strict,
            explain=explain,
            fence=fence,
        )
        found = self._ask(asked)
        found.warnings += self._missing_files([path]) if path is not None else []
        return found

    def _governor(self, path: str) -> Governor:
        from quire.upkeep.governing import Governor, inner_path

        return Governor(self.root, [inner_path(self.root, self.world.cwd, path)])

    def _missing_files(self, paths: Sequence[str]) -> list[Problem]:
        """That a file which was named is not there: a slip, or a file that is still to come, or gone."""
        from quire.upkeep.governing import inner_path

        inner = dict.fromkeys(inner_path(self.root, self.world.cwd, path) for path in paths)
        gone = [path for path in inner if not os.path.lexists(os.path.join(self.root, path))]
        if gone and self.git.available:
            with contextlib.suppress(GitRequired):  # a sparse checkout leaves files to git's index
                known = self.git.staged(gone)
                gone = [path for path in gone if path not in known]
        return [
            Problem(
                code="FileMissing",
                severity="warning",
                path=path,
                message="There is no such file in this project.",
                hint="Check the path; what governs its folder governs a new file, too.",
            )
            for path in gone
        ]

    def brief(
        self,
        files: Sequence[str] = (),
        *,
        diff: str | None = None,
        branch: str | None = None,
        budget: int | None = None,
        limit: int = 20,
        fence: Fence | None = None,
    ) -> tuple[ChangeSet, Answer]:
        """What governs the files of a change: those named, of a range of commits, of a branch, or not committed."""
        from quire.retrieval.query import Ask
        from quire.upkeep.change_set import ChangeSet, files_changed
        from quire.upkeep.governing import Governor, inner_path

        self._ready()
        if files:
            inner = [inner_path(self.root, self.world.cwd, file) for file in files]
            found = ChangeSet(", ".join(inner), inner)
        else:
            found = files_changed(self.git, diff=diff, branch=branch)
        asked = Ask(
            question="",
            budget=self._budget(budget),
            limit=limits.within(limit, "limit", 1, limits.RESULTS_MOST),
            governs=Governor(self.root, found.files),
            about=f"what governs {found.name}",
            fence=fence,
        )
        answer = self._ask(asked)
        answer.warnings += self._missing_files(files) if files else []
        return found, answer

    def why(self, place: str, *, budget: int | None = None, fence: Fence | None = None) -> tuple[Background, Answer]:
        """Why a file, or a line of it, is as it is: what governs it, who wrote it, what was saved with it."""
        from quire.retrieval.query import Ask
        from quire.upkeep.governing import Governor
        from quire.upkeep.why import background_of, place_of

        self._ready()
        path, line = place_of(self.root, self.world.cwd, place)
        asked = Ask(
            question="",
            budget=self._budget(budget),
            limit=_EVERYTHING,
            governs=Governor(self.root, [path], line=line),
            about=f"why {path}" + (f":{line}" if line else ""),
            everything=True,
            fence=fence,
        )
        found = self._with_index(lambda index: background_of(self.root, self.git, index, path, line))
        return found, self._ask(asked)

    def _ready_to_look(self) -> list[Problem]:
        """There is something to look at; a configuration that cannot be read is told of, and stops nobody."""
        self._settle()
        try:
            self._need_config()
        except NotInitialized:
            if not self._has_profile() and not self._has_journal():
                raise
        except InvalidStore as error:
            return [as_warning(error)]
        return []

    def _budget(self, budget: int | None) -> int:
        tokens = self._usual_budget() if budget is None else budget
        return limits.within(tokens, "budget", limits.BUDGET_LEAST, limits.BUDGET_MOST)

    def _usual_budget(self) -> int:
        from quire.layers.graph.config import Settings

        try:
            return self.graph.config().memory.default_token_budget
        except NotInitialized:
            return Settings().default_token_budget

    def _unreadable(self, index: Index) -> list[Problem]:
        """That there is more than could be read."""
        problems = index.problems()
        if not problems:
            return []
        from quire.upkeep.folders import path_from_root

        paths = dict.fromkeys(path_from_root(layer, path) for layer, path, _, _ in problems)
        shown = ", ".join(list(paths)[:_SHOWN]) + (f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else "")
        return [
            Problem(
                code="FilesUnreadable",
                severity="warning",
                message=f"Not everything could be read: {shown}.",
                hint="`memory check` says what is wrong.",
            )
        ]

    def _ask(self, asked: Ask) -> Answer:
        return self._with_index(lambda index: self._answer(index, asked))

    def _answer(self, index: Index, asked: Ask) -> Answer:
        from quire.retrieval.query import ask
        from quire.upkeep.flags import effects_in
        from quire.upkeep.verdicts import Verdicts

        asked = msgspec.structs.replace(
            asked,
            verify=Verdicts(self.root, self.git, index),
            reviews=self._reviews(index),
            effects=lambda records: effects_in(index, records),
            weigh=self._weigh(),
        )
        found = ask(index, asked)
        found.warnings += self._unreadable(index)
        return found
