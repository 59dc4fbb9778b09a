"""Every module that takes text or bytes apart is behind a target, or is named here with the reason why not."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest
from fuzz_targets import TARGETS

import quire
from promised import proves

pytestmark = proves("P5.1")

SOURCES = Path(quire.__file__).parent
PARSING = ("json", "tomllib", "re", "ast", "base64", "configparser")
CALLS = {"decode", "loads", "parse", "compile", "match", "search", "fullmatch", "finditer", "findall", "sub", "split"}
DECODERS = {"decode_object", "decode_json", "parse_strict", "read_jsonc", "read_toml", "parse_document", "splitlines"}

_HINT = re.compile(
    rf"\b(?:{'|'.join(PARSING)})\.[a-z]|msgspec\.(?:json|msgpack)\.|\b(?:{'|'.join(sorted(DECODERS))})\("
)
"""What a source must hold at least; looking closer takes long."""

_OURS = "it reads what this program wrote a moment before, or what was read and checked already"
_INDEX = "it reads the index, which is made again where anything is wrong with it"
_NAMES = "a pattern for names of files of ours, matched as a whole"
_SHOWN = "it cuts text into lines or sentences to show it; nothing is decided by it"
_PURGES = "what cannot be read has no digest or keys; tried with every kind of file in `test_purges.py`"
_BEHIND = "it calls a parser that is tried by itself, on what that parser has read"

NOT_HERE: dict[str, str] = {
    "anchors.minor_change": "it compares two versions that the parsers of symbols have read, and decides nothing",
    "anchors.renames": _SHOWN,
    "capture.history.changelog": "files that git gives; hostile ones are in its own tests",
    "capture.history.changes": "lists of commits and files that git writes",
    "capture.history.comments": "lines that `git grep` prints; hostile ones are in its own tests",
    "capture.history.commits": "lists of commits that git writes",
    "capture.history.cues": "the data file of this package",
    "capture.history.ranks": _NAMES,
    "capture.hosts.entire": "sessions and summaries out of git; damaged ones are in its own tests",
    "capture.signals.extraction": "it reads turns, which the targets of sessions make",
    "capture.providers.availability": "the version that a provider's program names, for people",
    "capture.repository.bundle": "sentences that this program writes, known by their form",
    "capture.repository.git_activity": "subjects of commits, shortened for people",
    "clients.integration.file_plan": _BEHIND,
    "clients.texts.forges": "an address that a person gives, matched as a whole",
    "clients.integration.yaml_items": _BEHIND,
    "files.branches": "references and settings that git writes, matched as a whole",
    "files.git_merge": "settings and attributes that git prints",
    "files.undo_recorder": _OURS,
    "files.commit_ranges": "lists of commits and files that git writes",
    "guard.patterns": "it compiles the patterns of its package, which the targets of the guard try",
    "index.catalog": _INDEX,
    "index.schema": _INDEX,
    "index.sentence_model": "a model that a person named, on this machine; its file is compared with a digest",
    "layers.facts.checkpoints": _NAMES,
    "layers.facts.store": "lines of `.gitattributes` are looked for as they stand",
    "layers.graph.create": _BEHIND,
    "layers.merge_record": "values that the merges of layers have read, which are tried",
    "layers.graph.repair": _BEHIND,
    "layers.graph.recovery": _NAMES,
    "layers.graph.rehash": _BEHIND,
    "layers.graph.stored": _BEHIND,
    "layers.journal.bundles": "a sentence that this program writes, matched as a whole",
    "layers.journal.layout": _NAMES,
    "layers.journal.layer": _PURGES,
    "layers.profile.pages": _SHOWN,
    "layers.profile.rules": "short words that a person gives, matched sign by sign",
    "layers.profile.store": _BEHIND,
    "layers.record_parts": _BEHIND,
    "surfaces.cli.output": "words of a command line, to keep secrets out of its errors",
    "verbs.graph.plain_problems": "names of fields that the program gives itself",
    "verbs.admin.docs": "headings of pages that come with this program",
    "verbs.admin.export": _OURS,
    "verbs.facts.inspect": _OURS,
    "verbs.facts.ingest": _BEHIND,
    "verbs.team.resolve": "a value that a person gives, which the layer checks",
    "verbs.journal.status": _BEHIND,
    "verbs.journal.journal_state": _BEHIND,
    "verbs.journal.new_bundle": "lines that a program printed, for people",
    "verbs.graph.save": "an id, matched as a whole",
    "verbs.profile.remember": _SHOWN,
    "verbs.profile.results": "names of entries, matched as a whole",
    "retrieval.facts_context": _SHOWN,
    "retrieval.injection": _SHOWN,
    "retrieval.journal.answer": _SHOWN,
    "retrieval.journal.evidence": _SHOWN,
    "retrieval.journal.lists": _SHOWN,
    "retrieval.journal.matches": _SHOWN,
    "retrieval.similar_records": _SHOWN,
    "retrieval.statements": _SHOWN,
    "surfaces.cli.commands": "texts of our own help",
    "verbs.graph.diff": _SHOWN,
    "surfaces.mcp.tool_text": "texts of our own, in which commands become names of tools",
    "surfaces.mcp.tool_calls": "arguments of a call, which the fast path or the SDK decoded; msgspec checks types",
    "surfaces.web.app": "a JSON object of at most a few kilobytes, behind the door",
    "surfaces.web.options": "what `memory view` hands over to the process that it becomes",
    "upkeep.coverage": _INDEX,
    "upkeep.explained_changes": _INDEX,
    "upkeep.export_okf": _OURS,
    "upkeep.merge.clone_rules": "attributes of a clone, as lines",
    "upkeep.review.closeness": "words of two versions of a file; nothing is decoded",
    "upkeep.export_formats": _OURS,
    "upkeep.repair.copies": _OURS,
    "upkeep.repair.differences": _SHOWN,
    "upkeep.purge.forms": _PURGES,
    "upkeep.purge.plan": _PURGES,
    "upkeep.reset": _BEHIND,
    "upkeep.review.markdown": _SHOWN,
    "upkeep.sync": _INDEX,
    "upkeep.upgrade_command": "what the installer of this package wrote about it",
    "upkeep.verdicts": _INDEX,
    "upkeep.why": _BEHIND,
    # Made beside this, and not tried by themselves yet.
}


def parses(source: str) -> bool:
    """Whether a module decodes, or uses a pattern: a call of a module that parses, or of one of our decoders."""
    if not _HINT.search(source):
        return False
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in DECODERS:
            return True
        if not isinstance(called, ast.Attribute):
            continue
        owner = ast.unparse(called.value)
        if called.attr in CALLS and owner in PARSING:
            return True
        if called.attr in ("decode", "Decoder") and owner in ("msgspec.json", "msgspec.msgpack"):
            return True
        if called.attr in DECODERS:
            return True
    return False


@functools.cache
def parsing_modules() -> set[str]:
    found = set()
    for path in SOURCES.rglob("*.py"):
        if parses(path.read_text(encoding="utf-8")):
            found.add(".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__"))
    return found


def covered() -> set[str]:
    return {module for target in TARGETS.values() for module in target.modules.split()}


@pytest.mark.proof
def test_every_module_that_parses_is_tried_or_named() -> None:
    missing = parsing_modules() - covered() - NOT_HERE.keys()
    assert not missing, f"give these a target, or say why not: {sorted(missing)}"


def test_what_is_named_is_there() -> None:
    there = {
        ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
        for path in SOURCES.rglob("*.py")
    }
    assert covered() <= there, sorted(covered() - there)
    assert NOT_HERE.keys() <= parsing_modules() - covered(), sorted(NOT_HERE.keys() - (parsing_modules() - covered()))
