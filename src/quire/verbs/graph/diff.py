"""`memory diff`, the tool `diff_memory`: show what differs from the last commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from quire.verbs.verb import Arguments, Lines, Recalled, Result, Style, Tool, Verb

if TYPE_CHECKING:
    from quire.project import Project
    from quire.upkeep.changes import Changes

_STYLES: dict[str, Style] = {"+": "green", "-": "red", "@": "cyan", "d": "bold"}
_CHARS_FOR_TOOLS = 60_000


class Diff(Arguments, frozen=True, kw_only=True):
    chars: int | None = None
    """The most characters of differences to show; all by default."""


class Uncommitted(Result, kw_only=True):
    LISTED_FOR_TOOLS: ClassVar[int] = 100
    found: Changes

    def fields(self) -> dict[str, Any]:
        fields = msgspec.structs.asdict(self.found)
        lists = fields.pop("records")
        return {**fields, **lists}


def diff(project: Project, given: Diff) -> Uncommitted:
    """Show what changed in .memory/, profile and journal since the last commit: staged, unstaged and untracked."""
    from quire.upkeep.changes import uncommitted_changes

    project.recover()
    found = project.in_one_state(lambda: uncommitted_changes(project))
    left = len(found.diff) - given.chars if given.chars is not None else 0
    if left > 0:
        found.diff = found.diff[: given.chars] + f"\n… {left:,} more characters: `git diff` shows them"
    return Uncommitted(found=found)


def lines(done: Uncommitted) -> Lines:
    if not done.found.files:
        yield "The memory has no uncommitted changes."
    for file in done.found.files:
        states = [name for name in ("staged", "unstaged", "untracked") if getattr(file, name)]
        yield f"{file.change}: {file.path} ({', '.join(states)})"
    if done.found.diff:
        yield ""
    for line in done.found.diff.splitlines():
        yield Recalled(text=line, origin="graph", style=_STYLES.get(line[:1]))


VERB = Verb(
    takes=Diff,
    run=diff,
    lines=lines,
    examples="""Examples:
  memory diff
  memory diff --json
""",
    tool=Tool(
        title="Uncommitted changes of the memory",
        says="What changed in the memory since the last commit, record by record. Use it to review saved records "
        "before you commit. For changes in code use brief_memory.",
        given={"chars": _CHARS_FOR_TOOLS},
    ),
)
