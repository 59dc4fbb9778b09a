"""What may be written: every rule at its edges, and what is said where it is broken."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each
from quire.layers.profile import rules
from quire.model.errors import InputError, SecretDetected

KEY = "AKIA" + "Z7Q2M4X9P1L5K8W3"
CATEGORIES = ["user", "assistant", "project", "relationships", "tools", "learnings"]


def refused(work: Callable[[], Any], kind: type[InputError] = InputError) -> InputError:
    """The error, which says what to do, and names the field."""
    with pytest.raises(kind) as caught:
        work()
    error = caught.value
    assert error.message.endswith(".")
    assert error.hint
    assert error.details["field"]
    return error


# -- closed sets ----------------------------------------------------------------------------

SETS: dict[str, tuple[Callable[[str], str], list[str]]] = {
    "category": (rules.allowed_category, CATEGORIES),
    "status": (rules.allowed_status, ["active", "archived", "superseded"]),
    "source": (rules.allowed_source, ["session", "user-stated", "inferred", "codebase"]),
    "relation": (
        rules.allowed_relation,
        ["supersedes", "elaborates", "contradicts", "related-to", "depends-on"],
    ),
}


@pytest.mark.parametrize("field", SETS)
def test_words_of_a_closed_set(field: str) -> None:
    allowed, words = SETS[field]
    assert [allowed(word) for word in words] == words
    for wrong in ("", "novel", words[0].upper(), f" {words[0]}", words[0] + "s", "\x00", "x" * 5000):
        error = refused(lambda wrong=wrong: allowed(wrong))  # type: ignore[misc]
        assert error.details == {"field": field, "allowed": words}
        assert f"Unknown {field} `" in error.message
        assert error.hint is not None
        assert error.hint.endswith(f"Use one of {', '.join(words)}.")
        assert len(error.message) < 80


@pytest.mark.parametrize(
    ("field", "given", "meant"),
    [
        ("category", "User", "user"),
        ("category", " tools ", "tools"),
        ("relation", "depends_on", "depends-on"),
        ("relation", "Related To", "related-to"),
        ("source", "USER_STATED", "user-stated"),
        ("status", "Archived", "archived"),
    ],
)
def test_what_was_meant_is_said(field: str, given: str, meant: str) -> None:
    error = refused(lambda: SETS[field][0](given))
    assert error.hint is not None
    assert error.hint.startswith(f"Did you mean `{meant}`? ")


# -- keys and names -------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["a", "package_manager", "kebab-case", "0", "_", "-", "a1_b-2", "k" * 128])
def test_keys_that_may_be_new(key: str) -> None:
    assert rules.allowed_key(key) == key


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("Package Manager", "`package_manager`"),
        ("größe", "`gr_e`"),
        ("a.b", "`a_b`"),
        (" a", "`a`"),
        ("a\n", "`a`"),
        ("UPPER", "`upper`"),
        ("a/b", "`a_b`"),
        ("日本", "package_manager"),
        ("...", "package_manager"),
        ("a\x00b", "`a_b`"),
        ("é", "package_manager"),
    ],
)
def test_keys_that_may_not(key: str, hint: str) -> None:
    error = refused(lambda: rules.allowed_key(key))
    assert error.details["field"] == "key"
    assert "lowercase letters, digits, `_` and `-` only" in error.message
    assert error.hint is not None
    assert hint in error.hint


def test_keys_have_a_length() -> None:
    assert "`key` is empty" in refused(lambda: rules.allowed_key("")).message
    error = refused(lambda: rules.allowed_key("k" * 129))
    assert "129 characters; the limit is 128" in error.message
    assert error.details == {"field": "key", "maximum": 128}
    assert len(refused(lambda: rules.allowed_key("K" * 100_000)).message) < 200


@given(st.text(max_size=20))
def test_a_key_is_refused_or_of_the_form_that_is_documented(text: str) -> None:
    try:
        assert rules.allowed_key(text) == text
    except InputError as error:
        hint = error.hint or ""
        assert not re.fullmatch(r"[a-z0-9_-]{1,128}", text)
        written = re.fullmatch(r"Write it as `(.*)`\.", hint)
        if written:
            assert rules.allowed_key(written.group(1)) == written.group(1)
    else:
        assert re.fullmatch(r"[a-z0-9_-]{1,128}", text)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("user.timezone", ("user", "timezone")),
        ("profile:user.timezone", ("user", "timezone")),
        (" user.timezone\n", ("user", "timezone")),
        ("user.time.zone", ("user", "time.zone")),
        ("novel.Größe", ("novel", "Größe")),
    ],
)
def test_names_of_entries(name: str, found: tuple[str, str]) -> None:
    assert rules.allowed_name(name, "target") == found


@pytest.mark.parametrize("name", ["", "user", ".x", "user.", ".", "profile:", "profile:user", "x" * 9000])
def test_names_of_nothing(name: str) -> None:
    error = refused(lambda: rules.allowed_name(name, "target"))
    assert "is not the name of a record" in error.message
    assert error.details == {"field": "target"}
    assert len(error.message) < 100


# -- texts ----------------------------------------------------------------------------------


def test_values_of_any_language_are_kept_to_the_letter() -> None:
    for text in (
        "a",
        "東京",
        "مرحبا",
        "👩‍👩‍👧",
        "cafe\u0301",
        "two\nlines\twith a tab",
        "x" * 500,
        "\\u00f6",
        '"',
        "-",
    ):
        assert rules.allowed_value(text) == (text, [])
    assert rules.allowed_value("  padded \n") == ("padded", [])


def test_long_values_are_kept_with_a_word_about_it() -> None:
    value, warnings = rules.allowed_value("x" * 501)
    assert value == "x" * 501
    (warning,) = warnings
    assert (warning.code, warning.severity, warning.field) == ("ProfileValueLong", "warning", "value")
    assert "501 characters; under 500" in warning.message
    assert rules.allowed_value("x" * 100_000)[0] == "x" * 100_000
    error = refused(lambda: rules.allowed_value("x" * 100_001))
    assert "100,001 characters; the limit is 100,000" in error.message
    assert error.details == {"field": "value", "maximum": 100_000}


@pytest.mark.parametrize("text", ["", "   ", "\n\t "])
def test_nothing_is_no_value(text: str) -> None:
    assert refused(lambda: rules.allowed_value(text)).message == "`value` is empty."
    assert refused(lambda: rules.allowed_detail(text)).message == "`detail` is empty."


@pytest.mark.parametrize("char", ["\x00", "\x1b", "\x07", "\u202e", "\u2066", "\ud800", "\U000e0041", "\ufffe"])
def test_characters_that_deceive(char: str) -> None:
    for work, field in (
        (lambda: rules.allowed_value(f"a{char}b"), "value"),
        (lambda: rules.allowed_detail(f"a{char}b"), "detail"),
        (lambda: rules.allowed_tags([f"a{char}b"]), "tags"),
    ):
        error = refused(work)
        assert error.details["field"] == field
        assert char not in error.message.replace(f"a{char}b", "")
    assert f"U+{ord(char):04X}" in refused(lambda: rules.allowed_value(f"a{char}b")).message


def test_credentials_are_not_written() -> None:
    for work, field in (
        (lambda: rules.allowed_value(f"the key is {KEY}"), "value"),
        (lambda: rules.allowed_detail(KEY), "detail"),
    ):
        error = refused(work, SecretDetected)
        assert KEY not in error.message
        assert error.details == {"field": field}
        assert "Nothing was written" in (error.hint or "")


def test_details_are_one_line() -> None:
    assert rules.allowed_detail(" src/app.py ") == ("src/app.py", [])
    assert rules.allowed_detail("x" * 2_000)[0] == "x" * 2_000
    assert "line break" in refused(lambda: rules.allowed_detail("a\nb")).message
    assert refused(lambda: rules.allowed_detail("x" * 2_001)).details == {"field": "detail", "maximum": 2_000}


# -- tags -----------------------------------------------------------------------------------


def test_tags_are_sorted_and_each_is_there_once() -> None:
    assert rules.allowed_tags(["b", "a", "b", "user-facing", "c++", "größe", "2"]) == [
        "2",
        "a",
        "b",
        "c++",
        "größe",
        "user-facing",
    ]
    assert rules.allowed_tags([]) == []
    assert rules.allowed_tags(["x" * 49]) == ["x" * 49]
    assert len(rules.allowed_tags(map(str, range(64)))) == 64


@each(
    ("tag", "said", "hint"),
    [
        ("", "is empty", "short word"),
        ("x" * 50, "has 50 characters; the limit is 49", "short word"),
        ("Personal", "must be lowercase", "`personal`"),
        ("two words", "must be lowercase, its words joined by hyphens", "`two-words`"),
        ("two_words", "joined by hyphens", "`two-words`"),
        ("a,b", "joined by hyphens", "several tags one by one"),
        (" a", "joined by hyphens", "`a`"),
        ("-a-", "joined by hyphens", "`a`"),
        ("a\tb", "joined by hyphens", "`a-b`"),
        ("a\u00a0b", "joined by hyphens", "`a-b`"),
        ("  ", "joined by hyphens", "short word"),
        ("GRÖSSE", "must be lowercase", "`grösse`"),
    ],
)
def test_tags_of_another_form(tag: str, said: str, hint: str) -> None:
    error = refused(lambda: rules.allowed_tags(["fine", tag]))
    assert error.details == {"field": "tags"}
    assert said in error.message
    assert error.hint is not None
    assert hint in error.hint


def test_there_are_not_endless_tags() -> None:
    error = refused(lambda: rules.allowed_tags(map(str, range(65))))
    assert error.details == {"field": "tags", "maximum": 64}
    assert "65 tags are given; the limit is 64" in error.message


@given(st.lists(st.text(max_size=12), max_size=4))
def test_tags_are_refused_or_of_the_form_that_is_documented(tags: list[str]) -> None:
    try:
        found = rules.allowed_tags(tags)
    except InputError as error:
        meant = re.fullmatch(r"Write it as `(.*)`\.", error.hint or "")
        if meant and meant.group(1).isprintable():
            assert rules.allowed_tags([meant.group(1)]) == [meant.group(1)]
        return
    assert found == sorted(set(tags))
    for tag in found:
        assert tag == tag.lower()
        assert not re.search(r"\s", tag)
        assert 0 < len(tag) < 50


# -- numbers --------------------------------------------------------------------------------


def test_importance() -> None:
    assert [rules.allowed_importance(number) for number in range(1, 11)] == list(range(1, 11))
    for number in (0, 11, -1, 10**30):
        error = refused(lambda number=number: rules.allowed_importance(number))  # type: ignore[misc]
        assert error.details == {"field": "importance", "minimum": 1, "maximum": 10}
        assert "from 1 to 10" in error.message


def test_confidence() -> None:
    assert [rules.allowed_confidence(number) for number in (0, 1, 0.0, 0.35, 1.0)] == [0.0, 1.0, 0.0, 0.35, 1.0]
    assert type(rules.allowed_confidence(1)) is float
    for number in (-0.01, 1.01, math.nan, math.inf, -math.inf, 42):
        error = refused(lambda number=number: rules.allowed_confidence(number))  # type: ignore[misc]
        assert error.details == {"field": "confidence", "minimum": 0, "maximum": 1}
        assert "from 0 to 1" in error.message
