"""`memory profile about-me`, `about-us` and `index`: show a page of the profile."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from quire.layers.profile import pages
from quire.layers.profile.layout import ACTIVE
from quire.layers.profile.pages import entries_on, index_page
from quire.verbs.profile.document import ask_profile, usable_documents
from quire.verbs.profile.entries import profile_entries, profile_warnings
from quire.verbs.profile.options import Everything
from quire.verbs.verb import Arguments, Lines, Recalled, Result, Tool, Verb

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.profile.entries import Entry
    from quire.project import Project


class ProfilePage(Result, kw_only=True):
    RECALLED: ClassVar[tuple[str, ...]] = ("profile",)

    profile: str
    entries: int
    """On the page."""
    put_away: int = 0
    """Archived or superseded ones that are left out of it."""


def page_of(
    project: Project, write: Callable[[list[Entry]], str], nothing: str, *, everything: bool = True
) -> ProfilePage:
    """A page made of all entries; `nothing` is said where it is empty."""

    def work(index: Index) -> ProfilePage:
        overview = usable_documents(index)
        entries = profile_entries(project, index)
        text = write(entries)
        away = 0 if everything else sum(entry.status != ACTIVE for entry in entries)
        return ProfilePage(
            profile=text,
            entries=entries_on(text),
            put_away=away,
            nothing="No active records." if away else nothing,
            warnings=profile_warnings(project, overview),
        )

    return ask_profile(project, work)


def page_lines(page: ProfilePage) -> Lines:
    yield Recalled(text=page.profile.rstrip("\n"), origin="profile") if page.profile else page.nothing
    if page.put_away:
        yield f"Archived or superseded, not shown: {page.put_away}; `memory profile index --all` shows them."


def about_me(project: Project, _given: Arguments) -> ProfilePage:
    """Show what is known about the user and their preferences."""
    return page_of(project, pages.about_me, "Nothing is recorded about the user yet.")


ABOUT_ME = Verb(
    run=about_me,
    lines=page_lines,
    examples="Example:\n  memory profile about-me\n",
    tool=Tool(
        title="About the user",
        says="Profile: a page about the user and their preferences. Use it to adapt to the person. For one detail "
        "use recall.",
        gives={"profile": "string"},
    ),
)


def about_us(project: Project, _given: Arguments) -> ProfilePage:
    """Show how the user and the assistant work together, and who the assistant is."""
    return page_of(project, pages.about_us, "Nothing is recorded yet about how you work together.")


ABOUT_US = Verb(
    run=about_us,
    lines=page_lines,
    examples="Example:\n  memory profile about-us\n",
    tool=Tool(
        title="About working together",
        says="Profile: a page about how user and assistant work together, and who the assistant is. For the user "
        "alone use about_me.",
        gives={"profile": "string"},
    ),
)


class ShowIndex(Arguments, frozen=True, kw_only=True):
    everything: Everything = False


def entry_index(project: Project, given: ShowIndex) -> ProfilePage:
    """Show one line for each record. This does not count as reading."""
    return page_of(
        project,
        lambda entries: index_page(entries, everything=given.everything),
        "No records yet.",
        everything=given.everything,
    )


INDEX = Verb(
    takes=ShowIndex,
    run=entry_index,
    lines=page_lines,
    examples="Example:\n  memory profile index --all\n",
)
