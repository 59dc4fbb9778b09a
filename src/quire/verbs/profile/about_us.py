"""`memory profile about-us`, the tool `about_us`: show a page about the collaboration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.verbs.profile.pages import ProfilePage, page_lines, page_of
from quire.verbs.verb import Arguments, Tool, Verb

if TYPE_CHECKING:
    from quire.project import Project


def about_us(project: Project, _given: Arguments) -> ProfilePage:
    """Show how the user and the assistant work together, and who the assistant is."""
    from quire.layers.profile import pages

    return page_of(project, pages.about_us, "Nothing is known of how you work together yet.")


VERB = Verb(
    takes=Arguments,
    run=about_us,
    lines=page_lines,
    examples="Example:\n  memory profile about-us\n",
    tool=Tool(
        name="about_us",
        title="About working together",
        says="Profile: a page on how user and assistant work together, and who the assistant is. Not on the user "
        "alone: about_me.",
        gives={"profile": "string"},
    ),
)
