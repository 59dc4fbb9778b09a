"""The profile as a whole: pages made of it, its state, what could be tidied up, and who gets to see it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from quire.files.write_access import (
    LOCAL,
)
from quire.layers.profile.layout import (
    ACTIVE,
    ARCHIVED,
    BACKUP,
    CATEGORIES,
    FILE,
    FOLDER,
    MIGRATION_PREFIX,
    STATUSES,
    VERSION,
)
from quire.model import limits
from quire.model.errors import GitRequired, InputError
from quire.model.text import cut
from quire.project import Project
from quire.verbs.profile.ask import need_entry
from quire.verbs.profile.document import (
    ask_profile,
    change_profile,
    entry_readings,
    prepare_profile,
    profile_entries,
    profile_locked,
    profile_ready,
    profile_warnings,
    usable_documents,
)
from quire.verbs.profile.results import Exported, MovedEntries, Page, ProfileStatus, Reflected

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.profile.access import Readings
    from quire.layers.profile.drafts import ProfileDraft
    from quire.layers.profile.entries import Entry
    from quire.layers.profile.reflection import Reflection
    from quire.retrieval.profile_context import ProfileContext

_TOP_TAGS = 20
_APPLICABLE = ("archive", "confidence")
_FORMATS = ("markdown", "json")
_SIDES = ("target", "source")


# -- pages ------------------------------------------------------------------------------


def profile_about_me(project: Project) -> Page:
    """What is known of the user."""
    from quire.layers.profile.pages import about_me

    return _page(project, about_me)


def profile_about_us(project: Project) -> Page:
    """How the user and the assistant work together."""
    from quire.layers.profile.pages import about_us

    return _page(project, about_us)


def profile_index(project: Project, *, everything: bool = False) -> Page:
    """One line for each entry."""
    from quire.layers.profile.pages import index_page

    return _page(project, lambda entries: index_page(entries, everything=everything), everything=everything)


def _page(project: Project, write: Callable[[list[Entry]], str], *, everything: bool = True) -> Page:
    from quire.layers.profile.pages import entries_on

    def work(index: Index) -> Page:
        overview = usable_documents(index)
        entries = profile_entries(project, index)
        text = write(entries)
        away = 0 if everything else sum(entry.status != ACTIVE for entry in entries)
        return Page(
            text=text,
            entries=entries_on(text),
            put_away=away,
            warnings=profile_warnings(project, overview),
        )

    return ask_profile(project, work)


def profile_context(project: Project, *, budget: int | None = None) -> ProfileContext:
    """What an agent should know at the start: something of every category, within a budget of tokens."""
    from quire.retrieval.profile_context import fit_profile

    tokens = limits.within(
        limits.PROFILE_TOKENS if budget is None else budget, "budget", limits.BUDGET_LEAST, limits.BUDGET_MOST
    )
    return ask_profile(project, lambda index: fit_profile(profile_entries(project, index), tokens))


def profile_export(
    project: Project, output_format: str = "markdown", *, everything: bool = False, private: bool = True
) -> Exported:
    """Everything, to be read elsewhere: as Markdown what is active, as JSON the document."""
    from quire.layers.profile.pages import export_document, export_page

    if output_format not in _FORMATS:
        raise InputError(
            f"`{cut(output_format, 40)}` is no format.",
            hint=f"It is one of {', '.join(_FORMATS)}.",
            details={"field": "format", "allowed": list(_FORMATS)},
        )

    def work(index: Index) -> Exported:
        overview = usable_documents(index)
        entries = [entry for entry in profile_entries(project, index) if private or not entry.is_private]
        if output_format == "json":
            content = export_document(project.profile_places(), private=private)
        else:
            entries = shown = [entry for entry in entries if everything or entry.status == ACTIVE]
            content = export_page(shown, overview.version or VERSION, overview.session_count, everything=everything)
        return Exported(
            format=output_format,
            content=content,
            entries=len(entries),
            private_entries=sum(entry.is_private for entry in entries),
        )

    return ask_profile(project, work)


# -- at a glance ------------------------------------------------------------------------


def profile_status(project: Project) -> ProfileStatus:
    """How many entries there are, where they are, and in which state."""
    from quire.layers.profile.forgotten import read_forgotten
    from quire.layers.profile.pages import size_text

    def work(index: Index) -> ProfileStatus:
        overview = usable_documents(index)
        entries = profile_entries(project, index)
        places = project.profile_places()
        statuses = Counter(entry.status for entry in entries)
        active = Counter(entry.category for entry in entries if entry.status == ACTIVE)
        tags = Counter(tag for entry in entries for tag in entry.tags)
        return ProfileStatus(
            exists=bool(overview.version or overview.private_version),
            path=f"{FOLDER}/{FILE}",
            schema_version=overview.version or overview.private_version,
            session_count=overview.session_count,
            file_size=size_text(overview.size),
            categories={name: active.get(name, 0) for name in (*CATEGORIES, *sorted(set(active) - {*CATEGORIES}))},
            statuses={name: statuses[name] for name in (*STATUSES, *sorted(set(statuses) - {*STATUSES}))},
            total=len(entries),
            links=index.edge_count("profile"),
            tags=dict(sorted(tags.items(), key=lambda item: (-item[1], item[0]))[:_TOP_TAGS]),
            private=places.private,
            private_path=places.private_name if places.private_path else "",
            private_entries=sum(entry.is_private for entry in entries),
            shadowed=list(overview.shadowed),
            unread=overview.unread,
            pending_readings=sum(entry_readings(project).counts.values()),
            forgotten=len(read_forgotten(project.root)),
            backups=_backups(project),
            writable=not overview.is_read_only,
            warnings=profile_warnings(project, overview),
        )

    return ask_profile(project, work)


def _backups(project: Project) -> list[str]:
    """Earlier documents that are kept beside the one in use."""
    found = []
    for folder in (FOLDER, f"{FOLDER}/{LOCAL}"):
        path = os.path.join(project.root, folder)
        try:
            names = sorted(os.listdir(path))
        except OSError:
            names = []
        found += [f"{folder}/{name}" for name in names if name == BACKUP or name.startswith(MIGRATION_PREFIX)]
    return found


def profile_reflect(
    project: Project, *, apply: Sequence[str] = (), only: Sequence[str] = (), dry_run: bool = False
) -> Reflected:
    """What nobody reads, what could be archived, whose confidence should change; and, if asked, doing it."""
    from quire.layers.profile.access import as_read
    from quire.layers.profile.reflection import reflect

    for name in apply:
        if name not in _APPLICABLE:
            raise InputError(
                f"`{cut(name, 40)}` cannot be applied.",
                hint=f"It is one of {', '.join(_APPLICABLE)}.",
                details={"field": "apply", "allowed": list(_APPLICABLE)},
            )
    wanted = _named_entries(only)
    if wanted:
        ask_profile(
            project,
            lambda index: [need_entry(project, index, *name.split(".", 1)) for name in sorted(wanted)],
            dry_run=dry_run,
        )

    def look(entries: list[Entry], readings: Readings) -> Reflection:
        return reflect([as_read(entry, readings) for entry in entries], project.world.now())

    if not apply:
        found = ask_profile(
            project, lambda index: look(profile_entries(project, index), entry_readings(project)), dry_run=dry_run
        )
        return _reflected(found, wanted)

    def plan(draft: ProfileDraft, _: Index) -> Reflected:
        found = reflect(draft.entries(), project.world.now())
        changes: dict[tuple[str, str], dict[str, Any]] = {}
        if "archive" in apply:
            changes |= {(item.category, item.key): {"status": ARCHIVED} for item in found.archival_candidates}
        if "confidence" in apply:
            changes |= {
                (item.category, item.key): {"confidence": item.proposed_confidence} for item in found.confidence_updates
            }
        applied = []
        for (category, key), fields in changes.items():
            if not wanted or f"{category}.{key}" in wanted:
                applied.append(draft.change(draft.need(category, key), **fields).name)
        return _reflected(found, wanted, applied=applied, dry_run=dry_run)

    return change_profile(project, "reflect", plan, dry_run=dry_run)


def _named_entries(names: Sequence[str]) -> set[str]:
    from quire.layers.profile.rules import allowed_name

    return {".".join(allowed_name(name, "only")) for name in names}


# -- privacy ----------------------------------------------------------------------------


def profile_private(project: Project, place: str, *, apply: bool = False, prefer: str = "") -> MovedEntries:
    """Keep what is personal out of the shared document, or share it again; a look at what would move first.

    `place` is `here` for a twin that git does not see, `home` for a document of the user's that all projects
    share, `shared` for the one in the repository. `prefer` says whose entry holds where both have one: the
    `target`'s, or the `source`'s.
    """
    from quire.layers.profile.privacy import carry_out, plan_move, refuse_undecided, retarget
    from quire.layers.profile.store import migrate

    if prefer and prefer not in _SIDES:
        raise InputError(
            f"`{cut(prefer, 40)}` is no side.",
            hint=f"It is one of {', '.join(_SIDES)}.",
            details={"field": "prefer", "allowed": list(_SIDES)},
        )
    profile_ready(project)
    places = project.profile_places()
    # Also before it is done: what is refused must leave nothing behind.
    move = plan_move(places, project.world, place)
    if apply:
        refuse_undecided(move, prefer)
    if apply and (move.before != move.after or move.moved or move.copied):
        with profile_locked(project, "move the private entries", place) as places:
            migrate(places, project.world)
            migrate(retarget(places, place), project.world)
            move = carry_out(places, project.world, place, prefer)
        prepare_profile(project)
    return MovedEntries(
        before=move.before,
        after=move.after,
        target=move.target,
        moved=move.moved,
        copied=move.copied,
        differing=move.differing,
        linked=move.linked,
        committed=_is_committed(project),
        applied=apply,
    )


def _is_committed(project: Project) -> bool:
    """Whether the last commit holds the shared document."""
    try:
        return bool(project.git.available and project.git.committed([f"{FOLDER}/{FILE}"]))
    except GitRequired:
        return False


def _reflected(found: Reflection, wanted: set[str], **done: Any) -> Reflected:
    """The proposals for these entries, or for all; the summary is always of all."""

    def chosen(items: Any) -> list[Any]:
        return [item for item in items if not wanted or f"{item.category}.{item.key}" in wanted]

    return Reflected(
        stale_entries=chosen(found.stale_entries),
        archival_candidates=chosen(found.archival_candidates),
        confidence_updates=chosen(found.confidence_updates),
        summary=found.summary,
        **done,
    )
