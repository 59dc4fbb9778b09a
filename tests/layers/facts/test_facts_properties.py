"""What must hold for every file, not only for those we thought of."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from making import outcome, resolved, settled

from quire.layers.facts.content import content_hash
from quire.layers.facts.layout import SECTIONS, STATUSES, VERSION_MOST
from quire.layers.facts.lines import encode_record, read_lines
from quire.layers.facts.resolve import canonical
from quire.layers.facts.types import Connection, Episode, Fact, Mind, Stored
from thorough import examples

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SAID = TEXT.filter(lambda text: bool(text.strip()))
IDS = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_characters="\x7f\x85\xa0"), min_size=1, max_size=6
)
TIMES = st.sampled_from(["2026-03-01T00:00:00.000Z", "2026-03-01T01:00:00+02:00", "2026-03-02T00:00:00Z"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
LISTS = st.lists(TEXT, max_size=3).map(tuple)
MAYBE = st.none() | TEXT
NUMBERS = st.integers(0, VERSION_MOST)
SHARES = st.floats(0, 4, allow_nan=False)
OTHER_NAMES = {"_type", "source_fact_id", "target_fact_id", "source", "target", "weight", "ts"}


def _extras(kind: type[Stored]) -> st.SearchStrategy[dict[str, Any]]:
    taken = OTHER_NAMES | (set(kind.__struct_fields__) - {"extra"})
    return st.dictionaries((TEXT | st.just("extra")).filter(lambda name: name not in taken), VALUES, max_size=3)


SCORE: dict[str, Any] = {
    "confidence": SHARES,
    "decay_rate": SHARES,
    "last_reinforced": MAYBE,
    "reinforcement_count": NUMBERS,
}
FACTS = st.builds(
    Fact,
    id=IDS,
    mind=IDS,
    section=st.sampled_from(SECTIONS),
    content=SAID,
    status=st.sampled_from(STATUSES),
    created_at=TIMES,
    source=TEXT,
    supersedes=st.none() | IDS,
    version=NUMBERS,
    decay_profile=TEXT,
    persona_id=MAYBE,
    layer=TEXT,
    tags=LISTS,
    last_accessed=MAYBE,
    created_session=MAYBE,
    superseded_at=MAYBE,
    archived_at=MAYBE,
    updated_at=MAYBE,
    reason=MAYBE,
    same_as=st.none() | IDS,
    jj_change_id=MAYBE,
    extra=_extras(Fact),
    **SCORE,
).map(lambda fact: msgspec.structs.replace(fact, content_hash=content_hash(fact.content)))
CONNECTIONS = st.builds(
    Connection,
    id=IDS,
    source_id=IDS,
    target_id=IDS,
    relation=st.from_regex(r"\A[a-z]+(_[a-z]+)?\Z"),
    description=TEXT,
    status=st.sampled_from(STATUSES),
    created_at=TEXT,
    version=NUMBERS,
    created_session=MAYBE,
    source_mind=TEXT,
    target_mind=TEXT,
    archived_at=MAYBE,
    updated_at=MAYBE,
    reason=MAYBE,
    extra=_extras(Connection),
    **SCORE,
)
EPISODES = st.builds(
    Episode,
    id=IDS,
    mind=IDS,
    title=SAID,
    narrative=TEXT,
    date=TEXT,
    session_id=MAYBE,
    created_at=TEXT,
    version=NUMBERS,
    fact_ids=LISTS,
    affected_nodes=LISTS,
    affected_changes=LISTS,
    files_changed=LISTS,
    tags=LISTS,
    tool_calls_count=st.none() | NUMBERS,
    updated_at=MAYBE,
    jj_change_id=MAYBE,
    extra=_extras(Episode),
)
MINDS = st.builds(
    Mind,
    name=IDS,
    description=TEXT,
    status=SAID,
    origin_type=TEXT,
    origin_path=MAYBE,
    origin_url=MAYBE,
    readonly=st.booleans(),
    parent=MAYBE,
    created_at=TEXT,
    version=NUMBERS,
    last_sync=MAYBE,
    updated_at=MAYBE,
    extra=_extras(Mind),
)


@settings(max_examples=examples(400))
@given(st.one_of(FACTS, CONNECTIONS, EPISODES, MINDS))
def test_a_record_survives_its_line(record: Stored) -> None:
    line = encode_record(record)
    assert b"\n" not in line
    reading = read_lines(line + b"\n")
    assert reading.problems == []
    (again,) = [*reading.facts, *reading.connections, *reading.episodes, *reading.minds]
    assert again == record
    assert list(again.extra) == list(record.extra)
    assert encode_record(again) == line


@settings(max_examples=examples(200))
@given(st.binary(max_size=200))
@example(b'{"_type":"fact","id":"a","section":"Specs","content":"\\ud83d"}')
@example(b"\xef\xbb\xbf\r\r\n\x00\n=======\n")
def test_any_bytes_can_be_read(content: bytes) -> None:
    settled(content)


# A small world, so that lines meet: few ids, few texts, every field that decides something.
OBJECT_VALUES: dict[str, Any] = {
    "section": st.sampled_from(["Specs", "specs", "Decisions", "Odd"]),
    "content": st.sampled_from(["X", "- x", "Y", "Z", "", 5]),
    "status": st.sampled_from(["active", "active", "active", "archived", "superseded", "dormant", "frozen"]),
    "version": st.sampled_from([0, 1, 1, 2, "2", -1, 2**60, None]),
    "created_at": st.sampled_from(["2026-03-01T00:00:00Z", "2026-03-01T01:00:00+02:00", "soon", ""]),
    "mind": st.sampled_from(["default", "other"]),
    "supersedes": st.sampled_from(["a", "b", "c", "lost", None, 7]),
    "same_as": st.sampled_from(["a", "b", "c", None]),
    "tags": st.sampled_from([[], ["t"], ["u"], "t", None]),
    "source": st.sampled_from(["manual", "extraction"]),
    "reason": st.sampled_from(["r", "s"]),
    "archived_at": st.sampled_from(["2026-03-01T00:00:00Z", None]),
    "updated_at": st.sampled_from(["2026-03-01T00:00:00Z", "2026-03-01T01:00:00+01:00", "later"]),
    "confidence": st.sampled_from([1, 0.5, "high"]),
    "last_reinforced": st.sampled_from(["2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z", None]),
    "reinforcement_count": st.sampled_from([1, 2, 9]),
    "extra": st.sampled_from([1, True]),
    "p": st.sampled_from([0, 0.0, False, None, {"q": 1, "r": 2}, {"r": 2, "q": 1}]),
    "z": st.sampled_from([1, [1], "1"]),
}


def _small_facts(names: set[str]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"_type": st.just("fact"), "id": st.sampled_from("abc"), **{name: OBJECT_VALUES[name] for name in ESSENCE}},
        optional={name: value for name, value in OBJECT_VALUES.items() if name in names - ESSENCE},
    )


ESSENCE = {"content", "section"}
SMALL_FACTS = _small_facts({*OBJECT_VALUES}) | st.sets(st.sampled_from([*OBJECT_VALUES]), max_size=4).flatmap(
    _small_facts
)
SMALL_EDGES = st.fixed_dictionaries(
    {
        "_type": st.just("edge"),
        "id": st.sampled_from("ef"),
        "source_id": st.sampled_from(["a", "b", "fact:c", "lost"]),
        "target_fact_id": st.sampled_from(["a", "b", "episode:s", "feature.x"]),
        "relation": st.sampled_from(["depends_on", "Depends on", "-"]),
    },
    optional={
        name: OBJECT_VALUES[name] for name in ("status", "version", "created_at", "confidence", "last_reinforced", "p")
    }
    | {"weight": st.sampled_from([0.5, "x"]), "target_id": st.sampled_from(["b", 5, None])},
)
SMALL_EPISODES = st.fixed_dictionaries(
    {
        "_type": st.just("episode"),
        "id": st.sampled_from("st"),
        "title": st.sampled_from("TU"),
        "narrative": st.just("N"),
    },
    optional={
        "fact_ids": st.sampled_from([[], ["a", "b"], ["c"], None]),
        "session_id": st.sampled_from(["1", "2", None]),
        "tags": st.sampled_from([["auto"], "auto"]),
        "tool_calls_count": st.sampled_from([1, 2, -1]),
        "p": OBJECT_VALUES["p"],
    },
)
SMALL_MINDS = st.fixed_dictionaries(
    {"_type": st.just("mind"), "name": st.just("m")},
    optional={
        "status": st.sampled_from(["active", "retired"]),
        "description": st.sampled_from("de"),
        "p": OBJECT_VALUES["p"],
    },
)
RAW = st.sampled_from(
    [b"", b"  ", b"junk", b'{"_type":', b"<<<<<<< a", b"=======", b"\xff", b"null", b"\xef\xbb\xbfjunk\r"]
)
LINES = st.one_of(
    SMALL_FACTS.map(lambda item: json.dumps(item).encode()),
    SMALL_FACTS.map(lambda item: json.dumps(dict(reversed(item.items())), separators=(",", ":")).encode() + b"\r"),
    SMALL_EDGES.map(lambda item: json.dumps(item).encode()),
    SMALL_EPISODES.map(lambda item: json.dumps(item).encode()),
    SMALL_MINDS.map(lambda item: json.dumps(item).encode()),
    RAW,
)
FILES = st.lists(LINES, max_size=10)


def _file(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


@settings(max_examples=examples(500))
@given(FILES)
def test_the_normal_file_is_its_own_normal_file(lines: list[bytes]) -> None:
    found = settled(_file(lines))
    # Nothing is lost: every line that is no record is there, and every content that was said.
    reading, again = read_lines(_file(lines)), read_lines(canonical(found))
    assert {line.raw for line in reading.aside} == {line.raw for line in again.aside}
    assert {(fact.id, fact.content, fact.section) for fact in reading.facts} == {
        (fact.id, fact.content, fact.section) for fact in again.facts
    }
    assert {(told.id, told.title) for told in reading.episodes} == {(told.id, told.title) for told in again.episodes}
    assert {told.id for told in reading.connections} == {told.id for told in again.connections}


@settings(max_examples=examples(400))
@given(FILES, st.randoms(use_true_random=False), st.lists(st.integers(0, 9), max_size=6))
def test_order_and_repetition_of_lines_do_not_matter(lines: list[bytes], random: Any, twice: list[int]) -> None:
    found = resolved(_file(lines))
    mixed = lines + [lines[number] for number in twice if number < len(lines)]
    random.shuffle(mixed)
    again = resolved(_file(mixed))
    assert outcome(again) == outcome(found)
    assert canonical(again) == canonical(found)


@pytest.mark.proof
@settings(max_examples=examples(500))
@given(FILES, FILES)
def test_two_files_in_either_order_say_the_same(ours: list[bytes], theirs: list[bytes]) -> None:
    one, other = resolved(_file(ours + theirs)), resolved(_file(theirs + ours))
    assert outcome(one) == outcome(other)
    assert canonical(one) == canonical(other)


@settings(max_examples=examples(500))
@given(FILES)
def test_a_tombstone_is_final_until_a_higher_version(lines: list[bytes]) -> None:
    gone = b'{"_type":"fact","id":"a","section":"Specs","content":"X","status":"archived","version":3}\n'
    for content in (_file(lines) + gone, gone + _file(lines)):
        found = settled(content)
        held = found.twins.get("a") or found.facts["a"]
        assert held.status == "archived"
        assert held.version == 3
