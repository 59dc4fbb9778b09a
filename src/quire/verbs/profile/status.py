"""`memory profile`, the tool `status`: report entries, location and state of the profile."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, ClassVar

from quire.files.layout import LOCAL
from quire.files.paths import names_in
from quire.layers.profile.layout import ACTIVE, BACKUP, CATEGORIES, FILE, FOLDER, MIGRATION_PREFIX, STATUSES
from quire.model.text import counted
from quire.verbs.profile.document import ask_profile, usable_documents
from quire.verbs.profile.entries import entry_readings, profile_entries, profile_warnings
from quire.verbs.profile.results import line_naming
from quire.verbs.verb import Arguments, Lines, Result, Tool, Verb

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project

_TOP_TAGS = 20
_SHADOWED = 5


class ProfileStatus(Result, kw_only=True):
    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = (
        "exists",
        "path",
        "tags",
        "private_path",
        "shadowed",
        "unread",
        "backups",
    )

    exists: bool
    path: str
    schema_version: str
    session_count: int
    file_size: str
    categories: dict[str, int]
    """Active entries."""
    statuses: dict[str, int]
    total: int
    """Entries, whatever their status."""
    links: int
    tags: dict[str, int]
    """The most frequent ones."""
    private: str
    """`shared`, `here` or `home`"""
    private_path: str
    private_entries: int
    shadowed: list[str]
    unread: int
    pending_readings: int
    forgotten: int
    backups: list[str]
    writable: bool


def profile_overview(project: Project, given: Arguments) -> ProfileStatus:
    """The profile: who works here and how (user, assistant, project, relationships, tools, learnings).

    Kept in .ai-state/memory.json. Works with and without the rest of the memory. Without a verb, shows the counts.
    """
    return profile_status(project, given)


def profile_status(project: Project, _given: Arguments) -> ProfileStatus:
    """Show counts by category, where the records are kept, and the state of the document."""
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
        found += [f"{folder}/{name}" for name in names_in(path) if name == BACKUP or name.startswith(MIGRATION_PREFIX)]
    return found


def lines(found: ProfileStatus) -> Lines:
    if not found.exists:
        yield 'There is no profile yet. `memory profile remember user timezone "…"` creates one.'
        return
    others = ", ".join(f"{count} {name}" for name, count in found.statuses.items() if count and name != ACTIVE)
    yield line_naming(
        f"Profile: {counted(found.statuses.get(ACTIVE, 0), 'active record')}"
        f"{f' (and {others})' if others else ''}, {counted(found.links, 'link')}.",
        found.statuses,
    )
    for name, count in found.categories.items():
        if count:
            yield line_naming(f"  {name}: {count}", [name])
    yield f"Sessions: {found.session_count}. Readings not written down yet: {found.pending_readings}."
    yield f"File: {found.path}, schema {found.schema_version or 'none'}, {found.file_size}."
    if found.private != "shared":
        yield f"Private, in {found.private_path}: {found.private_entries}."
    if found.shadowed:
        names = found.shadowed[:_SHADOWED]
        yield line_naming(f"In both documents (the private one counts): {', '.join(names)}", names)
    if found.forgotten:
        yield f"Forgotten, can be restored: {found.forgotten} (`memory profile restore`)."


GROUP = Verb(
    run=profile_overview,
    lines=lines,
    examples="""Examples:
  memory profile remember user timezone "Europe/Madrid" --source user-stated
  memory profile remember tools package_manager "uv, never pip" --tag user-preference --importance 8
  memory profile search "which package manager?"
  memory profile session-start                        count a session and show what matters now
""",
)

VERB = Verb(
    run=profile_status,
    lines=lines,
    examples="Example:\n  memory profile status --json\n",
    tool=Tool(
        title="Counts of the profile",
        says="Profile: counts only: records by category and status, links, sessions. For their texts use "
        "session_start or recall; for the project use status_memory.",
        gives={"categories": "object", "total": "integer", "session_count": "integer"},
    ),
)
