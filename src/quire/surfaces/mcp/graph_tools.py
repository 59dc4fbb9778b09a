"""The tools over the product's graph, and over all layers where a question may be answered by any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from quire.model.records import origin_shown
from quire.surfaces.mcp.tool import Budget, Call, Given, Paths, Question, Ref, Tool, Words
from quire.verbs.verb import Arguments

if TYPE_CHECKING:
    from quire.project import Project
    from quire.retrieval.answer import Answer

_LISTED = 20
_DIFF_CHARS = 60_000
_TEXT = {"type": "string"}
Layers = Annotated[list[Literal["graph", "facts", "profile", "journal"]], msgspec.Meta(max_length=4)]


class QueryArguments(Arguments, frozen=True, kw_only=True):
    question: Question
    budget: Budget | None = None
    layers: Layers | None = None
    kinds: Words | None = None
    path: Annotated[str, msgspec.Meta(max_length=4096, description="what governs this file")] | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 10
    everything: Annotated[bool, msgspec.Meta(description="also stale, superseded, archived")] = False
    strict: Annotated[bool, msgspec.Meta(description="answers only")] = False


class InspectArguments(Arguments, frozen=True, kw_only=True):
    id: Annotated[Ref, msgspec.Meta(description="a ref, such as decision.x or fact:…")]


class SaveArguments(Arguments, frozen=True, kw_only=True):
    """The project judges the intent itself, and says everything that is wrong with it at once."""

    task: Any
    nodes: Any = msgspec.UNSET
    stale: Any = msgspec.UNSET
    supersede: Any = msgspec.UNSET
    delete: Any = msgspec.UNSET
    confirm: Any = msgspec.UNSET
    dry_run: bool = False


class BriefArguments(Arguments, frozen=True, kw_only=True):
    files: Paths | None = None
    diff: Annotated[str, msgspec.Meta(max_length=500, description="a range of commits")] | None = None
    branch: Annotated[str, msgspec.Meta(max_length=500)] | None = None
    budget: Budget | None = None


class SyncArguments(Arguments, frozen=True, kw_only=True):
    dry_run: bool = False


class WhyArguments(Arguments, frozen=True, kw_only=True):
    place: Annotated[str, msgspec.Meta(min_length=1, max_length=4200, description="src/file.py or src/file.py:120")]
    budget: Budget | None = None


class ConfirmArguments(Arguments, frozen=True, kw_only=True):
    ids: Annotated[list[Ref], msgspec.Meta(min_length=1, max_length=200)]
    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=2000, description="what you looked at")]
    dry_run: bool = False


def answered(found: Answer, fields: dict[str, Any]) -> Given:
    """An answer: its text stands between marks once; the items say what was found, not its text again."""
    from quire.fields.envelope import flag_fields

    kept = ("ref", "id", "layer", "kind", "title", "status", "stage", "section", "tier", "score", "verdict", "why")
    more = ("updated_at", "faded", "amended_by", "session")
    rows = []
    for hit, row in zip(found.hits, fields["results"], strict=True):
        item = {name: row[name] for name in kept if row.get(name) not in (None, "")}
        item |= {name: row[name] for name in more if row.get(name)}
        item["origin"] = origin_shown(hit.record.origin or hit.record.layer, reviewed=hit.reviewed is not False)
        if hit.reviewed is not None:
            item["reviewed"] = hit.reviewed
        rows.append({**item, **flag_fields(found.flags.get(hit.record.ref, ()))})
    return Given(fields={**fields, "results": rows}, text=found.markdown, warnings=found.warnings)


def query_memory(project: Project, given: QueryArguments, call: Call) -> Given:
    from quire.fields.graph import answer_fields
    from quire.verbs.ask.query import query

    found = query(
        project,
        given.question,
        budget=given.budget,
        limit=given.limit,
        kinds=tuple(given.kinds or ()),
        layers=tuple(given.layers or ()),
        path=given.path,
        everything=given.everything,
        strict=given.strict,
        fence=call.fence,
    )
    return answered(found, answer_fields(found))


def inspect_memory(project: Project, given: InspectArguments, call: Call) -> Given:
    from quire.fields.looking import looked_fields
    from quire.surfaces.mcp.graph_shown import record_text
    from quire.verbs.ask.inspect import inspect_any

    looked = inspect_any(project, given.id)
    fields = looked_fields(looked)
    return Given(fields=fields, text=record_text(looked, fields, call.fence))


def status_memory(project: Project, given: Arguments, call: Call) -> Given:
    from quire.fields.graph import status_fields
    from quire.fields.lines import status_lines
    from quire.surfaces.mcp.answers import fenced_text
    from quire.verbs.ask.query import status, status_warnings

    found = status(project)
    lines = status_lines(found, project.graph.folder, "`sync_memory` lists them")
    # Every feature stands in its stage already, and those that need a look are named by themselves.
    fields = {name: value for name, value in status_fields(found).items() if name != "features"}
    text = fenced_text("\n".join(lines), call.fence, origin="graph")
    warnings = status_warnings(project, found)
    return Given(fields=short_lists(fields), text=f"{call.fence.notice()}\n{text}", warnings=warnings)


def short_lists(fields: dict[str, Any], most: int = _LISTED) -> dict[str, Any]:
    """The fields with their long lists cut, and how much is left out."""
    short = {name: value[:most] if isinstance(value, list) else value for name, value in fields.items()}
    more = {name: len(value) - most for name, value in fields.items() if isinstance(value, list) and len(value) > most}
    return {**short, "more": more} if more else short


def save_memory(project: Project, given: SaveArguments, call: Call) -> Given:
    from quire.fields.graph import saved_fields
    from quire.surfaces.mcp.graph_shown import saved_text
    from quire.verbs.graph.changes import save

    names = ("task", "nodes", "stale", "supersede", "delete", "confirm")
    values = {name: getattr(given, name) for name in names}
    call.wanted()
    intent = {name: value for name, value in values.items() if value is not msgspec.UNSET}
    saved = save(project, intent, source="the arguments", actor="mcp", dry_run=given.dry_run)
    fields = {**saved_fields(saved), "changed": saved.changed, "dry_run": given.dry_run}
    return Given(fields=fields, text=saved_text(fields), warnings=saved.warnings)


def brief_memory(project: Project, given: BriefArguments, call: Call) -> Given:
    from quire.fields.graph import brief_fields
    from quire.verbs.ask.query import brief

    change, found = brief(
        project, given.files or (), diff=given.diff, branch=given.branch, budget=given.budget, fence=call.fence
    )
    return answered(found, brief_fields(change, found))


def sync_memory(project: Project, given: SyncArguments, call: Call) -> Given:
    from quire.fields.graph import synced_fields
    from quire.surfaces.mcp.graph_shown import synced_text
    from quire.verbs.graph.changes import sync

    call.wanted()
    found, warnings = sync(project, dry_run=given.dry_run)
    fields = synced_fields(found)
    fields["fresh"] = len(found.fresh)
    del fields["titles"]
    short = short_lists(fields)
    return Given(fields=short, text=synced_text(short, call.fence), warnings=warnings)


def why_memory(project: Project, given: WhyArguments, call: Call) -> Given:
    from quire.fields.graph import why_fields
    from quire.fields.lines import background_lines
    from quire.surfaces.mcp.answers import fenced_text
    from quire.verbs.ask.query import why

    background, found = why(project, given.place, budget=given.budget, fence=call.fence)
    fields = why_fields(background, found)
    told = answered(found, fields)
    shown = fenced_text("\n".join(background_lines(background)), call.fence, origin="git")
    return Given(fields=told.fields, text=f"{found.markdown.rstrip()}\n{shown}", warnings=found.warnings)


def check_memory(project: Project, given: Arguments, call: Call) -> Given:
    from quire.fields.graph import checked_fields
    from quire.verbs.graph.changes import check

    return Given(fields=short_lists(checked_fields(check(project)), 100))


def diff_memory(project: Project, given: Arguments, call: Call) -> Given:
    from quire.fields.graph import changes_fields
    from quire.verbs.graph.changes import diff as diff_of

    fields = changes_fields(diff_of(project))
    cut = len(fields["diff"]) - _DIFF_CHARS
    if cut > 0:
        fields["diff"] = fields["diff"][:_DIFF_CHARS] + f"\n… {cut:,} characters more: git diff shows them"
    return Given(fields=short_lists(fields, 100))


def confirm_memory(project: Project, given: ConfirmArguments, call: Call) -> Given:
    from quire.fields.graph import confirmed_fields
    from quire.verbs.graph.changes import confirm as confirm_of

    call.wanted()
    saved, before = confirm_of(project, given.ids, reason=given.reason, actor="mcp", dry_run=given.dry_run)
    return Given(fields=confirmed_fields(saved, before), warnings=saved.warnings)


def _listed(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    item = {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}
    return {"type": "array", "items": item}


_TEXTS = {"type": "array", "items": _TEXT}
_LINK = {"predicate": {**_TEXT, "enum": ["affects", "depends_on", "supersedes", "related_to"]}, "to": _TEXT}
_SAVE = {
    "task": {"type": "string", "minLength": 1, "maxLength": 1000},
    "nodes": _listed(
        {
            "id": {**_TEXT, "maxLength": 160, "description": "of a stored node to update; none creates"},
            "kind": {**_TEXT, "enum": ["feature", "decision", "gotcha", "question"]},
            "title": {"type": "string", "maxLength": 300},
            "body": {"type": "string", "maxLength": 200_000},
            "stage": {
                **_TEXT,
                "enum": ["idea", "building", "shipped", "paused", "dead"],
                "description": "features only",
            },
            "status": {**_TEXT, "enum": ["active", "open", "closed"]},
            "anchors": {**_TEXTS, "description": "paths, globs, path#Symbol"},
            "tags": _TEXTS,
            "evidence": {"type": "array", "items": {"type": "object"}},
            "origin": {"type": "object"},
            "related": _listed({**_LINK, "confidence": {**_TEXT, "enum": ["low", "medium", "high"]}}, *_LINK),
            "unrelated": {"type": "array", "items": {"type": "object"}},
        }
    ),
    "stale": _listed({"id": _TEXT, "reason": _TEXT}, "id", "reason"),
    "supersede": _listed({"id": _TEXT, "superseded_by": _TEXT, "reason": _TEXT}, "id", "superseded_by", "reason"),
    "delete": _listed({"id": _TEXT, "reason": _TEXT}, "id", "reason"),
    "confirm": _listed({"id": _TEXT, "reason": _TEXT}, "id"),
}

GRAPH = (
    Tool(
        name="query_memory",
        title="Ask the memory",
        says=(
            "Ask what this project remembers: decisions and why, traps, features, facts, sessions, people. The answer "
            "is cited, checked against the code, within the budget. Use it before you design or change something, and "
            "when code looks odd. Not for finding code: search the files."
        ),
        takes=QueryArguments,
        gives={"results": "array", "markdown": "string"},
        run=query_memory,
    ),
    Tool(
        name="save_memory",
        title="Save what changed",
        says=(
            "Record what a task changed in the product: features and their stage, decisions with reasons, traps, "
            "questions; retire what no longer holds. All or nothing; every mistake is named. Use it when a "
            "task is done or a decision fell. Not for progress notes, secrets, or what the code says itself; for one "
            "fact: memory_store."
        ),
        takes=SaveArguments,
        schema=_SAVE,
        gives={"changed": "boolean"},
        run=save_memory,
        writes=True,
        destructive=True,
    ),
    Tool(
        name="inspect_memory",
        title="Look at one record",
        says="One record in full by its ref, with relations, evidence and verdict. Use it for refs that an answer "
        "named. Not for searching: query_memory.",
        takes=InspectArguments,
        run=inspect_memory,
    ),
    Tool(
        name="status_memory",
        title="Overview",
        says="Features by stage, open questions, records that the code has left behind, last activity. Use it once, "
        "at the start of a session. Not for details: query_memory.",
        takes=Arguments,
        run=status_memory,
    ),
    Tool(
        name="brief_memory",
        title="What governs a change",
        says="What the memory says about the files of a change: those named, of a range or branch, or not yet "
        "committed. Use it before you edit or review files. Not for questions in words: query_memory.",
        takes=BriefArguments,
        gives={"results": "array", "markdown": "string"},
        run=brief_memory,
    ),
    Tool(
        name="sync_memory",
        title="Find what the code outgrew",
        says="Which records need a look because their code changed, moved or went since the last sync. Use it at the "
        "end of a task, then mend them with save_memory. Writes only its marker.",
        takes=SyncArguments,
        gives={"changed": "array"},
        run=sync_memory,
        writes=True,
    ),
    Tool(
        name="why_memory",
        title="Why a line is as it is",
        says="Why a file, or one line of it, is as it is: what governs it, which commits wrote it, what was saved with "
        "them. Use it before you change code that looks odd. Not for whole changes: brief_memory.",
        takes=WhyArguments,
        gives={"results": "array", "markdown": "string"},
        run=why_memory,
    ),
    Tool(
        name="check_memory",
        title="Check the stored files",
        says="Faults in the files of the memory, each with its place and what to do. Use it when an answer warned that "
        "something could not be read. Not for whether records are still true: sync_memory.",
        takes=Arguments,
        run=check_memory,
    ),
    Tool(
        name="diff_memory",
        title="Uncommitted changes of the memory",
        says="What changed in the memory since the last commit, record by record. Use it to review what was saved "
        "before committing. Not for the code's own changes: brief_memory.",
        takes=Arguments,
        run=diff_memory,
    ),
    Tool(
        name="confirm_memory",
        title="Confirm records",
        says="Say that records still hold although their code changed. Use it only after you looked at the code; "
        "otherwise correct them with save_memory.",
        takes=ConfirmArguments,
        run=confirm_memory,
        writes=True,
    ),
)
