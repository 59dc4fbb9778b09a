"""What one session brought in can be taken out again: all of it, nothing else, and for facts not for good."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from installed import Memory
from promised import proves, tally
from quire.inbox.proposals import Proposal, propose
from quire.inbox.store import read_inbox, write_inbox
from thorough import either

SESSION = "run-1"
OTHERS = ("run-10", "run", "un-1", "run-1-b", "RUN-1")
"""Names that begin, end or contain the one, or differ from it by case."""
MANY = either(5, 60)


def proposed(session: str, number: int) -> Proposal:
    text = f"Fact {number} of session {(SESSION, *OTHERS).index(session)} is kept."
    fields = {"section": "Specs", "content": text}
    return propose("facts", "fact", text, fields, origin=f"session:claude:{session}", by="agent")


@pytest.fixture
def filled(memory: Memory) -> Memory:
    memory.init()
    sessions = (SESSION, *OTHERS)
    items = [proposed(session, number) for session in sessions for number in range(MANY)]
    items.append(propose("facts", "fact", "From a file.", {"section": "Specs"}, origin=f"file:{SESSION}", by="file"))
    after, _ = read_inbox(str(memory.cwd)).with_new(items)
    write_inbox(str(memory.cwd), after, "0" * 16)
    return memory


def waiting(memory: Memory) -> list[str]:
    return sorted(item["origin"] for item in memory("inbox", "--json").data["results"])


@proves("P8.1", "G6", over="inbox", found="an origin that begins another's name took both sessions out")
@pytest.mark.parametrize("said", [SESSION, f"claude:{SESSION}", f"session:claude:{SESSION}"])
def test_rejecting_a_session_takes_exactly_its_proposals(filled: Memory, said: str) -> None:
    before = waiting(filled)
    done = filled("inbox", "reject", "--all", "--from", "agent", "--origin", said, "--json")
    assert done.code == 0
    assert waiting(filled) == [origin for origin in before if origin != f"session:claude:{SESSION}"]
    assert len(waiting(filled)) == len(OTHERS) * MANY + 1
    tally("P8.1", inputs=len(before))


@proves("P8.1", "G6", over="facts")
def test_archiving_a_session_takes_exactly_its_facts_and_can_be_taken_back(memory: Memory) -> None:
    memory.init()
    for session in (SESSION, *OTHERS):
        for number in range(MANY if session == SESSION else 1):
            memory("facts", "store", "Specs", f"Fact {number} of {session}.", "--session", session)
    memory("facts", "store", "Specs", f"Told by nobody, about {SESSION}.")
    # One that is put away already, and one that another session says again.
    gone = _ids(memory, f"Fact 0 of {SESSION}.")
    memory("facts", "archive", *gone, "--reason", "before")
    memory("facts", "store", "Specs", f"Fact 1 of {SESSION}.", "--session", OTHERS[0])
    path = Path(memory.cwd, ".memory/facts.jsonl")
    before, kept = path.read_bytes(), _active(memory)
    wanted = {text for text in kept if text.endswith(f" of {SESSION}.")}
    assert len(wanted) == MANY - 1
    shown = memory("facts", "archive", "--session", SESSION, "--dry-run", "--json").data
    assert (shown["changed"], shown["dry_run"]) == (MANY - 1, True)
    assert path.read_bytes() == before
    done = memory("facts", "archive", "--session", SESSION, "--reason", "it was misled", "--json").data
    assert done["changed"] == MANY - 1
    assert _active(memory).keys() == kept.keys() - wanted
    again = memory("facts", "archive", "--session", SESSION)
    assert (again.code, again.out) == (0, "No active fact is from that session.\n")
    assert memory("facts", "archive", "--json").error["message"] == "Name the facts, or use --faded or --session."
    memory("facts", "restore", *(item["id"] for item in done["outcomes"]))
    assert _active(memory) == kept
    tally("P8.1", inputs=len(kept))


def _active(memory: Memory) -> dict[str, str]:
    lines = map(json.loads, Path(memory.cwd, ".memory/facts.jsonl").read_text().splitlines())
    facts = {line["id"]: line for line in lines if "content" in line}
    return {fact["content"]: name for name, fact in facts.items() if fact["status"] == "active"}


def _ids(memory: Memory, text: str) -> list[str]:
    return [_active(memory)[text]]
