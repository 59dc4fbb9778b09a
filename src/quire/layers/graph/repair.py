"""Plan repairs of the graph that lose nothing, as changes of its files.

Only what a check named is repaired, and only where the rest of the file or of the memory says what is right. Everything
that stays in a file stays as it is written; what only a person can know is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import msgspec

from quire.files.json_files import compact, decode_object
from quire.files.jsonc_edit import remove_items, set_member
from quire.files.transaction import FileUpdate, update_of
from quire.layers.graph.codec import body_hash, body_text, encode_fields, event_decoder, node_hash_holds, relation_hash
from quire.layers.graph.layout import EVENTS, SCHEMA, body_of
from quire.layers.graph.schemas import SCHEMA_NAMES, schema
from quire.layers.graph.store import GraphStore
from quire.model.errors import QuireError
from quire.model.ids import file_stems
from quire.model.records import Problem, RepairStep

_OWN = ("body_path", "content_hash")
"""What two files of one node may say differently: each has its own name, and a digest that may cover it."""
_MARKS = (b"<<<<<<< ", b"=======", b">>>>>>> ")
_BASE = b"|||||||"
_WITH_IT = "It is removed with its copy."


def plan_graph_repair(
    store: GraphStore, problems: Iterable[Problem], untouched: Collection[str] = ()
) -> tuple[list[RepairStep], list[FileUpdate]]:
    """Which of these problems can be repaired, and the changes that do it; paths are below the memory's folder.

    What is `untouched` stays as it is: git holds it as unmerged, or has it elsewhere.
    """
    draft = _Draft(store, untouched)
    found = list(problems)
    # What goes is decided first: a copy that is removed needs no other repair.
    found.sort(key=lambda problem: problem.code not in _REMOVING)
    fixes = []
    for problem in found:
        said = _repaired(draft, problem)
        if said:
            fixes.append(
                RepairStep(code=problem.code, path=problem.path, line=problem.line, field=problem.field, message=said)
            )
    return fixes, draft.changes()


class _Draft:
    """The files as they are to be."""

    def __init__(self, store: GraphStore, untouched: Collection[str]) -> None:
        self.store = store
        self.untouched = untouched
        self._before: dict[str, bytes | None] = {}
        self._after: dict[str, bytes | None] = {}
        self.without: set[int] = set()
        """Lines of the log that go, by the numbers they have now."""
        self._nodes: dict[Any, list[str]] = {}
        self._relations: dict[bytes, list[str]] = {}

    def held(self, path: str) -> bytes | None:
        """A file as it is; None where there is none."""
        if path not in self._before:
            try:
                self._before[path] = self.store.read(path)
            except FileNotFoundError:
                self._before[path] = None
        return self._before[path]

    def planned(self, path: str) -> bytes | None:
        return self._after[path] if path in self._after else self.held(path)

    def put(self, path: str, data: bytes | None) -> None:
        self.held(path)
        self._after[path] = data

    def nodes_of(self, node_id: Any) -> list[str]:
        """The sidecars that claim an id, also those that go."""
        if not self._nodes:
            for path in self.store.node_paths():
                self._nodes.setdefault(_id_at(self, path), []).append(path)
        return self._nodes.get(node_id, [])

    def relations_like(self, fields: dict[str, Any]) -> list[str]:
        """The files of relations that are alike in all but the id and the digest, also those that go."""
        if not self._relations:
            for path in self.store.relation_paths():
                try:
                    self._relations.setdefault(_alike(_fields(self, path)), []).append(path)
                except (OSError, ValueError):
                    continue
        return self._relations.get(_alike(fields), [])

    def is_gone(self, path: str) -> bool:
        return path in self._after and self._after[path] is None

    def changes(self) -> list[FileUpdate]:
        if self.without:
            data = self.held(EVENTS) or b""
            lines = data.split(b"\n")
            # A last line that was cut off goes with its end: the one before it has one of its own.
            kept = [line for number, line in enumerate(lines, start=1) if number not in self.without]
            rest = b"\n".join(kept)
            self.put(EVENTS, rest if not rest or rest.endswith(b"\n") or data.endswith(b"\n") else rest + b"\n")
        found = []
        for path, after in self._after.items():
            before = self._before[path]
            if before != after:
                found.append(update_of(path, before, after))
        return found


def _repaired(draft: _Draft, problem: Problem) -> str:
    """What is done about a problem, in a sentence; empty where it is for someone else to repair."""
    path = problem.path
    if path in draft.untouched:
        return ""
    if draft.is_gone(path) or draft.is_gone(path.removesuffix(".md") + ".json"):
        return _WITH_IT
    repair = _schema if path.startswith(f"{SCHEMA}/") else _REPAIRS.get(problem.code)
    try:
        return repair(draft, problem) if repair else ""
    except (OSError, ValueError, LookupError, TypeError, RecursionError, msgspec.MsgspecError, QuireError):
        return ""  # it changed meanwhile, or is odder than it looked


# -- files of our own --------------------------------------------------------------------------


def _schema(draft: _Draft, problem: Problem) -> str:
    name = problem.path.removeprefix(f"{SCHEMA}/").removesuffix(".schema.json")
    if name not in SCHEMA_NAMES or problem.code in ("CanonicalFileUnsafe", "StrayFile"):
        return ""
    draft.put(problem.path, encode_fields(schema(name)))
    return "The schema is rewritten."


# -- the log -----------------------------------------------------------------------------------


def _log_missing(draft: _Draft, problem: Problem) -> str:
    if problem.path != EVENTS:
        return ""
    draft.put(EVENTS, b"")
    return "A new log is started."


def _log_line(draft: _Draft, problem: Problem) -> str:
    """A blank line, or a last one that was cut off: neither says anything."""
    data = draft.held(EVENTS) or b""
    lines = data.split(b"\n")
    if problem.line is None or problem.line > len(lines):
        return ""
    if problem.code == "EventJsonlBlankLine":
        draft.without.add(problem.line)
        return "The blank line is removed."
    if problem.line < len(lines) or not lines[-1]:
        return ""
    draft.without.add(problem.line)
    return "The incomplete last line is removed; the copy keeps it."


def _log_conflict(draft: _Draft, problem: Problem) -> str:
    """Events of both sides happened: where all of them can be read, only the marks go."""
    if problem.path != EVENTS:
        return ""
    marks: list[int] = []
    wanted = 0
    for number, line in enumerate((draft.held(EVENTS) or b"").split(b"\n"), start=1):
        if line.startswith(_BASE):
            return ""
        if line.startswith(_MARKS[wanted]):
            marks.append(number)
            wanted = (wanted + 1) % len(_MARKS)
        elif line.strip():
            event_decoder().decode(line.removesuffix(b"\r"))
    if wanted:
        return ""
    draft.without.update(marks)
    return "The marks are removed; the events of both sides stay."


# -- sidecars ----------------------------------------------------------------------------------


def _body_path(draft: _Draft, problem: Problem) -> str:
    expected = problem.path.removesuffix(".json") + ".md"
    _edit(draft, problem.path, lambda text: set_member(text, ["body_path"], expected))
    return f"`body_path` is set to {expected}."


def _twice(draft: _Draft, problem: Problem) -> str:
    name = (problem.field or "").removeprefix("/")
    if name not in ("tags", "anchors"):
        return ""

    def without_copies(text: str) -> str:
        seen: set[str] = set()

        def is_copy(item: Any) -> bool:
            known = item in seen
            seen.add(item)
            return known

        return remove_items(text, [name], is_copy)

    _edit(draft, problem.path, without_copies)
    return f"`{name}` holds each entry once."


def _edit(draft: _Draft, path: str, change: Callable[[str], str]) -> None:
    """Change a sidecar; a digest that fitted it and its body fits them afterwards, one that did not says so still."""
    data = draft.planned(path) or b""
    body_data = draft.planned(path.removesuffix(".json") + ".md")
    body = None if body_data is None else body_text(body_data)
    text = change(data.decode("utf-8"))
    if body is not None and node_hash_holds(decode_object(data), body):
        fields = decode_object(text.encode("utf-8"))
        if not node_hash_holds(fields, body):
            text = set_member(text, ["content_hash"], body_hash(body))
    draft.put(path, text.encode("utf-8"))


# -- copies ------------------------------------------------------------------------------------


def _node_copy(draft: _Draft, problem: Problem) -> str:
    """Two pairs of files that say the same of one node: one of them is enough."""
    node_id = _fields(draft, problem.path)["id"]
    everywhere = draft.nodes_of(node_id)
    paths = [path for path in everywhere if _is_same_node(draft, path, problem.path)]
    are_all = len(paths) == len(everywhere)
    # The one under its own name stays, if all are the same; else the first, so that what is named is what goes.
    stems = file_stems(node_id)
    fitting = [path for path in paths if path.rpartition("/")[2].removesuffix(".json") in stems]
    keeper = fitting[0] if fitting and are_all else paths[0]
    going = [path for path in paths if path != keeper]
    if not going or (problem.path == keeper and not are_all):
        return ""
    if any(name in draft.untouched for path in going for name in (path, body_of(path))):
        return ""
    for path in going:
        draft.put(path, None)
        draft.put(body_of(path), None)
    return f"Of copies that say the same, {keeper} stays, and {', '.join(going)} goes."


def _is_same_node(draft: _Draft, one: str, other: str) -> bool:
    first, second = (_fields(draft, path) for path in (one, other))
    bodies = [draft.held(body_of(path)) for path in (one, other)]
    if bodies[0] is None or bodies[0] != bodies[1] or _rest(first, *_OWN) != _rest(second, *_OWN):
        return False
    body = body_text(bodies[0])
    is_signed = [node_hash_holds(fields, body) for fields in (first, second)]
    return all(is_signed) or first.get("content_hash") == second.get("content_hash")


def _relation_copy(draft: _Draft, problem: Problem) -> str:
    """The same relation in two files, alike in all but its id and digest; the one under its own name stays."""
    mine = _fields(draft, problem.path)
    by_id = problem.code == "RelationIdDuplicate"
    others = [
        path
        for path in draft.relations_like(mine)
        if path != problem.path and (not by_id or _id_at(draft, path) == mine.get("id"))
    ]
    keeper, going = next((path for path in others if not draft.is_gone(path)), ""), problem.path
    if not keeper:
        return _WITH_IT if others else ""
    if _is_named(draft, going) and not _is_named(draft, keeper) and keeper not in draft.untouched:
        going, keeper = keeper, going
    draft.put(going, None)
    return f"It says what {keeper} says, and is removed." if going == problem.path else f"{going} is removed."


def _relation_end(draft: _Draft, problem: Problem) -> str:
    """Of a branch that related a node which another one deleted: the deletion would have taken the relation along."""
    node_id = _fields(draft, problem.path)[(problem.field or "").removeprefix("/")]
    if draft.store.deletion_of(node_id) is None:
        return ""
    draft.put(problem.path, None)
    return f"`{node_id}` was deleted, and the relation goes with it."


def _is_named(draft: _Draft, path: str) -> bool:
    """Whether a relation's file is called as its id is."""
    return bool(_id_at(draft, path) == f"rel.{path.rpartition('/')[2].removesuffix('.json')}")


def _relation_digest(draft: _Draft, problem: Problem) -> str:
    text = (draft.held(problem.path) or b"").decode("utf-8")
    digest = relation_hash(_fields(draft, problem.path))
    draft.put(problem.path, set_member(text, ["content_hash"], digest).encode("utf-8"))
    return "The digest is recomputed from the relation."


def _fields(draft: _Draft, path: str) -> dict[str, Any]:
    return decode_object(draft.held(path) or b"")


def _id_at(draft: _Draft, path: str) -> Any:
    try:
        return _fields(draft, path).get("id")
    except (OSError, ValueError):
        return None


def _rest(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}


def _alike(fields: dict[str, Any]) -> bytes:
    return compact(_rest(fields, "id", "content_hash"))


_REPAIRS: dict[str, Callable[[_Draft, Problem], str]] = {
    "CanonicalFileMissing": _log_missing,
    "EventJsonlBlankLine": _log_line,
    "EventJsonlInvalid": _log_line,
    "MemoryConflictDetected": _log_conflict,
    "ObjectBodyPathEscapesMemory": _body_path,
    "ObjectBodyPathMismatch": _body_path,
    "ObjectIdDuplicate": _node_copy,
    "RelationContentHashMismatch": _relation_digest,
    "RelationEndpointMissing": _relation_end,
    "RelationEquivalentDuplicate": _relation_copy,
    "RelationIdDuplicate": _relation_copy,
    "SchemaUniqueItems": _twice,
}
_REMOVING = ("ObjectIdDuplicate", "RelationEndpointMissing", "RelationEquivalentDuplicate", "RelationIdDuplicate")
