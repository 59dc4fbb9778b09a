"""Check the files of the graph; each problem has path, line and hint."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from quire.files.json_files import decode_object, parse_strict
from quire.files.paths import escaping_part
from quire.layers.graph.codec import body_text, node_hash_holds, relation_hash
from quire.layers.graph.damage import conflict, conflict_line, error_at, restore_hint, warning_at
from quire.layers.graph.layout import (
    CONFIG,
    EVENTS,
    FOLDER,
    NODES,
    RELATIONS,
    SCHEMA,
    sidecar_of,
)
from quire.layers.graph.leaks import secrets_in_fields, secrets_in_text
from quire.layers.graph.schemas import SCHEMA_NAMES, faults_of
from quire.layers.graph.stamps import stamped_fields
from quire.layers.graph.store import GraphStore
from quire.layers.graph.stray_files import stray_files
from quire.layers.graph.types import Event, Node, Relation
from quire.model.config import Config
from quire.model.errors import InvalidJson
from quire.model.ids import file_stems
from quire.model.records import Problem
from quire.model.text import has_front_matter
from quire.model.times import is_timestamp
from quire.model.vocabulary import statuses_of

_H1 = re.compile(r"^#[ \t]+(.+)$", re.M)
_FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.M | re.S)


def check_graph(store: GraphStore) -> list[Problem]:
    """All faults, errors and warnings, in the order of the files."""
    return list(_Examiner(store).run())


class _Examiner:
    def __init__(self, store: GraphStore) -> None:
        self.store = store
        self.nodes: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        self.relations: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        self.unread: set[str] = set()
        """Names of sidecars that could not be read: what refers to them is not called dangling."""
        self.plain: set[str] = set()
        """Folders that are no links, as far as files in them were read."""

    def run(self) -> Iterator[Problem]:
        yield from self.layout()
        yield from self.config()
        for path in self.store.node_paths():
            yield from self.node(path)
        for path in self.store.relation_paths():
            yield from self.relation(path)
        yield from self.events()
        yield from self.duplicates()
        yield from self.references()
        yield from stray_files(self.store.folder)

    # -- files ------------------------------------------------------------------------------

    def layout(self) -> Iterator[Problem]:
        for name in (NODES, RELATIONS, SCHEMA):
            if os.path.islink(os.path.join(self.store.folder, name)):
                message = "A symbolic link; nothing is read or written through it."
                yield error_at("CanonicalDirectoryUnsafe", name, message, "Replace the link with a real folder.")
        if not os.path.isdir(os.path.join(self.store.folder, NODES)):
            yield error_at(
                "CanonicalDirectoryMissing", NODES, "The folder with the records is missing.", restore_hint(NODES)
            )
        if not os.path.lexists(os.path.join(self.store.folder, EVENTS)):
            yield warning_at("CanonicalFileMissing", EVENTS, "The event log is missing.", restore_hint(EVENTS))
        for name in SCHEMA_NAMES:
            path = f"{SCHEMA}/{name}.schema.json"
            if not os.path.lexists(os.path.join(self.store.folder, path)):
                yield warning_at(
                    "SchemaFileMissing", path, "The schema is missing.", "Run `memory init` to write it again."
                )
                continue
            value, problems = self.load(path)
            yield from problems
            if value is not None and not isinstance(value, dict):
                yield error_at(
                    "SchemaInvalidJson", path, "The schema is not an object.", "Remove it; run `memory init`."
                )

    def load(self, path: str) -> tuple[Any, list[Problem]]:
        """A JSON file's value, strictly parsed; None with the reasons where it has none."""
        try:
            data = self.store.read(path, self.plain)
            text = data.decode("utf-8").removeprefix("\ufeff")
        except FileNotFoundError:
            return None, []  # deleted since it was listed
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            return None, [
                error_at("CanonicalFileUnsafe", path, f"Cannot be read: {reason}.", "Replace it with a regular file.")
            ]
        except UnicodeDecodeError as error:
            return None, [error_at("FileNotUtf8", path, f"Not UTF-8 text (byte {error.start}).", "Save it as UTF-8.")]
        line = conflict_line(data)
        if line:
            return None, [conflict(path, line)]
        try:
            value = parse_strict(text, f"{FOLDER}/{path}")
            if value is None or isinstance(value, dict):
                decode_object(data)  # what the readers refuse beyond that: lone surrogates, numbers out of range, null
            return value, []
        except InvalidJson as error:
            reason, line = error.message, error.details.get("line")
        except ValueError as error:
            reason, line = f"Not usable JSON: {error}.", None
        return None, [error_at("JsonInvalid", path, reason, restore_hint(path), line=line)]

    def shape(self, path: str, value: Any, shape: type) -> list[Problem]:
        text = ""
        problems = []
        for fault in faults_of(value, shape):
            text = text or self.store.read(path).decode("utf-8", "replace")
            problems.append(
                Problem(
                    code=fault.code,
                    path=path,
                    line=_line_of(text, fault.place),
                    field="/" + "/".join(map(str, fault.place)),
                    message=f"`{'.'.join(map(str, fault.place)) or 'the file'}` {fault.message}.",
                    hint=restore_hint(path),
                    allowed=fault.allowed,
                )
            )
        return problems

    def config(self) -> Iterator[Problem]:
        if not self.store.exists():
            yield error_at("CanonicalFileMissing", CONFIG, "The configuration is missing.", restore_hint(CONFIG))
            return
        value, problems = self.load(CONFIG)
        yield from problems
        if value is not None:
            # Another version never gets this far: the store refuses it before anything is read.
            yield from self.shape(CONFIG, value, Config)

    # -- nodes ------------------------------------------------------------------------------

    def node(self, path: str) -> Iterator[Problem]:
        value, problems = self.load(path)
        yield from problems
        if value is None:
            self.unread.add(_stem(path))
            return
        faults = self.shape(path, value, Node)
        yield from faults
        if not isinstance(value, dict):
            return
        if isinstance(value.get("id"), str):
            self.nodes.setdefault(value["id"], []).append((path, value))
        yield from secrets_in_fields(path, value)
        if not faults:
            yield from self.node_rules(path, value)
        yield from self.body(path, value)

    def node_rules(self, path: str, fields: dict[str, Any]) -> Iterator[Problem]:
        node_id, kind = fields["id"], fields["type"]
        if node_id.partition(".")[0] != kind:
            message = f"The id `{node_id}` does not begin with its type, `{kind}`."
            yield error_at("ObjectIdTypeMismatch", path, message, "Correct `type` or `id`.", field="/id")
        if fields["status"] not in statuses_of(kind):
            allowed = ", ".join(statuses_of(kind))
            message = f"A {kind} cannot be `{fields['status']}`; it can be {allowed}."
            yield error_at("StatusNotAllowed", path, message, "Correct `status`.", field="/status")
        if "stage" in fields and kind != "feature":
            yield error_at("StageNotAllowed", path, "Only a feature has a stage.", "Remove `stage`.", field="/stage")
        if _stem(path) not in (*file_stems(node_id), "project" if kind == "project" else ""):
            hint = f"Rename the pair to {file_stems(node_id)[0]}.json and .md."
            yield warning_at("ObjectFileNameMismatch", path, f"The file name does not fit the id `{node_id}`.", hint)
        for name in ("created_at", "updated_at"):
            if not is_timestamp(fields[name]):
                yield error_at(
                    "SchemaPattern", path, f"`{name}` is not a date that exists.", "Correct it.", field=f"/{name}"
                )
        for name in ("tags", "anchors"):
            values = fields.get(name, [])
            if len(set(values)) != len(values):
                yield warning_at(
                    "SchemaUniqueItems", path, f"`{name}` holds an entry twice.", "Remove it.", field=f"/{name}"
                )

    def body(self, path: str, fields: dict[str, Any]) -> Iterator[Problem]:
        expected = path.removesuffix(".json") + ".md"
        named = fields.get("body_path")
        if isinstance(named, str) and named != expected:
            code = "ObjectBodyPathEscapesMemory" if escaping_part(named) else "ObjectBodyPathMismatch"
            message = f"`body_path` says `{named[:120]}`, but the body is beside the sidecar."
            yield error_at(code, path, message, f"Set it to {expected}.", field="/body_path")
        try:
            data = self.store.read(expected, self.plain)
            text = body_text(data)
        except FileNotFoundError:
            if not os.path.lexists(os.path.join(self.store.folder, path)):
                return  # the node was deleted while we looked at it
            yield error_at("ObjectBodyMissing", expected, "The body is missing.", restore_hint(expected))
            return
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            yield error_at(
                "ObjectBodyPathUnsafe", expected, f"Cannot be read: {reason}.", "Replace it with a regular file."
            )
            return
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            yield error_at("FileNotUtf8", expected, "Not UTF-8 text.", "Save it as UTF-8.", line=line)
            return
        yield from self.body_text(expected, text, data, fields)

    def body_text(self, path: str, text: str, data: bytes, fields: dict[str, Any]) -> Iterator[Problem]:
        marked = conflict_line(data)
        if marked:
            yield conflict(path, marked)
        if has_front_matter(text):
            hint = "Move what it says into the sidecar and remove it."
            yield error_at("FrontMatter", path, "The body opens with a YAML block.", hint, line=1)
        yield from secrets_in_text(path, text)
        stamps = self.store.stamps().get(sidecar_of(path), ())
        if not marked and not node_hash_holds(stamped_fields(fields, text, stamps), text):
            hint = "If the edit is right, save the record again (its id and body); otherwise `git restore` it."
            yield warning_at("ObjectContentHashMismatch", path, "Edited by hand since the last save.", hint)
        heading = _H1.search(_FENCE.sub("", text))
        title = fields.get("title")
        named = heading.group(1).strip() if heading else ""
        if heading and isinstance(title, str) and title.strip() not in (named, named.rstrip("#").rstrip()):
            line = text[: text.find(heading.group(0))].count("\n") + 1
            message = f"The first heading, `{named[:80]}`, is not the title, `{title[:80]}`."
            yield warning_at("ObjectTitleH1Mismatch", path, message, "Change one of them.", line=line)

    # -- relations, events ------------------------------------------------------------------

    def relation(self, path: str) -> Iterator[Problem]:
        value, problems = self.load(path)
        yield from problems
        if value is None:
            return
        faults = self.shape(path, value, Relation)
        yield from faults
        if faults or not isinstance(value, dict):
            return
        self.relations.setdefault(value["id"], []).append((path, value))
        if value["from"] == value["to"]:
            yield warning_at("RelationToSelf", path, "A record is related to itself.", "Remove the relation.")
        stored = value.get("content_hash")
        if stored is not None and stored != relation_hash(value):
            hint = "If the edit is right, save the relation again; otherwise `git restore` it."
            yield warning_at("RelationContentHashMismatch", path, "Edited by hand since the last save.", hint)

    def events(self) -> Iterator[Problem]:
        try:
            data = self.store.read(EVENTS)
        except FileNotFoundError:
            return
        except OSError as error:
            yield error_at(
                "CanonicalFileUnsafe", EVENTS, f"Cannot be read: {error.strerror}.", "Replace it with a regular file."
            )
            return
        marked = conflict_line(data)
        if marked:
            yield error_at(
                "MemoryConflictDetected",
                EVENTS,
                "Unresolved merge conflict.",
                "Keep the lines of both sides and remove the three marker lines.",
                line=marked,
            )
            return
        for path, number, item in self.store.events():
            if isinstance(item, Problem):
                yield item
            elif isinstance(item, Event):
                for text in (item.reason, (item.payload or {}).get("task")):
                    if isinstance(text, str):
                        yield from secrets_in_text(path, text, line=number)

    # -- the whole --------------------------------------------------------------------------

    def duplicates(self) -> Iterator[Problem]:
        for node_id, found in self.nodes.items():
            for path, _ in found[1:]:
                message = f"`{node_id}` is also in {found[0][0]}."
                hint = "Keep one: compare the two, then remove or rename the other (id, file and body_path)."
                yield error_at("ObjectIdDuplicate", path, message, hint)
        triples: dict[tuple[str, str, str], str] = {}
        for relation_id, found in self.relations.items():
            for path, _ in found[1:]:
                yield error_at("RelationIdDuplicate", path, f"`{relation_id}` is also in {found[0][0]}.", "Remove one.")
            for path, fields in found:
                triple = (fields["from"], fields["predicate"], fields["to"])
                if triple in triples and relation_id not in triples[triple]:
                    message = f"The same relation is also in {triples[triple]}."
                    yield error_at("RelationEquivalentDuplicate", path, message, "Remove one of the two.")
                triples.setdefault(triple, path)

    def references(self) -> Iterator[Problem]:
        for found in self.relations.values():
            for path, fields in found:
                for end in ("from", "to"):
                    if not self.may_exist(fields[end]):
                        message = f"`{fields[end]}` does not exist."
                        hint = "Remove the relation, or restore the record."
                        yield error_at("RelationEndpointMissing", path, message, hint, field=f"/{end}")
        for node_id, found in self.nodes.items():
            for path, fields in found:
                by = fields.get("superseded_by")
                if fields.get("status") == "superseded" and not (by and self.may_exist(by)):
                    message = f"`{node_id}` is superseded by {f'`{by}`, which does not exist' if by else 'nothing'}."
                    hint = "Supersede it by another record, or revive it."
                    yield warning_at("ObjectSupersededReplacementMissing", path, message, hint)
        total = sum(map(len, self.relations.values()))
        loose = sum(fields["predicate"] == "related_to" for found in self.relations.values() for _, fields in found)
        if loose >= 5 and loose * 2 > total:
            message = f"{loose} of {total} relations are `related_to`, which says little."
            yield warning_at(
                "RelationRelatedToExcessive", RELATIONS, message, "Use affects or depends_on where they apply."
            )

    def may_exist(self, node_id: str) -> bool:
        return node_id in self.nodes or not self.unread.isdisjoint(file_stems(node_id))


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".json")


def _line_of(text: str, place: tuple[str | int, ...]) -> int | None:
    """The line of the last key that a place names."""
    position = 0
    for part in place:
        if isinstance(part, str):
            found = text.find(msgspec.json.encode(part).decode(), position)
            if found < 0:
                break
            position = found
    return text.count("\n", 0, position) + 1
