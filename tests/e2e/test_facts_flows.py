"""The flows that nobody has to remember, through the installed command: ingest, session, compact, context."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

DESIGN = """---
id: cache
title: The cache
status: {status}
---

## Decisions

### Decision: Write through

{state}**Rationale:** Reads dominate.

## Open Questions

{question}
"""
STORED = "Write through — Reads dominate. See docs/cache.md, decision: Write through"
TALK: list[dict[str, Any]] = [
    message
    for turn in range(1, 7)
    for message in (
        {"role": "user", "content": f"Request {turn}: rework module {turn}. " + "It is slow and hard to read. " * 12},
        {"role": "assistant", "content": f"Decided: module {turn} uses queue {turn}. " + "It went well. " * 60},
    )
]


@pytest.fixture
def started(memory: Any) -> Any:
    memory.init()
    return memory


def design(repo: Path, *, status: str = "exploring", state: str = "decided", question: str = "") -> None:
    (repo / "docs").mkdir(exist_ok=True)
    written = f"**Status:** {state}\n" if state else ""
    asked = f"- {question}" if question else ""
    (repo / "docs/cache.md").write_text(DESIGN.format(status=status, state=written, question=asked))


def facts(repo: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (repo / ".memory/facts.jsonl").read_text().splitlines()]


def at(moment: str) -> dict[str, str]:
    return {"MEMORY_NOW": f"2026-03-02T{moment}+00:00"}


# -- ingest ---------------------------------------------------------------------------------------


def test_ingest(started: Any, repo: Path) -> None:
    design(repo, question="How large may it grow?")
    tried = started("facts", "ingest", "--dry-run")
    assert tried.out.startswith("Would be: 2 stored from 1 design document.\n")
    assert not (repo / ".memory/facts.jsonl").exists()
    done = started("facts", "ingest", "--json").data
    assert (done["documents"], done["counts"], done["pending"]) == (1, {"store": 2}, [])
    assert [step["action"] for step in done["steps"]] == ["store", "store"]
    before = (repo / ".memory/facts.jsonl").read_bytes()
    again = started("facts", "ingest")
    assert (again.code, again.out) == (0, "2 unchanged from 1 design document.\n")
    assert (repo / ".memory/facts.jsonl").read_bytes() == before
    design(repo)
    answered = started("facts", "ingest")
    assert "archived: OPEN [cache]: How large may it grow? See docs/cache.md (resolved)" in answered.out


def test_an_answered_question_leaves_its_answer(started: Any, repo: Path) -> None:
    design(repo, question="How large may it grow?")
    started("facts", "ingest")
    design(repo, question="[x] How large may it grow? 64 MB, then the oldest go.")
    said = started("facts", "ingest")
    told = "ANSWERED [cache]: How large may it grow? — 64 MB, then the oldest go. See docs/cache.md"
    assert f"superseded: {told} (The file says something else now)\n" in said.out
    assert told in started("facts", "recall", "how large may the cache grow").out
    assert "OPEN [cache]" in started("facts", "search-archive", "how large may it grow").out
    assert started("facts", "ingest").out == "2 unchanged from 1 design document.\n"
    # Another answer replaces it, and a question that is asked again is open.
    design(repo, question="[x] How large may it grow? 128 MB.")
    assert "1 superseded" in started("facts", "ingest").out
    assert "64 MB" not in started("facts", "list").out
    design(repo, question="How large may it grow?")
    started("facts", "ingest")
    shown = started("facts", "list").out
    assert ("OPEN [cache]: How large" in shown, "ANSWERED" in shown) == (True, False)


def test_what_waits_is_accepted_or_dropped_by_its_id(started: Any, repo: Path) -> None:
    design(repo, status="decided", state="")
    shown = started("facts", "ingest")
    (name,) = [fact["id"] for fact in facts(repo)]
    assert f"[{name}]" in shown.out
    assert "1 pending from 1 design document." in shown.out
    assert STORED not in started("facts", "recall", "write through cache").out
    assert started("facts", "ingest", "--accept", "nobody").code == 1
    assert started("facts", "ingest", "--stdin", "--accept", name).code == 2
    accepted = started("facts", "ingest", "--accept", name, "--json").data
    assert (accepted["counts"]["accept"], accepted["pending"]) == (1, [])
    assert STORED in started("facts", "recall", "write through cache").out
    twice = started("facts", "ingest", "--drop", name, "--json")
    assert (twice.code, twice.error["details"]["id"]) == (1, name)


def test_one_candidate_from_standard_input(started: Any, repo: Path) -> None:
    told = {
        "sourceKind": "design-constraint",
        "authority": "explicit",
        "section": "Constraints",
        "content": "Invalidation ends within 50 ms",
        "artifactRef": {"type": "design-node", "path": "docs/cache.md"},
    }
    assert started("facts", "ingest", "--stdin", "--json", stdin=told).data["counts"] == {"store": 1}
    (held,) = facts(repo)
    assert (held["source"], held["artifact"]["path"]) == ("lifecycle:design-constraint", "docs/cache.md")
    refused = started("facts", "ingest", "--stdin", "--json", stdin={**told, "section": "Gossip"})
    assert (refused.code, refused.error["details"]["field"]) == (1, "section")
    assert len(facts(repo)) == 1


def test_documents_that_decide_nothing_are_not_missing(started: Any, repo: Path) -> None:
    design(repo, state="exploring")
    assert started("facts", "ingest", "--json").data["documents"] == 1
    assert "No design documents were found" not in started("facts", "ingest").out


# -- sessions -------------------------------------------------------------------------------------


def test_a_session_from_its_start_to_the_next(started: Any, repo: Path) -> None:
    (repo / "src").mkdir()
    (repo / "src/queue.py").write_text("")
    noted = started("facts", "session", "s-1", "--turns", "4", env=at("11:00:00"))
    assert noted.out == "Noted: 4 turns, 0 tool calls so far.\n"
    stored = started("facts", "store", "Decisions", "Retries run in the worker.", "--session", "s-1", "--json")
    fact = stored.data["fact"]["id"]
    for moment in ("11:30:00", "11:30:00"):
        closed = started(
            *("facts", "session", "s-1", "--turns", "9", "--tool-calls", "60", "--title", "durable retries"),
            *("--file", str(repo / "src/queue.py"), "--file", "/etc/hosts", "--close", "--json"),
            env=at(moment),
        )
        assert closed.code == 0
    (episode,) = [item for item in facts(repo) if item["_type"] == "episode"]
    assert (episode["title"], episode["turns"]) == ("Session 2026-03-02: durable retries", 9)
    assert (episode["fact_ids"], episode["files_changed"]) == ([fact], ["src/queue.py", "hosts"])
    assert "/etc" not in (repo / ".memory/facts.jsonl").read_text()
    # This one dies; the next one closes it.
    started("facts", "session", "killed", "--turns", "2", "--title", "fonts", env=at("12:00:00"))
    followed = started("facts", "session", "next", "--turns", "1", env=at("13:30:00"))
    assert "Recorded Session 2026-03-02: fonts" in followed.out
    found = started("facts", "episodes", "--tag", "auto", "--since", "2026-03-02", "--json").data
    assert (found["total"], [item["session"] for item in found["results"]]) == (2, ["killed", "s-1"])
    (first, *_) = started("facts", "episodes", "durable retries", "--json").data["results"]
    assert first["session"] == "s-1"
    assert started("inspect", first["ref"]).code == 0


# -- compaction -----------------------------------------------------------------------------------


def test_compact_from_standard_input_and_from_a_file(started: Any, repo: Path) -> None:
    pin = started("facts", "store", "Decisions", "The queue lives in Postgres.", "--json").data["fact"]["id"]
    started("facts", "focus", pin)
    done = started("facts", "compact", "--stdin", "--json", stdin=json.dumps(TALK)).data
    assert (done["changed"], done["evicted"], done["kept"], done["summarised_by"]) == (True, 8, 4, "offline")
    assert done["after_tokens"] < done["before_tokens"]
    assert "\nThe queue lives in Postgres.\n" in done["summary"]
    place = repo / done["checkpoint"]
    assert stat.S_IMODE(os.stat(place).st_mode) == 0o600
    assert [json.loads(line) for line in place.read_text().splitlines()] == TALK[:8]
    assert done["messages"][1:] == TALK[8:]
    file = repo / "talk.jsonl"
    file.write_text("".join(json.dumps(message) + "\n" for message in TALK))
    shown = started("facts", "compact", "--file", "talk.jsonl", "--keep", "1", "--dry-run")
    printed = [json.loads(line) for line in shown.out.splitlines()]
    assert printed[1:] == TALK[10:]
    assert shown.err.startswith("Compacted: 10 messages became a summary; ")
    assert len(list(place.parent.iterdir())) == 1


@pytest.mark.parametrize("wrapped", [False, True])
def test_compact_answers_in_the_form_it_was_asked_in(started: Any, wrapped: bool) -> None:
    given: Any = {"messages": TALK} if wrapped else TALK
    shown = started("facts", "compact", "--stdin", "--dry-run", stdin=json.dumps(given))
    answer = json.loads(shown.out)
    assert (answer["messages"] if wrapped else answer)[1:] == TALK[8:]


def test_compact_that_cannot_keep_what_goes_does_nothing(started: Any, repo: Path) -> None:
    (repo / ".memory/local").mkdir(exist_ok=True)
    (repo / ".memory/local/checkpoints").write_text("in the way")
    run = started("facts", "compact", "--stdin", "--json", stdin=json.dumps(TALK))
    assert run.code != 0
    assert run.error["hint"]
    assert "checkpoints" in run.error["message"]


@pytest.mark.parametrize(
    ("arguments", "stdin", "code"),
    [
        (("--stdin", "--file", "x"), b"", 2),
        ((), b"", 2),
        (("--stdin",), b"", 1),
        (("--stdin",), b'{"messages": "x"}', 1),
        (("--stdin", "--keep", "many"), b"[]", 2),
        (("--file", "nowhere.json"), b"", 1),
    ],
)
def test_compact_says_what_is_wrong(started: Any, arguments: tuple[str, ...], stdin: bytes, code: int) -> None:
    run = started("facts", "compact", *arguments, stdin=stdin)
    assert (run.code, run.out) == (code, "")
    assert run.err.startswith("error: ")


# -- the context of a turn ------------------------------------------------------------------------


def test_the_context_of_a_turn(started: Any, repo: Path) -> None:
    assert started("facts", "context", "how are retries scheduled?").out == ""
    stored = [
        started("facts", "store", section, text, "--json").data["fact"]["id"]
        for section, text in (
            ("Decisions", "Retries are scheduled by the worker."),
            ("Constraints", "A request ends within 2 s."),
        )
    ]
    started("facts", "focus", stored[1])
    first = started("facts", "context", "how are retries scheduled?")
    assert first.out.splitlines()[3:] == [
        "## Working memory (pinned)",
        f"- [fact:{stored[1]}] A request ends within 2 s.",
        "",
        "## Decisions",
        f"- [fact:{stored[0]}] Retries are scheduled by the worker.",
    ]
    started("facts", "recall", "how are retries scheduled?")
    assert started("facts", "context", "how are retries scheduled?").out == first.out
    told = started("facts", "context", "ok", "--json").data
    assert (told["low_signal"], told["pins"], told["facts"]) == (True, [f"fact:{stored[1]}"], [])
    started("facts", "release")
    assert started("facts", "context", "ok").out == ""
    assert started("facts", "context", "retries", "--budget", "50").code == 1
