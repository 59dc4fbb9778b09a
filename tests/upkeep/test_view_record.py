"""One record in full: verdict, relations, evidence, where it comes from, what may be done with it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from quire.files.world import World
from quire.project import Project
from quire.upkeep.views.record import RecordDetail
from quire.verbs.graph.save import save_nodes
from quire.verbs.page.record_views import ViewRecord, view_record

REF = "feature.retry-queue"
FIELDS = {
    "item",
    "path",
    "body",
    "verdict",
    "anchors",
    "relations",
    "evidence",
    "provenance",
    "fields",
    "contested",
    "superseded_by",
    "may",
    "revision",
}


@pytest.fixture
def views(project: Project, world: World) -> Project:
    return Project(project.root, world)


@pytest.fixture
def saved(project: Project, git: Any, repo: Path) -> str:
    """A feature with an anchor, evidence and neighbours, saved at the commit that is given."""
    (repo / "src").mkdir()
    (repo / "src/a.py").write_text("a = 1\n", encoding="utf-8")
    commit: str = git.commit("code")
    save_nodes(
        project,
        {
            "task": "a task",
            "nodes": [
                {"kind": "decision", "title": "Use Redis", "body": "It is there.", "anchors": ["src/a.py"]},
                {
                    "id": REF,
                    "kind": "feature",
                    "title": "Retry queue",
                    "body": "Sends **again**.",
                    "stage": "building",
                    "anchors": ["src/a.py"],
                    "tags": ["net"],
                    "evidence": [
                        {"kind": "commit", "id": commit},
                        {"kind": "file", "id": "src/a.py"},
                        {"kind": "file", "id": "../out"},
                        {"kind": "memory", "id": "decision.use-redis"},
                    ],
                    "related": [{"predicate": "depends_on", "to": "decision.use-redis", "confidence": "high"}],
                },
            ],
        },
    )
    return commit


def told(found: RecordDetail, part: str) -> dict[str, tuple[str, str]]:
    return {field.name: (field.value, field.shown) for field in getattr(found, part)}


def test_a_node_is_shown_in_full(views: Project, saved: str) -> None:
    found = view_record(views, ViewRecord(REF))
    assert set(msgspec.to_builtins(found)) == FIELDS
    assert (found.item.ref, found.item.verdict, found.item.stage) == (REF, "fresh", "building")
    assert found.path == ".memory/memory/retry-queue.json"
    assert found.body == "Sends **again**."
    assert found.anchors == ("src/a.py",)
    assert found.verdict is not None
    assert found.verdict.since is not None
    assert (found.verdict.since.id, found.verdict.since.subject) == (saved, "code")
    assert [anchor.verdict for anchor in found.verdict.anchors] == ["fresh"]
    assert [(item.kind, item.label, item.ref, item.path, item.commit) for item in found.evidence] == [
        ("commit", saved, "", "", saved),
        ("file", "src/a.py", "", "src/a.py", ""),
        ("file", "../out", "", "", ""),
        ("memory", "decision.use-redis", "decision.use-redis", "", ""),
    ]
    provenance = told(found, "provenance")
    assert provenance["task"] == ("a task", "text")
    assert provenance["recorded by"] == ("agent", "text")
    assert provenance["seen at"] == (saved, "commit")
    assert provenance["created"][1] == "time"
    assert told(found, "fields")["text"] == (".memory/memory/retry-queue.md", "path")
    assert msgspec.to_builtins(found.fields[0]) == {"name": "stage", "value": "building", "as": "text"}
    assert found.superseded_by is None
    assert found.may == ("confirm", "stale", "supersede", "edit", "stage")


def test_relations_are_told_from_both_ends_with_verdicts(
    project: Project, views: Project, saved: str, repo: Path, git: Any
) -> None:
    (repo / "src/a.py").write_text("a = 2\n", encoding="utf-8")
    newest = git.commit("changed")
    found = view_record(views, ViewRecord(REF))
    assert found.verdict is not None
    assert found.verdict.anchors[0].commit is not None
    assert (found.verdict.verdict, found.verdict.anchors[0].commit.id) == ("changed", newest)
    assert [(one.direction, one.says, one.confidence, one.other_ref) for one in found.relations] == [
        ("out", "depends on", "high", "decision.use-redis")
    ]
    assert found.relations[0].other is not None
    assert (found.relations[0].other.title, found.relations[0].other.verdict) == ("Use Redis", "changed")
    back = view_record(views, ViewRecord("decision.use-redis")).relations
    assert [(one.direction, one.says, one.other_ref) for one in back] == [("in", "is depended on by", REF)]
    (repo / ".memory/memory/use-redis.json").unlink()
    (repo / ".memory/memory/use-redis.md").unlink()
    lost = view_record(views, ViewRecord(REF)).relations[0]
    assert (lost.other, lost.other_ref) == (None, "decision.use-redis")


def test_what_is_retired_has_no_verdict_and_names_what_replaced_it(
    project: Project, views: Project, saved: str
) -> None:
    save_nodes(project, {"task": "t", "nodes": [{"kind": "feature", "title": "Outbox", "body": "New."}]})
    save_nodes(
        project, {"task": "t", "supersede": [{"id": REF, "superseded_by": "feature.outbox", "reason": "better"}]}
    )
    found = view_record(views, ViewRecord(REF))
    assert (found.verdict, found.item.status, found.item.live, found.may) == (None, "superseded", False, ("edit",))
    assert found.superseded_by is not None
    assert (found.superseded_by.ref, found.superseded_by.verdict) == ("feature.outbox", "unanchored")
    assert view_record(views, ViewRecord("feature.outbox")).may == ("stale", "supersede", "edit", "stage")
    assert [one.says for one in found.relations] == ["depends on", "is superseded by"]


def test_what_may_be_done_depends_on_kind_and_stage(project: Project, views: Project, saved: str) -> None:
    save_nodes(project, {"task": "t", "nodes": [{"id": REF, "stage": "dead"}]})
    assert view_record(views, ViewRecord(REF)).may == ("stale", "supersede", "edit", "stage")
    assert view_record(views, ViewRecord(REF)).verdict is None
    assert view_record(views, ViewRecord("decision.use-redis")).may == ("confirm", "stale", "supersede", "edit")
    assert view_record(views, ViewRecord(project.graph.config().project.id)).may == ("edit",)


def test_a_revision_is_another_one_as_soon_as_a_byte_is(views: Project, saved: str, repo: Path) -> None:
    before = view_record(views, ViewRecord(REF))
    assert view_record(views, ViewRecord(REF)).revision == before.revision
    body = repo / ".memory/memory/retry-queue.md"
    body.write_text("Sends again.", encoding="utf-8")
    after = view_record(views, ViewRecord(REF))
    assert after.revision != before.revision
    assert told(after, "provenance")["edited by hand"] == ("yes", "text")
    sidecar = repo / ".memory/memory/retry-queue.json"
    sidecar.write_text(sidecar.read_text("utf-8").replace('"a task"', '"b task"'), encoding="utf-8")
    assert view_record(views, ViewRecord(REF)).revision not in (before.revision, after.revision)


def test_keys_that_nobody_knows_are_shown_as_they_are(views: Project, saved: str, repo: Path) -> None:
    sidecar = repo / ".memory/memory/retry-queue.json"
    text = sidecar.read_text("utf-8").replace('"type": "feature"', '"type": "feature", "x_owner": {"team": "a"}')
    sidecar.write_text(text, encoding="utf-8")
    assert told(view_record(views, ViewRecord(REF)), "fields")["x_owner"] == ('{"team":"a"}', "code")


def test_a_node_that_too_much_relates_to_says_how_much_is_left_out(
    project: Project, views: Project, saved: str
) -> None:
    for start in (0, 100, 200):
        nodes = [
            {
                "kind": "gotcha",
                "title": f"Trap {number}",
                "body": "Mind.",
                "related": [{"predicate": "affects", "to": REF}],
            }
            for number in range(start, min(start + 100, 205))
        ]
        save_nodes(project, {"task": "t", "nodes": nodes})
    found = view_record(views, ViewRecord(REF))
    assert len(found.relations) == 200
    assert told(found, "fields")["relations left out"] == ("6", "number")
