"""What must hold for every merge of facts and logs: whichever side is ours, whichever branch comes first."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from quire.layers.facts.lines import encode_record, read_lines
from quire.layers.facts.merge import merge_facts, settled_facts
from quire.layers.facts.types import Connection, Fact
from quire.layers.merge_lines import merge_lines
from quire.model.contested import Choice
from thorough import examples

TIMES = st.sampled_from(["2026-02-09T14:00:00Z", "2026-02-09T15:00:00Z", "2026-02-10T01:00:00+02:00"])
# -- lines --------------------------------------------------------------------------------------------------------

LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"d", b"e"]), unique=True)


@settings(max_examples=examples(200))
@given(LINES, st.lists(LINES, min_size=2, max_size=3))
def test_logs_are_merged_alike_in_every_order(base: list[bytes], sides: list[list[bytes]]) -> None:
    was, *texts = (b"".join(line + b"\n" for line in lines) for lines in (base, *sides))

    def put_together(order: Any) -> bytes:
        found, *others = order
        for side in others:
            found = merge_lines(was, found, side, lambda line: line)
        return bytes(found)

    assert len({put_together(order) for order in itertools.permutations(texts)}) == 1


# -- facts --------------------------------------------------------------------------------------------------------


def fact(name: str, **fields: Any) -> Fact:
    given: dict[str, Any] = {"section": "Specs", "content": f"Fact {name}.", "created_at": "2026-02-09T14:00:00Z"}
    return Fact(id=name, **{**given, **fields})


FACTS = st.builds(
    fact,
    st.sampled_from("abc"),
    status=st.sampled_from(["active", "archived", "superseded"]),
    version=st.integers(1, 4),
    tags=st.lists(st.sampled_from("xy"), unique=True).map(tuple),
    evidence=st.lists(st.sampled_from("pq"), unique=True).map(tuple),
    updated_at=st.none() | TIMES,
    content=st.sampled_from(["One holds.", "Two holds.", "One holds."]),
    extra=st.sampled_from([{}, {"mood": "good"}, {"mood": "bad"}]),
)
CONNECTIONS = st.builds(
    Connection, id=st.just("k"), source_id=st.sampled_from("ab"), target_id=st.just("c"), relation=st.just("enables")
)
FILES = st.lists(FACTS | CONNECTIONS, max_size=5, unique_by=lambda record: record.id)


def text(records: Any) -> bytes:
    return b"".join(encode_record(record) + b"\n" for record in records)


@settings(max_examples=examples(300))
@given(FILES, st.lists(FILES, min_size=2, max_size=4))
def test_facts_are_merged_alike_in_every_order(base: Any, sides: Any) -> None:
    was, texts = text(base), [text(side) for side in sides]

    def put_together(order: Any) -> bytes | None:
        found, *others = order
        for side in others:
            found = merge_facts(was, found, side).data
        return found

    results = {put_together(order) for order in itertools.islice(itertools.permutations(texts), 12)}
    assert len(results) == 1
    (found,) = results
    assert merge_facts(found, found, found).data == found
    assert merge_facts(was, was, texts[0]).data == texts[0] or {*texts[0].split(b"\n")} == {
        *(merge_facts(was, was, texts[0]).data or b"").split(b"\n")
    }


def test_facts_take_fields_of_both_and_contest_a_text() -> None:
    base = text([fact("a", version=1), fact("b", version=1)])
    ours = text([fact("a", version=2, status="archived", reason="gone"), fact("b", version=1, content="One.")])
    theirs = text([fact("a", version=3, tags=("x",)), fact("b", version=2, content="Two."), fact("c")])
    found = merge_facts(base, ours, theirs)
    assert found.data == merge_facts(base, theirs, ours).data
    (field,) = found.contested
    assert (field.ref, field.field) == ("fact:b", "content")
    first, second, third = (found.data or b"").splitlines()
    assert b'"status":"archived"' in first
    assert b'"tags":["x"]' in first
    assert b'"version":3' in first
    assert b'"id":"c"' in third
    settled = settled_facts(found.data or b"", [Choice(ref="fact:b", field="content", value="One.")])
    assert settled.splitlines()[0::2] == [first, third]
    (settled_fact,) = read_lines(settled.splitlines()[1]).facts
    assert (settled_fact.content, settled_fact.version, list(settled_fact.extra)) == ("One.", 3, ["settled"])
    assert second not in settled


def test_lines_that_are_no_facts_and_marks_of_a_conflict_do_no_harm() -> None:
    base = text([fact("a")]) + b"{broken\n"
    ours = base + text([fact("b")])
    theirs = b"<<<<<<< ours\n" + text([fact("a"), fact("c")]) + b"=======\n>>>>>>> theirs\n"
    found = merge_facts(base, ours, theirs).data or b""
    assert found == text([fact("a"), fact("b"), fact("c")])
    assert merge_facts(base, base, ours).data == ours
