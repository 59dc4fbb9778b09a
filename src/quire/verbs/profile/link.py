"""`memory profile link` and `unlink`, the tools `add_link` and `remove_link`: tie entries together, or untie them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import msgspec

from quire.layers.profile.links import remove_links
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
    """Link one record to another: SOURCE elaborates TARGET, and so on. Records are named category.key.

    Relations: supersedes (the target is archived), elaborates, contradicts, related-to, depends-on.
    """
    from quire.layers.profile.links import add_link

    done = change_profile(
        project,
        "link",
        lambda draft, _: add_link(draft, given.source, given.target, given.relation),
        dry_run=given.dry_run,
    )
    return EntriesLinked(**msgspec.structs.asdict(done), link_created=done.created, dry_run=given.dry_run)


def add_link(project: Project, given: AddLink) -> EntriesLinked:
    """Link one record to another."""
    return link_entries(project, LinkEntries(source=given.source(), target=given.target(), relation=given.relation))


def lines(done: EntriesLinked) -> Lines:
    said = "Linked already" if not done.created else "Would link" if done.dry_run else "Linked"
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
    tool=Tool(
        title="Link two records",
        says="Profile: link two records with a relation; a superseded record is archived. Records that share two tags "
        "are linked automatically. For facts use memory_connect.",
        gives={"link_created": "boolean"},
    ),
)


class UnlinkEntries(Arguments, frozen=True, kw_only=True):
    source: Annotated[str, Word()]
    target: Annotated[str, Word()]
    relation: Annotated[str | None, Word(required=False)] = None
    dry_run: DryRun = False


class RemoveLink(LinkEnds, frozen=True, kw_only=True):
    relation: Relation | None = None


class EntriesUnlinked(Result, kw_only=True):
    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("dry_run",)

    link_removed: bool = True
    source: str
    target: str
    relations: tuple[str, ...]
    dry_run: bool = False


def unlink_entries(project: Project, given: UnlinkEntries) -> EntriesUnlinked:
    """Remove the links from one record to another: all, or those of one RELATION."""
    found = change_profile(
        project,
        "unlink",
        lambda draft, _: remove_links(draft, given.source, given.target, given.relation),
        dry_run=given.dry_run,
    )
    return EntriesUnlinked(**msgspec.structs.asdict(found), dry_run=given.dry_run)


def remove_link(project: Project, given: RemoveLink) -> EntriesUnlinked:
    """Take the links from one record to another away."""
    return unlink_entries(project, UnlinkEntries(source=given.source(), target=given.target(), relation=given.relation))


def unlinked_lines(done: EntriesUnlinked) -> Lines:
    said = "Would unlink" if done.dry_run else "Unlinked"
    names = (done.source, done.target)
    yield line_naming(f"{said}: {done.source} {', '.join(done.relations)} {done.target}", names)
    if "supersedes" in done.relations:
        category, _, key = done.target.partition(".")
        command = f"memory profile remember {category} {key} --status active"
        yield line_naming(f"  It stays archived; to restore it: {command}", names)


UNLINK = Verb(
    takes=UnlinkEntries,
    run=unlink_entries,
    lines=unlinked_lines,
    writes=True,
    examples="Example:\n  memory profile unlink learnings.flaky_ci project.ci\n",
)

REMOVE_LINK = Verb(
    takes=RemoveLink,
    run=remove_link,
    lines=unlinked_lines,
    writes=True,
    tool=Tool(
        title="Unlink two records",
        says="Profile: remove the links from one record to another, all or those of one relation. The records stay; "
        "to remove a record use forget.",
        gives={"link_removed": "boolean"},
        destructive=True,
    ),
)
