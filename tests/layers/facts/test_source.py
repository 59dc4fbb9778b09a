"""The facts as the index sees them: one file, its stamp, and everything that follows from its lines."""

import os
from pathlib import Path
from typing import Any

import pytest
from drafting import Store
from making import data, edge, episode, fact

from quire.layers.facts import source as source_module
from quire.layers.facts.records import held_of
from quire.layers.facts.source import FactSource, FactsOverview, overview_of, stamp_now
from quire.model.records import Edge, Problem, Record, RecordSummary

FILE = "facts.jsonl"


def read(store: Store, kind: type) -> list[Any]:
    return [item for item in FactSource(store.root).read([FILE]) if isinstance(item, kind)]


def overview(store: Store) -> FactsOverview:
    (summary,) = read(store, RecordSummary)
    return overview_of(summary.value)


def test_without_a_file_there_is_nothing(tmp_path: Path) -> None:
    source = FactSource(str(tmp_path))
    assert (source.layer, source.folder_stamps(), source.stamps(), stamp_now(str(tmp_path))) == ("facts", {}, {}, "")
    (summary,) = source.read([FILE])
    assert isinstance(summary, RecordSummary)
    assert overview_of(summary.value) == FactsOverview()
    assert list(source.read([])) == [FactsOverview().summary()]
    assert overview_of(None) == FactsOverview(version=0, mind="default")


def test_the_stamp_tells_one_state_of_the_file_from_another(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a"))
    source = FactSource(store.root)
    first = source.stamps()
    assert first == {FILE: stamp_now(store.root)} == source.stamps([FILE]) == source.stamps()
    assert source.stamps(["other"]) == {}
    before = os.stat(store.path)
    store.path.write_bytes(data(fact("b")))
    os.utime(store.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert os.stat(store.path).st_size == before.st_size
    assert source.stamps() != first


def test_records_of_facts_and_episodes(tmp_path: Path) -> None:
    store = Store(
        tmp_path,
        episode("ep"),
        fact("b", "Two.", section="Specs"),
        fact("a", "One."),
        fact("c", "Three.", status="archived", mind="side"),
    )
    assert [(record.ref, record.kind, record.status, record.scope) for record in read(store, Record)] == [
        ("fact:a", "fact", "active", ""),
        ("fact:b", "fact", "active", ""),
        ("fact:c", "fact", "archived", "side"),
        ("episode:ep", "episode", "active", ""),
    ]


def test_twins_are_one_record(tmp_path: Path) -> None:
    store = Store(
        tmp_path,
        fact("y", "Same.", created_at="2026-03-03T00:00:00Z"),
        fact("x", "Same.", created_at="2026-03-02T00:00:00Z"),
        fact("a", "Same."),
        fact("z", "Other words.", status="archived", same_as="a"),
    )
    (record,) = read(store, Record)
    held = held_of(record)
    assert (record.ref, held.fact.id, {twin.id for twin in held.twins}) == ("fact:a", "a", {"x", "y", "z"})
    assert {"fact:x", "fact:y", "fact:z"} < set(record.names)


def test_edges_are_where_they_lead_today(tmp_path: Path) -> None:
    store = Store(
        tmp_path,
        fact("a", "One."),
        fact("old", "Two.", status="superseded"),
        fact("new", "Three.", supersedes="old"),
        edge("1", "a", "old"),
        edge("2", "a", "feature.x"),
        edge("3", "a", "nowhere"),
        edge("4", "a", "new"),
        edge("5", "a", "old", status="archived"),
        edge("6", "episode:none", "a"),
    )
    assert {(item.ref, item.source, item.predicate, item.target, item.status) for item in read(store, Edge)} == {
        ("edge:1", "fact:a", "depends_on", "fact:new", "active"),
        ("edge:2", "fact:a", "depends_on", "feature.x", "active"),
        ("edge:5", "fact:a", "depends_on", "fact:new", "archived"),
        ("fact:new replaces fact:old", "fact:new", "replaces", "fact:old", "active"),
    }


@pytest.mark.parametrize(
    ("minds", "home"),
    [
        ([], "default"),
        (["default"], "default"),
        (["side"], "default"),
        (["side", "side", "default"], "default"),
        (["primensus"], "primensus"),
        (["side", "primensus"], "primensus"),
        (["primensus", "default", "primensus"], "default"),
    ],
)
def test_whose_facts_are_meant(tmp_path: Path, minds: list[str], home: str) -> None:
    store = Store(tmp_path, *(fact(f"f{number}", mind=mind) for number, mind in enumerate(minds)))
    assert overview(store).mind == home
    assert {record.scope for record in read(store, Record)} == {"" if mind == home else mind for mind in minds}


def test_the_highest_version_of_any_line(tmp_path: Path) -> None:
    store = Store(
        tmp_path,
        fact("a", "Now.", version=3),
        fact("a", "Before.", version=2),
        edge("e", "a", "nowhere", version=9),
        {"_type": "mind", "name": "side", "version": 11},
        episode("ep", version=4),
    )
    assert overview(store).version == 11


def test_the_first_bad_lines_are_told(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a"), *(f"junk {number}" for number in range(30)), "<<<<<<< ours")
    problems = read(store, Problem)
    assert len(problems) == 20
    assert (problems[0].code, problems[0].path, problems[0].line) == ("JsonInvalid", FILE, 2)
    assert problems[0].message.startswith("Line 2: ")
    assert len(read(store, Record)) == 1


@pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
def test_what_is_no_plain_file_is_said(tmp_path: Path, kind: str) -> None:
    store = Store(tmp_path)
    if kind == "folder":
        store.path.mkdir()
    elif kind == "pipe":
        os.mkfifo(store.path)
    else:
        (tmp_path / "elsewhere").write_bytes(data(fact("secret")))
        store.path.symlink_to(tmp_path / "elsewhere")
    found = list(FactSource(store.root).read([FILE]))
    problems = [item for item in found if isinstance(item, Problem)]
    assert [(problem.code, problem.path) for problem in problems] == [("CanonicalFileUnsafe", FILE)]
    assert not [item for item in found if isinstance(item, Record)]
    # What was known of the file as a whole is known no more.
    assert [overview_of(item.value) for item in found if isinstance(item, RecordSummary)] == [FactsOverview()]


def test_a_file_beyond_all_reason_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, fact("a"))
    monkeypatch.setattr(source_module, "FILE_BYTES", 10)
    assert [problem.code for problem in read(store, Problem)] == ["CanonicalFileUnsafe"]
    assert read(store, Record) == []


def test_the_order_of_the_lines_tells_nothing(tmp_path: Path) -> None:
    lines = [
        fact("a", "One."),
        fact("b", "One.", created_at="2026-03-02T00:00:00Z"),
        fact("c", "Two.", supersedes="a", version=3),
        fact("c", "Three.", version=3),
        edge("e", "a", "c"),
        edge("f", "b", "c"),
        episode("ep"),
    ]
    first = tmp_path / "first"
    second = tmp_path / "second"
    stores = [Store(first, *lines), Store(second, *reversed(lines))]
    assert list(FactSource(stores[0].root).read([FILE])) == list(FactSource(stores[1].root).read([FILE]))
