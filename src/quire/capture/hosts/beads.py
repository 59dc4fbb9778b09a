"""Issues of Beads, one object on a line: epics and features, what is still to do, what was decided, what is remembered.

{"id": "bd-12", "title": "Retry queue", "status": "open", "priority": 1, "issue_type": "feature", "labels": [],
 "dependencies": [{"issue_id": "bd-12", "depends_on_id": "bd-7", "type": "blocks"}]}
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from quire.capture.hosts.structured_files import code_paths, find_file, json_lines, unread
from quire.capture.hosts.structured_proposals import (
    BODY_CHARS,
    StructuredCollector,
    begun,
    is_gotcha,
    node_id,
    sentence,
    shortened,
    text_of,
    word_of,
)
from quire.capture.hosts.types import HostRead, HostSource
from quire.capture.transcripts.types import KnownPlaces
from quire.files.paths import inside
from quire.model.errors import QuireError
from quire.model.text import cut, first_sentence, one_line
from quire.model.untyped import as_list

_FOLDER = ".beads"
_BEST = ("issues.jsonl", "beads.jsonl")
_BACKUP = f"{_FOLDER}/backup/issues.jsonl"
# Files beside the issues that hold something else, or an older state of them.
_OTHERS = re.compile(
    r"(?i)(?:deletions|interactions|events|comments|config|dependencies|labels|molecules|metadata|sync_base)\.jsonl$"
    r"|\.(?:base|left|right|meta|bak|orig)\.jsonl$"
)
_FEATURES = ("epic", "feature")
# Records of the program's own machinery, which nobody works on.
_MACHINERY = (
    *("message", "merge-request", "molecule", "gate", "agent", "role", "rig"),
    *("convoy", "event", "slot", "wisp", "heartbeat", "warrant"),
)
_STAGES = {
    "open": "idea",
    "in_progress": "building",
    "in-progress": "building",
    "hooked": "building",
    "blocked": "paused",
    "deferred": "paused",
    "closed": "shipped",
}
_MEMORY = "memory"
_NOT_VALID = ("archived", "superseded", "tombstone", "deleted")
_GONE = ("tombstone", "deleted", "pinned")
_DECISIONS = ("decision", "adr", "dec")
_QUESTIONS = ("question", "open-question", "needs-decision")
_AS = r"(?i)^\W*(?:clos(?:ed|ing)[: ]+)?(?:as )?(?:an? )?"
_DUPLICATE = re.compile(_AS + r"(?:dup(?:e|licate)?s?\b|merged into\b|superseded\b|moved to\b|created by mistake\b)")
# What begins with such a word was dropped; other words say so wherever they stand.
_DROPPED = re.compile(
    _AS + r"(?:abandoned|cancell?ed|obsolete|rejected|declined|dropped|descoped|invalid|not doing|not needed)\b"
    r"|\bwo(?:n['’]?t|nt)[ -]?(?:do|fix|implement|build)\b|\bwill not (?:do|fix|be|implement|build)\b"
    r"|\bnot (?:planned|going to|worth)\b|\bno longer (?:needed|relevant|wanted|planned)\b|\bout of scope\b"
)
_NOTE_CHARS = 300
_LABELS_MOST = 6
_PREDICATES = {
    "blocks": "depends_on",
    "parent-child": "related_to",
    "related": "related_to",
    "supersedes": "supersedes",
}


class _Issue(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    title: str
    status: str
    type: str
    line: int
    updated_at: str
    fields: dict[str, Any]
    labels: tuple[str, ...] = ()


# -- finding --------------------------------------------------------------------------------------


def find_beads(root: str, home: str, env: Mapping[str, str]) -> list[HostSource]:  # noqa: ARG001
    """The file of the issues; only where there is none, the exports beside it, or the backup."""
    for name in _BEST:
        found = find_file("beads", root, f"{_FOLDER}/{name}", "project")
        if found is not None and found.size:
            return [found]
    try:
        names = sorted(os.listdir(inside(root, _FOLDER)))
    except (OSError, QuireError):
        return []
    exports = [f"{_FOLDER}/{name}" for name in names if name.endswith(".jsonl") and not _OTHERS.search(name)]
    sources = [find_file("beads", root, path, "project") for path in exports] or [
        find_file("beads", root, _BACKUP, "project")
    ]
    return [source for source in sources if source is not None and source.size]


# -- reading --------------------------------------------------------------------------------------


def read(source: HostSource, places: KnownPlaces, now: str) -> HostRead:
    """Features with their stage, decisions, gotchas and questions by type or label, and what is to be done next."""
    found, data = begun(source, places, now)
    issues = _issues(found, data)
    kept = {name: issue for name, issue in issues.items() if _is_kept(found, issue)}
    ids = _node_ids(kept)
    for issue in sorted(kept.values(), key=_order):
        kind = _kind(issue)
        if kind:
            _add_node(found, issue, kind, ids, places.root)
        else:
            found.note(_step(issue, kept), issue.line)
    return found.read()


def _issues(found: StructuredCollector, data: bytes) -> dict[str, _Issue]:
    """The issues by id, the newest state of each. What is remembered beside them becomes facts right away."""
    issues: dict[str, _Issue] = {}
    for line, item in json_lines(found.source, data, found.guard):
        record = item.get("_type", "issue")
        if record == "memory" or _MEMORY in (item.get("issue_type"), item.get("type")):
            _add_memory(found, item, line)
            continue
        name, title = one_line(text_of(item.get("id"))), one_line(text_of(item.get("title")))
        if record != "issue" or not name or not title:
            if record == "issue":
                found.guard.tell(unread(found.source, "the line has no id and title of an issue", line))
            continue
        issue = _Issue(
            id=cut(name, 80),
            title=title,
            status=text_of(item.get("status")).lower() or "open",
            type=word_of(text_of(item.get("issue_type")) or "task"),
            line=line,
            updated_at=text_of(item.get("updated_at")),
            fields=item,
            labels=tuple(one_line(text_of(label)) for label in as_list(item.get("labels")) if text_of(label)),
        )
        # After a merge an issue may stand there twice.
        if name not in issues or issues[name].updated_at <= issue.updated_at:
            issues[name] = issue
    return issues


def _add_memory(found: StructuredCollector, item: dict[str, Any], line: int) -> None:
    """A memory: a key with a value, or an issue of the kind `memory`, whose form its program has not settled yet."""
    if one_line(text_of(item.get("lifecycle") or item.get("status"))).lower() in _NOT_VALID:
        found.skipped += 1
        return
    key, title = one_line(text_of(item.get("key"))), one_line(text_of(item.get("title")))
    said = next(filter(None, (text_of(item.get(name)) for name in ("value", "content", "body", "description"))), "")
    value = " ".join(filter(None, (sentence(title) if title and said else title, said)))
    if value and found.may_pass(f"{key}\n{value}", line):
        found.fact("Patterns & Conventions", value, [key] if 0 < len(key) <= 40 else [], line)


def _is_kept(found: StructuredCollector, issue: _Issue) -> bool:
    """Whether an issue says something for tomorrow. What does not is counted; what may not be kept is reported."""
    is_over = issue.status == "closed"
    reason = text_of(issue.fields.get("close_reason"))
    kind = _kind(issue)
    if (
        issue.status in _GONE
        or issue.type in _MACHINERY
        or issue.fields.get("ephemeral") is True
        or issue.fields.get("is_template") is True
        or (is_over and (kind not in ("feature", "decision") or _DUPLICATE.search(reason)))
        or (is_over and kind == "decision" and _DROPPED.search(reason))
    ):
        found.skipped += 1
        return False
    return found.may_pass("\n".join([issue.title, *(text for _, text in _texts(issue)), *issue.labels]), issue.line)


def _kind(issue: _Issue) -> str:
    """The kind of node that an issue becomes; empty for a step that is to be done."""
    words = {issue.type, *map(word_of, issue.labels)}
    if not words.isdisjoint(_QUESTIONS):
        return "question"
    if not words.isdisjoint(_DECISIONS):
        return "decision"
    # Every bug is an issue; only a label says that it is one to know of.
    if any(is_gotcha(label) and word_of(label) not in ("bug", "issue") for label in issue.labels):
        return "gotcha"
    return "feature" if issue.type in _FEATURES else ""


def _order(issue: _Issue) -> tuple[bool, int, int]:
    priority = issue.fields.get("priority")
    return issue.status == "closed", priority if isinstance(priority, int) else 2, issue.line


def _texts(issue: _Issue) -> list[tuple[str, str]]:
    names = (
        ("", "description"),
        ("Design", "design"),
        ("Done when", "acceptance_criteria"),
        ("Notes", "notes"),
        ("Outcome", "close_reason"),
    )
    return [(said, text) for said, name in names if (text := text_of(issue.fields.get(name)))]


# -- nodes ----------------------------------------------------------------------------------------


def _node_ids(issues: dict[str, _Issue]) -> dict[str, str]:
    """The ids of the nodes by those of the issues; of two that are called the same, the second has both names."""
    ids: dict[str, str] = {}
    taken: set[str] = set()
    for name, issue in issues.items():
        kind = _kind(issue)
        if kind:
            wanted = node_id(kind, issue.title)
            ids[name] = node_id(kind, f"{issue.title} {name}") if wanted in taken else wanted
            taken.add(ids[name])
    return ids


def _add_node(found: StructuredCollector, issue: _Issue, kind: str, ids: dict[str, str], root: str) -> None:
    texts = [f"{said}: {text}" if said else text for said, text in _texts(issue)]
    body = shortened("\n\n".join(texts) or sentence(issue.title), BODY_CHARS)
    more: dict[str, Any] = {"id": ids[issue.id], "tags": ["beads", *issue.labels[:_LABELS_MOST]]}
    if kind == "feature":
        more["stage"] = _stage(issue)
    more["anchors"] = code_paths("\n".join(texts), root)
    more["related"] = _related(issue, ids)
    found.node(kind, issue.title, body, issue.line, **more)


def _stage(issue: _Issue) -> str:
    if issue.status == "closed" and _DROPPED.search(text_of(issue.fields.get("close_reason"))):
        return "dead"
    # A status that a team made up lies between the beginning and the end.
    return _STAGES.get(issue.status, "building")


def _related(issue: _Issue, ids: dict[str, str]) -> list[dict[str, str]]:
    related: dict[tuple[str, str], None] = {}
    for predicate, target in _dependencies(issue):
        predicate = _PREDICATES.get(predicate, "")
        if predicate and target in ids and ids[target] != ids[issue.id]:
            related[predicate, ids[target]] = None
    return [{"predicate": predicate, "to": target} for predicate, target in related]


def _dependencies(issue: _Issue) -> list[tuple[str, str]]:
    return [
        (text_of(item.get("type")).lower() or "blocks", target)
        for item in as_list(issue.fields.get("dependencies"))
        if isinstance(item, dict) and (target := one_line(text_of(item.get("depends_on_id"))))
    ]


# -- next steps -----------------------------------------------------------------------------------


def _step(issue: _Issue, issues: dict[str, _Issue]) -> str:
    """`bd-7 (bug, P1, in progress): Fix the lock. It stays after a crash. Waits for bd-3.`"""
    priority = issue.fields.get("priority")
    marks = [issue.type]
    if isinstance(priority, int) and not isinstance(priority, bool):
        marks.append(f"P{priority}")
    if issue.status != "open":
        marks.append(issue.status.replace("_", " "))
    parts = [f"{issue.id} ({', '.join(marks)}): {sentence(issue.title)}"]
    description = cut(first_sentence(text_of(issue.fields.get("description"))), _NOTE_CHARS)
    if description and description.rstrip(".").lower() != issue.title.rstrip(".").lower():
        parts.append(sentence(description))
    waits = [name for kind, name in _dependencies(issue) if kind == "blocks" and name in issues and name != issue.id]
    if waits:
        parts.append(f"Waits for {', '.join(dict.fromkeys(waits))}.")
    return " ".join(parts)
