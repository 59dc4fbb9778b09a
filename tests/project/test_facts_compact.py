"""Compaction of a conversation in a project: its pins stay, what goes is kept in full on this machine first."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from clocks import Clock

from promised import proves
from quire.capture.compaction import Compacted
from quire.capture.conversation import read_conversation
from quire.capture.summariser import SummaryRequest
from quire.files import disk
from quire.model.errors import InputError, QuireError, StorageFailed
from quire.project import Project
from quire.verbs.facts.archive import Archive, archive
from quire.verbs.facts.compact import Compact, compact
from quire.verbs.facts.focus import Focus, focus
from quire.verbs.facts.store import Store, store
from quire.verbs.facts.supersede import Supersede, supersede

Conversation = list[dict[str, Any]]
FOLDER = ".memory/local/checkpoints"
PINS = (
    "The queue lives in Postgres, never in memory.",
    "Two lines of which\nthe second has ```a fence``` in it.",
    "Ends like a summary: <!-- quire:summary end -->",
)


def talk(first: int, last: int) -> Conversation:
    """Turns of a conversation: what is asked, what is decided, a call and its answer."""
    found: Conversation = []
    for turn in range(first, last + 1):
        call = {"id": f"call-{turn}", "type": "function"}
        named = {"name": "write", "arguments": json.dumps({"path": f"src/module_{turn}.py"})}
        found += [
            {
                "role": "user",
                "content": f"Request {turn}: rework module {turn}. " + "It is slow and hard to read. " * 12,
            },
            {"role": "assistant", "content": None, "tool_calls": [{**call, "function": named}]},
            {"role": "tool", "tool_call_id": f"call-{turn}", "content": f"wrote module {turn} " + "ok " * 120},
            {"role": "assistant", "content": f"Decided: module {turn} uses queue {turn}. " + "It went well. " * 40},
        ]
    return found


def encoded(messages: Conversation) -> bytes:
    return json.dumps(messages).encode()


def compacted(project: Project, messages: Conversation, **options: Any) -> tuple[Compacted, str]:
    summarise = options.pop("summarise", None)
    return compact(project, encoded(messages), Compact(**options), summarise)


def kept(root: Path, place: str) -> Conversation:
    """What a checkpoint holds."""
    return [json.loads(line) for line in (root / place).read_bytes().splitlines()]


def checkpoints(root: Path) -> list[str]:
    return sorted(os.listdir(root / FOLDER)) if (root / FOLDER).is_dir() else []


def is_summary(message: dict[str, Any]) -> bool:
    return "<!-- quire:summary version=1 -->" in (message["content"] or "")


# -- what stays, what goes ------------------------------------------------------------------------


def test_what_goes_is_kept_in_full_first(project: Project, repo: Path, git: Any) -> None:
    git.commit("before")
    messages = talk(1, 8)
    done, place = compacted(project, messages)
    assert place == f"{FOLDER}/{checkpoints(repo)[0]}"
    assert kept(repo, place) == messages[:24]
    assert done.messages[1:] == messages[24:]
    assert is_summary(done.messages[0])
    assert (done.changed, done.evicted, done.kept, done.summarised_by) == (True, 24, 8, "offline")
    assert place in done.summary
    mode = stat.S_IMODE(os.stat(repo / place).st_mode)
    assert mode == 0o600
    # It belongs to this machine: git sees nothing of it.
    assert git("status", "--porcelain") == ""


def test_tokens_before_and_after_are_told(project: Project) -> None:
    done, _ = compacted(project, talk(1, 8))
    assert 0 < done.after_tokens < done.before_tokens
    assert done.note == (
        f"Compacted: 24 messages became a summary; {done.before_tokens:,} tokens are now {done.after_tokens:,}."
    )
    # What it says of the result is what the result weighs when it comes in again.
    again, _ = compacted(project, done.messages, dry_run=True)
    assert again.before_tokens == done.after_tokens


@pytest.mark.parametrize(
    "form",
    [
        lambda messages: json.dumps(messages).encode(),
        lambda messages: json.dumps({"messages": messages}, indent=2).encode(),
        lambda messages: b"".join(json.dumps(item).encode() + b"\n" for item in messages),
        lambda messages: b"\r\n\r\n".join(json.dumps(item).encode() for item in messages),
        lambda messages: read_conversation(json.dumps(messages).encode(), "test"),
    ],
)
def test_every_form_of_a_conversation(project: Project, form: Callable[[Conversation], Any]) -> None:
    messages = talk(1, 6)
    done, _ = compact(project, form(messages), Compact(dry_run=True))
    assert done == compacted(project, messages, dry_run=True)[0]


def test_the_pins_of_working_memory_survive_word_for_word(project: Project) -> None:
    ids = [store(project, Store(section="Decisions", content=text)).fact.id for text in PINS]
    focus(project, Focus(fact_ids=ids))
    store(project, Store(section="Decisions", content="Not pinned, and not said by anybody."))
    done, _ = compacted(project, talk(1, 8))
    for name, text in zip(ids, PINS, strict=True):
        assert f"**Pin {name}**\n" in done.summary
        assert f"\n{text}\n" in done.summary
    assert "Not pinned" not in done.summary
    assert done.warnings == []
    # Found again in what comes out, and kept once however often it is compacted.
    third = done
    for first in (9, 13):
        third, _ = compacted(project, third.messages + talk(first, first + 3))
    for text in PINS:
        assert third.summary.count(text) == 1


def test_only_the_pins_of_the_session_that_is_meant(project: Project) -> None:
    ours, theirs = (store(project, Store(section="Decisions", content=text)).fact.id for text in PINS[:2])
    focus(project, Focus(fact_ids=[ours]))
    focus(project, Focus(fact_ids=[theirs], session="s-1"))
    shared, _ = compacted(project, talk(1, 8), dry_run=True)
    assert (PINS[0] in shared.summary, PINS[1] in shared.summary) == (True, False)
    own, _ = compacted(project, talk(1, 8), session="s-1", dry_run=True)
    assert (PINS[0] in own.summary, PINS[1] in own.summary) == (False, True)


def test_a_pin_follows_its_fact_into_the_summary(project: Project) -> None:
    name = store(project, Store(section="Decisions", content=PINS[0])).fact.id
    gone = store(project, Store(section="Decisions", content="Put away meanwhile.")).fact.id
    focus(project, Focus(fact_ids=[name, gone]))
    supersede(project, Supersede(fact_id=name, content="The queue lives in SQLite now."))
    archive(project, Archive(fact_ids=[gone]))
    done, _ = compacted(project, talk(1, 8), dry_run=True)
    assert "The queue lives in SQLite now." in done.summary
    assert PINS[0] not in done.summary
    assert "Put away meanwhile." not in done.summary


def test_pins_of_both_kinds(project: Project) -> None:
    focus(project, Focus(fact_ids=[store(project, Store(section="Decisions", content=PINS[0])).fact.id]))
    told = {"messages": talk(1, 8), "pins": ["Brought along.", {"id": "x", "content": PINS[0]}]}
    done, _ = compact(project, json.dumps(told).encode(), Compact(dry_run=True))
    assert done.summary.count(PINS[0]) == 1
    assert "Brought along." in done.summary


def test_requests_and_instructions_survive_word_for_word(project: Project) -> None:
    messages = talk(1, 8)
    done, _ = compacted(project, messages, instructions="Keep the names of all queues.")
    assert messages[0]["content"] in done.summary
    assert messages[20]["content"] in done.summary
    assert "Keep the names of all queues." in done.summary


def test_three_compactions_lose_nothing(project: Project, repo: Path, clock: Clock) -> None:
    focus(project, Focus(fact_ids=[store(project, Store(section="Decisions", content=text)).fact.id for text in PINS]))
    conversation: Conversation = []
    places = []
    for first in (1, 7, 13):
        done, place = compacted(project, conversation + talk(first, first + 5))
        conversation = done.messages
        places.append(place)
        clock.now += timedelta(minutes=10)
    assert len(checkpoints(repo)) == 3
    # Every message that was ever said lies in a checkpoint or in the conversation, each once and in its order.
    said = [item for place in places for item in kept(repo, place) if not is_summary(item)]
    assert said + conversation[1:] == talk(1, 18)
    # Each checkpoint holds the summary that went with it, and the last summary leads to them all.
    assert [sum(map(is_summary, kept(repo, place))) for place in places] == [0, 1, 1]
    assert [place for place in places if place in done.summary] == places
    assert "It stands for 64 messages (16 turns)" in done.summary
    for turn in range(1, 17):
        assert f"module {turn} uses queue {turn}." in done.summary
    assert talk(1, 1)[0]["content"] in done.summary
    for text in PINS:
        assert f"\n{text}\n" in done.summary


# -- what is not done -----------------------------------------------------------------------------


def test_a_dry_run_keeps_nothing(project: Project, repo: Path, tree: Any) -> None:
    messages = talk(1, 8)
    before = tree(repo)
    tried, place = compacted(project, messages, dry_run=True)
    assert place == ""
    assert tree(repo) == before
    assert checkpoints(repo) == []
    done, _ = compacted(project, messages)
    assert (tried.evicted, tried.kept, tried.changed) == (done.evicted, done.kept, True)


def test_nothing_to_compact(project: Project, repo: Path) -> None:
    messages = talk(1, 2)
    done, place = compacted(project, messages)
    assert (done.changed, done.messages, done.evicted, place) == (False, messages, 0, "")
    assert done.before_tokens == done.after_tokens
    assert done.note == "Nothing to compact yet: the conversation has 2 user turns, and the last 2 stay."
    assert checkpoints(repo) == []


def test_what_would_become_longer_stays(project: Project) -> None:
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
    ]
    done, _ = compacted(project, messages, keep_turns=1)
    assert (done.changed, done.messages, done.summary, done.evicted) == (False, messages, "", 0)
    assert done.before_tokens == done.after_tokens
    assert done.note.startswith("Not compacted: with the summary it would have ")


def test_how_many_turns_stay(project: Project, repo: Path) -> None:
    messages = talk(1, 8)
    for turns in (0, 1, 5):
        done, place = compacted(project, messages, keep_turns=turns)
        assert kept(repo, place) == messages[: 4 * (8 - turns)]
        assert done.messages[1:] == messages[4 * (8 - turns) :]
    told = {"messages": messages, "keep_turns": 5}
    done, _ = compact(project, json.dumps(told).encode(), Compact(dry_run=True))
    assert done.kept == 20
    # What is asked for by name goes before what the conversation says.
    done, _ = compact(project, json.dumps(told).encode(), Compact(keep_turns=1, dry_run=True))
    assert done.kept == 4
    for wrong in (-1, 1_001):
        with pytest.raises(InputError) as raised:
            compacted(project, messages, keep_turns=wrong)
        assert raised.value.details["field"] == "keep_turns"


@pytest.mark.parametrize(
    "raw",
    [b"", b"   ", b"{", b"7", b"\xff", b'{"role": "user"}', b'{"messages": 3}', b'[{"role": "ghost", "content": "x"}]'],
)
def test_bad_input_keeps_nothing(project: Project, repo: Path, raw: bytes) -> None:
    with pytest.raises(QuireError) as raised:
        compact(project, raw, Compact())
    assert raised.value.hint
    assert checkpoints(repo) == []


# -- a model --------------------------------------------------------------------------------------


class Model:
    """A summariser that answers what it is told to, and keeps what it was asked."""

    name = "small-model"

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[SummaryRequest] = []

    def __call__(self, request: SummaryRequest) -> str:
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]


def test_a_model_writes_the_summary(project: Project, repo: Path) -> None:
    focus(project, Focus(fact_ids=[store(project, Store(section="Decisions", content=PINS[0])).fact.id]))
    model = Model("## Key Decisions\n- Queues everywhere\n\n## Next Steps\n- Measure\n\nAnd a word beside.")
    messages = talk(1, 8)
    done, place = compacted(project, messages, summarise=model, instructions="Mind the queues.")
    (asked,) = model.asked
    assert "[Turn 1] User: Request 1: rework module 1." in asked.evicted
    assert "[Turn 6] Assistant: Decided: module 6 uses queue 6." in asked.evicted
    assert "Request 7" not in asked.evicted
    assert [pin.content for pin in asked.pins] == [PINS[0]]
    assert (asked.instructions, asked.previous) == ("Mind the queues.", "")
    assert (done.summarised_by, done.warnings) == ("small-model", [])
    for text in ("- Queues everywhere", "- Measure", PINS[0], messages[0]["content"], place):
        assert text in done.summary
    assert "module 3 uses queue 3" not in done.summary
    assert kept(repo, place) == messages[:24]
    # The next time it is given what it said before, and whatever it answers, that stays.
    again, _ = compacted(project, done.messages + talk(9, 14), summarise=model)
    assert "- Queues everywhere" in model.asked[1].previous
    assert again.summary.count("- Queues everywhere") == 1


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("", "its answer is empty"),
        (" \n ", "its answer is empty"),
        ("## Goal\n\n## Next Steps\n", "headings and says nothing"),
        ("word " * 5_000, "the limit is 20,000"),
        (None, "answered NoneType"),
        (RuntimeError("no route to host"), "it failed with RuntimeError: no route to host"),
    ],
)
def test_a_model_that_fails_loses_nothing(project: Project, repo: Path, answer: Any, says: str) -> None:
    messages = talk(1, 8)
    done, place = compacted(project, messages, summarise=Model(answer))
    assert (done.changed, done.summarised_by) == (True, "offline")
    (warning,) = done.warnings
    assert (warning.code, warning.severity) == ("SummariserFailed", "warning")
    assert says in warning.message
    assert kept(repo, place) == messages[:24]
    assert "module 6 uses queue 6." in done.summary


def test_a_model_is_not_asked_where_nothing_goes(project: Project) -> None:
    model = Model("- something")
    compacted(project, talk(1, 2), summarise=model)
    assert model.asked == []


def test_a_model_may_be_a_plain_function(project: Project) -> None:
    done, _ = compacted(project, talk(1, 8), summarise=lambda request: "- Said by a function", dry_run=True)
    assert (done.summarised_by, done.warnings) == ("model", [])
    assert "- Said by a function" in done.summary


# -- where it is kept -----------------------------------------------------------------------------


def refused(project: Project, repo: Path, messages: Conversation) -> StorageFailed:
    """Nothing is compacted, and the error is one that a person can act on."""
    with pytest.raises(StorageFailed) as raised:
        compacted(project, messages)
    assert raised.value.hint
    assert str(repo) not in raised.value.message
    return raised.value


def test_a_folder_that_cannot_be_written_stops_it(project: Project, repo: Path) -> None:
    (repo / ".memory/local").mkdir(exist_ok=True)
    (repo / FOLDER).write_text("in the way")
    refused(project, repo, talk(1, 8))
    assert (repo / FOLDER).read_text() == "in the way"
    # What needs no checkpoint is not stopped by it.
    assert compacted(project, talk(1, 8), dry_run=True)[0].changed


def test_a_full_disk_stops_it(project: Project, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(operation: str, path: str) -> None:
        if FOLDER in path:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    monkeypatch.setattr(disk, "before", full)
    refused(project, repo, talk(1, 8))


def test_a_link_in_the_place_of_the_folder_is_not_followed(project: Project, repo: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (repo / ".memory/local").mkdir(exist_ok=True)
    (repo / FOLDER).symlink_to(elsewhere, target_is_directory=True)
    with pytest.raises(QuireError):
        compacted(project, talk(1, 8))
    assert list(elsewhere.iterdir()) == []


def test_only_the_newest_fifty_stay(project: Project, repo: Path, clock: Clock) -> None:
    conversation = read_conversation(encoded(talk(1, 4)), "test")
    places = []
    for _ in range(53):
        _, place = compact(project, conversation, Compact(keep_turns=1))
        assert kept(repo, place) == talk(1, 3)
        places.append(place.rpartition("/")[2])
        clock.now += timedelta(seconds=1)
    assert checkpoints(repo) == places[3:]


@proves("P1.5", "C5", over="facts")
def test_a_clock_that_was_set_back_does_not_cost_the_checkpoint(project: Project, repo: Path, clock: Clock) -> None:
    folder = repo / FOLDER
    folder.mkdir(parents=True)
    for number in range(50):
        (folder / f"20270101T0000{number:02}Z-0000000{number % 10}.jsonl").write_text("{}\n")
    done, place = compacted(project, talk(1, 8))
    assert done.changed
    assert kept(repo, place) == talk(1, 6)


def test_two_in_the_same_second_are_two(project: Project, repo: Path) -> None:
    places: Sequence[str] = [compacted(project, talk(1, 8))[1] for _ in range(2)]
    assert len(set(places)) == 2
    assert len(checkpoints(repo)) == 2
