"""`memory profile forget` and `restore`, the tool `forget`: archive entries, and bring them back."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, ClassVar

import msgspec

from quire.layers.profile.drafts import ProfileDraft
from quire.layers.profile.entries import read_entry
from quire.layers.profile.forgotten import read_forgotten
from quire.layers.profile.links import forget, restore
from quire.layers.profile.places import backup_name
from quire.model.errors import NotFound, UsageError
from quire.model.text import counted, cut, one_line
from quire.verbs.profile.document import change_profile
from quire.verbs.profile.entries import entry_view
from quire.verbs.profile.options import DryRun, EntryName, split_entry
from quire.verbs.profile.results import EntryView, line_naming, recalled
from quire.verbs.verb import Arguments, Lines, Option, Recalled, Result, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project


class RestoreEntry(Arguments, frozen=True, kw_only=True):
    category: Annotated[str | None, Word(required=False)] = None
    key: Annotated[str | None, Word(required=False)] = None
    at: Annotated[str | None, Option(metavar="TIME", help="The record that was forgotten at this time.")] = None
    new_key: Annotated[
        str | None, Option(name="--as", metavar="KEY", help="Restore it under another key of its category.")
    ] = None
    dry_run: DryRun = False


class ForgottenEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that was removed on this machine, and when."""

    ref: str
    id: str
    category: str
    key: str
    kind: str = "entry"
    title: str
    value: str
    at: str
    score: float | None = None
    verdict: str | None = None


class ForgottenEntries(Result, kw_only=True):
    results: list[ForgottenEntry]


class EntryRestored(Result, kw_only=True):
    entry: EntryView
    links_restored: int
    dry_run: bool = False


def restore_entry(project: Project, given: RestoreEntry) -> EntryRestored | ForgottenEntries:
    """Restore a record that was forgotten on this machine; without a name, list them.

    Of several with one name it restores the last; --at chooses another.
    """
    if given.category is None:
        if given.at is not None or given.new_key is not None:
            raise UsageError("Name the record to restore.", hint="memory profile restore tools old_shell --as new_key")
        return ForgottenEntries(results=forgotten_entries(project))
    category, key = split_entry(given.category, given.key)
    if key is None:
        raise UsageError("Name a category and a key.", hint="memory profile restore user timezone")
    return _restored(project, category, key, given)


def _restored(project: Project, category: str, key: str, given: RestoreEntry) -> EntryRestored:
    def plan(draft: ProfileDraft, _: Index) -> EntryRestored:
        found = [
            item
            for item in read_forgotten(project.root)
            if (item.category, item.key) == (category, key) and given.at in (None, item.at)
        ]
        if not found:
            raise NotFound(
                f"Nothing was forgotten as `{cut(f'{category}.{key}', 120)}` on this machine"
                + (f" at {cut(given.at, 40)}." if given.at else "."),
                hint="`memory profile restore` lists what can be restored; git has what was committed.",
                details={"id": f"profile:{category}.{key}"},
            )
        entry, number = restore(draft, found[-1], given.new_key)
        return EntryRestored(entry=entry_view(entry), links_restored=number, dry_run=given.dry_run)

    return change_profile(project, "restore", plan, dry_run=given.dry_run)


def forgotten_entries(project: Project) -> list[ForgottenEntry]:
    """What can be restored, the newest first."""
    project.recover()
    return [
        ForgottenEntry(
            ref=f"profile:{item.category}.{item.key}",
            id=f"{item.category}.{item.key}",
            category=item.category,
            key=item.key,
            title=cut(one_line(str(item.fields.get("value", ""))), 80),
            value=str(item.fields.get("value", "")),
            at=item.at,
        )
        for item in reversed(read_forgotten(project.root))
    ]


def lines(done: EntryRestored | ForgottenEntries) -> Lines:
    if isinstance(done, EntryRestored):
        links = f", with {counted(done.links_restored, 'link')} to it" if done.links_restored else ""
        yield recalled(done.entry, f"{done.entry.ref}{links}", f"{'Would restore' if done.dry_run else 'Restored'}: ")
        return
    if not done.results:
        yield "No record was forgotten on this machine."
    for item in done.results:
        yield Recalled(text=f"  {item.id} (forgotten {item.at}): {item.title}", ref=item.ref, origin="profile")


VERB = Verb(
    takes=RestoreEntry,
    run=restore_entry,
    lines=lines,
    writes=True,
    examples="Examples:\n  memory profile restore\n  memory profile restore tools old_shell\n",
)


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
    """Remove a record and the links to it. A backup of the document is kept; `restore` restores the record."""
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


def forgotten_lines(done: EntryForgotten) -> Lines:
    gone = done.removed
    yield recalled(gone, f"{gone.ref} ({gone.title})", f"{'Would forget' if done.dry_run else 'Forgotten'}: ")
    if done.links_removed:
        yield line_naming(f"  links to it removed from {', '.join(done.links_removed)}", done.links_removed)
    if not done.dry_run:
        command = shlex.join(("memory", "profile", "restore", gone.category, gone.key))
        yield line_naming(f"  to restore it: {command}", (gone.category, gone.key))
        yield f"  backup of the whole document: {done.backup_path}"


FORGET = Verb(
    takes=ForgetEntry,
    run=forget_entry,
    lines=forgotten_lines,
    writes=True,
    examples="Example:\n  memory profile forget tools old_shell\n",
    tool=Tool(
        title="Forget a record",
        says="Profile: remove a record and the links to it. Use it when the user asks for it. Undo: `memory profile "
        "restore CATEGORY KEY`. To correct a record use remember.",
        needs=("key",),
        gives={"removed": "object", "backup_path": "string"},
        destructive=True,
    ),
)
