"""Proposals: what tells two apart, what the file of them survives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promised import proves
from quire.inbox.proposals import Proposal, ProposalEvidence, proposal_id, propose, value_digest
from quire.inbox.store import PENDING_MOST, count_pending, named_proposal, read_inbox, write_inbox
from quire.model.errors import InputError, NotFound

TOKEN = "0" * 16


def make(text: str, **fields: object) -> Proposal:
    given: dict[str, object] = {"origin": "session:claude:s1", "by": "agent", **fields}
    return propose("facts", "fact", text, {"section": "Specs", "content": text}, **given)  # type: ignore[arg-type]


def put(root: Path, *items: Proposal) -> None:
    inbox, _ = read_inbox(str(root)).with_new(items)
    write_inbox(str(root), inbox, TOKEN)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Retries run in the worker.", "retries  RUN in the worker"),
        ("We use `uv`, never pip!", "We use uv - never pip"),
        ("ﬁle names", "File names"),
        ("A\nB", "a b"),
    ],
)
def test_the_same_in_another_dress(one: str, other: str) -> None:
    assert value_digest(one) == value_digest(other)
    assert proposal_id(one) == proposal_id(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Python < 3.11", "Python >= 3.11"),
        ("C", "C++"),
        ("a timeout of -1", "a timeout of 1"),
        ("Retries run in the worker", "Retries run in a worker"),
    ],
)
def test_another_saying(one: str, other: str) -> None:
    assert value_digest(one) != value_digest(other)


@given(st.text())
def test_any_text_has_a_digest(text: str) -> None:
    assert value_digest(text) == value_digest(text + "  ")


def test_what_was_written_is_read(tmp_path: Path) -> None:
    (tmp_path / ".memory").mkdir()
    item = make("A queue has one owner.", evidence=(ProposalEvidence(quote="“one owner”", by="user", where="turn 3"),))
    put(tmp_path, item)
    found = read_inbox(str(tmp_path))
    assert found.proposals == (item,)
    assert found.problems == ()
    assert count_pending(str(tmp_path)) == 1
    assert (tmp_path / ".memory/local/.gitignore").read_text() == "*\n"


def test_what_is_found_again_gains_evidence_and_no_second_place(tmp_path: Path) -> None:
    (tmp_path / ".memory").mkdir()
    first = make("A queue has one owner.", evidence=(ProposalEvidence(quote="a", by="agent"),))
    again = make("a queue has one OWNER", by="user", evidence=(ProposalEvidence(quote="b", by="user"),))
    put(tmp_path, first)
    put(tmp_path, again)
    (found,) = read_inbox(str(tmp_path)).proposals
    assert found.text == "A queue has one owner."
    assert found.by == "user"
    assert [evidence.quote for evidence in found.evidence] == ["a", "b"]


def test_a_damaged_line_is_told_of_and_kept_beside(tmp_path: Path) -> None:
    (tmp_path / ".memory/local").mkdir(parents=True)
    item = make("A queue has one owner.")
    put(tmp_path, item)
    path = tmp_path / ".memory/local/inbox.jsonl"
    path.write_bytes(b"{broken\n" + path.read_bytes() + b'{"id": 3}\n\xff\xfe\n')
    found = read_inbox(str(tmp_path))
    assert [one.id for one in found.proposals] == [item.id]
    assert found.problems[0].code == "LocalStateDamaged"
    assert count_pending(str(tmp_path)) == 1
    write_inbox(str(tmp_path), found, TOKEN)
    assert read_inbox(str(tmp_path)).problems == ()
    assert b"{broken" in (tmp_path / ".memory/local/inbox.jsonl.damaged").read_bytes()


@proves("P8.4", "G7", over="inbox")
def test_only_so_many_wait(tmp_path: Path) -> None:
    (tmp_path / ".memory").mkdir()
    inbox, added = read_inbox(str(tmp_path)).with_new(
        make(f"fact number {number}") for number in range(PENDING_MOST + 5)
    )
    assert (len(added), len(inbox.pending)) == (PENDING_MOST, PENDING_MOST)


def test_a_status_of_the_record_is_not_that_of_the_proposal(tmp_path: Path) -> None:
    (tmp_path / ".memory").mkdir()
    fields = {"kind": "question", "title": "Q", "body": "Why?", "status": "open"}
    put(tmp_path, propose("graph", "question", "Why?", fields, origin="file:x", by="file"))
    assert count_pending(str(tmp_path)) == 1
    assert json.loads((tmp_path / ".memory/local/inbox.jsonl").read_text())["fields"]["status"] == "open"


def test_names(tmp_path: Path) -> None:
    (tmp_path / ".memory").mkdir()
    item = make("A queue has one owner.")
    put(tmp_path, item)
    found = read_inbox(str(tmp_path))
    assert named_proposal(found, item.id) == item
    assert named_proposal(found, item.id[:7]) == item
    assert named_proposal(found, f" {item.id.removeprefix('in-')} ") == item
    with pytest.raises(NotFound):
        named_proposal(found, "in-0")
    twin = item.id[:7]
    both, _ = found.with_new([Proposal(**{**_fields(item), "id": f"{twin}ffff"})])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="could be any of"):
        named_proposal(both, twin)


def _fields(item: Proposal) -> dict[str, object]:
    return {name: getattr(item, name) for name in item.__struct_fields__}
