"""`memory save`, the tool `save_memory`: record what changed in the product."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import UNSET

from quire.model import limits
from quire.model.errors import QuireError
from quire.model.ids import ID_PATTERN
from quire.model.records import Problem
from quire.model.vocabulary import ACTORS, LIVE_STATUSES, Actor
from quire.verbs.graph.similar_records import alike_problems
from quire.verbs.reviewed import note_reviewed
from quire.verbs.verb import Arguments, Input, Lines, Option, Result, Tool, Verb

if TYPE_CHECKING:
    from quire.inbox.rejections import Rejections
    from quire.index.catalog import Index
    from quire.layers.graph.save import Saved
    from quire.model.sources import Written
    from quire.project import Project

Who = Annotated[
    Actor, Option(metavar="WHO", choices=ACTORS, show_default=True, help="Who makes this change.", tool=False)
]
FROM_TOOL = {"actor": "mcp"}
_PARTS = ("task", "nodes", "stale", "supersede", "delete", "confirm")
_HEADLINES = (
    ("memory_created", "Created"),
    ("memory_updated", "Updated"),
    ("memory_marked_stale", "Marked stale"),
    ("memory_superseded", "Superseded"),
    ("memory_deleted", "Deleted"),
    ("memory_confirmed", "Confirmed"),
    ("relations_created", "Relations created"),
    ("relations_updated", "Relations updated"),
    ("relations_deleted", "Relations deleted"),
    ("unchanged", "Unchanged"),
)


class Save(Arguments, frozen=True, kw_only=True):
    """The layer judges the parts of an intent itself, and says everything that is wrong with them at once."""

    task: Any = UNSET
    nodes: Any = UNSET
    stale: Any = UNSET
    supersede: Any = UNSET
    delete: Any = UNSET
    confirm: Any = UNSET
    intent: Annotated[
        bytes | None,
        Input(what="the JSON intent", stdin="Read the input from standard input.", file="Read the input from a file."),
    ] = None
    """All parts in one, as JSON."""
    source: str = "the arguments"
    dry_run: Annotated[bool, Option(help="Check everything, write nothing.")] = False
    actor: Who = "agent"


class IntentSaved(Result, kw_only=True):
    saved: Saved

    def fields(self) -> dict[str, Any]:
        return saved_fields(self.saved)


def saved_fields(saved: Saved) -> dict[str, Any]:
    """What a save changed, or would change."""
    fields: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(saved, planned=[]))
    del fields["planned"], fields["warnings"]
    return {**fields, "repairs_applied": [], "changed": saved.changed}


def save(project: Project, given: Save) -> IntentSaved:
    """Save many records at once, all or nothing.

    Takes JSON with a task, and any of nodes, stale, supersede, delete and confirm. Every problem of the input is
    reported with its field. Saving the same input twice changes nothing, and the order of its lists does not matter. A
    warning names a live record that says nearly the same or the opposite, and the command that supersedes it.
    """
    parts = {name: value for name in _PARTS if (value := getattr(given, name)) is not UNSET}
    intent = parts if given.intent is None else given.intent
    saved = save_nodes(project, intent, source=given.source, actor=given.actor, dry_run=given.dry_run)
    return IntentSaved(saved=saved, warnings=saved.warnings)


def save_nodes(
    project: Project,
    intent: bytes | dict[str, Any],
    *,
    source: str = "the input",
    actor: Actor = "agent",
    dry_run: bool = False,
    read: Mapping[str, tuple[bytes, bytes]] | None = None,
) -> Saved:
    """Carry out a save intent, as JSON or decoded: all of it, or nothing and every reason why.

    `read` are nodes by their ids, as the bytes of their two files: refused where one of them is another now.
    """
    from quire.files.branches import writes_fragments
    from quire.layers.graph.intent import parse_intent
    from quire.layers.graph.lock import write_access
    from quire.layers.graph.save import save_intent
    from quire.model.sources import Written
    from quire.upkeep.fold import fold_due

    project.ready()
    value = parse_intent(intent, source) if isinstance(intent, bytes) else intent
    rejections = project.rejections()
    if rejections is not None:
        rejections.refuse(_new_texts(project, value, rejections))
    if dry_run:
        saved = save_intent(project.graph, project.world, project.git, value, actor=actor, dry_run=True, read=read)
        if saved.planned:
            saved.warnings += project.with_index(lambda index: _alike_to_planned(index, saved))
        return saved
    from quire.layers.graph.source import GraphSource

    files = GraphSource(project.graph, project.world)
    apart = writes_fragments(project)
    # To the end under one lock: nobody may take a map that is about to be written for one that was forgotten.
    with write_access(project.graph, project.world, "save"):
        fold_due(project, "graph")
        before = files.folder_stamps()
        saved = save_intent(project.graph, project.world, project.git, value, actor=actor, read=read, apart=apart)
        # Also when nothing changed: an earlier save may have died before it came this far.
        written = Written("graph", before, files.indexed_files(saved.files_changed))
        told = (*saved.memory_created, *saved.memory_updated)
        saved.warnings += after_save(project, written, saved.files_changed, saved)
        if project.by_person:
            note_reviewed(project, (*told, *saved.memory_confirmed, *saved.unchanged))
    return saved


def _new_texts(project: Project, value: Any, rejections: Rejections) -> dict[str, str]:
    """Titles and bodies of an intent that no node says yet, by their places; also what is brought back."""
    nodes = value.get("nodes") if isinstance(value, dict) else None
    found: dict[str, str] = {}
    for number, item in enumerate(nodes if isinstance(nodes, list) else ()):
        if not isinstance(item, dict):
            continue
        name = item.get("id")
        held = project.graph.find_node(name) if isinstance(name, str) and re.fullmatch(ID_PATTERN, name) else None
        before = {"title": held.node.title, "body": held.body} if held else {}
        told = {key: item[key] for key in ("title", "body") if isinstance(item.get(key), str)}
        # What is too long is refused for that, and not looked through first.
        after = {**before, **{key: text for key, text in told.items() if len(text) <= limits.BODY_CHARS}}
        is_back = held is not None and "status" in item and held.node.status not in LIVE_STATUSES
        new = {key: text for key, text in after.items() if is_back or text.strip() != before.get(key, "").strip()}
        found |= {f"nodes.{number}.{key}": text for key, text in new.items()}
        if new and len(after) == 2 and not any(rejections.match(after[key]) for key in after if key not in new):
            # What was rejected may stand in both together.
            found[f"nodes.{number}"] = f"{after['title']}\n{after['body']}"
    return found


def after_save(project: Project, written: Written, files: list[str], saved: Saved | None = None) -> list[Problem]:
    """Take the change over into the index and the map. The save stands even if this fails.

    A warning names what says nearly the same as a node that was saved, or the opposite, unless one names it already.
    """
    from quire.files.branches import writes_map
    from quire.layers.graph.lock import write_access
    from quire.upkeep.guidance import refresh_map
    from quire.upkeep.product_map import render_map

    has_map = writes_map(project)
    told = (*saved.memory_created, *saved.memory_updated) if saved else ()
    named = _named(saved.warnings) if saved else frozenset()

    def work(index: Index) -> tuple[str, list[Problem]]:
        records = [record for ref in told if (record := index.find(ref))]
        alike = [
            problem
            for record in records
            for problem in alike_problems(
                index, record, named, records, is_new=saved is not None and record.ref in saved.memory_created
            )
        ]
        return render_map(index, project.root, project.git) if has_map else "", alike

    try:
        # Under the lock again: a map that was rendered earlier must not replace a newer one.
        with write_access(project.graph, project.world, "refresh the map"):
            map_text, alike = project.with_index(work, written)
            refreshed, problems = refresh_map(project.root, project.world, map_text) if has_map else ([], [])
        files += refreshed
        return [*alike, *problems]
    except (QuireError, OSError) as error:
        return [
            Problem(
                code="ProductMapNotRefreshed",
                severity="warning",
                message=f"The save is complete, but the product map could not be refreshed: {error}.",
                hint="Fix the cause, then run `memory init`.",
            )
        ]


def _alike_to_planned(index: Index, saved: Saved) -> list[Problem]:
    """What a save would warn of, found before it is made."""
    named = _named(saved.warnings)
    together = [node.record for node in saved.planned]
    return [
        problem
        for node in saved.planned
        for problem in alike_problems(
            index, node.record, named | node.settled, together, is_new=node.record.ref in saved.memory_created
        )
    ]


def _named(warnings: list[Problem]) -> frozenset[str]:
    """The nodes whose title was used again, of which a warning says so."""
    return frozenset(warning.message.split("`")[1] for warning in warnings if warning.code == "SimilarNode")


def lines(done: IntentSaved) -> Lines:
    saved = done.saved
    if not saved.changed:
        yield "Nothing to change: the memory already says this."
    else:
        yield "Would save:" if saved.dry_run else "Saved:"
    for name, headline in _HEADLINES:
        for entry in getattr(saved, name):
            yield f"  {headline}: {entry}"
    copies = saved.recovery_files
    if len(copies) == 1:
        yield f"  Kept the uncommitted version of {copies[0].path} in {copies[0].recovery_path}"
    elif copies:
        folder = "/".join(copies[0].recovery_path.split("/")[:3])
        yield f"  Kept the uncommitted versions of {len(copies):,} files in {folder}/"


_STRING = {"type": "string"}


def _listed(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    item = {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}
    return {"type": "array", "items": item}


_TEXTS = {"type": "array", "items": _STRING}
_LINK = {"predicate": {**_STRING, "enum": ["affects", "depends_on", "supersedes", "related_to"]}, "to": _STRING}
_SCHEMA = {
    "task": {"type": "string", "minLength": 1, "maxLength": 1000},
    "nodes": _listed(
        {
            "id": {**_STRING, "maxLength": 160, "description": "of a stored record to update; none creates"},
            "kind": {**_STRING, "enum": ["feature", "decision", "gotcha", "question"]},
            "title": {"type": "string", "maxLength": 300},
            "body": {"type": "string", "maxLength": 200_000},
            "stage": {
                **_STRING,
                "enum": ["idea", "building", "shipped", "paused", "dead"],
                "description": "features only",
            },
            "status": {**_STRING, "enum": ["active", "open", "closed"]},
            "anchors": {**_TEXTS, "description": "paths, globs, path#Symbol"},
            "tags": _TEXTS,
            "evidence": {"type": "array", "items": {"type": "object"}},
            "origin": {"type": "object"},
            "related": _listed({**_LINK, "confidence": {**_STRING, "enum": ["low", "medium", "high"]}}, *_LINK),
            "unrelated": {"type": "array", "items": {"type": "object"}},
        }
    ),
    "stale": _listed({"id": _STRING, "reason": _STRING}, "id", "reason"),
    "supersede": _listed({"id": _STRING, "superseded_by": _STRING, "reason": _STRING}, "id", "superseded_by", "reason"),
    "delete": _listed({"id": _STRING, "reason": _STRING}, "id", "reason"),
    "confirm": _listed({"id": _STRING, "reason": _STRING}, "id"),
}

VERB = Verb(
    takes=Save,
    run=save,
    lines=lines,
    writes=True,
    examples="""Example:
  memory save --stdin <<'JSON'
  {
    "task": "Ship retry handling for webhooks",
    "nodes": [
      {"kind": "feature", "title": "Webhook retry queue",
       "body": "Failed webhooks re-enter a queue owned by the worker.",
       "stage": "building", "anchors": ["services/billing/webhooks/"], "tags": ["billing"],
       "related": [{"predicate": "depends_on", "to": "feature.worker", "confidence": "high"}]},
      {"kind": "feature", "title": "Worker", "body": "Runs what must not block a request."},
      {"id": "question.retry-owner", "status": "closed"}
    ],
    "stale": [{"id": "gotcha.old-retry-loop", "reason": "fixed by the queue"}],
    "supersede": [{"id": "decision.inline-retries",
                   "superseded_by": "decision.retries-in-worker", "reason": "moved"}],
    "delete": [{"id": "question.who-pays", "reason": "answered"}],
    "confirm": [{"id": "decision.one-queue", "reason": "read queue.ts, still so"}]
  }
  JSON

\b
Each of nodes is a record. With the id of a stored record it updates that one; without an id it creates one. Omitted
fields stay as they are, given lists replace. kinds: feature, decision, gotcha, question. stages (features only): idea,
building, shipped, paused, dead. predicates: affects, depends_on, supersedes, related_to.
status: open or closed for a question; active to revive a stale or superseded record.
"unrelated": [{"predicate", "to"}] removes relations. `memory docs save` has all details.
""",
    tool=Tool(
        title="Save what changed",
        says="Record what a task changed in the product: features and their stage, decisions with reasons, traps, "
        "questions; retire what is no longer true. All or nothing; reports every mistake. Use it when a task is done "
        "or a decision was made. Leave out progress notes, secrets, and what the code says itself. For one fact use "
        "memory_store.",
        schema=_SCHEMA,
        gives={"changed": "boolean"},
        needs=("task",),
        given=FROM_TOOL,
        destructive=True,
    ),
)
