"""The history: every line is an event or is set aside with a reason, and none is ever lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journaling import event, needs_real, real_files

from cases import each
from quire.layers.journal.events import History, appended_bytes, encode_event, history_bytes, read_history
from quire.layers.journal.numbered_ids import allocate_ids, moment_of, next_checkpoint_id, numbered_id, ordinal_of

LINE = encode_event(event(1, decisions=["Cents."], key_paths=["src/a.py"], summary="Ünï \u2028 \ud83d"))
LOG = b"".join(encode_event(event(number, gotchas=[f"Trap {number}: é"])) + b"\n" for number in range(1, 6))


def _changed(**fields: Any) -> bytes:
    value = {**json.loads(encode_event(event(7))), **fields}
    return json.dumps({name: item for name, item in value.items() if item is not ...}).encode()


def test_a_line_has_its_keys_in_their_order() -> None:
    assert LINE.decode() == (
        '{"id":"evt-000001","kind":"imported_session","sourceId":"sessions","externalItemId":"s1",'
        '"createdAt":"2026-01-01T00:00:00.000Z","contentHash":"' + "0" * 64 + '","summary":"Ünï \u2028 \\ud83d",'
        '"signals":{"decisions":["Cents."],"gotchas":[],"nextStepHints":[],"keyPaths":["src/a.py"],'
        '"validationObservations":[]},"sourceRef":"../home/1.jsonl"}'
    )
    assert [line.event for line in read_history(LINE + b"\n").lines] == [
        event(1, decisions=["Cents."], key_paths=["src/a.py"], summary="Ünï \u2028 \ud83d")
    ]


@needs_real
def test_every_real_event_is_read_and_written_as_it_was() -> None:
    events = 0
    for path in real_files("events.jsonl"):
        data = path.read_bytes()
        history = read_history(data)
        assert history.problems == [], path
        assert [encode_event(one) for one in history.events] == [line.raw for line in history.lines]
        assert history_bytes(history.lines) == data
        events += len(history.events)
    assert events > 500


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        (
            b"{",
            "JsonInvalid",
            "The line is not JSON: Expecting property name enclosed in double quotes, line 1, column 2.",
        ),
        (b'"\xff"', "NotUtf8", "The line is not JSON: not UTF-8 text (byte 1)."),
        (b"[" * 70 + b"]" * 70, "JsonInvalid", "The line is not JSON: nested too deeply: the limit is 64 levels."),
        (b"null", "EventInvalid", "event must be an object."),
        (b"<<<<<<< ours", "ConflictMarker", "A merge conflict mark; the lines of both sides are used."),
        (_changed(kind="note"), "EventInvalid", "event.kind must be one of: tool_run, imported_session."),
        (_changed(summary=" \ufeff"), "EventInvalid", "event.summary must be a non-empty string."),
        (_changed(externalItemId=""), "EventInvalid", "event.externalItemId must be a non-empty string."),
        (_changed(externalItemId=...), "EventInvalid", "event.externalItemId must be a non-empty string."),
        (
            _changed(signals=None, id=3),
            "EventInvalid",
            "event.id must be a non-empty string. event.signals must be an object.",
        ),
        (
            b'{"id":"evt-000009",' + b" " * 5_000 + b"}",
            "LineTooLong",
            "The line has 5,020 bytes; up to 4,000 are read.",
        ),
    ],
)
def test_a_line_that_is_no_event_is_set_aside_with_its_reason(line: bytes, code: str, message: str) -> None:
    history = read_history(LOG + line + b"\n" + LINE + b"\n", "log", most=4_000)
    assert len(history.events) == 6
    (aside,) = history.aside
    assert (aside.number, aside.raw, aside.event) == (6, line, None)
    assert [(one.code, one.message, one.path, one.line) for one in history.problems] == [(code, message, "log", 6)]
    assert history_bytes(history.lines) == LOG + line + b"\n" + LINE + b"\n"


def test_marks_of_editors_and_blank_lines_are_no_part_of_an_event() -> None:
    lines = LOG.splitlines()
    data = b"\xef\xbb\xbf" + b"\r\n\r\n".join(lines[:3]) + b"\r\n \t\n\xef\xbb\xbf" + lines[3] + b"\n\n" + lines[4]
    history = read_history(data)
    assert history.problems == []
    assert [line.raw for line in history.lines] == lines
    assert [line.number for line in history.lines] == [1, 3, 5, 7, 9]
    assert (history.is_torn, history.is_open) == (False, True)


def test_keys_that_nobody_knows_stay_in_their_line() -> None:
    line = _changed(mood="fine", signals={**json.loads(LINE)["signals"], "tone": ["dry"]})
    history = read_history(line + b"\n")
    assert [one.id for one in history.events] == ["evt-000007"]
    assert history_bytes(history.lines) == line + b"\n"


def test_what_is_appended_after_a_torn_line_stands_on_its_own() -> None:
    torn = LOG[:-40]
    history = read_history(torn)
    assert (len(history.events), history.is_torn, history.is_open) == (4, True, True)
    assert (history.problems[0].code, history.problems[0].line) == ("LineTorn", 5)
    after = read_history(torn + appended_bytes(history, [event(6), event(7)]))
    assert [one.id for one in after.events] == [numbered_id(n) for n in (1, 2, 3, 4, 6, 7)]
    assert [line.raw for line in after.aside] == [LOG.splitlines()[4][:-39]]
    assert after.problems[0].code == "JsonInvalid"


@pytest.mark.parametrize("data", [b"", b"\n", LOG, LOG[:-1]])
def test_appending_gives_the_events_in_their_order(data: bytes) -> None:
    history = read_history(data)
    assert appended_bytes(history, []) == b""
    after = read_history(data + appended_bytes(history, [event(8)]))
    assert after.events == [*history.events, event(8)]
    assert after.aside == []


@given(st.integers(0, len(LOG)))
def test_a_log_cut_anywhere_gives_all_whole_lines(size: int) -> None:
    history = read_history(LOG[:size])
    whole = LOG[:size].count(b"\n") + (LOG[size : size + 1] == b"\n")
    assert [one.id for one in history.events] == [numbered_id(n + 1) for n in range(whole)]
    assert history.is_torn == (bool(history.aside))
    after = read_history(LOG[:size] + appended_bytes(history, [event(9)]))
    assert after.events == [*history.events, event(9)]


@given(st.binary(max_size=200), st.integers(0, 5))
def test_bytes_of_any_kind_take_nothing_from_the_events_around_them(noise: bytes, place: int) -> None:
    lines = LOG.splitlines(keepends=True)
    data = b"".join(lines[:place]) + noise + b"\n" + b"".join(lines[place:])
    history = read_history(data)
    assert [one.id for one in history.events] == [numbered_id(n) for n in range(1, 6)]
    again = read_history(history_bytes(history.lines))
    assert [line.raw for line in again.lines] == [line.raw for line in history.lines]


# -- numbers -------------------------------------------------------------------------------------


@each(
    ("name", "number"),
    [
        ("evt-000042", 42),
        ("evt-7", 7),
        ("evt-1000000", 1_000_000),
        ("evt-", 0),
        ("evt-0042x", 0),
        ("evt-٤", 0),
        ("chk-000001", 0),
        ("odd", 0),
        (None, 0),
        ("evt-9007199254740991", 2**53 - 1),
        ("evt-9007199254740992", 0),
        ("evt-" + "9" * 5_000, 0),
    ],
)
def test_an_id_has_a_number_or_none(name: str | None, number: int) -> None:
    assert ordinal_of(name) == number


def test_new_ids_are_above_all_that_were_ever_taken() -> None:
    assert allocate_ids([]) == ["evt-000001"]
    assert allocate_ids(["evt-000009", "odd", None, "evt-000010"], 2) == ["evt-000011", "evt-000012"]
    assert allocate_ids(["evt-999999"]) == ["evt-1000000"]
    assert next_checkpoint_id(["chk-999999", "chk-1000000", "evt-5000000"]) == "chk-1000001"
    history = read_history(LOG + b'{"id":"evt-000077","kind"\n' + b'{"id": "evt-000078"}\n')
    assert allocate_ids([*history.ids(), "evt-000003"]) == ["evt-000079"]
    assert list(History().ids()) == []


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-02T11:19:00.000Z", "2026-03-02T11:19:00+00:00"),
        ("2026-03-02T12:19:00+01:00", "2026-03-02T12:19:00+01:00"),
        ("1772359200000", "2026-03-01T10:00:00+00:00"),
        ("1772359200", "2026-03-01T10:00:00+00:00"),
        ("yesterday", None),
        ("12", None),
        ("９" * 13, None),
        ("", None),
        (None, None),
    ],
)
def test_a_time_may_also_be_counted_since_1970(text: str | None, moment: str | None) -> None:
    found = moment_of(text)
    assert (found.isoformat() if found else None) == moment
