"""Copilot's memories of this repository, as VS Code keeps them: files below `memories/repo` of the workspace's storage.

A file is Markdown or plain text, or one JSON object: {"subject": "…", "fact": "…", "citations": ["src/a.ts:4"],
"reason": "…", "category": "…"}.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import unquote

import msgspec

from quire.capture.hosts.documents import read_document
from quire.capture.hosts.proposal_collector import ProposalCollector
from quire.capture.hosts.sections import Manner, propose_facts
from quire.capture.hosts.source_files import files_in, home_sources
from quire.capture.hosts.structured_files import read_config, unread
from quire.capture.hosts.structured_proposals import begun, section_for, sentence, text_of
from quire.capture.hosts.types import HostRead, HostSource
from quire.capture.transcripts.types import KnownPlaces
from quire.files.json_files import json_value
from quire.files.paths import names_in
from quire.model.untyped import as_dict

_EDITORS = ("Code", "Code - Insiders", "VSCodium")
_ENDINGS = (".md", ".txt", ".json")
_INNER = "memory-tool/memories/repo"
_FOLDERS_MOST = 2_000
_DEPTH = 3


def find_copilot_memories(root: str, home: str, env: Mapping[str, str]) -> list[HostSource]:
    """The memories of the workspaces that are this folder."""
    tops = [*(f"{env.get('XDG_CONFIG_HOME') or f'{home}/.config'}/{name}/User" for name in _EDITORS)]
    tops += [f"{home}/Library/Application Support/{name}/User" for name in _EDITORS]
    tops += [f"{home}/.vscode-server/data/User", f"{home}/.vscode-server-insiders/data/User"]
    found: list[HostSource] = []
    for storage in (os.path.join(top, "workspaceStorage") for top in tops if home):
        for workspace in names_in(storage)[:_FOLDERS_MOST]:
            if _is_of(storage, workspace, root):
                folder = os.path.join(storage, workspace)
                owners = [
                    name for name in names_in(folder)[:_FOLDERS_MOST] if name.lower().startswith("github.copilot")
                ]
                paths = [path for name in owners for path in files_in(f"{folder}/{name}/{_INNER}", _ENDINGS, _DEPTH)]
                found += home_sources("copilot-memories", paths, home)
    # The source by the name that the model knows it by: the storage's folder is a number.
    return [
        msgspec.structs.replace(source, shown=f"memories/repo/{source.path.partition(f'{_INNER}/')[2]}")
        for source in found
    ]


def _is_of(storage: str, workspace: str, root: str) -> bool:
    named = read_config(storage, f"{workspace}/workspace.json").get("folder")
    path = unquote(named.removeprefix("file://")) if isinstance(named, str) and named.startswith("file://") else ""
    return bool(path) and os.path.realpath(path) == os.path.realpath(root)


def read(source: HostSource, places: KnownPlaces, now: str) -> HostRead:
    if source.path.endswith(".json"):
        return _read_entry(source, places, now)
    document = read_document(source.path, source.shown, places, source.scope)
    gathering = ProposalCollector(document, places.root, now)
    name = os.path.basename(source.shown).rpartition(".")[0].replace("-", " ").replace("_", " ").strip()
    propose_facts(gathering, document.parts, Manner(title=document.title or name))
    return gathering.read(source)


def _read_entry(source: HostSource, places: KnownPlaces, now: str) -> HostRead:
    found, data = begun(source, places, now)
    entry = json_value(data)
    if data and not isinstance(entry, dict):
        found.guard.tell(unread(source, "it is not a JSON object"))
    entry = as_dict(entry)
    fact, reason = text_of(entry.get("fact")), text_of(entry.get("reason"))
    if not fact:
        found.skipped += 1
    elif found.may_pass(f"{fact}\n{reason}", 1):
        cited = entry.get("citations")
        named = list(filter(None, map(text_of, cited if isinstance(cited, list) else [cited])))
        note = ", ".join(named[:5])
        content = f"{sentence(fact)} {f'({note})' if note else ''}".strip()
        found.fact(section_for(text_of(entry.get("category"))), content, [text_of(entry.get("subject"))], 1)
    return found.read()
