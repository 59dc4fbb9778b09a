"""What holds of every session: the same signals each time, few, short and safe ones, in bounded memory and time."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signal_hearing import agent, edits, heard, runs, user

from quire.capture.signals.extraction import extract
from quire.capture.signals.sentences import READ_CHARS
from quire.capture.transcripts.discovery import discover
from quire.capture.transcripts.read_session import read
from quire.capture.transcripts.types import Turn
from quire.guard.hostile_text import find_hostile
from quire.guard.secrets import find_secrets
from quire.layers.journal.shapes import EVENT
from quire.layers.journal.types import JournalEvent
from quire.layers.journal.value_shapes import find_faults
from thorough import examples

SHARED = Path(__file__).parents[3] / "shared" / "fixtures" / "journal"
PIECES = """
Decision: | Gotcha: | Next: | Done: | because | so | otherwise | we'll | let's go with | never | I'd | yes | ok | 1. |
- [ ] | - [x] |## Next steps|## Decisions|**Still open:**| `src/a.py` | tests fail | fails |?|!|.|：|。|因为|下一步：|
 ~~gone~~ |```|>| actually | drop the | steps 1 and 2 are done | all three points are done |<plan>| : | the cache |

| the reason | is that | pytest | 3 passed | Validated: |(|)|**| tomorrow | still open | no wait, that is not it
"""
WORDS = PIECES.split("|")
talk = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(WORDS), max_size=40).map("".join))
turns = st.lists(
    st.builds(
        Turn,
        role=st.sampled_from(["user", "assistant", "tool", "system", "odd"]),
        text=talk,
        tool=st.sampled_from(["", "", "", "Bash", "Edit", "Read"]),
        paths=st.lists(st.sampled_from(["a/b.py", "/etc/x", "~/c", "..", "", "\0", "x" * 400]), max_size=3).map(tuple),
        is_error=st.booleans(),
        is_subagent=st.booleans(),
        is_summary=st.booleans(),
    ),
    max_size=12,
)


def all_texts(found: object) -> list[str]:
    return [text for texts in msgspec.to_builtins(found)["signals"].values() for text in texts]


@settings(max_examples=examples(400), deadline=None)
@given(turns, st.integers(min_value=-1, max_value=6))
def test_any_turns_give_few_short_plain_texts_and_always_the_same(given: list[Turn], most: int) -> None:
    found = extract(given, most=most)
    assert found == extract(iter(given), most=most)
    for texts in msgspec.structs.astuple(found.signals):
        assert len(texts) <= max(0, most)
        assert len(set(texts)) == len(texts)
    assert len(found.summary) <= 420
    for text in (*all_texts(found), found.summary):
        assert text.strip() == text
        assert text
        assert not find_hostile(text, single_line=True)
        assert not set("\n\r\u2028\u2029") & set(text)
    assert all(len(text) <= 300 for text in all_texts(found))
    assert not any(path.startswith(("/", "~", "..")) for path in found.signals.key_paths)
    assert all(text.startswith(("NEXT: ", "DONE: ")) for text in found.signals.next_step_hints)


@settings(max_examples=examples(100), deadline=None)
@given(turns)
def test_what_comes_out_is_an_event_that_the_journal_takes(given: list[Turn]) -> None:
    found = extract(given)
    event = JournalEvent(
        id="evt-000001",
        kind="imported_session",
        source_id="claude",
        external_item_id="7b1c",
        created_at="2026-03-01T10:00:00.000Z",
        content_hash="0" * 64,
        summary=found.summary,
        signals=found.signals,
        source_ref="x.jsonl",
    )
    assert not find_faults(EVENT, msgspec.json.decode(msgspec.json.encode(event)), "event")


def test_no_secret_gets_through() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    found = heard(
        user(f"never use {token} again"),
        agent(f"Decision: keep {token} in the vault\nGotcha: it fails because {token} is old\nNext: rotate {token}"),
        edits(f"keys/{token}.json"),
        runs(f"TOKEN={token} pytest", "3 passed"),
        agent("Decision: the key is [redacted: GitHub token]"),
    )
    assert all_texts(found) == []
    assert not find_secrets(found.summary)


TOKENS = (
    "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "AKIA" + "QYLPMN5HFIQR7XYA",
    "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0" * 12 + ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
)
ROUND_IT = (
    "Decision: ",
    "Gotcha: ",
    "Next: ",
    "Asked for ",
    "it fails because of ",
    "- [ ] rotate ",
    "never use ",
    "`",
)


@pytest.mark.proof
@settings(max_examples=examples(200), deadline=None)
@given(
    st.sampled_from(TOKENS),
    st.sampled_from(ROUND_IT),
    st.one_of(st.integers(0, 300), st.integers(READ_CHARS // 2 - 600, READ_CHARS // 2 + 10)),
    st.sampled_from(["user", "assistant", "command"]),
    st.sampled_from([" ", "\n", " and then ", ". Next: "]),
)
def test_no_part_of_a_secret_gets_through_wherever_it_stands(
    token: str, before: str, shift: int, role: str, after: str
) -> None:
    text = "word " * (shift // 5) + before + "x" * (shift % 5) + " " + token + after + "more words. " * 3_000
    turns = [user("look at it"), *(runs(f"pytest {text}", "3 passed") if role == "command" else [])]
    turns += [Turn(role=role, text=text)] if role != "command" else []
    found = extract([*turns, agent("All is done now.")])
    # Eight characters in a row are too many.
    pieces = {token[at : at + 8] for at in range(4, len(token) - 8)}
    assert not [text for text in (*all_texts(found), found.summary) if any(piece in text for piece in pieces)]


HOSTILE = ("\u202e", "\u2066", "\x1b[31m", "\x07", "\r", "\U000e0041", "\u2028")


@pytest.mark.parametrize("mark", HOSTILE)
def test_hostile_characters_never_get_through(mark: str) -> None:
    found = heard(
        user(f"the import{mark} fails on Mondays"),
        agent(f"The cause is that the{mark} job starts too early.\n\nDecision: start{mark} it at nine o'clock"),
        agent(f"Next: tell{mark} the operators about it in docs/ops{mark}.md"),
        edits(f"src/jo{mark}b.py"),
        runs(f"pytest{mark} tests", "3 passed"),
    )
    for text in (*all_texts(found), found.summary):
        assert not find_hostile(text, single_line=True)
        assert mark not in text


def test_texts_that_are_too_long_are_cut_after_a_word() -> None:
    found = heard(user("go"), agent("Decision: plain " + "wording " * 100)).signals.decisions
    assert len(found) == 1
    assert len(found[0]) <= 320
    assert found[0].endswith("wording…")


def test_the_latest_are_kept_where_there_are_too_many() -> None:
    animals = ["ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen"]
    found = heard(user("go"), [agent(f"Decision: feed the {name} with {name}food") for name in animals], most=3)
    assert found.signals.decisions == tuple(f"Feed the {name} with {name}food" for name in animals[-3:])


def long_session(count: int) -> Iterator[Turn]:
    for number in range(count):
        yield user(f"the part number {number} fails. never touch module{number} again")
        yield agent(
            f"The part fails because module{number} is old. Next: rewrite module{number} in `src/m{number}.py`."
        )
        yield edits(f"src/m{number}.py", f"lib/n{number}.py")
        yield from runs(f"pytest tests/test_{number}.py", f"{number} passed")


@pytest.mark.proof
def test_memory_does_not_grow_with_the_session() -> None:
    extract(long_session(50))
    peaks = []
    for count in (300, 1_200):
        tracemalloc.start()
        extract(long_session(count))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0] + 2_000_000
    assert peaks[1] < 24_000_000


NASTY = (
    *("so, so ", "the reason ", "(", "**a** ", "[a](", "1) a ", "e.g. ", "a/b/", "still a b c ", "~~", "`", "x, so y "),
    *("所以", "Next: a\n", "- [ ] x\n", "| tail ", "npm -a ", "-a ", "cd a && ", "A=b ", "1 failed "),
)


@pytest.mark.proof(keep=4)
@pytest.mark.parametrize("piece", NASTY)
def test_no_text_takes_long(piece: str) -> None:
    # As much as is read whole, and more than that.
    for size in (READ_CHARS, 100_000):
        text = piece * (size // len(piece))
        heard(
            user("it fails"), user(text), agent(text), runs(text, text), runs(f"npm {text}", text), runs("pytest", text)
        )


@pytest.mark.skipif(not SHARED.is_dir(), reason="shared/fixtures/journal is not beside the repository")
def test_sessions_with_labels_give_what_a_model_was_said_to_find_in_them() -> None:
    home = SHARED / "basic-node"
    found = {
        session.external_id: extract(read(session)).signals
        for kind, folder in (("claude-local", "claude-home"), ("codex-local", "codex-home"))
        for session in discover(kind, str(home / folder))
    }
    assert found["7b1c"].decisions == ("Cache the order list for 30 seconds in src/cache.ts",)
    assert found["7b1c"].gotchas == ("Cache keys must include tenant: two tenants shared one entry in staging",)
    assert found["7b1c"].next_step_hints == (
        "NEXT: Write a cache runbook: document the flush order in docs/runbook.md",
    )
    assert found["7b1c"].key_paths == ("src/cache.ts", "docs/runbook.md")
    assert found["7b1c"].validation_observations == ("npm test: passed",)
    assert "DONE: Write a cache runbook" in found["9e2d"].next_step_hints
    assert found["0199a-codex-1"].decisions == ("Use the order id as idempotency key in src/queue/worker.ts",)
