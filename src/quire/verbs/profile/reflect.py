"""`memory profile reflect`, the tool `reflect`: suggest what to tidy up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

from quire.layers.profile.access import as_read
from quire.layers.profile.drafts import ProfileDraft
from quire.layers.profile.layout import ARCHIVED
from quire.layers.profile.reflection import (
    Archival,
    ConfidenceUpdate,
    Reflection,
    ReflectionSummary,
    UnreadEntry,
    reflect,
)
from quire.layers.profile.rules import allowed_name
from quire.verbs.profile.document import ask_profile, change_profile
from quire.verbs.profile.entries import entry_readings, need_entry, profile_entries
from quire.verbs.profile.options import DryRun
from quire.verbs.verb import Arguments, Lines, Option, Recalled, Result, Tool, Verb

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project

Proposal = TypeVar("Proposal", UnreadEntry, Archival, ConfidenceUpdate)
_KINDS = ("archive", "confidence")


class ReflectOnEntries(Arguments, frozen=True, kw_only=True):
    apply: Annotated[
        list[str],
        Option(
            metavar="KIND",
            choices=(*_KINDS, "all"),
            help="Apply these changes: archive, confidence or all.",
            tool=False,
        ),
    ] = []
    only: Annotated[
        list[str], Option(metavar="RECORD", help="Apply to this record only (category.key).", tool=False)
    ] = []
    dry_run: DryRun = False


class Reflected(Result, kw_only=True):
    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("applied", "dry_run")
    LISTED_FOR_TOOLS: ClassVar[int] = 100

    stale_entries: list[UnreadEntry]
    archival_candidates: list[Archival]
    confidence_updates: list[ConfidenceUpdate]
    summary: ReflectionSummary
    applied: list[str] = []
    """Entries that were changed."""
    dry_run: bool = False


def reflect_on_entries(project: Project, given: ReflectOnEntries) -> Reflected:
    """Show records that nobody reads, that could be archived, or whose confidence should change.

    Changes nothing without --apply. No two proposals contradict each other.
    """
    wanted = {".".join(allowed_name(name, "only")) for name in given.only}
    if wanted:
        ask_profile(
            project,
            lambda index: [need_entry(project, index, *name.split(".", 1)) for name in sorted(wanted)],
            dry_run=given.dry_run,
        )
    now = project.world.now()

    def look(index: Index) -> Reflection:
        readings = entry_readings(project)
        return reflect([as_read(entry, readings) for entry in profile_entries(project, index)], now)

    if not given.apply:
        return _reflected(ask_profile(project, look, dry_run=given.dry_run), wanted)

    def plan(draft: ProfileDraft, _: Index) -> Reflected:
        found = reflect(draft.entries(), now)
        applied = _applied(draft, found, _KINDS if "all" in given.apply else given.apply, wanted)
        return _reflected(found, wanted, applied=applied, dry_run=given.dry_run, nothing="Nothing to change.")

    return change_profile(project, "reflect", plan, dry_run=given.dry_run)


def _applied(draft: ProfileDraft, found: Reflection, kinds: tuple[str, ...] | list[str], wanted: set[str]) -> list[str]:
    """Make the changes of these kinds; the names of the entries that were changed."""
    changes: dict[tuple[str, str], dict[str, Any]] = {}
    if "archive" in kinds:
        changes |= {(item.category, item.key): {"status": ARCHIVED} for item in found.archival_candidates}
    if "confidence" in kinds:
        changes |= {
            (item.category, item.key): {"confidence": item.proposed_confidence} for item in found.confidence_updates
        }
    return [
        draft.change(draft.need(category, key), **fields).name
        for (category, key), fields in changes.items()
        if not wanted or f"{category}.{key}" in wanted
    ]


def _reflected(found: Reflection, wanted: set[str], **done: Any) -> Reflected:
    """The proposals for these entries, or for all; the summary is always of all."""

    def chosen(items: tuple[Proposal, ...]) -> list[Proposal]:
        return [item for item in items if not wanted or f"{item.category}.{item.key}" in wanted]

    return Reflected(
        stale_entries=chosen(found.stale_entries),
        archival_candidates=chosen(found.archival_candidates),
        confidence_updates=chosen(found.confidence_updates),
        summary=found.summary,
        **done,
    )


def lines(found: Reflected) -> Lines:
    if found.applied:
        said = "Would change" if found.dry_run else "Changed"
        yield Recalled(text=f"{said}: {', '.join(found.applied)}.", origin="profile")
        return
    if found.nothing:
        yield found.nothing
        return
    proposals = [f"archive     {item.category}.{item.key}: {item.reason}" for item in found.archival_candidates]
    for item in found.confidence_updates:
        change = f"{item.current_confidence:g} -> {item.proposed_confidence:g}"
        proposals.append(f"confidence  {item.category}.{item.key}: {change}, {item.reason}")
    proposals += [f"stale       {item.category}.{item.key}: {item.reason}" for item in found.stale_entries]
    for text in proposals:
        yield Recalled(text=text, origin="profile")
    if found.archival_candidates or found.confidence_updates:
        yield "`memory profile reflect --apply all` applies these changes; you decide about stale records."
    elif not found.stale_entries:
        yield "Nothing to tidy up."


VERB = Verb(
    takes=ReflectOnEntries,
    run=reflect_on_entries,
    lines=lines,
    examples="Examples:\n  memory profile reflect\n  memory profile reflect --apply all --only tools.shell\n",
    tool=Tool(
        title="What could be tidied up",
        says="Profile: unread records, records to archive, confidences to correct. Changes nothing: ask the user, "
        "then use remember, forget or `memory profile reflect --apply all`.",
        gives={
            "stale_entries": "array",
            "archival_candidates": "array",
            "confidence_updates": "array",
            "summary": "object",
        },
    ),
)
