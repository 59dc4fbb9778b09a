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
from quire.project import Project, as_warning
from quire.verbs.facts.faded import faded_facts

if TYPE_CHECKING:
    from quire.guard.framing import Boundary
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


def inspect(project: Project, ref: str) -> Inspected:
    """One node in full."""
    from quire.layers.graph.inspect import inspect_node
    from quire.layers.graph.source import node_record
    from quire.upkeep.verdicts import Verdicts

    project.ready()
    found = inspect_node(project.graph, project.graph_id(ref))
    record = node_record(found.node)
    found.verdict = Verdicts(project.root, project.git)([record])[record.ref]
    return found


def status(project: Project) -> Status:
    from quire.upkeep.status import memory_status

    project.ready()
    return project.with_index(lambda index: memory_status(project.graph, project.git, index))


def status_warnings(project: Project, found: Status) -> list[Problem]:
    """What a look at the whole should not pass over: faded facts, files without the map, facts not imported."""
    from quire.layers.facts.originals import not_imported
    from quire.upkeep.guidance import missing_maps

    faded = faded_facts(project) if found.facts else ()
    return [*faded, *missing_maps(project.root), *not_imported(project.root)]


def query(
    project: Project,
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
    fence: Boundary | None = None,
) -> Answer:
    """What the memory knows about a question, or about a file, within a budget of tokens.

    With `strict`, answers alone; with `explain`, also which rule left out what came next.
    """
    from quire.index.search import Filter
    from quire.retrieval.query import Ask

    project.ready_to_ask()
    if not question.strip() and path is None:
        raise InputError(
            "The question is empty.",
            hint='Ask something: memory query "why do retries run in the worker?"',
            details={"field": "question"},
        )
    asked = Ask(
        question=question[: limits.QUESTION_CHARS],
        budget=_budget(project, budget),
        limit=limits.within(limit, "limit", 1, limits.RESULTS_MOST),
        allowed=Filter(layers=layers, kinds=kinds, tags=tags),
        governs=_governor(project, path) if path is not None else None,
        about=f"what governs {path}" if path is not None else "",
        everything=everything,
        strict=strict,
        explain=explain,
        fence=fence,
    )
    found = ask_index(project, asked)
    found.warnings += _missing_files(project, [path]) if path is not None else []
    return found


def _governor(project: Project, path: str) -> Governor:
    from quire.upkeep.governing import Governor, inner_path

    return Governor(project.root, [inner_path(project.root, project.world.cwd, path)])


def _missing_files(project: Project, paths: Sequence[str]) -> list[Problem]:
    """That a file which was named is not there: a slip, or a file that is still to come, or gone."""
    from quire.upkeep.governing import inner_path

    inner = dict.fromkeys(inner_path(project.root, project.world.cwd, path) for path in paths)
    gone = [path for path in inner if not os.path.lexists(os.path.join(project.root, path))]
    if gone and project.git.available:
        with contextlib.suppress(GitRequired):  # a sparse checkout leaves files to git's index
            known = project.git.staged(gone)
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
    project: Project,
    files: Sequence[str] = (),
    *,
    diff: str | None = None,
    branch: str | None = None,
    budget: int | None = None,
    limit: int = 20,
    fence: Boundary | None = None,
) -> tuple[ChangeSet, Answer]:
    """What governs the files of a change: those named, of a range of commits, of a branch, or not committed."""
    from quire.retrieval.query import Ask
    from quire.upkeep.change_set import ChangeSet, files_changed
    from quire.upkeep.governing import Governor, inner_path

    project.ready()
    if files:
        inner = [inner_path(project.root, project.world.cwd, file) for file in files]
        found = ChangeSet(", ".join(inner), inner)
    else:
        found = files_changed(project.git, diff=diff, branch=branch)
    asked = Ask(
        question="",
        budget=_budget(project, budget),
        limit=limits.within(limit, "limit", 1, limits.RESULTS_MOST),
        governs=Governor(project.root, found.files),
        about=f"what governs {found.name}",
        fence=fence,
    )
    answer = ask_index(project, asked)
    answer.warnings += _missing_files(project, files) if files else []
    return found, answer


def why(
    project: Project, place: str, *, budget: int | None = None, fence: Boundary | None = None
) -> tuple[Background, Answer]:
    """Why a file, or a line of it, is as it is: what governs it, who wrote it, what was saved with it."""
    from quire.retrieval.query import Ask
    from quire.upkeep.governing import Governor
    from quire.upkeep.why import background_of, place_of

    project.ready()
    path, line = place_of(project.root, project.world.cwd, place)
    asked = Ask(
        question="",
        budget=_budget(project, budget),
        limit=_EVERYTHING,
        governs=Governor(project.root, [path], line=line),
        about=f"why {path}" + (f":{line}" if line else ""),
        everything=True,
        fence=fence,
    )
    found = project.with_index(lambda index: background_of(project.root, project.git, index, path, line))
    return found, ask_index(project, asked)


def ready_to_view(project: Project) -> list[Problem]:
    """There is something to look at; a configuration that cannot be read is told of, and stops nobody."""
    project.recover()
    try:
        project.need_config()
    except NotInitialized:
        if not project.has_profile() and not project.has_journal():
            raise
    except InvalidStore as error:
        return [as_warning(error)]
    return []


def _budget(project: Project, budget: int | None) -> int:
    tokens = _usual_budget(project) if budget is None else budget
    return limits.within(tokens, "budget", limits.BUDGET_LEAST, limits.BUDGET_MOST)


def _usual_budget(project: Project) -> int:
    from quire.model.config import Settings

    try:
        return project.graph.config().memory.default_token_budget
    except NotInitialized:
        return Settings().default_token_budget


def unreadable_files(index: Index) -> list[Problem]:
    """That there is more than could be read."""
    problems = index.problems()
    if not problems:
        return []
    from quire.layers.table import path_from_root

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


def ask_index(project: Project, asked: Ask) -> Answer:
    return project.with_index(lambda index: answer_from(project, index, asked))


def answer_from(project: Project, index: Index, asked: Ask) -> Answer:
    from quire.retrieval.query import ask
    from quire.upkeep.order_flags import effects_in
    from quire.upkeep.verdicts import Verdicts

    asked = msgspec.structs.replace(
        asked,
        verify=Verdicts(project.root, project.git, index),
        reviews=project.reviews(index),
        effects=lambda records: effects_in(index, records),
        weigh=project.weigh(),
    )
    found = ask(index, asked)
    found.warnings += unreadable_files(index)
    return found
