"""`memory profile forget`, the tool `forget`: remove an entry."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, ClassVar

from quire.verbs.profile.document import change_profile
from quire.verbs.profile.entries import entry_view
from quire.verbs.profile.options import DryRun, EntryName
from quire.verbs.profile.results import EntryView, line_naming, recalled
from quire.verbs.verb import Lines, Result, Tool, Verb

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.profile.drafts import ProfileDraft
    from quire.project import Project


class ForgetEntry(EntryName, frozen=True, kw_only=True):
    dry_run: DryRun = False


class EntryForgotten(Result, kw_only=True):
    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("dry_run",)

    removed: EntryView
    links_removed: list[str]
    """The entries that had a link to it."""
    backup_path: str
    dry_run: bool = False


def forget_entry(project: Project, given: ForgetEntry) -> EntryForgotten:
    """Remove an entry and the links to it. The document as it was is kept, and `restore` brings the entry back."""
    from quire.layers.profile.entries import read_entry
    from quire.layers.profile.links import forget
    from quire.layers.profile.places import backup_name

    category, key = given.entry("forget tools old_shell")

    def plan(draft: ProfileDraft, _: Index) -> EntryForgotten:
        gone = forget(draft, category, key)
        entry = read_entry(category, key, gone.fields, is_private=gone.private)
        return EntryForgotten(
            removed=entry_view(entry),
            links_removed=sorted({item.source for item in gone.incoming}),
            backup_path=backup_name(project.profile_places(), is_private=gone.private),
            dry_run=given.dry_run,
        )

    return change_profile(project, "forget", plan, dry_run=given.dry_run)


def lines(done: EntryForgotten) -> Lines:
    gone = done.removed
    yield recalled(gone, f"{gone.ref} ({gone.title})", f"{'Would be forgotten' if done.dry_run else 'Forgotten'}: ")
    if done.links_removed:
        yield line_naming(f"  links to it removed from {', '.join(done.links_removed)}", done.links_removed)
    if not done.dry_run:
        command = shlex.join(("memory", "profile", "restore", gone.category, gone.key))
        yield line_naming(f"  bring it back: {command}", (gone.category, gone.key))
        yield f"  the whole document as it was: {done.backup_path}"


VERB = Verb(
    takes=ForgetEntry,
    run=forget_entry,
    lines=lines,
    writes=True,
    examples="Example:\n  memory profile forget tools old_shell\n",
    tool=Tool(
        name="forget",
        title="Forget an entry",
        says="Profile: removes an entry and the links to it. Use it when the user asks for that. It can be brought "
        "back: `memory profile restore CATEGORY KEY`. Not to correct an entry: remember.",
        needs=("key",),
        gives={"removed": "object", "backup_path": "string"},
        destructive=True,
    ),
)
