"""Targets: what a review and a fold read of branches."""

from __future__ import annotations

from fuzz_engine import Target
from fuzz_yard import as_text

from quire.layers.journal.fold import folded_history
from quire.model.errors import InvalidConfig
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


TARGETS = (
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
