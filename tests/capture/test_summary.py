"""The summary made by rules, its form, and how it is found again after others had it in their hands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talks import messages_from

from quire.capture.quotable_text import CLIPBOARD, SECRET, quote, safe_pin, safe_text, sentences
from quire.capture.summary import ENTRIES, ENTRY_CHARS, ReadMessage, summarise_offline
from quire.capture.summary_form import (
    BLOCKED,
    CONSTRAINTS,
    CONTEXT,
    DECISIONS,
    DONE,
    DONE_ENTRIES,
    END,
    FULL_TEXTS,
    GOAL,
    IN_PROGRESS,
    LOOSE_CHARS,
    MARK,
    NEXT,
    SECTIONS,
    TITLE,
    QuotedBlock,
    Summary,
    bound,
    join,
    render_summary,
)
from quire.capture.summary_parser import is_from_later_version, read_summary
from quire.guard.hostile_text import make_safe

GOLDEN = Path(__file__).parents[3] / "shared" / "fixtures" / "facts" / "golden" / "compaction-sanitise.json"


def said(*messages: dict[str, Any]) -> list[ReadMessage]:
    found, turn = [], 0
    for message in messages_from(list(messages)):
        turn += message.role == "user" and bool(message.content)
        found.append(ReadMessage(turn, message, message.content))
    return found


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str = "", *calls: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": name, "name": tool, "input": given} for name, tool, given in calls]
    return {"role": "assistant", "content": [{"type": "text", "text": text}, *blocks]}


def answer(name: str, text: str = "ok", *, failed: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": name, "content": text, "is_error": failed}
    return {"role": "user", "content": [block]}


def entries(*messages: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    return dict(summarise_offline(said(*messages)).entries)


def test_a_conversation_falls_into_its_sections() -> None:
    found = entries(
        user("Add a retry queue. It must never block the request. Use the worker instead of a thread. Why only one?"),
        assistant(
            "Let me look. We will keep it in the worker because the web must answer. Next, I write it.",
            ("1", "Read", {"file_path": "src/send.py"}),
        ),
        answer("1"),
        assistant("Added the queue. The test is not fixed.", ("2", "Write", {"path": "src/queue.py"})),
        answer("2"),
        assistant("The build is failing.", ("3", "Bash", {"command": "make\n  test"})),
        answer("3"),
        user("Prefer tabs."),
        assistant("I am working on the tabs now."),
    )
    assert found == {
        GOAL: (
            "(turn 1, user) Add a retry queue. It must never block the request. Use the worker instead of a thread. "
            "Why only one?",
            "(turn 2, user) Prefer tabs.",
        ),
        CONSTRAINTS: (
            "(turn 1, user) It must never block the request.",
            "(turn 1, user) Use the worker instead of a thread.",
            "(turn 2, user) Prefer tabs.",
        ),
        DECISIONS: ("(turn 1, assistant) We will keep it in the worker because the web must answer.",),
        NEXT: ("(turn 1, assistant) Next, I write it.",),
        DONE: ("(turn 1, assistant) Added the queue.", "(turn 1, Bash) ran make test"),
        BLOCKED: ("(turn 1, assistant) The build is failing.",),
        IN_PROGRESS: ("(turn 2, assistant) I am working on the tabs now.",),
        CONTEXT: ("(turn 1, Read) used src/send.py", "(turn 1, Write) changed src/queue.py"),
    }


def test_a_failure_is_open_until_the_same_call_succeeds() -> None:
    trace = "Traceback (most recent call last):\n  File x\nValueError: bad"
    broken = [
        assistant("", ("1", "Bash", {"command": "pytest"})),
        answer("1", trace, failed=True),
        assistant("", ("2", "Bash", {"command": "mypy"})),
        answer("2", "3 errors\nmore", failed=True),
    ]
    assert entries(*broken)[BLOCKED] == (
        "(turn 0, Bash) pytest failed: ValueError: bad",
        "(turn 0, Bash) mypy failed: 3 errors",
    )
    repaired = entries(*broken, assistant("", ("3", "Bash", {"command": "pytest"})), answer("3"))
    assert repaired[BLOCKED] == ("(turn 0, Bash) mypy failed: 3 errors",)
    assert repaired[DONE] == ("(turn 0, Bash) ran pytest",)


def test_a_call_without_an_answer_is_in_progress() -> None:
    assert entries(assistant("", ("1", "Edit", {"file_path": "a.py"}))) == {
        IN_PROGRESS: ("(turn 0, Edit) called a.py, no answer yet",)
    }


def test_the_other_dialect_is_summarised_too() -> None:
    call = {"id": "c", "function": {"name": "run\n(x)", "arguments": '{"cmd": ["ls", "-l"], "paths": ["a", 3, "b"]}'}}
    found = entries({"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c", "content": "a"})
    assert found == {
        CONTEXT: ("(turn 0, run_x_) used a", "(turn 0, run_x_) used b"),
        DONE: ("(turn 0, run_x_) ran ls -l",),
    }


def test_requests_that_stand_elsewhere_are_not_repeated() -> None:
    found = summarise_offline(said(user("One."), user("Two."), user("Three.")), quoted=frozenset({1, 3}))
    assert found.entries == {GOAL: ("(turn 2, user) Two.",)}


def test_the_newest_entries_stay_and_the_others_are_counted() -> None:
    found = summarise_offline(said(*(user(f"You must do number {n}.") for n in range(150))))
    assert found.left_out == {GOAL: 150 - ENTRIES[GOAL], CONSTRAINTS: 150 - ENTRIES[CONSTRAINTS]}
    assert len(found.entries[CONSTRAINTS]) == ENTRIES[CONSTRAINTS] == 100
    assert found.entries[CONSTRAINTS][-1] == "(turn 150, user) You must do number 149."


def test_the_same_words_are_noted_once() -> None:
    assert entries(user("Never push."), user("never push."))[CONSTRAINTS] == ("(turn 1, user) Never push.",)


def test_sentences_are_taken_from_prose() -> None:
    text = "One must\nwrap. Two!\n- item\n  goes on\n* other\n```\nnever code\n```\n# Head\nAfter. 日本語。次の文。"
    assert list(sentences(f"{text}\n> said so")) == [
        "One must wrap.",
        "Two!",
        "item goes on",
        "other",
        "Head",
        "After.",
        "日本語。",
        "次の文。",
        "said so",
    ]


def test_a_quotation_ends_with_a_sentence_or_a_word() -> None:
    assert quote("a\n b\t c", 10) == "a b c"
    assert quote("First one. Second one is longer.", 20) == "First one."
    assert quote("word " * 20, 22) == "word word word word…"
    assert quote("x" * 50, 10) == "x" * 9 + "…"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see /var/folders/ab/cd12/T/pi-clipboard-0f3a-11.png now", f"see {CLIPBOARD} now"),
        ("keep src/app.py and /var/folders/x/y/T/other.png", "keep src/app.py and /var/folders/x/y/T/other.png"),
        ("a\x1b[2Jb\u202ec\ud800d\r\ne\tf", "a\\u{1B}[2Jb\\u{202E}c\\u{D800}d\ne\tf"),
        ("use ghp_abcdEFGHijklMNOPqrstUVWXyz0123456789 now", f"use {SECRET} now"),
        ("https://bob:hunter2hunter9Z@example.org/x now", f"https://bob:{SECRET} now"),
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7\n-----END RSA PRIVATE KEY-----\nb",
            f"a\n{SECRET}\nb",
        ),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7\nfor ever", SECRET),
        ("PASSWORD=Hunter2hunter9Z,API_KEY=sk_live_1234abcd5678efgh9012 x", f"PASSWORD={SECRET} x"),
    ],
)
def test_what_must_not_pass_is_marked(text: str, shown: str) -> None:
    assert safe_text(text, 1_000) == shown
    assert safe_text(shown, 1_000) == shown


@pytest.mark.skipif(not GOLDEN.is_file(), reason="the recorded texts lie outside the repository")
def test_temporary_paths_are_redacted_as_recorded() -> None:
    for row in json.loads(GOLDEN.read_text(encoding="utf-8")):
        assert safe_text(row["input"], 1_000) == row["output"]


def test_a_secret_on_the_edge_is_not_cut_in_two() -> None:
    text = "x " * 50 + "ghp_abcdEFGHijklMNOPqrstUVWXyz0123456789 " + "y " * 9_000
    assert "ghp_" not in safe_text(text, 110)
    many = "".join(f"password='Hunter{n}hunter9Z' " for n in range(2_000))
    assert "Hunter" not in safe_text(many, 20_000)


def test_a_pin_is_changed_only_where_it_must_be() -> None:
    for text in ("a\r\nb", "/tmp/pi-clipboard-aa.png", "  x\n", MARK, "`````"):
        assert safe_pin(text) == text
    assert safe_pin("a\u202eb") == "a\\u{202E}b"


# The form.

LINE = st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" "), min_size=1, max_size=40).filter(
    lambda text: text and text == " ".join(text.split()) and make_safe(text) == text
)
ODD_LINES = st.sampled_from([MARK, END, TITLE, "## Goal", "### Done (3 older left out)", "```", "````", "**x**", "- a"])
TEXT = st.lists(LINE | ODD_LINES | st.just(""), min_size=1, max_size=5).map("\n".join)
BLOCKS = st.lists(st.builds(QuotedBlock, LINE, TEXT), max_size=3, unique_by=lambda block: block.text).map(tuple)
SUMMARIES = st.builds(
    lambda **fields: Summary(**fields),
    turns=st.integers(0, 999_999),
    messages=st.integers(0, 999_999),
    pins=BLOCKS,
    intents=BLOCKS,
    entries=st.dictionaries(st.sampled_from(SECTIONS), st.lists(LINE | ODD_LINES, min_size=1, max_size=3).map(tuple)),
    left_out=st.dictionaries(st.sampled_from(SECTIONS), st.integers(1, 999)),
    full_texts=st.lists(LINE, max_size=2).map(tuple),
)
WRAPPED = {
    "bare": "{}",
    "tags": "<summary>{}</summary>",
    "tags on their lines": '<context kind="old">\n{}\n</context>\n',
    "an indented beginning": "   \n  {}\n\n",
}


@given(SUMMARIES, st.sampled_from(sorted(WRAPPED)))
def test_a_summary_is_read_back_whatever_it_holds(summary: Summary, wrapping: str) -> None:
    assert read_summary(WRAPPED[wrapping].format(render_summary(summary))) == (summary, "")


@given(SUMMARIES, st.sampled_from(["> ", "  ", "\t", ">", "| "]))
def test_a_summary_quoted_line_by_line_is_read_back(summary: Summary, sign: str) -> None:
    quoted = "\n".join((sign + line).rstrip() for line in render_summary(summary).split("\n"))
    assert read_summary(quoted) == (summary, "")


@given(SUMMARIES)
def test_what_stands_around_a_summary_stays(summary: Summary) -> None:
    text = f"This goes on from before:\n{render_summary(summary)}\nNow do <b>this</b>."
    assert read_summary(text) == (summary, "This goes on from before:\n\nNow do <b>this</b>.")


@given(SUMMARIES, SUMMARIES)
def test_joining_loses_nothing(old: Summary, new: Summary) -> None:
    both = join([old, new])
    assert [pin.text for pin in both.pins][: len(new.pins)] == [pin.text for pin in new.pins]
    for summary in (old, new):
        assert {pin.text for pin in summary.pins} <= {pin.text for pin in both.pins}
        assert {block.text for block in summary.intents} <= {block.text for block in both.intents}
        for section, found in summary.entries.items():
            assert {line.casefold() for line in found} <= {line.casefold() for line in both.entries[section]}
    assert (both.turns, both.messages) == (old.turns + new.turns, old.messages + new.messages)
    assert join([both]).entries == both.entries


def test_words_about_marks_are_no_summary() -> None:
    for text in (
        f"What does `{MARK}` mean?",
        f"It begins with {MARK}",
        f"{MARK}\nand then my own words",
        f"{MARK}\n{END}",
        f"{MARK}\n\n\n\n{TITLE}",
        MARK.replace("1", "0") + f"\n{TITLE}",
    ):
        assert read_summary(text) == (None, text)
        assert not is_from_later_version(text)


def test_a_summary_that_was_cut_off_or_edited_gives_what_is_left() -> None:
    text = (
        f"{MARK}\n{TITLE}\nadded by hand\n## Key Decisions\nNo dash here.\n- Tabs.\n## Goal\n**First**\n```\nhalf a req"
    )
    summary, rest = read_summary(text)
    assert summary == Summary(
        intents=(QuotedBlock("First", "half a req"),),
        entries={CONTEXT: ("added by hand",), DECISIONS: ("No dash here.", "Tabs.")},
    )
    assert rest == ""
    twice, _ = read_summary(f"{MARK}\n{TITLE}\n## Goal\n- a\n{MARK}\n{TITLE}\nIt stands for 3 messages (1 turn)\n{END}")
    assert twice == Summary(messages=3, turns=1, entries={GOAL: ("a",)})


def test_a_later_version_is_known_as_such() -> None:
    assert is_from_later_version("<x>\n" + MARK.replace("version=1", "version=2") + "\nwhatever")
    assert not is_from_later_version(render_summary(Summary()))


def test_only_the_least_important_is_left_out() -> None:
    full = {section: tuple(f"{section} {n} " + "x" * 90 for n in range(300)) for section in SECTIONS}
    small = bound(Summary(entries=full, left_out={DONE: 5}))
    assert small.entries[CONSTRAINTS] == full[CONSTRAINTS]
    assert small.entries[DECISIONS] == full[DECISIONS]
    loose = [line for section in SECTIONS if section not in (CONSTRAINTS, DECISIONS) for line in small.entries[section]]
    assert LOOSE_CHARS - 200 < sum(map(len, loose)) <= LOOSE_CHARS
    assert small.entries[DONE] == ()
    assert small.left_out[DONE] == 305
    assert "### Done (305 older left out)\n(none)" in render_summary(small)
    assert bound(small) == small
    little = bound(Summary(entries={DONE: tuple(map(str, range(100))), NEXT: ("a",)}))
    assert little.entries == {DONE: tuple(map(str, range(100 - DONE_ENTRIES, 100))), NEXT: ("a",)}
    assert little.left_out == {DONE: 60}


def test_the_newest_full_texts_are_named() -> None:
    parts = [Summary(full_texts=(f"turn {n}: {n}.jsonl",)) for n in range(30)]
    assert join(parts).full_texts == tuple(f"turn {n}: {n}.jsonl" for n in range(30 - FULL_TEXTS, 30))


ANYTHING = st.text(st.characters(exclude_categories=()), max_size=80) | st.sampled_from(
    ["You must never. " * 3, "We decided. TODO. It fails! Done?", f"{MARK}\n{TITLE}", "\n" * 9, "```\nmust", "1) - > #"]
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["path", "command", "paths", "x"]),
    ANYTHING | st.none() | st.lists(ANYTHING | st.integers()),
    max_size=2,
)
STEPS = st.one_of(
    st.builds(user, ANYTHING),
    st.builds(assistant, ANYTHING, st.tuples(st.sampled_from("ab"), ANYTHING, ARGUMENTS)),
    st.builds(
        lambda name, text, failed: answer(name, text, failed=failed), st.sampled_from("abc"), ANYTHING, st.booleans()
    ),
)


@given(st.lists(STEPS, max_size=8))
def test_any_text_gives_the_same_bounded_lines_every_time(messages: list[dict[str, Any]]) -> None:
    heard = [ReadMessage(1, message, safe_text(message.content, 1_000)) for message in messages_from(messages)]
    found = summarise_offline(heard)
    assert summarise_offline(heard) == found
    for section, lines in found.entries.items():
        assert len(lines) <= ENTRIES[section]
        for line in lines:
            assert line == " ".join(line.split())
            assert len(line) <= ENTRY_CHARS + 60
            line.encode("utf-8")
    summary = Summary(entries=found.entries)
    assert read_summary(render_summary(summary)) == (summary, "")
