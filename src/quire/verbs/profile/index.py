"""`memory profile index`: list every entry in one line."""

from __future__ import annotations

from quire.layers.profile.pages import index_page
from quire.project import Project
from quire.verbs.profile.options import Everything
from quire.verbs.profile.pages import ProfilePage, page_lines, page_of
from quire.verbs.verb import Arguments, Verb


class ShowIndex(Arguments, frozen=True, kw_only=True):
    everything: Everything = False


def entry_index(project: Project, given: ShowIndex) -> ProfilePage:
    """Show one line for each entry. Looking at it does not count as reading."""
    return page_of(
        project,
        lambda entries: index_page(entries, everything=given.everything),
        "Nothing is remembered yet.",
        everything=given.everything,
    )


VERB = Verb(
    takes=ShowIndex,
    run=entry_index,
    lines=page_lines,
    examples="Example:\n  memory profile index --all\n",
)
