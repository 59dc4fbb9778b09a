"""`memory profile export`, the tool `export_memories`: export all entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import UNSET, UnsetType

from quire.guard.hostile_text import escape_controls
from quire.layers.profile.layout import ACTIVE, VERSION
from quire.layers.profile.pages import export_document, export_page
from quire.model.errors import not_one_of
from quire.model.text import cut
from quire.verbs.profile.document import ask_profile, usable_documents
from quire.verbs.profile.entries import profile_entries
from quire.verbs.profile.options import one_of
from quire.verbs.verb import Arguments, Aside, Lines, Option, Recalled, Result, Tool, Verb

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project

_FORMATS = ("markdown", "json")


class ExportProfile(Arguments, frozen=True, kw_only=True):
    output_format: Annotated[
        str,
        one_of(_FORMATS),
        Option(
            name="--format",
            metavar="FORMAT",
            choices=_FORMATS,
            help="The form of the text.",
            show_default=True,
        ),
    ] = "markdown"
    everything: Annotated[
        bool, Option(name="--all", help="In Markdown: include what is archived or superseded.", tool=False)
    ] = False
    no_private: Annotated[bool, Option(help="Leave out records that are not in the shared document.")] = False


class ProfileExported(Result, kw_only=True):
    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("private_entries",)
    RECALLED: ClassVar[tuple[str, ...]] = ("content",)

    format: str
    content: str
    entries: int
    private_entries: int
    private_left_out: int | UnsetType = UNSET


def export_profile(project: Project, given: ExportProfile) -> ProfileExported:
    """Print the profile: active records as Markdown, or the stored document as JSON."""
    if given.output_format not in _FORMATS:
        raise not_one_of(f"`{cut(given.output_format, 40)}` is not a format.", "format", _FORMATS)

    def work(index: Index) -> ProfileExported:
        overview = usable_documents(index)
        every = profile_entries(project, index)
        entries = [entry for entry in every if not (given.no_private and entry.is_private)]
        left_out = len(every) - len(entries)
        if given.output_format == "json":
            content = export_document(project.profile_places(), private=not given.no_private)
        else:
            entries = [entry for entry in entries if given.everything or entry.status == ACTIVE]
            version = overview.version or VERSION
            content = export_page(entries, version, overview.session_count, everything=given.everything)
        return ProfileExported(
            format=given.output_format,
            content=content,
            entries=len(entries),
            private_entries=sum(entry.is_private for entry in entries),
            private_left_out=left_out or UNSET,
        )

    return ask_profile(project, work)


def lines(done: ProfileExported) -> Lines:
    if done.private_left_out is not UNSET:
        yield Aside(text=f"Private records left out: {done.private_left_out}; the command line shows them to the user.")
    if done.format == "json":
        # JSON must stay JSON, whatever the texts in it hold.
        yield Recalled(text=escape_controls(done.content).rstrip("\n"), origin="profile", verbatim=True)
    else:
        yield Recalled(text=done.content.rstrip("\n"), origin="profile")


VERB = Verb(
    takes=ExportProfile,
    run=export_profile,
    lines=lines,
    examples="Examples:\n  memory profile export\n  memory profile export --format json > profile.json\n",
    tool=Tool(
        title="Export the profile",
        says="Profile: all active records as Markdown, or the document as JSON; long. Leaves out private records. "
        "Use it only when the user wants a copy; otherwise use recall or search.",
        # What someone keeps out of the repository is not handed on in one piece by a tool that nobody watches.
        given={"no_private": True},
        gives={"content": "string"},
    ),
)
