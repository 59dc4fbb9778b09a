"""`memory profile session-start`, the tool `session_start`: count a session, show what matters now."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import msgspec

from quire.layers.profile.access import as_read
from quire.layers.profile.drafts import ProfileDraft
from quire.layers.profile.entries import Entry
from quire.layers.profile.layout import ACTIVE, ASSISTANT, CATEGORIES, CONTRADICTS, NAME
from quire.layers.profile.reflection import reflect
from quire.model.errors import UnsupportedVersion
from quire.model.text import counted, cut, one_line
from quire.verbs.profile.document import ask_profile, change_profile, usable_documents
from quire.verbs.profile.entries import entry_readings, profile_entries, profile_warnings
from quire.verbs.profile.results import EntryLink, line_naming
from quire.verbs.verb import Arguments, Lines, Recalled, Result, Tool, Verb

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project

_MATTERS_TOKENS = 600


class EntryBrief(msgspec.Struct, frozen=True, kw_only=True):
    """An entry in a line."""

    ref: str
    id: str
    category: str
    key: str
    kind: str = "entry"
    title: str
    importance: int


class SessionStarted(Result, kw_only=True):
    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("matters",)
    RECALLED: ClassVar[tuple[str, ...]] = ("context", "assistant_name")
    LISTED_FOR_TOOLS: ClassVar[int] = 20

    session_count: int
    counted: bool
    """False where the documents cannot be written to."""
    categories: dict[str, int]
    total: int
    schema_version: str
    matters: list[EntryBrief]
    """The most important entries of every category, as far as they fit into a few hundred tokens."""
    context: str
    """The same, to be read."""
    name_missing: bool
    """Whether the assistant had no name when the session began."""
    assistant_name: str
    name_assigned: bool
    contradictions: list[EntryLink]
    proposals: int
    """What `reflect` would propose."""


def start_session(project: Project, _given: Arguments) -> SessionStarted:
    """Start a session: count it, save readings, and show what matters now."""
    from quire.layers.profile.sessions import begin_session

    rejections = project.rejections()

    def plan(draft: ProfileDraft, _: Index) -> tuple[int, bool]:
        return begin_session(draft, project.world.token(), rejections.kept if rejections else tuple)

    number: int | None = None
    missing = False
    # What can be read is reported all the same; what cannot, the asking below refuses.
    with contextlib.suppress(UnsupportedVersion):
        number, missing = change_profile(project, "begin the session", plan)
    return ask_profile(project, lambda index: _started(project, index, number, missing))


def _started(project: Project, index: Index, number: int | None, missing: bool) -> SessionStarted:
    from quire.retrieval.profile_context import fit_profile

    overview = usable_documents(index)
    is_counted = number is not None
    entries = profile_entries(project, index)
    readings = entry_readings(project)
    by_name = {entry.name: entry for entry in entries}
    active = [entry for entry in entries if entry.status == ACTIVE]
    name = by_name.get(f"{ASSISTANT}.{NAME}")
    told = fit_profile(entries, _MATTERS_TOKENS)
    proposals = reflect([as_read(entry, readings) for entry in entries], project.world.now()).summary
    return SessionStarted(
        # Others may have begun since: this one has the number that it was counted by.
        session_count=overview.session_count if number is None else number,
        counted=is_counted,
        categories={**dict.fromkeys(CATEGORIES, 0), **Counter(entry.category for entry in active)},
        total=len(active),
        schema_version=overview.version,
        matters=[_brief(by_name[item]) for item in told.told],
        context=told.markdown,
        name_missing=missing if is_counted else name is None,
        assistant_name=name.value if name else "",
        name_assigned=missing and is_counted and name is not None,
        contradictions=list(_contradictions(active, by_name)),
        proposals=proposals.archival_candidate_count + proposals.confidence_update_count,
        warnings=profile_warnings(project, overview),
    )


def _brief(entry: Entry) -> EntryBrief:
    return EntryBrief(
        ref=entry.ref,
        id=entry.name,
        category=entry.category,
        key=entry.key,
        title=cut(one_line(entry.value), 80),
        importance=entry.importance,
    )


def _contradictions(active: list[Entry], by_name: dict[str, Entry]) -> Iterator[EntryLink]:
    """The links that say of two active entries that they contradict each other."""
    for entry in active:
        for link in entry.links:
            other = by_name.get(link.target)
            if link.relation == CONTRADICTS and other is not None and other.status == ACTIVE:
                yield EntryLink(
                    source=entry.name, target=link.target, relation=link.relation, entry_summary=other.value
                )


def lines(found: SessionStarted) -> Lines:
    counts = ", ".join(f"{count} {name}" for name, count in found.categories.items() if count)
    yield line_naming(
        f"Session {found.session_count}{'' if found.counted else ' (not counted: the document is only read)'}: "
        f"{counted(found.total, 'active record')}{f' ({counts})' if counts else ''}.",
        found.categories,
    )
    if found.name_assigned:
        yield f"The assistant had no name; it is {found.assistant_name} now. Ask the user, and change it with:"
        yield '  memory profile remember assistant name "…" --source user-stated'
    elif found.name_missing and found.counted:
        yield 'The assistant has no name: memory profile remember assistant name "…"'
    if found.context:
        yield ""
        yield Recalled(text=found.context.rstrip("\n"), origin="profile")
    if found.contradictions or found.proposals:
        yield ""
    for link in found.contradictions:
        yield Recalled(text=f"Contradiction: {link.source} contradicts {link.target}.", origin="profile")
    if found.proposals:
        yield f"`memory profile reflect` has {counted(found.proposals, 'proposal')}."


VERB = Verb(
    run=start_session,
    lines=lines,
    writes=True,
    examples="Example:\n  memory profile session-start --json\n",
    tool=Tool(
        title="Begin a session",
        says="Profile: count a session and return what matters now about the user, the assistant and how they work. "
        "Use it once, when a conversation starts. Later use recall or search.",
        gives={"session_count": "integer", "categories": "object", "total": "integer", "context": "string"},
        repeatable=False,
    ),
)
