"""`memory why`, the tool `why_memory`: explain why a line or a file is as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar

import msgspec
from msgspec import Meta

from quire.verbs.ask.answers import Budget, Found, ask_index, budget_of, found_in
from quire.verbs.verb import Arguments, LaidOut, Lines, Recalled, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.files.git_history import Commit
    from quire.guard.boundary import Boundary
    from quire.project import Project
    from quire.upkeep.why import SaveInCommit

_EVERYTHING = 10_000


class Why(Arguments, frozen=True, kw_only=True):
    place: Annotated[
        str,
        Meta(min_length=1, max_length=4200, description="src/file.py or src/file.py:120"),
        Word(is_path=True),
    ]
    budget: Budget = None


class Explained(Found, kw_only=True):
    """The background of a place, and what governs it."""

    ASKED: ClassVar[tuple[str, ...]] = ("path", "line", "text", "committed", "origin", "commits", "saves", "note")
    path: str
    line: int | None
    text: str | None
    committed: bool
    origin: dict[str, object] | None
    commits: list[Commit]
    saves: list[SaveInCommit]
    note: str


def why(project: Project, given: Why, fence: Boundary | None = None) -> Explained:
    """Explain why a line or file is as it is.

    Shows the records about it (decisions, traps and features, also replaced ones), the commit that wrote the line, and
    what was saved to the memory in that commit. PLACE is a path, or a path and a line: src/queue.ts:42.
    """
    from quire.retrieval.query import Ask
    from quire.upkeep.why import background_of, place_of, reach_of

    project.ready()
    path, line = place_of(project.root, project.world.cwd, given.place)
    asked = Ask(
        question="",
        budget=budget_of(project, given.budget),
        limit=_EVERYTHING,
        governs=reach_of(project.root, path, line),
        about=f"why {path}" + (f":{line}" if line else ""),
        everything=True,
        fence=fence,
    )
    background = project.with_index(lambda index: background_of(project.root, project.git, index, path, line))
    return Explained(**found_in(ask_index(project, asked)), **msgspec.structs.asdict(background))


def lines(found: Explained) -> Lines:
    for line in _background(found):
        yield Recalled(text=line, origin="git")
    yield ""
    if found.results:
        yield LaidOut(text=found.markdown.rstrip("\n"))
    else:
        yield "No record is about this file."


def _background(found: Explained) -> Iterator[str]:
    """Who wrote the line, and what was saved with it."""
    if found.line is not None:
        yield f"{found.path}:{found.line}: {(found.text or '').strip()}"
    if not found.committed:
        yield f"No commit to show: {found.note.rstrip('.')}."
    for commit in found.commits:
        yield f"{commit.id[:9]} {commit.date[:10]} {commit.author}: {commit.subject}"
        for save in found.saves:
            if save.commit == commit.id:
                yield f"  saved in it: {save.ref} — {save.title} ({save.change})"


VERB = Verb(
    takes=Why,
    run=why,
    lines=lines,
    fenced=True,
    examples="""Examples:
  memory why src/queue.ts:42
  memory why src/queue.ts
  memory why src/queue.ts:42 --json
""",
    tool=Tool(
        title="Why a line is as it is",
        says="Why a file or a line is as it is: records about it, the commits that wrote it, and what was saved with "
        "them. Use it before you change code that looks odd. For whole changes use brief_memory.",
        gives={"results": "array", "markdown": "string"},
    ),
)
