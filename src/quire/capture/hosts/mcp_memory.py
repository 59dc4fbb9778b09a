"""The memory file of the MCP memory server: entities with observations, relations between them; one object on a line.

{"type": "entity", "name": "checkout", "entityType": "service", "observations": ["Written in Go"]}
{"type": "relation", "from": "checkout", "to": "ledger", "relationType": "depends_on"}

What Quire itself exported in this form is known by its refs. Of such an entity only what someone added is taken.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from quire.capture.hosts.structured_files import find_file, json_lines, read_config, unread
from quire.capture.hosts.structured_proposals import (
    Atom,
    StructuredCollector,
    begun,
    grouped,
    joined,
    listed,
    section_for,
    sentence,
    text_of,
    word_of,
)
from quire.capture.hosts.types import HostRead, HostSource
from quire.capture.transcripts.types import KnownPlaces
from quire.files.json_files import json_value
from quire.model.errors import InputError
from quire.model.refs import parse_ref
from quire.model.text import one_line
from quire.model.untyped import as_dict, as_list, at_path
from quire.model.vocabulary import KINDS, PROFILE_KINDS

_PLACES = ("memory.jsonl", "memory.json", ".mcp/memory.jsonl", ".mcp/memory.json")
_CONFIGS = (".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json")
_SETTING = "MEMORY_FILE_PATH"
_ROOTS = ("${workspaceFolder}/", "${CLAUDE_PROJECT_DIR}/", "${PWD}/", "$PWD/")
_ENDINGS = (".json", ".jsonl")
# With these the observations end that an export of ours writes.
_OWN_ENDS = ("Status: ", "Stage: ", "Section: ", "Anchor: ", "Tags: ")
_PEOPLE = ("person", "user", "human")
_SELF = ("default-user", "user", "me")


class _Entity(msgspec.Struct, frozen=True):
    name: str
    type: str
    said: dict[str, int]
    """The line of each observation."""

    @property
    def observations(self) -> list[Atom]:
        return [Atom(text, line) for text, line in self.said.items()]


class _Relation(msgspec.Struct, frozen=True):
    source: str
    says: str
    target: str
    line: int


# -- finding --------------------------------------------------------------------------------------


def find_mcp_memory(root: str, home: str, env: Mapping[str, str]) -> list[HostSource]:
    """The memory files of the project, and the one that its configuration names."""
    found: dict[str, HostSource] = {}
    named = [find_file("mcp-memory", root, place, "project") for place in _PLACES]
    named += [_file_at(path, root, home) for path in _configured(root)]
    own = _file_at(env.get(_SETTING, ""), root, home)
    # What the environment names belongs to whatever the person works on; only a file of the project is surely ours.
    named.append(own if own and own.scope == "project" else None)
    for source in named:
        if source is not None:
            found.setdefault(source.path, source)
    return list(found.values())


def _configured(root: str) -> Iterator[str]:
    for name in _CONFIGS:
        config = read_config(root, name)
        for key in ("mcpServers", "servers"):
            for server in as_dict(config.get(key)).values():
                path = at_path(server, "env", _SETTING)
                if isinstance(path, str):
                    yield path


def _file_at(path: str, root: str, home: str) -> HostSource | None:
    """A configured file, if it lies in the project or in the home folder and is called like a memory file."""
    for prefix in _ROOTS:
        path = os.path.join(root, path[len(prefix) :]) if path.startswith(prefix) else path
    if path.startswith(("~/", "${HOME}/", "$HOME/")):
        path = os.path.join(home, path.partition("/")[2])
    if not path.endswith(_ENDINGS) or "\0" in path or "$" in path:
        return None
    path = os.path.normpath(os.path.join(root, path))
    for base, scope in ((root, "project"), (home, "user")):
        if base and path.startswith(base.rstrip("/") + "/"):
            relative = path[len(base.rstrip("/")) + 1 :]
            return find_file("mcp-memory", base, relative, "project" if scope == "project" else "user")
    return None


# -- reading --------------------------------------------------------------------------------------


def read(source: HostSource, places: KnownPlaces, now: str) -> HostRead:
    """Facts about each entity, and one for what it has to do with others."""
    found, data = begun(source, places, now)
    entities, relations = _graph(found, data)
    own = {name for name, entity in entities.items() if _is_own(entity)}
    for entity in entities.values():
        observations = _added(entity) if entity.name in own else entity.observations
        kept = [
            atom for atom in observations if found.may_pass(f"{entity.type}\n{entity.name}: {atom.text}", atom.line)
        ]
        found.skipped += not observations
        _add_observations(found, entity, kept)
    _add_relations(found, entities, relations, own)
    return found.read()


def _graph(found: StructuredCollector, data: bytes) -> tuple[dict[str, _Entity], list[_Relation]]:
    entities: dict[str, _Entity] = {}
    relations: list[_Relation] = []
    for line, item in _items(found, data):
        kind = item.get("type")
        if kind == "entity" and (name := one_line(text_of(item.get("name")))):
            entity = entities.setdefault(name, _Entity(name, one_line(text_of(item.get("entityType"))), {}))
            for text in map(text_of, as_list(item.get("observations"))):
                if text:
                    entity.said.setdefault(text, line)
        elif kind == "relation":
            ends = [one_line(text_of(item.get(name))) for name in ("from", "relationType", "to")]
            if all(ends):
                relations.append(_Relation(ends[0], ends[1].replace("_", " "), ends[2], line))
            else:
                found.guard.tell(unread(found.source, "the relation lacks an end", line))
        else:
            found.guard.tell(unread(found.source, "it is neither an entity nor a relation", line))
    return entities, relations


def _items(found: StructuredCollector, data: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines; or, as some versions write it, one document with two lists."""
    whole = json_value(data)
    lists = [whole.get(name) for name in ("entities", "relations")] if isinstance(whole, dict) else []
    if not any(isinstance(items, list) for items in lists):
        if isinstance(whole, dict | list) and not (isinstance(whole, dict) and whole.get("type")):
            found.guard.tell(unread(found.source, "it is not a memory file of the MCP memory server"))
            return
        yield from json_lines(found.source, data, found.guard)
        return
    for kind, items in zip(("entity", "relation"), lists, strict=True):
        for item in as_list(items):
            if isinstance(item, dict):
                yield 1, {**item, "type": kind}


# -- what is our own ------------------------------------------------------------------------------


def _is_own(entity: _Entity) -> bool:
    """Whether an export of ours wrote the entity: its name is a ref of its type, and it says a status."""
    try:
        ref = parse_ref(entity.name)
    except InputError:
        return False
    kinds = KINDS if ref.layer == "graph" else PROFILE_KINDS if ref.layer == "profile" else (ref.kind,)
    is_kind = entity.type in kinds and (ref.layer != "graph" or entity.type == ref.kind)
    return is_kind and any(text.startswith(_OWN_ENDS[0]) for text in entity.said)


def _added(entity: _Entity) -> list[Atom]:
    """What someone observed after the export: the server appends, so it stands behind what ends ours."""
    last = max(number for number, text in enumerate(entity.said) if text.startswith(_OWN_ENDS))
    return entity.observations[last + 1 :]


# -- proposals ------------------------------------------------------------------------------------


def _add_observations(found: StructuredCollector, entity: _Entity, atoms: list[Atom]) -> None:
    tags = [entity.type] if entity.type else []
    if word_of(entity.type) in _PEOPLE:
        # What is known of people is no business of the project's own files.
        is_self = word_of(entity.name) in _SELF
        for atom in atoms:
            value = atom.text if is_self else f"{entity.name}: {atom.text}"
            found.entry("user" if is_self else "relationships", value, tags, atom.line)
        return
    for group in grouped(atoms):
        content = f"{entity.name}: {joined([atom.text for atom in group])}"
        found.fact(section_for(entity.type), content, tags, group[0].line)


def _add_relations(
    found: StructuredCollector, entities: dict[str, _Entity], relations: list[_Relation], own: set[str]
) -> None:
    """One sentence for each subject: `checkout depends on ledger and billing; runs on the cluster.`"""
    subjects: dict[str, dict[str, dict[str, int]]] = {}
    for item in relations:
        if item.source in own and item.target in own:
            found.skipped += 1
        elif found.may_pass(f"{item.source} {item.says} {item.target}", item.line):
            subjects.setdefault(item.source, {}).setdefault(item.says, {}).setdefault(item.target, item.line)
    for subject, said in subjects.items():
        line = min(line for targets in said.values() for line in targets.values())
        parts = [f"{says} {listed(list(targets))}" for says, targets in said.items()]
        entity = entities.get(subject)
        tags = [entity.type] if entity and entity.type else []
        found.fact("Architecture", sentence(f"{subject} {'; '.join(parts)}"), tags, line)
