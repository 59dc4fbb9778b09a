"""`memory profile context`: list what an agent should know at the start."""

from __future__ import annotations

from typing import Annotated

from quire.model import limits
from quire.project import Project
from quire.retrieval.profile_context import ProfileContext, fit_profile
from quire.verbs.profile.document import ask_profile
from quire.verbs.profile.entries import profile_entries
from quire.verbs.verb import Arguments, Lines, Option, Recalled, Verb


class ShowProfileContext(Arguments, frozen=True, kw_only=True):
    budget: Annotated[int | None, Option(metavar="TOKENS", help="At most this many tokens.")] = None


def profile_context(project: Project, given: ShowProfileContext) -> ProfileContext:
    """Show what an agent should know at the start: the most important records of every category."""
    tokens = limits.budget(given.budget, limits.PROFILE_TOKENS)
    return ask_profile(project, lambda index: fit_profile(profile_entries(project, index), tokens))


def lines(found: ProfileContext) -> Lines:
    if found.markdown:
        yield Recalled(text=found.markdown.rstrip("\n"), origin="profile")
    else:
        yield "No active records yet."


VERB = Verb(
    takes=ShowProfileContext,
    run=profile_context,
    lines=lines,
    examples="Example:\n  memory profile context --budget 600\n",
)
