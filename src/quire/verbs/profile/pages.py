"""Show a page of the profile: shared by `about-me`, `about-us` and `index`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from quire.layers.profile.layout import ACTIVE
from quire.verbs.profile.document import ask_profile, usable_documents
from quire.verbs.profile.entries import profile_entries, profile_warnings
from quire.verbs.verb import Lines, Recalled, Result

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
    from quire.layers.profile.pages import entries_on

    def work(index: Index) -> ProfilePage:
        overview = usable_documents(index)
        entries = profile_entries(project, index)
        text = write(entries)
        away = 0 if everything else sum(entry.status != ACTIVE for entry in entries)
        return ProfilePage(
            profile=text,
            entries=entries_on(text),
            put_away=away,
            nothing="Nothing that is active." if away else nothing,
            warnings=profile_warnings(project, overview),
        )

    return ask_profile(project, work)


def page_lines(page: ProfilePage) -> Lines:
    yield Recalled(text=page.profile.rstrip("\n"), origin="profile") if page.profile else page.nothing
    if page.put_away:
        yield f"Archived or superseded, and not shown: {page.put_away}; `memory profile index --all` shows them."
