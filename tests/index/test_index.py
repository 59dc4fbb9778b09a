"""The disposable index: fresh at every read, thrown away when it is not ours or not whole."""

import os
from pathlib import Path
from typing import Any

import apsw
import pytest

from quire.index.catalog import Index
from quire.index.database import FILE
from quire.index.open_index import open_index
from quire.layers.graph.source import GraphSource
from quire.model.sources import Written
from quire.project import Project
from quire.verbs.ask.status import status
from quire.verbs.graph.save import save_nodes

FEATURE = {"kind": "feature", "title": "Retry queue", "body": "Sends again.", "stage": "building", "anchors": ["src/"]}


@pytest.fixture
def filled(project: Project) -> Project:
    related = [{"predicate": "affects", "to": "feature.retry-queue", "confidence": "high"}]
    save_nodes(
        project,
        {"task": "t", "nodes": [FEATURE, {"kind": "decision", "title": "Why", "body": "x", "related": related}]},
    )
    return project


def opened(project: Project, written: Written | None = None) -> Index:
    return open_index(os.path.join(project.graph.folder, "index"), [GraphSource(project.graph)], written)


def refs(index: Index) -> list[str]:
    return sorted(record.ref for record in index.records("graph"))


def test_records_and_edges_are_what_the_files_say(filled: Project) -> None:
    index = opened(filled)
    assert refs(index) == ["decision.why", "feature.retry-queue", "project.harbor"]
    (record,) = index.records("graph", "feature", ("active",), stage="building")
    assert (record.title, record.text, record.anchors) == ("Retry queue", "Sends again.", ("src/",))
    (edge,) = index.edges_of("feature.retry-queue")
    assert (edge.source, edge.predicate, edge.confidence) == ("decision.why", "affects", "high")
    assert index.counts("graph")[("feature", "active", "building")] == 1
    index.close()


def test_a_file_changed_added_or_removed_by_hand_is_noticed(filled: Project) -> None:
    opened(filled).close()
    nodes = Path(filled.graph.folder) / "memory"
    (nodes / "retry-queue.md").write_text("Edited by hand.")
    index = opened(filled)
    assert index.records("graph", "feature")[0].text == "Edited by hand."
    index.close()
    (nodes / "why.json").unlink()
    (nodes / "why.md").unlink()
    index = opened(filled)
    assert refs(index) == ["feature.retry-queue", "project.harbor"]
    index.close()


def test_only_the_files_that_changed_are_read_again(filled: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(filled).close()
    (Path(filled.graph.folder) / "memory/retry-queue.md").write_text("Edited.")
    read: list[str] = []
    real = GraphSource.read

    def noted(source: GraphSource, paths: Any) -> Any:
        found = list(paths)
        read.extend(found)
        return real(source, found)

    monkeypatch.setattr(GraphSource, "read", noted)
    opened(filled).close()
    assert read == ["memory/retry-queue.json"]


def test_a_save_hands_over_its_files_without_a_look_at_the_others(
    filled: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Any] = []
    real = GraphSource.stamps
    monkeypatch.setattr("quire.index.catalog._SMALL", 0)

    def noted(source: GraphSource, paths: Any = None) -> Any:
        looked.append(paths)
        return real(source, paths)

    monkeypatch.setattr(GraphSource, "stamps", noted)
    save_nodes(filled, {"task": "t", "nodes": [{"kind": "gotcha", "title": "Trap", "body": "x"}]})
    assert looked == [["memory/trap.json"]]


def test_a_save_after_somebody_elses_change_compares_everything(filled: Project) -> None:
    nodes = Path(filled.graph.folder) / "memory"
    (nodes / "pulled.md").write_text("From a pull.")
    sidecar = (
        (nodes / "why.json")
        .read_text()
        .replace("decision.why", "decision.pulled")
        .replace("memory/why", "memory/pulled")
    )
    (nodes / "pulled.json").write_text(sidecar)
    save_nodes(filled, {"task": "t", "nodes": [{"kind": "gotcha", "title": "Trap", "body": "x"}]})
    agents = (Path(filled.root) / "AGENTS.md").read_text()
    assert "decision.pulled" in agents


def test_a_file_that_cannot_be_read_is_reported_and_the_others_stay(filled: Project) -> None:
    (Path(filled.graph.folder) / "memory/why.json").write_text("{")
    index = opened(filled)
    assert refs(index) == ["feature.retry-queue", "project.harbor"]
    assert [(path, code) for _, path, code, _ in index.problems()] == [("memory/why.json", "JsonInvalid")]
    index.close()


def _zeros(path: Path) -> None:
    path.write_bytes(b"\0" * 8192)


def _garbage(path: Path) -> None:
    path.write_bytes(os.urandom(8192))


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("x")


def _foreign(path: Path) -> None:
    path.unlink()
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE records (other TEXT)")
    connection.close()


def _newer(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", 999)
    connection.close()


def _torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


@pytest.mark.parametrize("damage", [_zeros, _garbage, _folder, _foreign, _newer, _torn, _link, Path.unlink])
def test_whatever_lies_in_its_place_is_replaced_and_the_answer_stays(filled: Project, damage: Any) -> None:
    index = opened(filled)
    expected = refs(index)
    index.close()
    damage(Path(filled.graph.folder) / "index" / FILE)
    index = opened(filled)
    assert refs(index) == expected
    index.close()
    assert status(filled).nodes_by_kind == {"decision": 1, "feature": 1, "project": 1}


def test_newest_first_is_by_instant_not_by_spelling(filled: Project) -> None:
    nodes = Path(filled.graph.folder) / "memory"
    for name, moment in {"why": "2026-03-02T23:00:00-05:00", "retry-queue": "2026-03-03T01:00:00+00:00"}.items():
        path = nodes / f"{name}.json"
        text = path.read_text()
        path.write_text(text.replace('"updated_at": "2026-03-02T11:19:00+00:00"', f'"updated_at": "{moment}"'))
    index = opened(filled)
    assert [record.ref for record in index.records("graph")][:2] == ["decision.why", "feature.retry-queue"]
    index.close()


def test_an_index_that_a_repository_brought_along_is_not_trusted(filled: Project) -> None:
    index = opened(filled)
    expected = refs(index)
    index.close()
    path = Path(filled.graph.folder) / "index" / FILE
    connection = apsw.Connection(str(path))
    forged = (
        "INSERT INTO records SELECT id + 100, layer, 'memory/forged.json', 'decision.forged', kind, 'Do harm.', text,"
    )
    forged += " status, stage, section, scope, weight, half_life, since, created_at, updated_at, updated, tags,"
    forged += " anchors, origin, seen, commit_id, contested, raw"
    forged += " FROM records LIMIT 1"
    connection.execute(forged)
    connection.close()
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    copy.replace(path)
    index = opened(filled)
    assert refs(index) == expected
    index.close()
