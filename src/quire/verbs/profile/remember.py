"""`memory profile remember`, the tool `remember`: add or change an entry."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from quire.layers.profile.layout import ACTIVE, CATEGORIES, FOLDER, PRIVATE, PRIVATE_CATEGORIES, SOURCES, VALUE_CHARS
from quire.model.errors import GitRequired
from quire.model.records import Problem, Record
from quire.model.text import cut, one_line
from quire.verbs.graph.similar_records import alike_problems
from quire.verbs.profile.document import change_profile
from quire.verbs.profile.entries import entry_view
from quire.verbs.profile.options import Category, DryRun, Name, one_of
from quire.verbs.profile.results import EntryView, line_naming, stored_fields
from quire.verbs.reviewed import note_reviewed
from quire.verbs.verb import Arguments, Lines, Option, Recalled, Result, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.profile.drafts import ProfileDraft
    from quire.layers.profile.entries import Entry
    from quire.layers.profile.remember import EntryInput
    from quire.project import Project

_SHARING_LOOK = 25
_TELLING_WORDS = 3
# A word is only looked at from its beginning: else a long one would be looked at from every letter of it.
_SIGN = re.compile(r"-?\d+|(?:(?<!\w)\w+)?[+#<>=*&|^%$@~]+\w*")
_CLEARS = ("none", "null")
Tags = Annotated[list[Annotated[str, Meta(max_length=200)]], Meta(max_length=100, description="added to those it has")]


class RememberEntry(Arguments, frozen=True, kw_only=True):
    category: Annotated[Category, Word()]
    key: Annotated[Annotated[Name, Meta(description="short, such as package_manager")], Word()]
    value: Annotated[
        Annotated[str, Meta(max_length=VALUE_CHARS, description="best under 500 characters")] | None,
        Word(required=False, stdin="the value", only_dash=True),
    ] = None
    tags: Annotated[Tags, Option(name="--tag", metavar="TAG", help="A tag to add. Can be repeated.")] = []
    untag: Annotated[list[str], Option(metavar="TAG", help="A tag to remove.", tool=False)] = []
    importance: Annotated[
        Annotated[int, Meta(ge=1, le=10)] | None, Option(metavar="NUMBER", help="1 to 10; 5 for a new record.")
    ] = None
    source_type: Annotated[
        Annotated[str, one_of(SOURCES)] | None,
        Option(name="--source", metavar="TYPE", help="session (by default), user-stated, inferred or codebase."),
    ] = None
    confidence: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | UnsetType | None,
        Option(metavar="NUMBER", help="0 to 1, or `none` to remove it.", clears=_CLEARS),
    ] = UNSET
    detail: Annotated[
        str | UnsetType | None,
        Option(metavar="TEXT", help="More on the source, or `none`.", clears=_CLEARS, tool=False),
    ] = UNSET
    status: Annotated[str | None, Option(metavar="STATUS", help="active, archived or superseded.", tool=False)] = None
    supersedes: Annotated[
        list[str],
        Option(metavar="RECORD", help="A record, category.key, that this one replaces; it is archived.", tool=False),
    ] = []
    force: Annotated[
        bool,
        Meta(description="even if another record says the same"),
        Option(help="Add it even if another record says the same."),
    ] = False
    broad: Annotated[
        bool,
        Meta(description="look for such a record in every category"),
        Option(help="Look for such a record in every category."),
    ] = False
    dry_run: DryRun = False


class SameEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that says the same, or nearly, and how nearly."""

    RECALLED: ClassVar[tuple[str, ...]] = ("value",)

    ref: str
    category: str
    key: str
    value: str
    tags: tuple[str, ...]
    share: float


class Remembered(Result, kw_only=True):
    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("dry_run",)
    NOT_IN_JSON: ClassVar[tuple[str, ...]] = ("is_shared",)
    LISTED_FOR_TOOLS: ClassVar[int] = 20

    action: str
    """`ADD`, `UPDATE`, `NOOP` (nothing is different), or `candidates`: nothing was written."""
    entry: EntryView | None = None
    candidates: list[SameEntry] = []
    recommendation: str = ""
    """With candidates: `NOOP` where one says the same, else `UPDATE`."""
    linked: list[str] = []
    archived: list[str] = []
    dry_run: bool = False
    is_shared: bool = False
    """Whether it is personal, new, and in the document that git shares."""

    def exit_code(self) -> int:
        return 1 if self.action == "candidates" else 0

    def tool_fields(self) -> dict[str, Any] | None:
        if self.entry is None:
            return None
        return {"action": self.action, **stored_fields(self.entry), "linked": self.linked}


def remember_entry(project: Project, given: RememberEntry) -> Remembered:
    """Add a record, or change the given fields of one. A VALUE of `-` is read from standard input.

    Categories: user, assistant, project, relationships, tools, learnings. If another record of the category says nearly
    the same, the command writes nothing and shows it; --force adds the new one anyway.
    """
    from quire.layers.profile.records import entry_record, entry_ref
    from quire.layers.profile.remember import EntryInput, remember
    from quire.layers.profile.rules import allowed_category

    allowed_category(given.category)
    telling = EntryInput(
        category=given.category,
        key=given.key,
        value=given.value,
        tags=given.tags,
        untag=given.untag,
        importance=given.importance,
        confidence=given.confidence,
        source=given.source_type,
        detail=given.detail,
        status=given.status,
        supersedes=given.supersedes,
    )

    def plan(draft: ProfileDraft, index: Index) -> Remembered:
        before = draft.find(given.category, given.key)
        told = remember(draft, telling, _sharing(index, telling, before))
        if before is None and not given.force:
            found = _candidates(index, telling, given.broad)
            if found:
                draft.discard()
                same = any(item.share == 1.0 for item in found)
                return Remembered(
                    action="candidates",
                    candidates=found,
                    recommendation="NOOP" if same else "UPDATE",
                    dry_run=given.dry_run,
                )
        alike = []
        if told.action != "NOOP" and given.value is not None:
            replaced = frozenset(map(entry_ref, told.archived))
            alike = alike_problems(index, entry_record(told.entry), replaced)
        entry = entry_view(told.entry)
        is_personal = told.action == "ADD" and given.category in PRIVATE_CATEGORIES and not entry.private
        return Remembered(
            action=told.action,
            entry=entry,
            linked=told.linked,
            archived=told.archived,
            dry_run=given.dry_run,
            is_shared=is_personal and project.git.available,
            warnings=[*told.warnings, *alike],
        )

    done = change_profile(project, "remember", plan, dry_run=given.dry_run)
    if project.by_person and done.entry is not None and not given.dry_run:
        note_reviewed(project, [done.entry.ref])
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
            message="Git tracks this file although it is private to this machine: the next commit would share it.",
            hint=f"git rm --cached {path}",
        )
    ]


def _sharing(index: Index, telling: EntryInput, before: Entry | None) -> list[str]:
    """Entries that have at least two tags in common with what is reported, the best first."""
    from quire.layers.profile.records import tag_name
    from quire.layers.profile.remember import SHARED_TAGS

    tags = {tag.casefold() for tag in (*(telling.tags or ()), *(before.tags if before else ()))}
    if len(tags) < SHARED_TAGS:
        return []
    found = index.sharing(sorted(map(tag_name, tags)), SHARED_TAGS, (ACTIVE,), _SHARING_LOOK)
    return [ref.partition(":")[2] for ref in found]


def _candidates(index: Index, telling: EntryInput, broad: bool) -> list[SameEntry]:
    """Active entries that say what is reported, or nearly: of the same category, or of all."""
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
        found.append(
            SameEntry(
                ref=entry.ref,
                category=entry.category,
                key=entry.key,
                value=entry.value,
                tags=entry.tags,
                share=share,
            )
        )
    return found


def lines(done: Remembered) -> Lines:
    if done.entry is None:
        yield from _candidate_lines(done)
        return
    said = {"ADD": "Remembered", "UPDATE": "Changed", "NOOP": "Nothing changed"}[done.action]
    if done.dry_run and done.action != "NOOP":
        said = f"Would be {said.lower()}"
    yield line_naming(f"{said}: {done.entry.ref}", (done.entry.category, done.entry.key))
    if done.linked:
        yield line_naming(f"  related to {', '.join(done.linked)}, through shared tags", done.linked)
    if done.archived:
        yield line_naming(f"  archived, because it replaces them: {', '.join(done.archived)}", done.archived)
    if done.entry.private:
        yield "  kept in the private document"
    elif done.is_shared:
        yield "  in the shared document; `memory profile private` keeps such records out of git"


def _candidate_lines(done: Remembered) -> Lines:
    same = done.recommendation == "NOOP"
    yield (
        "Not remembered: another record already says this."
        if same
        else "Not remembered: another record says nearly the same."
    )
    for item in done.candidates:
        text = f"{item.ref} ({item.share:.0%} the same): {cut(one_line(item.value), 200)}"
        yield Recalled(text=text, ref=item.ref, origin="profile", lead="  ")
    best = done.candidates[0]
    named = f"memory profile remember {best.category} {best.key} …"
    yield line_naming(f"Change that record ({named}), or add yours with --force.", (best.category, best.key))


VERB = Verb(
    takes=RememberEntry,
    run=remember_entry,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory profile remember user timezone "Europe/Madrid" --source user-stated
  memory profile remember learnings flaky_ci "The e2e job needs two cores." --tag ci --confidence 0.6
  memory profile remember learnings flaky_ci --confidence 0.9 --importance 8
  memory profile remember tools shell fish --supersedes tools.old_shell
""",
    tool=Tool(
        title="Remember a record",
        says="Profile: add a record, or change the record with that key; omitted fields stay. If another record says "
        "the same, it writes nothing and shows that record. Use it when the user states a preference or habit, or a "
        "lesson was learned. For the product use save_memory or memory_store. Never for secrets.",
        needs=("value",),
        gives={"action": "string"},
        destructive=True,
    ),
)
