"""When two texts are the same fact, and two names the same relation."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import REAL, needs_real

from quire.layers.facts.content import (
    _BLANKS,
    _without_dash,
    clean_content,
    content_hash,
    normal_relation,
    normal_text,
)
from quire.layers.facts.layout import RELATIONS
from quire.model.text import trim


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Uses SQLite WAL", "uses sqlite wal"),
        ("-Uses SQLite WAL", "uses sqlite wal"),
        ("-   Uses   SQLite\tWAL", "uses sqlite wal"),
        ("  - x", "- x"),
        ("--flag is set", "-flag is set"),
        ("\ufeffUses\u00a0SQLite\u2003WAL\ufeff", "uses sqlite wal"),
        ("a\ufeffb", "a b"),
        ("a\x1cb\x85c", "a\x1cb\x85c"),
        ("a\u200bb", "a\u200bb"),
        ("", ""),
        ("- ", ""),
    ],
)
def test_the_normal_text_follows_the_original_rule(text: str, normal: str) -> None:
    assert normal_text(text) == normal


def test_the_digest_is_sixteen_digits_of_the_normal_text() -> None:
    assert content_hash("- Uses  SQLite WAL") == "cf4d96e1bcf5db2f"


def test_the_content_is_stored_without_dash_and_blanks() -> None:
    assert clean_content("-  Keep This \n") == "Keep This"


@given(st.text())
def test_the_short_way_gives_the_same_as_the_long_one(text: str) -> None:
    assert normal_text(text) == _BLANKS.sub(" ", trim(_without_dash(text)).lower())


@given(st.text(alphabet="aB -\t\n\ufeff\u2003é"))
def test_a_relation_has_one_name(text: str) -> None:
    assert normal_relation(normal_relation(text)) == normal_relation(text)


def test_relations_in_any_spelling() -> None:
    for text in ("Depends on", "depends-on", " DEPENDS_ON ", "depends - on"):
        assert normal_relation(text) == "depends_on"
    assert all(normal_relation(name) == name for name in RELATIONS)
    assert normal_relation(" - ") == ""


@needs_real
def test_every_golden_digest() -> None:
    rows = json.loads((REAL / "golden" / "content-hash.json").read_text(encoding="utf-8"))["rows"]
    assert len(rows) == 20
    for row in rows:
        assert (normal_text(row["input"]), content_hash(row["input"])) == (row["normalised"], row["hash"])


@needs_real
def test_every_digest_of_the_real_file() -> None:
    lines = (REAL / "omegon-history" / "38_2026-03-18_78ad3cd6.jsonl").read_text(encoding="utf-8").split("\n")
    facts = [record for record in map(json.loads, filter(None, lines)) if record["_type"] == "fact"]
    assert len(facts) == 1797
    assert [fact["id"] for fact in facts if content_hash(fact["content"]) != fact["content_hash"]] == []
