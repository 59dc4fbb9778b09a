"""What the profile can be told: to remember, to forget and restore, to link, to begin a session."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.layers.profile.layout import ACTIVE, ASSISTANT, CATEGORIES, CONTRADICTS, FOLDER, INFERRED, NAME, PRIVATE
from quire.model.errors import GitRequired, InvalidStore, NotFound, UnsupportedVersion
from quire.model.records import Problem, Record
from quire.model.text import cut, one_line
from quire.project import Project
from quire.verbs.graph.similar_records import alike_problems
from quire.verbs.profile.document import (
    ask_profile,
    change_profile,
    entry_readings,
    entry_view,
    profile_entries,
    profile_ready,
    profile_warnings,
    usable_documents,
)
from quire.verbs.profile.results import (
    Candidate,
    EntryBrief,
    EntryLink,
    ForgottenEntry,
    Remembered,
    RemovedEntry,
    RestoredEntry,
    SessionStarted,
    Unlinked,
)

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.profile.drafts import ProfileDraft
    from quire.layers.profile.entries import Entry
    from quire.layers.profile.links import Linked
    from quire.layers.profile.remember import EntryInput

_NAMES = ("Ada", "Basil", "Cleo", "Edda", "Finn", "Hazel", "Ines", "Juno", "Kit", "Lena", "Milo", "Nell", "Otis", "Pia",
          "Remy", "Wren")  # fmt: skip
_NAME_CONFIDENCE = 0.3
_MATTERS_TOKENS = 600
_SHARING_LOOK = 25
_TELLING_WORDS = 3
# A word is only looked at from its beginning: else a long one would be looked at from every letter of it.
_SIGN = re.compile(r"-?\d+|(?:(?<!\w)\w+)?[+#<>=*&|^%$@~]+\w*")


def profile_remember(
    project: Project,
    category: str,
    key: str,
    value: str | None = None,
    *,
    tags: Sequence[str] | None = None,
    untag: Sequence[str] = (),
    importance: int | None = None,
    confidence: float | msgspec.UnsetType | None = msgspec.UNSET,
    source: str | None = None,
    detail: str | msgspec.UnsetType | None = msgspec.UNSET,
    status: str | None = None,
    supersedes: Sequence[str] = (),
    force: bool = False,
    broad: bool = False,
    dry_run: bool = False,
) -> Remembered:
    """Add an entry, or change what is given of one; unless another says the same already.

    `confidence` and `detail` are taken away by None, and left as they are where nothing is given.
    """
    from quire.layers.profile.records import entry_record, entry_ref
    from quire.layers.profile.remember import EntryInput, remember
    from quire.layers.profile.rules import allowed_category

    allowed_category(category)
    telling = EntryInput(
        category=category,
        key=key,
        value=value,
        tags=tags,
        untag=untag,
        importance=importance,
        confidence=confidence,
        source=source,
        detail=detail,
        status=status,
        supersedes=supersedes,
    )

    def plan(draft: ProfileDraft, index: Index) -> Remembered:
        before = draft.find(category, key)
        told = remember(draft, telling, _sharing(index, telling, before))
        if before is None and not force:
            found = _candidates(index, telling, broad)
            if found:
                draft.discard()
                same = any(item.share == 1.0 for item in found)
                return Remembered(
                    action="candidates",
                    candidates=found,
                    recommendation="NOOP" if same else "UPDATE",
                    dry_run=dry_run,
                )
        alike = []
        if told.action != "NOOP" and value is not None:
            replaced = frozenset(map(entry_ref, told.archived))
            alike = alike_problems(index, entry_record(told.entry), replaced)
        return Remembered(
            action=told.action,
            entry=entry_view(told.entry),
            linked=told.linked,
            archived=told.archived,
            dry_run=dry_run,
            warnings=[*told.warnings, *alike],
        )

    done = change_profile(project, "remember", plan, dry_run=dry_run)
    if project.by_person and done.entry is not None and not dry_run:
        project.note_reviewed([done.entry.ref])
    if done.entry is not None and done.entry.private:
        done.warnings += _seen_by_git(project)
    return done


def _seen_by_git(project: Project) -> list[Problem]:
    """That git has the private document after all, as a repository may bring it."""
    path = f"{FOLDER}/{PRIVATE}"
    try:
        tracked = (
            project.profile_places().private == "here" and project.git.available and bool(project.git.staged([path]))
        )
    except GitRequired:
        tracked = False
    if not tracked:
        return []
    return [
        Problem(
            code="ProfileNotIgnored",
            severity="warning",
            path=path,
            message="Git tracks this file, which belongs to this machine alone: the next commit would share it.",
            hint=f"git rm --cached {path}",
        )
    ]


def _sharing(index: Index, telling: EntryInput, before: Entry | None) -> list[str]:
    """Entries that have at least two tags in common with what is told, the best first."""
    from quire.layers.profile.records import tag_name
    from quire.layers.profile.remember import SHARED_TAGS

    tags = {tag.casefold() for tag in (*(telling.tags or ()), *(before.tags if before else ()))}
    if len(tags) < SHARED_TAGS:
        return []
    found = index.sharing(sorted(map(tag_name, tags)), SHARED_TAGS, (ACTIVE,), _SHARING_LOOK)
    return [ref.partition(":")[2] for ref in found]


def _candidates(index: Index, telling: EntryInput, broad: bool) -> list[Candidate]:
    """Active entries that say what is told, or nearly: of the same category, or of all."""
    from quire.index.search import Filter
    from quire.index.text_analysis import all_words
    from quire.layers.profile.records import entry_of, text_name
    from quire.layers.profile.rules import allowed_name
    from quire.retrieval.similar_records import similar_to

    def said(record: Record) -> str:
        return entry_of(record).value

    value = telling.value or ""
    sections = CATEGORIES if broad else (telling.category,)
    allowed = Filter(layers=("profile",), sections=sections, statuses=(ACTIVE,))
    shares = {item.record.ref: (item.share, item.record) for item in similar_to(index, value, allowed, said=said)}
    # A word or two may well be the value of several things.
    exact = index.named(text_name(value)) if len(all_words(value)) >= _TELLING_WORDS else []
    for record in exact:
        if allowed.allows(record):
            shares[record.ref] = (1.0, record)
    found = []
    replaced = {".".join(allowed_name(name, "supersedes")) for name in telling.supersedes}
    signs = set(_SIGN.findall(value))
    for share, record in sorted(shares.values(), key=lambda item: (-item[0], item[1].ref)):
        entry = entry_of(record)
        # What is to be replaced, or says the same of another number or of `C++` instead of `C`, is no duplicate.
        if entry.name in replaced or set(_SIGN.findall(entry.value)) != signs:
            continue
        found.append(Candidate(entry.ref, entry.category, entry.key, entry.value, entry.tags, share))
    return found


def profile_forget(project: Project, category: str, key: str, *, dry_run: bool = False) -> RemovedEntry:
    """Remove an entry and the links to it. The document as it was is kept, and the entry can be restored."""
    from quire.layers.profile.entries import read_entry
    from quire.layers.profile.links import forget
    from quire.layers.profile.places import backup_name

    def plan(draft: ProfileDraft, _: Index) -> RemovedEntry:
        gone = forget(draft, category, key)
        entry = read_entry(category, key, gone.fields, is_private=gone.private)
        return RemovedEntry(
            removed=entry_view(entry),
            links_removed=sorted({item.source for item in gone.incoming}),
            backup_path=backup_name(project.profile_places(), is_private=gone.private),
            dry_run=dry_run,
        )

    return change_profile(project, "forget", plan, dry_run=dry_run)


def profile_forgotten(project: Project) -> list[ForgottenEntry]:
    """What can be restored, the newest first."""
    from quire.layers.profile.forgotten import read_forgotten

    profile_ready(project)
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


def profile_restore(
    project: Project,
    category: str,
    key: str,
    *,
    at: str | None = None,
    new_key: str | None = None,
    dry_run: bool = False,
) -> RestoredEntry:
    """Bring back what was forgotten last under this name, or at a given time, with the links to it."""
    from quire.layers.profile.forgotten import read_forgotten
    from quire.layers.profile.links import restore

    def plan(draft: ProfileDraft, _: Index) -> RestoredEntry:
        found = [
            item
            for item in read_forgotten(project.root)
            if (item.category, item.key) == (category, key) and at in (None, item.at)
        ]
        if not found:
            raise NotFound(
                f"Nothing was forgotten as `{cut(f'{category}.{key}', 120)}` on this machine"
                + (f" at {cut(at, 40)}." if at else "."),
                hint="`memory profile restore` shows what there is; git has what was committed.",
                details={"id": f"profile:{category}.{key}"},
            )
        entry, number = restore(draft, found[-1], new_key)
        return RestoredEntry(entry=entry_view(entry), links_restored=number, dry_run=dry_run)

    return change_profile(project, "restore", plan, dry_run=dry_run)


def profile_link(project: Project, source: str, target: str, relation: str, *, dry_run: bool = False) -> Linked:
    """Link one entry to another; what is replaced by it is archived."""
    from quire.layers.profile.links import add_link

    return change_profile(project, "link", lambda draft, _: add_link(draft, source, target, relation), dry_run=dry_run)


def profile_unlink(
    project: Project, source: str, target: str, relation: str | None = None, *, dry_run: bool = False
) -> Unlinked:
    """Take the links from one entry to another away, all or those of one relation."""
    from quire.layers.profile.links import remove_links

    found = change_profile(
        project, "unlink", lambda draft, _: remove_links(draft, source, target, relation), dry_run=dry_run
    )
    return Unlinked(source=found.source, target=found.target, relations=found.relations, dry_run=dry_run)


# -- sessions ---------------------------------------------------------------------------


def profile_session_start(project: Project) -> SessionStarted:
    """Count a session, write down what was read in earlier ones, name the assistant; and say what matters now."""

    def plan(draft: ProfileDraft, _: Index) -> tuple[int, bool]:
        from quire.layers.profile.entries import new_fields

        missing = draft.find(ASSISTANT, NAME) is None
        if missing and not draft.is_taken(ASSISTANT, NAME):
            given = {
                "tags": ["identity"],
                "confidence": _NAME_CONFIDENCE,
                "source": {"type": INFERRED, "detail": "given by session-start; change it with remember"},
            }
            rejections = project.rejections()
            names = _NAMES if rejections is None else rejections.kept(_NAMES)
            # Where the category holds something else, the session is still worth counting.
            with contextlib.suppress(InvalidStore):
                if names:
                    name = names[int(project.world.token(), 16) % len(names)]
                    draft.put(ASSISTANT, NAME, new_fields(name, draft.now, **given))
        return draft.count_session(), missing

    number: int | None = None
    missing = False
    # What can be read is told all the same; what cannot, the asking below refuses.
    with contextlib.suppress(UnsupportedVersion):
        number, missing = change_profile(project, "begin the session", plan)
    return ask_profile(project, lambda index: _started(project, index, number, missing))


def _started(project: Project, index: Index, number: int | None, missing: bool) -> SessionStarted:
    from quire.layers.profile.access import as_read
    from quire.layers.profile.reflection import reflect
    from quire.retrieval.profile_context import fit_profile

    overview = usable_documents(index)
    counted = number is not None
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
        counted=counted,
        categories={
            **dict.fromkeys(CATEGORIES, 0),
            **_counts(entry.category for entry in active),
        },
        total=len(active),
        schema_version=overview.version,
        matters=[
            EntryBrief(
                ref=entry.ref,
                id=entry.name,
                category=entry.category,
                key=entry.key,
                title=cut(one_line(entry.value), 80),
                importance=entry.importance,
            )
            for entry in (by_name[item] for item in told.told)
        ],
        context=told.markdown,
        name_missing=missing if counted else name is None,
        assistant_name=name.value if name else "",
        name_assigned=missing and counted and name is not None,
        contradictions=[
            EntryLink(
                source=entry.name,
                target=link.target,
                relation=link.relation,
                entry_summary=by_name[link.target].value if link.target in by_name else "",
            )
            for entry in active
            for link in entry.links
            if link.relation == CONTRADICTS and link.target in by_name and by_name[link.target].status == ACTIVE
        ],
        proposals=proposals.archival_candidate_count + proposals.confidence_update_count,
        warnings=profile_warnings(project, overview),
    )


def _counts(names: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in names:
        found[name] = found.get(name, 0) + 1
    return found
