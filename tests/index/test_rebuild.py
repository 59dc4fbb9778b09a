"""The index made from nothing: the same as the one that grew, seen by nobody until it is whole."""

import os
from pathlib import Path
from typing import Any

import apsw
import pytest

from quire.index.catalog import Index
from quire.index.database import FILE
from quire.index.open_index import open_index, rebuild_index
from quire.layers.graph.source import GraphSource
from quire.project import Project
from quire.verbs.admin.rebuild import Rebuild, rebuild
from quire.verbs.ask.answers import answer_question
from quire.verbs.graph.save import save_nodes


@pytest.fixture
def grown(project: Project) -> Project:
    """A memory that was written, changed and deleted from, so that its index has a past."""
    for number in range(6):
        node = {"kind": "gotcha", "title": f"Trap {number}", "body": f"Zanzibar number {number}. " * (1 + 20 * number)}
        save_nodes(project, {"task": "t", "nodes": [node]})
    save_nodes(project, {"task": "t", "nodes": [{"id": "gotcha.trap-2", "body": "Changed."}]})
    save_nodes(project, {"task": "t", "delete": [{"id": "gotcha.trap-3", "reason": "x"}]})
    (Path(project.graph.folder) / "memory/trap-4.md").write_text("Edited by hand: kangaroo.")
    (Path(project.graph.folder) / "memory/trap-5.json").write_text("{")
    return project


def folder(project: Project) -> str:
    return os.path.join(project.graph.folder, "index")


def held(index: Index) -> dict[str, Any]:
    """Everything an index can say, without the numbers that it gave by itself."""
    searcher = index.searcher()
    found: dict[str, Any] = {
        "records": sorted(index.records("graph"), key=lambda record: record.ref),
        "problems": index.problems(),
        "counts": index.counts("graph"),
    }
    from quire.index.search import Filter

    for text in ("zanzibar", "kangaroo", "changed", "trap"):
        question = searcher.question(text)
        for name, candidates in (
            ("words", searcher.by_words(question, Filter(), 50)),
            ("meaning", searcher.by_meaning(question, Filter(), 50)),
        ):
            records = index.by_ids([candidate.id for candidate in candidates])
            found[f"{name} {text}"] = sorted(
                (records[c.id].ref, round(c.words, 6), round(c.meaning or 0, 6)) for c in candidates
            )
        found[f"rarity {text}"] = question.rarity
    return found


def test_an_index_that_grew_says_the_same_as_one_made_from_nothing(grown: Project) -> None:
    sources = [GraphSource(grown.graph)]
    index = open_index(folder(grown), sources)
    before = held(index)
    index.close()
    index = rebuild_index(folder(grown), sources)
    assert held(index) == before
    index.close()
    os.unlink(os.path.join(folder(grown), FILE))
    index = open_index(folder(grown), sources)
    assert held(index) == before
    index.close()


def test_what_was_changed_or_deleted_leaves_no_trace(grown: Project) -> None:
    index = open_index(folder(grown), [GraphSource(grown.graph)])
    connection = index._connection
    records = {row[0] for row in connection.execute("SELECT id FROM records")}
    assert {row[0] for row in connection.execute("SELECT rowid FROM words")} == records
    assert {row[0] for row in connection.execute("SELECT record FROM vectors")} <= records
    signs = {row[0] for row in connection.execute("SELECT id FROM signs")}
    assert signs == {row[0] for row in connection.execute("SELECT id FROM vectors")}
    assert connection.execute("PRAGMA integrity_check").get == "ok"
    connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    index.close()


def test_the_progress_is_told_up_to_the_last_file(project: Project) -> None:
    nodes = [{"kind": "gotcha", "title": f"Trap {n}", "body": "x"} for n in range(250)]
    save_nodes(project, {"task": "t", "nodes": nodes})
    told: list[tuple[int, int]] = []
    project.progress = lambda done, total, _things: told.append((done, total))
    rebuild(project, Rebuild())
    assert told[-1] == (251, 251)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert len(told) >= 3


def test_readers_see_the_old_index_until_the_new_one_is_whole(grown: Project) -> None:
    expected = answer_question(grown, "zanzibar").markdown
    seen: list[str] = []
    before = os.path.getsize(os.path.join(folder(grown), FILE))
    reader = Project(grown.root, grown.world)
    grown.progress = lambda _done, _total, _things: seen.append(answer_question(reader, "zanzibar").markdown)
    rebuild(grown, Rebuild())
    assert seen
    assert set(seen) == {expected}
    assert os.path.getsize(os.path.join(folder(grown), FILE)) < 4 * before


def test_a_rebuild_that_fails_half_way_leaves_the_old_index(grown: Project) -> None:
    expected = answer_question(grown, "zanzibar").markdown

    def stop(_done: int, _total: int, _things: str) -> None:
        raise KeyboardInterrupt

    grown.progress = stop
    with pytest.raises(KeyboardInterrupt):
        rebuild(grown, Rebuild())
    grown.progress = None
    assert answer_question(grown, "zanzibar").markdown == expected


def test_rebuilding_over_a_damaged_index_works(grown: Project) -> None:
    expected = answer_question(grown, "zanzibar").markdown
    for table in ("words", "vectors", "records", "signs"):
        connection = apsw.Connection(os.path.join(folder(grown), FILE))
        connection.execute(f"DROP TABLE {table}")
        connection.close()
        rebuild(grown, Rebuild())
        assert answer_question(grown, "zanzibar").markdown == expected


def test_an_empty_memory_can_be_rebuilt(project: Project) -> None:
    done = rebuild(project, Rebuild()).found
    assert (done.records, done.edges, done.unreadable) == (1, 0, [])
