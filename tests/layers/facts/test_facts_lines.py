"""Reading a file of facts line by line, and writing a record as its one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from making import REAL, data, edge, episode, fact, needs_real, resolved

from cases import each
from quire.layers.facts.content import content_hash
from quire.layers.facts.layout import CONTENT_CHARS, LINE_BYTES, SECTIONS
from quire.layers.facts.lines import encode_record, read_lines
from quire.layers.facts.resolve import canonical
from quire.layers.facts.types import Connection, Episode, Fact, Mind, Stored

DATA = Path(__file__).parent / "data"


def _one(item: dict[str, Any] | str | bytes) -> Stored:
    reading = read_lines(data(item))
    assert not reading.aside, reading.problems
    (record,) = [*reading.facts, *reading.connections, *reading.episodes, *reading.minds]
    return record


def _codes(item: dict[str, Any] | str | bytes) -> list[str]:
    return [problem.code for problem in read_lines(data(item)).problems]


def _aside(item: dict[str, Any] | str | bytes) -> str:
    """The code of a line that is no record; it must be kept as it was, and be told."""
    raw = data(item).removesuffix(b"\n")
    reading = read_lines(b"\n" + raw + b"\n" + data(fact("other")))
    assert [kept.id for kept in reading.facts] == ["other"]
    (line,) = reading.aside
    assert (line.number, line.raw) == (2, raw)
    assert (line.problem.line, line.problem.severity, line.problem.path) == (2, "error", "facts.jsonl")
    assert reading.problems == [line.problem]
    assert raw + b"\n" in canonical(resolved(raw + b"\n"))
    return line.problem.code


# -- shapes --------------------------------------------------------------------------------------


def test_a_rich_line() -> None:
    line = (
        '{"_type":"fact","id":"Q_jk","mind":"default","section":"Decisions","content":"C","status":"active",'
        '"created_at":"2026-03-04T05:29:04.106Z","source":"extraction","content_hash":"' + content_hash("C") + '",'
        '"confidence":1,"last_reinforced":"2026-03-04T16:44:57.191Z","reinforcement_count":2,"decay_rate":0.05,'
        '"supersedes":null}'
    )
    record = _one(line)
    assert isinstance(record, Fact)
    assert (record.reinforcement_count, record.confidence, record.supersedes, record.extra) == (2, 1.0, None, {})
    assert encode_record(record).decode() == (
        '{"_type":"fact","id":"Q_jk","section":"Decisions","content":"C","status":"active",'
        '"created_at":"2026-03-04T05:29:04.106Z","source":"extraction","content_hash":"' + content_hash("C") + '",'
        '"last_reinforced":"2026-03-04T16:44:57.191Z","reinforcement_count":2}'
    )
    assert _codes(line) == []


def test_a_line_of_the_latest_writer() -> None:
    record = _one(
        fact(version=7, decay_profile="global", persona_id="p", layer="persona", tags=["t"], mind="primensus")
    )
    assert isinstance(record, Fact)
    assert (record.version, record.decay_profile, record.persona_id, record.layer, record.tags, record.mind) == (
        7,
        "global",
        "p",
        "persona",
        ("t",),
        "primensus",
    )
    assert json.loads(encode_record(record))["tags"] == ["t"]


def test_defaults_are_what_the_absent_key_means() -> None:
    record = _one({"_type": "fact", "id": "a", "section": "Specs", "content": "C"})
    assert isinstance(record, Fact)
    assert (record.mind, record.status, record.source, record.version) == ("default", "active", "manual", 0)
    assert (record.confidence, record.reinforcement_count, record.decay_profile) == (1.0, 1, "standard")


@pytest.mark.parametrize(
    "item",
    [
        {
            "source_fact_id": "a",
            "target_fact_id": "b",
            "description": "d",
            "source_mind": "m",
            "target_mind": "default",
        },
        {"source_id": "a", "target_id": "b", "confidence": 0.5, "created_at": "2026-03-01T00:00:00Z"},
        {"source_id": "a", "target_id": "b", "weight": 0.5},
        {"source": "a", "target": "b"},
    ],
)
def test_every_shape_of_an_edge(item: dict[str, Any]) -> None:
    record = _one({"_type": "edge", "id": "e", "relation": "Depends-On", **item})
    assert isinstance(record, Connection)
    assert (record.source_id, record.target_id, record.relation, record.extra) == ("a", "b", "depends_on", {})
    assert record.confidence == (0.5 if {"weight", "confidence"} & set(item) else 1.0)
    assert _one(encode_record(record)) == record


def test_our_name_wins_where_a_line_has_both() -> None:
    record = _one(edge("e", "a", "b", source_fact_id="z", confidence=0.3, weight=0.9))
    assert isinstance(record, Connection)
    assert (record.source_id, record.confidence, record.extra) == ("a", 0.3, {"source_fact_id": "z", "weight": 0.9})
    assert _one(encode_record(record)) == record


def test_both_shapes_of_an_episode() -> None:
    first = _one(episode(mind="default", session_id=None, created_at="x", fact_ids=["a", "b"]))
    second = _one(
        episode(tags=["auto"], tool_calls_count=9, affected_nodes=["n"], affected_changes=["c"], files_changed=["f"])
    )
    assert isinstance(first, Episode)
    assert isinstance(second, Episode)
    assert first.fact_ids == ("a", "b")
    assert (second.tags, second.tool_calls_count, second.affected_nodes) == (("auto",), 9, ("n",))
    assert _one(encode_record(first)) == first
    assert _one(encode_record(second)) == second


def test_a_mind() -> None:
    said = {"_type": "mind", "name": "directive/x", "description": "d", "status": "retired", "readonly": True}
    record = _one(said)
    assert isinstance(record, Mind)
    assert json.loads(encode_record(record)) == said


def test_the_earliest_files_had_facts_only() -> None:
    record = _one('{"id":"demo-1","section":"Architecture","content":"c","confidence":1.0,"ts":"2026-03-22T00:00:00Z"}')
    assert isinstance(record, Fact)
    assert (record.created_at, record.extra) == ("2026-03-22T00:00:00Z", {})
    assert encode_record(record).startswith(b'{"_type":"fact","id":"demo-1"')


# -- one form ------------------------------------------------------------------------------------


def test_unknown_keys_stand_last_in_their_order() -> None:
    line = encode_record(
        _one('{"z":1,"_type":"fact","extra":[2],"id":"a","section":"Specs","a":{"q":null},"content":"é"}')
    )
    assert line.endswith(b'"content_hash":"' + content_hash("é").encode() + b'","z":1,"extra":[2],"a":{"q":null}}')
    assert "é".encode() in line
    assert encode_record(_one(line)) == line


def test_spaces_and_order_do_not_matter() -> None:
    said = fact(tags=["x"], version=3)
    turned = dict(reversed(said.items()))
    assert encode_record(_one(json.dumps(said, indent=None))) == encode_record(_one(json.dumps(turned)))


def test_null_says_nothing() -> None:
    assert _one(fact(tags=None, source=None, version=None, mind=None)) == _one(fact())
    assert _codes(fact(tags=None, source=None)) == []


# -- ends of lines, marks, blanks ----------------------------------------------------------------


def test_bom_crlf_and_blank_lines() -> None:
    one, two = data(fact("a")), data(fact("b"))
    file = b"\xef\xbb\xbf" + one.replace(b"\n", b"\r\n") + b"\r\n   \n\n" + b"\xef\xbb\xbf" + two.rstrip(b"\n")
    reading = read_lines(file)
    assert [record.id for record in reading.facts] == ["a", "b"]
    assert reading.problems == []
    assert reading.facts[0].content_hash == content_hash("Fact a.")


@pytest.mark.parametrize("mark", ["<<<<<<< HEAD", "=======", ">>>>>>> feature/x", "||||||| 1234", "<<<<<<<"])
def test_marks_of_a_conflict_are_told_and_left_out(mark: str) -> None:
    file = data(fact("a"), mark + "\r", fact("b"))
    reading = read_lines(file)
    assert [(problem.code, problem.line, problem.severity) for problem in reading.problems] == [
        ("ConflictMarker", 2, "warning")
    ]
    assert [record.id for record in reading.facts] == ["a", "b"]
    assert reading.aside == []


# -- what is no record ---------------------------------------------------------------------------


@each(
    ("item", "code"),
    [
        ('{"_type": "fact", "id": "b', "JsonInvalid"),
        ('{"_type":"fact"}{"_type":"fact"}', "JsonInvalid"),
        ('{"_type":"fact","id":"a","section":"Specs","content":"c","x":NaN}', "JsonInvalid"),
        ('{"_type":"fact","id":"a","section":"Specs","content":"c","x":1e400}', "JsonInvalid"),
        ('{"_type":"fact","id":"a","section":"Specs","content":"c","x":' + "9" * 5000 + "}", "JsonInvalid"),
        (r'{"_type":"fact","id":"a","section":"Specs","content":"\ud800"}', "JsonInvalid"),
        (r'{"_type":"fact","id":"a","section":"Specs","content":"\udc00x"}', "JsonInvalid"),
        (b'{"_type":"fact","id":"a","section":"Specs","content":"\xff"}', "NotUtf8"),
        ("[1, 2]", "NotAnObject"),
        ('"fact"', "NotAnObject"),
        ("null", "NotAnObject"),
        ("======= x", None),
        ("========", "JsonInvalid"),
        ('{"id":"x","content":"y"}', "TypeMissing"),
        ('{"fact":"A bare fact string."}', "TypeMissing"),
        ('{"_type":"widget","id":"w"}', "TypeUnknown"),
        ('{"_type":["fact"],"id":"w"}', "TypeUnknown"),
        ({"_type": "fact", "id": "a", "section": "Specs"}, "FieldMissing"),
        ({"_type": "fact", "section": "Specs", "content": "c"}, "FieldMissing"),
        ({"_type": "fact", "id": "a", "content": "c"}, "FieldMissing"),
        (fact(content=""), "FieldInvalid"),
        (fact(content=" \n"), "FieldInvalid"),
        (fact(content=7), "FieldInvalid"),  # type: ignore[arg-type]
        (fact(""), "FieldInvalid"),
        (fact("a b"), "FieldInvalid"),
        (fact("a\n"), "FieldInvalid"),
        (fact("i" * 161), "FieldInvalid"),
        (fact(section=["Specs"]), "FieldInvalid"),
        (fact(status=1), "FieldInvalid"),
        (fact(status=""), "FieldInvalid"),
        (edge("e", "a", "b", " - "), "FieldInvalid"),
        ({"_type": "edge", "id": "e", "source_id": "a", "relation": "x"}, "FieldMissing"),
        (episode(title="", narrative=" "), "FieldInvalid"),
        ({"_type": "mind", "description": "d"}, "FieldMissing"),
        ('{"_type":"fact","id":"a","id":"b","section":"Specs","content":"c"}', "KeyTwice"),
        ('{"_type":"fact","id":"a","section":"Specs","content":"c","x":{"y":1,"y":1}}', "KeyTwice"),
        ('{"_type"  :"fact","id":"a","section":"Specs","content":"c","x":1,"x":2}', "KeyTwice"),
        (r'{"_type":"fact","id":"a","section":"Specs","content":"c","x\\":1,"y":1,"y":2}', "KeyTwice"),
        (fact(x=eval("[" * 64 + "]" * 64)), "JsonTooDeep"),
        ('{"_type":"fact","x":' + "[" * 5000 + "]" * 5000 + "}", "JsonTooDeep"),
        (fact(content="x" * LINE_BYTES), "LineTooLong"),
    ],
)
def test_a_line_that_is_no_record_is_set_aside(item: Any, code: str | None) -> None:
    if code is None:
        assert _codes(item) == ["ConflictMarker"]
    else:
        assert _aside(item) == code


@pytest.mark.parametrize(
    "text", ['say ":" twice', '":', "a \\", 'the key " : is', '\\\\":', ':"', 'x":1,"x":2', "tab\t:"]
)
def test_texts_that_look_like_keys_are_not_keys(text: str) -> None:
    record = _one(fact(content=text, note={text: text, "list": [{text: 1}, {text: 2}]}))
    assert isinstance(record, Fact)
    assert record.content == text


# -- what is kept with a doubt -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"section": "Ecosystem"}, "SectionUnknown"),
        ({"status": "frozen"}, "StatusUnknown"),
        ({"content_hash": "0000000000000000"}, "HashMismatch"),
        ({"version": -1}, "FieldUnusable"),
        ({"version": 2**63}, "FieldUnusable"),
        ({"version": "seven"}, "FieldUnusable"),
        ({"tags": "x"}, "FieldUnusable"),
        ({"confidence": "high"}, "FieldUnusable"),
        ({"created_at": "yesterday"}, "TimeInvalid"),
        ({"created_at": ""}, "TimeInvalid"),
        ({"content": "x" * (CONTENT_CHARS + 1)}, "ContentLong"),
    ],
)
def test_a_doubtful_line_is_kept_and_told(fields: dict[str, Any], code: str) -> None:
    said = fact(**fields)
    reading = read_lines(data(said))
    assert [(problem.code, problem.severity, problem.line) for problem in reading.problems] == [(code, "warning", 1)]
    (record,) = reading.facts
    line = encode_record(record)
    assert encode_record(_one(line)) == line
    for name, value in fields.items():
        if name not in ("content_hash", "created_at"):
            assert json.loads(line)[name] == value


def test_a_field_that_was_repaired_replaces_what_stood_there() -> None:
    record = _one(fact(version=-1, tags="x", other=1))
    assert isinstance(record, Fact)
    assert (record.version, record.tags, record.extra) == (0, (), {"version": -1, "tags": "x", "other": 1})
    repaired = msgspec.structs.replace(record, version=4)
    assert json.loads(encode_record(repaired))["version"] == 4


def test_an_unknown_status_is_not_active() -> None:
    record = _one(fact(status="frozen"))
    assert isinstance(record, Fact)
    assert not record.is_active


def test_spelling_that_can_only_mean_one_thing() -> None:
    assert _one(fact(section=" known  ISSUES", status="Archived", version="7")) == _one(
        fact(section="Known Issues", status="archived", version=7)
    )
    assert _codes(fact(section="known issues", status="Archived", version="7")) == []


# -- all of the hand-made lines ------------------------------------------------------------------


def _check_hand_made(lines: Path, expected: Path) -> None:
    content = lines.read_bytes()
    rows = json.loads(expected.read_text(encoding="utf-8"))["rows"]
    assert len(rows) == 40
    reading = read_lines(content)
    raw = dict(enumerate(content.split(b"\n"), start=1))
    told = {problem.line: problem for problem in reading.problems if problem.severity == "error"}
    marks = {problem.line for problem in reading.problems if problem.code == "ConflictMarker"}
    ids = {record.id for record in [*reading.facts, *reading.connections, *reading.episodes]}
    found = resolved(content)
    normal = canonical(found)
    for row in rows:
        line, kind = row["line"], row["class"]
        if kind == "blank":
            assert line not in told
        elif kind == "bad":
            assert line in marks or (line in told and raw[line] + b"\n" in normal), row
        elif kind == "legacy":
            assert line == 15 or raw[line] + b"\n" in normal
        else:
            assert line not in told, row
            record = json.loads(raw[line])
            assert record.get("id", record.get("name")) in ids | {mind.name for mind in reading.minds}
    assert marks == {5, 6, 7}
    assert "demo-001" in found.facts
    assert [parked.missing for parked in found.parked] == [("missing00001",)]
    assert found.facts["oddsection01"].section == "Styrene Ecosystem"
    assert found.facts["lowercase001"].section in SECTIONS
    assert found.facts["oddstatus001"].status == "frozen"
    assert found.facts["extra0000001"].extra == {"x_vendor": {"a": 1}, "artifact": "docs/a.md"}
    assert found.facts["strversion01"].version == 7
    assert found.version == 7
    assert found.facts["wronghash001"].content_hash == content_hash("ok wronghash001")
    assert canonical(resolved(normal)) == normal


def test_the_hand_made_lines() -> None:
    _check_hand_made(DATA / "lines.jsonl", DATA / "lines-expected.json")


@needs_real
def test_the_hand_made_lines_in_full() -> None:
    folder = REAL / "synthetic" / "malformed"
    _check_hand_made(folder / "lines.jsonl", folder / "expected.json")


@pytest.mark.parametrize("folder", [DATA, pytest.param(REAL / "synthetic" / "malformed", marks=needs_real)], ids=str)
def test_the_hand_made_file_with_bom_and_crlf(folder: Path) -> None:
    reading = read_lines((folder / "bom-crlf.jsonl").read_bytes())
    assert [record.id for record in reading.facts] == ["bom000000001", "bom000000002"]
    assert reading.problems == []
