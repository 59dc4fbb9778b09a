"""`memory query`, the tool `query_memory`: ask a question, or what governs a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from quire.model.errors import UsageError
from quire.model.vocabulary import RECORD_KINDS
from quire.verbs.ask.answers import ONLY_LAYERS, Budget, Found, Layers, Question, Words, answer_question, found_in
from quire.verbs.verb import Arguments, LaidOut, Lines, Option, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.guard.boundary import Boundary
    from quire.project import Project
    from quire.retrieval.answer import Answer, LeftOut
    from quire.verbs.ask.list import RecordList

_Path = Annotated[str, Meta(max_length=4096, description="records about this file")]


class Query(Arguments, frozen=True, kw_only=True):
    question: Annotated[Question | None, Word(required=False, is_path=True)] = None
    budget: Budget = None
    kinds: Annotated[
        Words | None,
        Option(
            name="--kind",
            metavar="KINDS",
            help="Only these kinds, comma-separated.",
            commas=True,
            choices=(*RECORD_KINDS, "preference", "session", "journal"),
        ),
    ] = None
    tags: Annotated[
        list[str],
        Option(
            name="--tag",
            metavar="TAGS",
            help="Only records with all these tags, comma-separated.",
            commas=True,
            tool=False,
        ),
    ] = []
    layers: Annotated[Layers | None, ONLY_LAYERS] = None
    path: Annotated[_Path | None, Option(metavar="FILE", help="Only records about this file.", is_path=True)] = None
    limit: Annotated[
        int, Meta(ge=1, le=100), Option(metavar="NUMBER", help="The most results to show; 10 by default.")
    ] = 10
    strict: Annotated[
        bool,
        Meta(description="answers only"),
        Option(help="Only clear answers, no possible ones."),
    ] = False
    explain: Annotated[
        bool, Option(help="Show how each result was scored, and why others were left out.", tool=False)
    ] = False
    everything: Annotated[
        bool,
        Meta(description="also stale, superseded, archived"),
        Option(name="--all", help="Include records that are stale, superseded, dead, archived or faded."),
    ] = False


class Answered(Found, kw_only=True):
    ASKED: ClassVar[tuple[str, ...]] = ("question",)
    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("question",)
    question: str
    included_ids: list[str]
    """This and the next two are the original's names."""
    connected_ids: list[str]
    estimated_tokens: int
    left_out: list[LeftOut] | UnsetType = UNSET


def query(project: Project, given: Query, fence: Boundary | None = None) -> Answered | RecordList:
    """Ask the memory a question; the answer fits into a budget of tokens.

    Searches by words and by meaning, offline. Clear answers come first, in full; then at most three possible ones, one
    line each. If nothing matches, it says so. With --path, shows the records about a file; with filters alone, lists
    records. Stale, superseded and dead records are named but not shown; a superseded one brings its replacement.
    """
    if given.question is None and given.path is None and (given.kinds or given.tags or given.layers):
        from quire.verbs.ask.list import List, list_records

        return list_records(
            project,
            List(
                kinds=given.kinds or [],
                tags=given.tags,
                layers=given.layers or [],
                statuses=["all"] if given.everything else [],
                limit=given.limit,
            ),
        )
    if given.question is None and given.path is None:
        raise UsageError(
            "Give a question, a file with --path, or a filter.", hint="`memory query --help` shows examples."
        )
    found = answer_question(
        project,
        given.question or "",
        budget=given.budget,
        limit=given.limit,
        kinds=_file_kinds(given.kinds) if given.kinds else (),
        tags=given.tags,
        layers=given.layers or (),
        path=given.path,
        everything=given.everything,
        strict=given.strict,
        explain=given.explain,
        fence=fence,
    )
    if found.faded:
        from quire.verbs.facts.faded import faded_facts

        found.warnings += faded_facts(project)
    return answered(found, explain=given.explain)


def _file_kinds(words: list[str]) -> list[str]:
    from quire.verbs.ask.list import file_kinds

    return sorted(file_kinds(words))


def answered(found: Answer, *, explain: bool = False) -> Answered:
    """An answer as results show it."""
    return Answered(
        **found_in(found, explain=explain),
        question=found.question,
        included_ids=[hit.record.ref for hit in found.hits],
        connected_ids=[link.record.ref for link in (*found.connected, *found.open_questions)],
        estimated_tokens=found.tokens,
        left_out=found.left_out if explain else UNSET,
    )


def lines(found: Answered | RecordList) -> Lines:
    if not isinstance(found, Answered):
        from quire.verbs.ask.list import lines as list_lines

        yield from list_lines(found)
        return
    yield LaidOut(text=found.markdown.rstrip("\n"))
    if found.left_out is UNSET:
        return
    yield ""
    for hit in found.results:
        parts = ", ".join(f"{name} {value}" for name, value in (hit.explain or {}).items())
        yield f"{hit.score:.4f}  {hit.ref}  {hit.tier}, by {hit.why}  ({parts})"
    for item in found.left_out:
        yield f"left out  {item.ref}  {item.rule}"


VERB = Verb(
    takes=Query,
    run=query,
    lines=lines,
    fenced=True,
    examples="""Examples:
  memory query "why do webhook retries run in the worker?"
  memory query "pdf rendering" --kind decision,gotcha --budget 800
  memory query --path services/billing/retry.ts
  memory query "retries" --explain --json
""",
    tool=Tool(
        title="Ask the memory",
        says="Ask what this project remembers: decisions and reasons, traps, features, facts, sessions, people. "
        "Answers cite records, checked against the code, within the budget. Use it before you design or change "
        "something, and when code looks odd. Not for finding code: search the files.",
        gives={"results": "array", "markdown": "string"},
        needs=("question",),
    ),
)
