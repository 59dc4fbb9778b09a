"""`memory brief`, the tool `brief_memory`: list the records that govern the files of a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from quire.model import limits
from quire.model.errors import UsageError
from quire.model.text import one_line
from quire.verbs.ask.answers import Branch, Budget, Found, ask_index, budget_of, found_in, missing_files
from quire.verbs.verb import Arguments, LaidOut, Lines, Option, Recalled, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.guard.boundary import Boundary
    from quire.project import Project

_Files = Annotated[list[Annotated[str, Meta(max_length=4096)]], Meta(max_length=1000)]


class Brief(Arguments, frozen=True, kw_only=True):
    files: Annotated[_Files | None, Word(required=False, is_path=True)] = None
    diff: Annotated[
        Annotated[str, Meta(max_length=500, description="a range of commits")] | None,
        Option(
            metavar="[RANGE]",
            bare="",
            help="The files of a range of commits; without a range, uncommitted files.",
            is_path=True,
        ),
    ] = None
    branch: Branch = None
    path: Annotated[str | None, Option(metavar="FILE", help="A file or a folder.", tool=False, is_path=True)] = None
    budget: Budget = None
    limit: Annotated[int, Option(metavar="NUMBER", help="The most results to show; 20 by default.", tool=False)] = 20


class Briefed(Found, kw_only=True):
    ASKED: ClassVar[tuple[str, ...]] = ("change", "files")
    change: str
    files: list[str]


def brief(project: Project, given: Brief, fence: Boundary | None = None) -> Briefed:
    """Show the records about a change's files: decisions, traps, features, open questions, each with its verdict.

    Without options the change is everything that is not committed. The answer fits into a budget of tokens.
    """
    from quire.anchors.reach import inner_path, reach_below
    from quire.retrieval.query import Ask

    named = [*(given.files or ()), *([given.path] if given.path is not None else [])]
    if sum([bool(named), given.diff is not None, given.branch is not None]) > 1:
        raise UsageError("Give files, --diff or --branch, not several of them.")
    project.ready()
    if named:
        files = [inner_path(project.root, project.world.cwd, file) for file in named]
        name, reach = ", ".join(files), reach_below(project.root, files)
    else:
        from quire.upkeep.change_set import reach_of_change

        name, reach = reach_of_change(project.git, diff=given.diff, branch=given.branch)
        files = reach.paths
    asked = Ask(
        question="",
        budget=budget_of(project, given.budget),
        limit=limits.within(given.limit, "limit", 1, limits.RESULTS_MOST),
        governs=reach,
        about=f"what governs {name}",
        fence=fence,
    )
    found = ask_index(project, asked)
    found.warnings += missing_files(project, named) if named else []
    unnamed = not given.diff and given.branch is None
    return Briefed(
        **found_in(found),
        change=name,
        files=files,
        nothing="No file has changed." if unnamed else f"No file has changed ({name}).",
    )


def lines(found: Briefed) -> Lines:
    if not found.files:
        yield Recalled(text=found.nothing, origin="git")
    elif not found.results:
        more = f" and {len(found.files) - 3} more" if len(found.files) > 3 else ""
        shown = one_line(", ".join(found.files[:3])) + more
        yield f"No record is about {shown}."
    else:
        yield LaidOut(text=found.markdown.rstrip("\n"))


VERB = Verb(
    takes=Brief,
    run=brief,
    lines=lines,
    fenced=True,
    examples="""Examples:
  memory brief                        records about the files you have changed
  memory brief --diff main...HEAD     records about a pull request
  memory brief --branch               records about everything on this branch
  memory brief --path src/queue.ts    records about a file you are about to change
  memory brief src/queue.ts src/worker/ --budget 800
""",
    tool=Tool(
        title="Records about a change",
        says="Records about the files of a change: named files, a range, a branch, or uncommitted work. Use it "
        "before you edit or review files. For questions in words use query_memory.",
        gives={"results": "array", "markdown": "string"},
    ),
)
