"""Ids, slugs and file names."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promised import proves
from quire.files.digests import hex_digest
from quire.model import limits
from quire.model.ids import ID_PATTERN, file_stems, is_id, relation_stem, slugify, title_from_slug


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Webhook retry queue", "webhook-retry-queue"),
        ("Café Lumière", "cafe-lumiere"),
        ("ﬁne İstanbul Ⅳ ½ ℃", "fine-istanbul-iv-1-2-degc"),
        ("It's “quoted”", "its-quoted"),
        ("Привет, мир", "privet-mir"),
        ("  --  edges --  ", "edges"),
        ("C++ & C#", "c-c"),
    ],
)
def test_a_title_becomes_a_slug_that_a_reader_recognises(title: str, slug: str) -> None:
    assert slugify(title, hex_digest) == slug


@pytest.mark.parametrize("title", ["東京の請求書", "مرحبا بالعالم", "Ω ωμέγα", "☕", "한국어 제목"])
def test_scripts_without_ascii_letters_are_transliterated_not_dropped(title: str) -> None:
    slug = slugify(title, hex_digest)
    assert not slug.startswith("untitled")
    assert is_id(f"feature.{slug}")


def test_a_title_with_nothing_to_read_gets_a_stable_name_of_its_own() -> None:
    assert slugify("!!!", hex_digest) == slugify("!!!", hex_digest)
    assert slugify("!!!", hex_digest) != slugify("???", hex_digest)
    assert slugify("!!!", hex_digest).startswith("untitled-")


@proves("P1.5", "C14", over="graph")
def test_a_long_title_is_cut_between_words() -> None:
    slug = slugify("word " * 100, hex_digest)
    assert len(slug) <= limits.SLUG_CHARS
    assert slug.endswith("word")
    assert len(slugify("x" * 5000, hex_digest)) == limits.SLUG_CHARS


@given(st.text(max_size=400))
def test_every_title_makes_a_legal_id(title: str) -> None:
    assert re.fullmatch(ID_PATTERN.strip("^$"), f"feature.{slugify(title, hex_digest)}")


@pytest.mark.parametrize(
    "text",
    ["", "feature", "feature.", ".x", "Feature.x", "feature.X", "feature.-x", "feature.x\n", "a.b.c", "feature.é"],
)
def test_what_is_not_an_id_is_told_from_one(text: str) -> None:
    assert not is_id(text)


def test_file_names_keep_two_kinds_of_one_slug_apart() -> None:
    assert file_stems("feature.retry") == ("retry", "feature.retry")
    assert set(file_stems("decision.retry")) & set(file_stems("feature.retry")) == {"retry"}


@proves("P1.5", "C13", over="graph")
@pytest.mark.parametrize("name", ["con", "aux", "nul", "com1", "lpt9"])
def test_names_that_windows_reserves_are_never_used_bare(name: str) -> None:
    assert file_stems(f"feature.{name}") == (f"feature.{name}",)


def test_a_relation_is_named_after_what_it_joins() -> None:
    stem = relation_stem("feature.retry-queue", "depends_on", "feature.worker", hex_digest)
    assert stem == "feature-retry-queue-depends-on-feature-worker"


def test_a_long_relation_name_is_cut_and_stays_unique() -> None:
    source = "feature." + "a" * 150
    first = relation_stem(source, "affects", "feature." + "b" * 150, hex_digest)
    second = relation_stem(source, "affects", "feature." + "b" * 149 + "c", hex_digest)
    assert len(first) <= limits.RELATION_STEM_CHARS
    assert first != second


def test_a_slug_reads_as_a_name() -> None:
    assert title_from_slug("harbor-invoices") == "Harbor Invoices"
