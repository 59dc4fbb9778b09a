"""Verdicts on a generated repository of eleven languages: the figures that the committed results promise."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks import ground, scenes, staleness

PLAYED = (
    "edit",
    "edit elsewhere",
    "comments only",
    "file renamed and edited in one commit",
    "symbol renamed",
    "deleted",
    "edit, not committed",
    "checked out with CRLF",
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> staleness.Report:
    folder = tmp_path_factory.mktemp("staleness")
    with staleness.quiet(folder):
        return staleness.measure(staleness.planted_ground(folder, small=True), folder, PLAYED)


@pytest.mark.proof
def test_every_verdict_is_the_one_the_script_says(report: staleness.Report) -> None:
    assert report.wrong == []
    assert report.skipped == {}
    given = Counter[str]()
    for rows in report.matrix.values():
        for counts in rows.values():
            given.update(counts)
    assert given.total() >= 400
    assert {"fresh", "changed", "moved", "orphaned", "unanchored", "unverifiable"} <= given.keys()


@pytest.mark.proof
def test_formatting_and_comments_leave_symbols_fresh(report: staleness.Report) -> None:
    assert {
        name: kept["touched"] - kept["fresh"] for name, kept in report.symbols_kept.items() if kept
    } == dict.fromkeys(report.symbols_kept, 0)
    assert {name.partition(": ")[2] for name in report.symbols_kept} == set(ground.LANGUAGES.values())


@pytest.mark.proof
def test_new_anchors_commits_and_dirty_files_are_named(report: staleness.Report) -> None:
    assert report.details == []
    assert report.proposed["right"] >= 20
    assert report.named["changed: commit right"] >= 20
    assert report.named["changed: dirty files right"] >= 10


@pytest.mark.proof
def test_every_way_to_ask_says_the_same(report: staleness.Report) -> None:
    assert report.differing == []


def test_definitions_are_found_without_the_parsers_of_the_product(tmp_path: Path) -> None:
    ground.polyglot(tmp_path, 2)
    found = [one for path in sorted(tmp_path.rglob("*.*")) for one in ground.definitions(path.name, path.read_text())]
    assert {one.language for one in found} == set(ground.LANGUAGES.values())
    assert all(one.first < one.body <= one.last for one in found)


def test_what_is_expected_follows_from_what_was_done(tmp_path: Path) -> None:
    part = scenes.Part(anchor="src/", form="folder", files=("src/a.py", "src/b.py"))
    scene = scenes.Scene(tmp_path, [scenes.Planted("gotcha.a", (part,))], lambda *_: None, scenes.Tools())
    assert scene.expected(scene.records[0]).verdict == "fresh"
    scene.note("src/a.py", "moved", to="lib/a.py")
    assert scene.expected(scene.records[0]).verdict == "changed"
    scene.note("src/b.py", "moved", to="lib/b.py")
    assert scene.expected(scene.records[0]) == scenes.Expected(verdict="moved", to=("lib/",))
