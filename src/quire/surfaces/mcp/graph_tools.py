"""The tools over the product's graph, and over all layers where a question may be answered by any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from quire.surfaces.mcp.tool import Call, Given, Ref, Tool
from quire.verbs.verb import Arguments

if TYPE_CHECKING:
    from quire.project import Project

_LISTED = 20
_DIFF_CHARS = 60_000
_TEXT = {"type": "string"}
Layers = Annotated[list[Literal["graph", "facts", "profile", "journal"]], msgspec.Meta(max_length=4)]


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


class SyncArguments(Arguments, frozen=True, kw_only=True):
    dry_run: bool = False


class ConfirmArguments(Arguments, frozen=True, kw_only=True):
    ids: Annotated[list[Ref], msgspec.Meta(min_length=1, max_length=200)]
    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=2000, description="what you looked at")]
    dry_run: bool = False


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
    from quire.verbs.ask.status import status, status_warnings

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

GRAPH: tuple[Tool | str, ...] = (
    "query_memory",
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
    "brief_memory",
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
    "why_memory",
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
