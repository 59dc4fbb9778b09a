"""`memory profile about-me`, the tool `about_me`: show a page about the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.verbs.profile.pages import ProfilePage, page_lines, page_of
from quire.verbs.verb import Arguments, Tool, Verb

if TYPE_CHECKING:
    from quire.project import Project


def about_me(project: Project, _given: Arguments) -> ProfilePage:
    """Show what is known of the user: the profile, and preferences that face the user."""
    from quire.layers.profile import pages

    return page_of(project, pages.about_me, "Nothing is known of the user yet.")


VERB = Verb(
    takes=Arguments,
    run=about_me,
    lines=page_lines,
    examples="Example:\n  memory profile about-me\n",
    tool=Tool(
        name="about_me",
        title="About the user",
        says="Profile: a page on the user, with the preferences that face them. Use it to adapt to the person. Not "
        "for one detail: recall.",
        gives={"profile": "string"},
    ),
)
