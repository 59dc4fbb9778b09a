"""`memory inbox rejected`: list rejections, including lifted ones."""

from __future__ import annotations

from typing import Any

import msgspec

from quire.inbox.rejections import Rejection, read_rejections
from quire.model.records import Problem
from quire.project import Project
from quire.verbs.inbox.results import rejection_fields
from quire.verbs.verb import Arguments, Lines, Recalled, Result, Verb


class RejectedListed(Result, kw_only=True):
    results: list[Rejection]
    problems: list[Problem]

    def fields(self) -> dict[str, Any]:
        return {
            "results": [rejection_fields(item) for item in self.results],
            "problems": msgspec.to_builtins(self.problems),
        }


def rejected(project: Project, given: Arguments) -> RejectedListed:
    """Show what was rejected, and what was lifted since."""
    project.ready()
    found = read_rejections(project.root)
    problems = list(found.problems)
    items = sorted(found.found.values(), key=lambda item: (item.rejected_at, item.id))
    return RejectedListed(results=items, problems=problems, warnings=problems)


def lines(found: RejectedListed) -> Lines:
    if not found.results:
        yield "Nothing was rejected."
    for item in found.results:
        state = f"lifted {item.lifted_at[:10]}" if item.lifted_at else f"rejected {item.rejected_at[:10]}"
        reason = f": {item.reason}" if item.reason else ""
        text = "  " + item.value.replace("\n", "\n  ")
        yield Recalled(text=f"{item.id}  {state}{reason}\n{text}", origin=item.origin)


VERB = Verb(
    run=rejected,
    lines=lines,
    examples="Example:\n  memory inbox rejected --json\n",
)
