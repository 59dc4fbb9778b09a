"""Vocabularies, instants, text, tokens, refs, anchors."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each
from quire.model.anchors import anchor_fault, normal_anchor
from quire.model.errors import InputError
from quire.model.refs import parse_ref
from quire.model.text import cut, first_sentence, has_front_matter, one_line, plain_newlines, trim
from quire.model.times import instant, is_timestamp, stamp, timestamp
from quire.model.tokens import count_tokens
from quire.model.vocabulary import live_status, statuses_of


def test_questions_have_statuses_of_their_own() -> None:
    assert live_status("question") == "open"
    assert live_status("feature") == "active"
    assert "closed" in statuses_of("question")
    assert "closed" not in statuses_of("decision")


def test_timestamps_are_written_in_utc_to_the_second() -> None:
    moment = datetime(2026, 3, 2, 16, 49, 0, 123456, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    assert timestamp(moment) == "2026-03-02T11:19:00+00:00"
    assert stamp(moment) == "20260302T111900Z"


def test_instants_compare_across_time_zones_and_spellings() -> None:
    same = [
        "2026-03-02T11:19:00+00:00",
        "2026-03-02T11:19:00Z",
        "2026-03-02T16:49:00+05:30",
        "2026-03-02T11:19:00.000000000Z",
    ]
    assert len({instant(text) for text in same}) == 1
    assert instant("yesterday") is None
    assert instant("2026-03-02T11:19:00") == datetime(2026, 3, 2, 11, 19, tzinfo=UTC)
    assert not is_timestamp("2026-02-30T11:19:00Z")


@pytest.mark.parametrize(
    ("text", "said", "name"),
    [
        ("9999-12-31T23:59:59-12:00", "9999-12-31T23:59:59+00:00", "99991231T235959Z"),
        ("0001-01-01T00:00:00+12:00", "0001-01-01T00:00:00+00:00", "10101T000000Z"),
    ],
)
def test_a_moment_beyond_all_days_in_utc_is_the_last_or_the_first_there_is(text: str, said: str, name: str) -> None:
    moment = instant(text)
    assert moment is not None
    assert timestamp(moment) == said
    assert stamp(moment).lstrip("0") == name


@given(st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(2200, 1, 1), timezones=st.just(UTC)))
def test_every_timestamp_we_write_is_read_back(moment: datetime) -> None:
    assert instant(timestamp(moment)) == moment.replace(microsecond=0)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("# Title\n\nOne sentence. Another.", "One sentence."),
        ("no end", "no end"),
        ("Wrapped\nover lines! Then more.", "Wrapped over lines!"),
        ("日本語です。次の文。", "日本語です。"),
        ("", ""),
        ("Version 1.2 is out. Yes.", "Version 1.2 is out."),
    ],
)
def test_the_first_sentence_leaves_headings_out(body: str, sentence: str) -> None:
    assert first_sentence(body) == sentence


def test_text_is_trimmed_and_cut() -> None:
    assert trim("\ufeff\u00a0 x \u2028") == "x"
    assert plain_newlines("\ufeffa\r\nb\rc") == "a\nb\nc"
    assert one_line(" a\n\tb ") == "a b"
    assert cut("abcdef", 4) == "abc…"
    assert cut("abcd", 4) == "abcd"


def test_front_matter_is_a_closed_block_at_the_top() -> None:
    assert has_front_matter("---\ntitle: x\n---\nbody")
    assert has_front_matter("---\nx: 1\n...\n")
    assert not has_front_matter("---\n\njust a rule")
    assert not has_front_matter("text\n---\n---\n")


@given(st.text())
def test_tokens_are_counted_without_fail_and_grow_with_the_text(text: str) -> None:
    assert 0 <= count_tokens(text) <= len(text) * 2
    assert count_tokens(text + "abcd") >= count_tokens(text)


def test_wide_scripts_count_more_than_ascii() -> None:
    assert count_tokens("abcd") == 1
    assert count_tokens("東京") == 2


@pytest.mark.parametrize(
    ("text", "layer", "shown"),
    [
        ("feature.retry-queue", "graph", "feature.retry-queue"),
        ("fact:Ab3", "facts", "fact:Ab3"),
        ("profile:user.timezone", "profile", "profile:user.timezone"),
        ("checkpoint:2026", "journal", "checkpoint:2026"),
    ],
)
def test_a_ref_names_a_record_of_any_layer(text: str, layer: str, shown: str) -> None:
    ref = parse_ref(text)
    assert ref.layer == layer
    assert str(ref) == shown


@pytest.mark.parametrize("text", ["", "nonsense", "fact:", "../etc/passwd", "unknown:thing", "Feature.X"])
def test_what_is_no_ref_is_refused_with_the_forms_that_are(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_ref(text)
    assert "kind.slug" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("given_", "stored"),
    [
        ("./src/queue/", "src/queue/"),
        ("src/./cli//x.py", "src/cli/x.py"),
        (" src/**/*.ts ", "src/**/*.ts"),
        ("src/[slug]/page.tsx", "src/[slug]/page.tsx"),
        ("src/app.py#Queue.push", "src/app.py#Queue.push"),
        ("dépôt/fichier é.txt", "dépôt/fichier é.txt"),
    ],
)
def test_anchors_are_stored_in_one_form(given_: str, stored: str) -> None:
    assert anchor_fault(given_) is None
    assert normal_anchor(given_) == stored


@each(
    "anchor",
    [
        "",
        " ",
        ".",
        "./",
        "/etc",
        "~/x",
        "C:/x",
        "../x",
        "a/../../b",
        "a\\b",
        "a\0b",
        "https://x.org/y",
        ".memory",
        ".memory/x",
    ],
)
def test_anchors_that_leave_the_repository_are_refused(anchor: str) -> None:
    assert anchor_fault(anchor)
