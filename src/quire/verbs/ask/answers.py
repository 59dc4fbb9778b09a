"""Ask questions over all layers: the arguments for the index, and the form of results."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from quire.model import limits
from quire.model.errors import GitRequired, InputError, NotInitialized
from quire.model.records import Problem, origin_shown
from quire.model.verdicts import Verdict
from quire.model.vocabulary import LAYER_NAMES, LayerName
from quire.verbs.reviewed import reviews
from quire.verbs.verb import Option, Result, View

if TYPE_CHECKING:
    from quire.anchors.reach import Reach
    from quire.guard.boundary import Boundary
    from quire.index.catalog import Index
    from quire.project import Project
    from quire.retrieval.answer import Answer, Hit
    from quire.retrieval.query import Ask

_SHOWN = 3
Question = Annotated[str, Meta(min_length=1, max_length=4000)]
Words = Annotated[list[Annotated[str, Meta(max_length=200)]], Meta(max_length=100)]
Layers = Annotated[list[LayerName], Meta(max_length=len(LAYER_NAMES))]
ONLY_LAYERS = Option(
    name="--layer", metavar="LAYERS", help="Only these layers, comma-separated.", commas=True, choices=LAYER_NAMES
)
Budget = Annotated[
    Annotated[int, Meta(ge=limits.BUDGET_LEAST, le=32_000)] | None,
    Option(metavar="TOKENS", help="At most this many tokens; 2000 by default."),
]
Branch = Annotated[
    Annotated[str, Meta(max_length=500)] | None,
    Option(
        metavar="[NAME]",
        bare="",
        help="What a branch changed since it left the default branch; the current branch by default.",
        is_path=True,
    ),
]


class HitView(View, kw_only=True):
    """A record of any layer that answers."""

    NOT_IN_JSON: ClassVar[tuple[str, ...]] = ("origin",)
    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("text", "anchors", "files", "tags")

    ref: str
    id: str
    layer: str
    kind: str
    title: str
    status: str
    stage: str | None
    section: str | None
    tier: str
    score: float
    verdict: Verdict | None
    why: str
    text: str
    anchors: list[str]
    files: list[str]
    tags: list[str]
    updated_at: str
    faded: bool = False
    reviewed: bool | None
    amended_by: str | None
    session: str | None
    explain: dict[str, float] | UnsetType = UNSET
    origin: str
    flags: tuple[str, ...]

    def origin_for_tools(self) -> str:
        return origin_shown(self.origin, reviewed=self.reviewed is not False)


class LinkView(msgspec.Struct, frozen=True, kw_only=True):
    """A record that is connected to one that answers."""

    ref: str
    title: str
    relation: str
    score: float


class WithheldView(msgspec.Struct, frozen=True, kw_only=True):
    """A record that matches and is no longer current."""

    ref: str
    title: str
    reason: str


class Found(Result, kw_only=True):
    """What every answer over all layers holds; its text repeats the records, between marks where a model reads it."""

    ASKED: ClassVar[tuple[str, ...]] = ()
    """Fields that say what was asked: they stand first."""
    results: list[HitView]
    connected: list[LinkView]
    withheld: list[WithheldView]
    markdown: str
    tokens: int
    truncated: bool

    def fields(self) -> dict[str, Any]:
        names = dict.fromkeys((*self.ASKED, *Found.__struct_fields__, *self.__struct_fields__))
        held = {name: getattr(self, name) for name in names if name not in Result.__struct_fields__}
        return {name: value for name, value in held.items() if value is not UNSET}


def found_in(answer: Answer, *, explain: bool = False) -> dict[str, Any]:
    """The fields that every answer has; with `explain`, the parts of each score."""
    return {
        "results": [_hit_view(hit, answer, explain) for hit in answer.hits],
        "connected": [
            LinkView(ref=link.record.ref, title=link.record.title, relation=link.sentence, score=round(link.score, 4))
            for link in (*answer.connected, *answer.open_questions)
        ],
        "withheld": [WithheldView(ref=item.ref, title=item.title, reason=item.reason) for item in answer.withheld],
        "markdown": answer.markdown,
        "tokens": answer.tokens,
        "truncated": answer.truncated,
        "warnings": answer.warnings,
    }


def _hit_view(hit: Hit, answer: Answer, explain: bool) -> HitView:
    record = hit.record
    return HitView(
        ref=record.ref,
        id=record.ref if record.layer == "graph" else record.ref.partition(":")[2],
        layer=record.layer,
        kind=record.kind,
        title=record.title,
        status=record.status,
        stage=record.stage,
        section=record.section or None,
        tier=hit.tier,
        score=round(hit.score, 4),
        verdict=hit.verdict,
        why=hit.why,
        text=record.text,
        anchors=list(record.anchors),
        files=list(hit.files),
        tags=list(record.tags),
        updated_at=record.updated_at,
        faded=hit.faded,
        reviewed=hit.reviewed,
        amended_by=hit.amended_by or None,
        session=hit.session or None,
        explain=hit.parts if explain else UNSET,
        origin=record.origin or record.layer,
        flags=answer.flags.get(record.ref, hit.effects),
    )


# -- asking -----------------------------------------------------------------------------------


def answer_question(
    project: Project,
    question: str,
    *,
    budget: int | None = None,
    limit: int = 10,
    kinds: Sequence[str] = (),
    tags: Sequence[str] = (),
    layers: Sequence[str] = (),
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
        budget=budget_of(project, budget),
        limit=limits.within(limit, "limit", 1, limits.RESULTS_MOST),
        allowed=Filter(layers=tuple(layers), kinds=tuple(kinds), tags=tuple(tags)),
        governs=_reach(project, path) if path is not None else None,
        about=f"what governs {path}" if path is not None else "",
        everything=everything,
        strict=strict,
        explain=explain,
        fence=fence,
    )
    found = ask_index(project, asked)
    found.warnings += missing_files(project, [path]) if path is not None else []
    return found


def ask_index(project: Project, asked: Ask) -> Answer:
    return project.with_index(lambda index: answer_from(project, index, asked))


def answer_from(project: Project, index: Index, asked: Ask) -> Answer:
    from quire.retrieval.query import ask
    from quire.upkeep.order_flags import effects_in
    from quire.upkeep.verdicts import Verdicts

    asked = msgspec.structs.replace(
        asked,
        verify=Verdicts(project.root, project.git, index),
        reviews=reviews(project, index),
        effects=lambda records: effects_in(index, records),
        weigh=project.weigh(),
    )
    found = ask(index, asked)
    found.warnings += unreadable_files(index)
    return found


def budget_of(project: Project, budget: int | None) -> int:
    """The budget that was given, or that of the project."""
    from quire.model.config import Settings

    usual = 0
    if budget is None:
        try:
            usual = project.graph.config().memory.default_token_budget
        except NotInitialized:
            usual = Settings().default_token_budget
    return limits.budget(budget, usual)


def _reach(project: Project, path: str) -> Reach:
    from quire.anchors.reach import inner_path, reach_below

    return reach_below(project.root, [inner_path(project.root, project.world.cwd, path)])


def missing_files(project: Project, paths: Sequence[str]) -> list[Problem]:
    """That a file which was named is not there: a slip, or a file that is still to come, or gone."""
    from quire.anchors.reach import inner_path

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
