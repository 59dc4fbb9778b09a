"""`memory profile link`, the tool `add_link`: link one entry to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from quire.verbs.profile.document import change_profile
from quire.verbs.profile.options import DryRun, LinkEnds, Relation
from quire.verbs.profile.results import line_naming
from quire.verbs.verb import Arguments, Lines, Result, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.project import Project


class LinkEntries(Arguments, frozen=True, kw_only=True):
    source: Annotated[str, Word()]
    target: Annotated[str, Word()]
    relation: Annotated[str, Word()]
    dry_run: DryRun = False


class AddLink(LinkEnds, frozen=True, kw_only=True):
    relation: Relation


class EntriesLinked(Result, kw_only=True):
    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("created", "dry_run")

    link_created: bool
    """False where it was there already."""
    source: str
    target: str
    relation: str
    created: bool
    archived: bool = False
    """Whether the target was put away, since it is replaced."""
    dry_run: bool = False


def link_entries(project: Project, given: LinkEntries) -> EntriesLinked:
    """Link one entry to another: SOURCE elaborates TARGET, and so on. Entries are named category.key.

    Relations: supersedes (the target is archived), elaborates, contradicts, related-to, depends-on.
    """
    from quire.layers.profile.links import add_link

    done = change_profile(
        project,
        "link",
        lambda draft, _: add_link(draft, given.source, given.target, given.relation),
        dry_run=given.dry_run,
    )
    return EntriesLinked(
        link_created=done.created,
        source=done.source,
        target=done.target,
        relation=done.relation,
        created=done.created,
        archived=done.archived,
        dry_run=given.dry_run,
    )


def add_link(project: Project, given: AddLink) -> EntriesLinked:
    """Link one entry to another."""
    return link_entries(project, LinkEntries(source=given.source(), target=given.target(), relation=given.relation))


def lines(done: EntriesLinked) -> Lines:
    said = "Linked already" if not done.created else "Would be linked" if done.dry_run else "Linked"
    names = (done.source, done.target)
    yield line_naming(f"{said}: {done.source} {done.relation} {done.target}", names)
    if done.archived:
        yield line_naming(f"  {done.target} is archived: it is replaced.", names)


VERB = Verb(
    takes=LinkEntries,
    run=link_entries,
    lines=lines,
    writes=True,
    examples="Example:\n  memory profile link learnings.flaky_ci project.ci elaborates\n",
)

TOOL = Verb(
    takes=AddLink,
    run=add_link,
    lines=lines,
    writes=True,
    examples="",
    tool=Tool(
        name="add_link",
        title="Link two entries",
        says="Profile: says how one entry stands to another; what is superseded is archived. Entries that share two "
        "tags are linked anyway. Not for facts: memory_connect.",
        gives={"link_created": "boolean"},
    ),
)
