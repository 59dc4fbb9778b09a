"""Targets: what a review and a fold read of branches."""

from __future__ import annotations

from fuzz_engine import Target
from fuzz_yard import as_text

from quire.capture.history.messages import title_of, told_by
from quire.layers.fragment_records import read_changes, taken_in
from quire.layers.journal.fold import folded_history
from quire.layers.journal.merge import SOURCE_RULES
from quire.layers.profile.merge import ENTRY_RULES
from quire.layers.table import layer_of_file
from quire.model.errors import InvalidConfig, QuireError
from quire.upkeep.merge.conflicts import split_conflict
from quire.upkeep.merge.shared_files import merge_shared
from quire.upkeep.review.leaks import secrets_brought
from quire.upkeep.review.owners import read_owners
from quire.upkeep.review.policy import levels_of, waivers_in

__all__ = ["TARGETS"]

_EVENT = (
    b'{"id":"evt-000001","schemaVersion":1,"createdAt":"2026-03-01T10:00:00Z","kind":"decision","summary":"Use Redis",'
    b'"sourceId":"a","contentHash":"x","links":[],"tags":[]}\n'
)


def _owners(data: bytes) -> object:
    places = ("CODEOWNERS", ".gitlab/CODEOWNERS")
    found = [read_owners(place, data) for place in places]
    return [rules.of(file) for rules in found for file in ("src/a.py", "docs/a b.md", "#x", "a/\nb")]


def _policy(data: bytes) -> object:
    return levels_of(data, b"{}", "config.json")


def _history(data: bytes) -> object:
    before, _, joined = data.partition(b"\0")
    folded = folded_history(before, joined, [])
    assert folded.startswith(before), "a line of the history changed"
    assert folded_history(folded, joined, []) == folded, "folding twice is not folding once"
    return folded


_MERGED = (
    ".memory/facts.jsonl",
    ".memory/events.jsonl",
    ".memory/config.json",
    ".memory/memory/a.json",
    ".memory/memory/a.md",
    ".memory/relations/a.json",
    ".agent-memory/state.json",
    ".agent-memory/history/events.jsonl",
    ".ai-state/memory.json",
)


def _merge(data: bytes) -> object:
    """The same bytes as a file of each layer: what comes out does not depend on which side is ours."""
    base, _, sides = data.partition(b"\0")
    ours, _, theirs = sides.partition(b"\0")
    found = []
    for path in _MERGED:
        layer = layer_of_file(path)
        assert layer is not None, path
        try:
            merged = layer.merge(path, base or None, ours, theirs)
        except (QuireError, ValueError):
            continue
        found.append(merged)
    return found


def _shared(data: bytes) -> object:
    base, _, sides = data.partition(b"\0")
    ours, _, theirs = sides.partition(b"\0")
    return [merge_shared(path, base, ours, theirs) for path in ("AGENTS.md", ".mcp.json")]


_CHANGE = (
    b'{"name":["user","editor"],"was":null,"now":{"value":"vim","created_at":"2026-03-01T10:00:00Z",'
    b'"updated_at":"2026-03-01T10:00:00Z"}}\n'
)


def _changes(data: bytes) -> object:
    """The lines of a fragment, taken in by the rules of each layer that has fragments of records."""
    changes, unread = read_changes(data)
    found = [taken_in({}, changes, rules) for rules in (ENTRY_RULES, SOURCE_RULES)]
    for records in found:
        assert records.keys() == {change.name for change in changes}, "a change of a record is lost"
    return found, unread


TARGETS = (
    Target(
        "changes-of-branches",
        _changes,
        lambda: [
            _CHANGE + _CHANGE.replace(b"vim", b"emacs"),
            b'{"name":["a"],"was":"5feceb66","now":null}\n{"name":["a"],"was":{"v":1},"now":{"v":2}}\n',
        ],
        "layers.fragment_records",
    ),
    Target(
        "merges",
        _merge,
        lambda: [
            b"a\n\nb\n\0a\n\nc\n\0d\n\nb\n",
            b'{"id":"feature.a","title":"A","tags":["x"]}\0{"id":"feature.a","title":"B"}\0{"id":"feature.a","tags":[]}',
            b"\0" + _EVENT + b"\0" + _EVENT.replace(b"Redis", b"Postgres"),
        ],
        "layers.facts.merge layers.graph.merge layers.graph.merge_beside layers.graph.merge_body layers.journal.merge",
        cost=4,
    ),
    Target(
        "conflict-marks",
        split_conflict,
        lambda: [b"a\n<<<<<<< HEAD\nb\n||||||| 1\nc\n=======\nd\n>>>>>>> x\ne\n", b"<<<<<<< a\n=======\n>>>>>>> b\n"],
        "upkeep.merge.conflicts",
    ),
    Target(
        "merges-of-shared-files",
        _shared,
        lambda: [
            b'{"mcpServers":{}}\0{"mcpServers":{"a":{}}}\0{"mcpServers":{"b":{}}}',
            b"a\n<!-- memory:map:start -->\nx\n<!-- memory:map:end -->\n\0b\0c",
        ],
        "upkeep.merge.shared_files",
    ),
    Target(
        "history-messages",
        as_text(lambda text: (told_by(text), title_of(text[:200]))),
        lambda: [b"fix(api): retry (#12)\n\nUse a queue instead of a thread, because two workers write at once.\n"],
        "capture.history.messages",
    ),
    Target(
        "owners",
        _owners,
        lambda: [
            b"# all\n* @a @org/b\n/docs/ c@d.ef # more\n*.py\n\\#x @a\ndocs/a\\ b.md @b\n**/x/** @c\n",
            b"[One][2] @a\n*.py @b\n^[Two]\nsrc/ @@dev\n!src/a.py\n",
        ],
        "upkeep.review.owners",
        most=2000,
    ),
    Target(
        "review-levels",
        _policy,
        lambda: [b'{"review":{"M203":"block","M101":"off"}}'],
        "upkeep.review.policy",
        (InvalidConfig,),
    ),
    Target(
        "waivers",
        as_text(lambda text: waivers_in([("0" * 40, text)])),
        lambda: [b"Fix\n\nMemory-Exempt: M201 only moved\nmemory-exempt:M999\n"],
        "upkeep.review.policy",
    ),
    Target(
        "secrets-brought",
        lambda data: list(secrets_brought(".memory/memory/a.json", b"{}", data)),
        lambda: [b'{"title":"a","body":"password = hunter2hunter2"}', b"token: x\n"],
        "upkeep.review.leaks",
    ),
    Target(
        "fold-history",
        _history,
        lambda: [_EVENT + b"\0" + _EVENT.replace(b"Redis", b"Postgres"), b"\0" + _EVENT + b"{}\n"],
        "layers.journal.fold",
    ),
)
