"""What a save does to the graph."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.layers.graph.store import GraphStore
from quire.model.errors import Conflict, InputError, InvalidStore, NotFound
from quire.project import Project
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.ask.inspected_node import inspect_node
from quire.verbs.ask.status import status
from quire.verbs.graph.save import save_nodes

FEATURE = {"kind": "feature", "title": "Retry queue", "body": "Sends again.", "stage": "building"}


def save(project: Project, *nodes: dict[str, Any], **lists: Any) -> Any:
    return save_nodes(project, {"task": "test", "nodes": list(nodes), **lists})


def fields(project: Project, path: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(project.root) / ".memory" / path).read_text())
    return found


def events(project: Project) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (Path(project.root) / ".memory/events.jsonl").read_text().splitlines()]


def problems(caught: pytest.ExceptionInfo[InputError]) -> dict[str, str]:
    return {issue["field"]: issue["code"] for issue in caught.value.details["issues"]}


def test_a_new_node_has_every_field_of_the_layout(project: Project) -> None:
    node = {
        **FEATURE,
        "anchors": ["./src//queue/"],
        "tags": ["billing", "billing"],
        "evidence": [{"kind": "commit", "id": "abc123"}],
        "origin": {"kind": "url", "locator": "https://example.org/adr/1"},
    }
    saved = save(project, node)
    assert saved.memory_created == ["feature.retry-queue"]
    found = fields(project, "memory/retry-queue.json")
    assert found.pop("content_hash").startswith("sha256:")
    assert found == {
        "id": "feature.retry-queue",
        "type": "feature",
        "status": "active",
        "title": "Retry queue",
        "body_path": "memory/retry-queue.md",
        "stage": "building",
        "anchors": ["src/queue/"],
        "tags": ["billing"],
        "evidence": [
            {"kind": "commit", "id": "abc123"},
            {"kind": "file", "id": f"src/queue/@tree:{'0' * 32}"},
        ],
        "source": {"kind": "agent", "task": "test"},
        "origin": {"kind": "url", "locator": "https://example.org/adr/1"},
        "created_at": "2026-03-02T11:19:00+00:00",
        "updated_at": "2026-03-02T11:19:00+00:00",
    }
    body = Path(project.root) / ".memory/memory/retry-queue.md"
    assert body.read_bytes() == b"Sends again."


def test_the_content_hash_is_the_sha256_of_the_body_file(project: Project) -> None:
    import hashlib

    save(project, {**FEATURE, "body": "Größe & 東京\n\nMore."})
    body = (Path(project.root) / ".memory/memory/retry-queue.md").read_bytes()
    assert fields(project, "memory/retry-queue.json")["content_hash"] == "sha256:" + hashlib.sha256(body).hexdigest()


def test_questions_are_born_open_and_can_be_closed_and_opened_again(project: Project) -> None:
    save(project, {"kind": "question", "title": "Who pays?", "body": "Unclear."})
    assert fields(project, "memory/who-pays.json")["status"] == "open"
    assert save(project, {"id": "question.who-pays", "status": "closed"}).memory_updated == ["question.who-pays"]
    assert fields(project, "memory/who-pays.json")["status"] == "closed"
    save(project, {"id": "question.who-pays", "status": "open"})
    assert fields(project, "memory/who-pays.json")["status"] == "open"


def test_a_stale_node_can_be_revived(project: Project) -> None:
    save(project, FEATURE)
    assert save(project, stale=[{"id": "feature.retry-queue", "reason": "gone"}]).memory_marked_stale
    save(project, {"id": "feature.retry-queue", "status": "active"})
    assert fields(project, "memory/retry-queue.json")["status"] == "active"


def test_superseding_names_the_replacement_and_relates_the_two(project: Project) -> None:
    save(project, {"kind": "decision", "title": "Old", "body": "x"}, {"kind": "decision", "title": "New", "body": "y"})
    intent = [{"id": "decision.old", "superseded_by": "decision.new", "reason": "better"}]
    saved = save(project, supersede=intent)
    assert saved.memory_superseded == ["decision.old"]
    old = fields(project, "memory/old.json")
    assert (old["status"], old["superseded_by"]) == ("superseded", "decision.new")
    relation = fields(project, "relations/decision-new-supersedes-decision-old.json")
    assert (relation["from"], relation["to"], relation["status"]) == ("decision.new", "decision.old", "active")
    assert [event["event"] for event in events(project)][-2:] == ["memory.superseded", "relation.created"]


def test_reviving_a_superseded_node_retires_the_relation_that_says_so(project: Project) -> None:
    save(project, {"kind": "decision", "title": "Old", "body": "x"}, {"kind": "decision", "title": "New", "body": "y"})
    save(project, supersede=[{"id": "decision.old", "superseded_by": "decision.new", "reason": "better"}])
    save(project, {"id": "decision.old", "status": "active"})
    assert "superseded_by" not in fields(project, "memory/old.json")
    assert fields(project, "relations/decision-new-supersedes-decision-old.json")["status"] == "stale"


def test_supersede_may_name_a_replacement_made_in_the_same_call_in_any_order(project: Project) -> None:
    save(project, {"kind": "decision", "title": "Old", "body": "x"})
    saved = save(
        project,
        {"kind": "decision", "title": "New", "body": "y"},
        supersede=[{"id": "decision.old", "superseded_by": "decision.new", "reason": "better"}],
    )
    assert saved.memory_created == ["decision.new"]
    assert saved.memory_superseded == ["decision.old"]


def test_relations_may_point_forward(project: Project) -> None:
    saved = save(
        project,
        {**FEATURE, "related": [{"predicate": "depends_on", "to": "feature.worker", "confidence": "high"}]},
        {"kind": "feature", "title": "Worker", "body": "Works."},
    )
    assert saved.relations_created == ["rel.feature-retry-queue-depends-on-feature-worker"]
    relation = fields(project, "relations/feature-retry-queue-depends-on-feature-worker.json")
    assert relation["confidence"] == "high"


def test_a_relation_is_updated_removed_and_made_again(project: Project) -> None:
    related = {"predicate": "depends_on", "to": "feature.worker"}
    save(project, {**FEATURE, "related": [related]}, {"kind": "feature", "title": "Worker", "body": "Works."})
    saved = save(project, {"id": "feature.retry-queue", "related": [{**related, "confidence": "low"}]})
    assert saved.relations_updated == ["rel.feature-retry-queue-depends-on-feature-worker"]
    saved = save(project, {"id": "feature.retry-queue", "unrelated": [related]})
    assert saved.relations_deleted == ["rel.feature-retry-queue-depends-on-feature-worker"]
    assert not list((Path(project.root) / ".memory/relations").iterdir())
    assert save(project, {"id": "feature.retry-queue", "related": [related]}).relations_created


def test_deleting_a_node_takes_its_relations_along_and_keeps_the_reason(project: Project) -> None:
    related = {"predicate": "affects", "to": "feature.retry-queue"}
    save(project, FEATURE, {"kind": "gotcha", "title": "Trap", "body": "x", "related": [related]})
    saved = save(project, delete=[{"id": "gotcha.trap", "reason": "fixed upstream"}])
    assert saved.memory_deleted == ["gotcha.trap"]
    assert saved.relations_deleted == ["rel.gotcha-trap-affects-feature-retry-queue"]
    deleted = next(event for event in events(project) if event["event"] == "memory.deleted")
    assert deleted["reason"] == "fixed upstream"
    assert deleted["payload"]["task"] == "test"


def test_saving_the_same_intent_twice_changes_nothing(project: Project, tree: Any) -> None:
    save(project, {"kind": "decision", "title": "Old", "body": "x"}, {"kind": "gotcha", "title": "Bye", "body": "x"})
    intent = {
        "nodes": [
            {**FEATURE, "tags": ["a"], "related": [{"predicate": "depends_on", "to": "feature.worker"}]},
            {"kind": "feature", "title": "Worker", "body": "Works."},
            {"kind": "question", "title": "Who?", "body": "x", "status": "closed"},
        ],
        "supersede": [{"id": "decision.old", "superseded_by": "feature.worker", "reason": "r"}],
        "delete": [{"id": "gotcha.bye", "reason": "r"}],
    }
    first = save_nodes(project, {"task": "test", **intent})
    before = tree(Path(project.root))
    second = save_nodes(project, {"task": "test", **intent})
    assert first.changed
    assert not second.changed
    assert second.events_appended == 0
    assert set(second.unchanged) >= {"feature.retry-queue", "feature.worker", "gotcha.bye", "decision.old"}
    assert tree(Path(project.root)) == before


def test_the_same_title_with_another_body_becomes_another_node_and_says_so(project: Project) -> None:
    save(project, FEATURE)
    saved = save(project, {**FEATURE, "body": "Something else."})
    assert saved.memory_created == ["feature.retry-queue-2"]
    assert [warning.code for warning in saved.warnings] == ["SimilarNode"]
    assert not save(project, {**FEATURE, "body": "Something else."}).changed


def test_two_kinds_with_one_slug_get_files_of_their_own(project: Project) -> None:
    save(project, FEATURE, {"kind": "decision", "title": "Retry queue", "body": "Why."})
    assert fields(project, "memory/retry-queue.json")["id"] == "feature.retry-queue"
    assert fields(project, "memory/decision.retry-queue.json")["id"] == "decision.retry-queue"
    assert fields(project, "memory/decision.retry-queue.json")["body_path"] == "memory/decision.retry-queue.md"
    assert inspect_node(project, "decision.retry-queue").node.body == "Why."
    assert save(project, {"id": "decision.retry-queue", "body": "Because."}).memory_updated
    assert inspect_node(project, "feature.retry-queue").node.body == "Sends again."


def test_unicode_titles_get_readable_names_and_keep_their_letters(project: Project) -> None:
    saved = save(
        project,
        {"kind": "feature", "title": "東京の請求書", "body": "x"},
        {"kind": "feature", "title": "Очередь повторов", "body": "y"},
    )
    assert saved.memory_created[1] == "feature.ochered-povtorov"
    assert all("untitled" not in node_id for node_id in saved.memory_created)
    assert inspect_node(project, saved.memory_created[0]).node.node.title == "東京の請求書"


def test_an_update_changes_only_what_it_names(project: Project) -> None:
    save(project, {**FEATURE, "anchors": ["src/"], "tags": ["a"]})
    save(project, {"id": "feature.retry-queue", "stage": "shipped"})
    found = fields(project, "memory/retry-queue.json")
    assert (found["stage"], found["anchors"], found["tags"]) == ("shipped", ["src/"], ["a"])
    save(project, {"id": "feature.retry-queue", "anchors": [], "tags": []})
    found = fields(project, "memory/retry-queue.json")
    assert "anchors" not in found
    assert found["tags"] == []
    assert events(project)[-1]["payload"] == {"task": "test", "fields": ["anchors", "tags"]}


def test_unknown_fields_and_a_key_order_of_its_own_survive_an_update(project: Project) -> None:
    save(project, FEATURE)
    path = Path(project.root) / ".memory/memory/retry-queue.json"
    found = json.loads(path.read_text())
    mine = {"title": found.pop("title"), "x-owner": {"team": "billing"}, **found}
    path.write_text(json.dumps(mine, indent=2) + "\n")
    save(project, {"id": "feature.retry-queue", "stage": "shipped"})
    after = json.loads(path.read_text())
    assert after["x-owner"] == {"team": "billing"}
    assert list(after)[:2] == ["title", "x-owner"]


def test_the_project_node_is_updated_by_id_and_cannot_be_retired(project: Project) -> None:
    assert save(project, {"id": "project.harbor", "body": "Invoices."}).memory_updated == ["project.harbor"]
    with pytest.raises(InputError) as caught:
        save(project, stale=[{"id": "project.harbor", "reason": "r"}])
    assert problems(caught) == {"stale.0.id": "ProjectNodeStays"}


def test_every_problem_is_reported_at_once_each_with_its_field(project: Project) -> None:
    with pytest.raises(InputError) as caught:
        save_nodes(
            project,
            {
                "task": "",
                "extra": 1,
                "nodes": [
                    {"kind": "feature", "stage": "done", "title": "A", "body": "B", "anchors": ["../x", "/etc"]},
                    {"kind": "decision", "title": "D", "body": "x", "stage": "idea"},
                    {"kind": "gotcha", "title": "G"},
                    {"id": "feature.nope", "related": [{"predicate": "affects", "to": "feature.nope"}]},
                    "text",
                ],
                "stale": [{"id": "feature.missing", "reason": "r"}, {"id": "feature.x"}],
            },
        )
    assert problems(caught) == {
        "task": "SchemaMinLength",
        "extra": "SchemaAdditionalProperty",
        "nodes.0.stage": "SchemaEnum",
        "nodes.0.anchors.0": "AnchorNotAllowed",
        "nodes.0.anchors.1": "AnchorNotAllowed",
        "nodes.1.stage": "StageNotAllowed",
        "nodes.2.body": "SchemaRequired",
        "nodes.3.title": "SchemaRequired",
        "nodes.3.body": "SchemaRequired",
        "nodes.3.related.0.to": "MemoryInvalidRelation",
        "nodes.4": "SchemaType",
        "stale.0.id": "MemoryObjectNotFound",
        "stale.1.reason": "SchemaRequired",
    }


@pytest.mark.parametrize(
    ("lists", "field", "code"),
    [
        ({"nodes": [{"id": "feature.a"}, {"id": "feature.a"}]}, "nodes.1.id", "MemoryDuplicateId"),
        ({"nodes": [{"id": "feature.a", "kind": "gotcha"}]}, "nodes.0.kind", "KindMismatch"),
        (
            {"nodes": [{"id": "gotcha.z", "kind": "feature", "title": "t", "body": "b"}]},
            "nodes.0.id",
            "ObjectIdTypeMismatch",
        ),
        ({"nodes": [{"id": "project.z", "title": "t", "body": "b"}]}, "nodes.0.id", "KindNotCreatable"),
        ({"nodes": [{"kind": "project", "title": "t", "body": "b"}]}, "nodes.0.kind", "KindNotCreatable"),
        ({"nodes": [{"id": "feature.a", "status": "closed"}]}, "nodes.0.status", "StatusNotAllowed"),
        ({"nodes": [{"id": "feature.a", "body": "---\nx: 1\n---\ny"}]}, "nodes.0.body", "FrontMatter"),
        ({"nodes": [{"id": "feature.a", "title": "two\nlines"}]}, "nodes.0.title", "TextNotAllowed"),
        (
            {"stale": [{"id": "feature.a", "reason": "r"}], "delete": [{"id": "feature.a", "reason": "r"}]},
            "stale.0.id",
            "Contradiction",
        ),
        (
            {"nodes": [{"id": "feature.a", "title": "t"}], "delete": [{"id": "feature.a", "reason": "r"}]},
            "delete.0.id",
            "Contradiction",
        ),
        (
            {"supersede": [{"id": "feature.a", "superseded_by": "feature.a", "reason": "r"}]},
            "supersede.0.superseded_by",
            "ObjectSupersedesSelf",
        ),
        (
            {"supersede": [{"id": "feature.a", "superseded_by": "feature.zz", "reason": "r"}]},
            "supersede.0.superseded_by",
            "MemoryObjectNotFound",
        ),
    ],
)
def test_contradictions_are_refused(project: Project, lists: dict[str, Any], field: str, code: str) -> None:
    save(project, {"id": "feature.a", "title": "A", "body": "b"})
    with pytest.raises(InputError) as caught:
        save_nodes(project, {"task": "t", **lists})
    assert problems(caught).get(field) == code


def test_replacements_cannot_go_round_in_a_circle(project: Project) -> None:
    save(project, *({"kind": "decision", "title": name, "body": "x"} for name in "ABC"))
    save(project, supersede=[{"id": "decision.a", "superseded_by": "decision.b", "reason": "r"}])
    with pytest.raises(InputError) as caught:
        save(
            project,
            supersede=[
                {"id": "decision.b", "superseded_by": "decision.c", "reason": "r"},
                {"id": "decision.c", "superseded_by": "decision.a", "reason": "r"},
            ],
        )
    assert "SupersedesCycle" in problems(caught).values()


def test_an_unknown_id_is_answered_with_the_one_that_was_meant(project: Project) -> None:
    save(project, FEATURE)
    with pytest.raises(NotFound) as caught:
        save(project, stale=[{"id": "feature.retry-queu", "reason": "r"}])
    assert "feature.retry-queue" in (caught.value.hint or "")


def test_a_damaged_file_is_never_taken_for_a_missing_node(project: Project) -> None:
    save(project, FEATURE)
    path = Path(project.root) / ".memory/memory/retry-queue.json"
    path.write_text("{ broken")
    with pytest.raises(InvalidStore) as caught:
        save(project, {**FEATURE, "id": "feature.retry-queue"})
    assert "retry-queue.json" in caught.value.message
    assert path.read_text() == "{ broken"
    assert not (path.parent / "feature.retry-queue.json").exists()


def test_a_hand_edit_of_a_body_is_adopted_by_the_next_save(project: Project) -> None:
    save(project, FEATURE)
    body = Path(project.root) / ".memory/memory/retry-queue.md"
    body.write_text("Edited by hand.")
    saved = save(project, {"id": "feature.retry-queue", "stage": "shipped"})
    assert saved.memory_updated == ["feature.retry-queue"]
    assert body.read_text() == "Edited by hand."
    assert inspect_node(project, "feature.retry-queue").node.hash_holds


def test_a_dry_run_reports_and_writes_nothing(project: Project, tree: Any) -> None:
    status(project)  # a question leaves the index at rest
    before = tree(Path(project.root), generated=True)
    saved = save_nodes(project, {"task": "t", "nodes": [FEATURE]}, dry_run=True)
    assert saved.memory_created == ["feature.retry-queue"]
    assert saved.files_changed == [
        ".memory/events.jsonl",
        ".memory/memory/retry-queue.json",
        ".memory/memory/retry-queue.md",
    ]
    assert tree(Path(project.root), generated=True) == before


def test_secrets_are_refused_wherever_they_stand_and_never_repeated(project: Project) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    for place in ({"body": f"Use {token} here."}, {"title": token}, {"tags": [token]}, {"anchors": [f"src/{token}"]}):
        with pytest.raises(InputError) as caught:
            save(project, {"kind": "gotcha", "title": "T", "body": "B", **place})
        assert caught.value.code == "MemorySecretDetected"
        shown = json.dumps([caught.value.message, caught.value.details])
        assert token not in shown
        assert token[6:20] not in shown


def test_events_record_actor_task_and_reason(project: Project) -> None:
    save_nodes(project, {"task": "first", "nodes": [FEATURE]}, actor="user")
    save_nodes(project, {"task": "second", "stale": [{"id": "feature.retry-queue", "reason": "gone"}]}, actor="mcp")
    created, staled = events(project)[-2:]
    assert (created["actor"], created["payload"]["task"]) == ("user", "first")
    assert (staled["actor"], staled["event"], staled["reason"]) == ("mcp", "memory.marked_stale", "gone")


def test_a_file_changed_between_plan_and_write_is_never_overwritten(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(project, FEATURE)
    path = Path(project.root) / ".memory/memory/retry-queue.json"
    real = GraphStore.events_size

    def edited(store: GraphStore) -> int:
        text = json.loads(path.read_text())
        text["x-edit"] = text.get("x-edit", 0) + 1
        path.write_text(json.dumps(text))
        return real(store)

    monkeypatch.setattr(GraphStore, "events_size", edited)
    with pytest.raises(Conflict):
        save(project, {"id": "feature.retry-queue", "stage": "dead"})
    assert json.loads(path.read_text())["stage"] == "building"


_ids = st.sampled_from(["feature.a", "feature.b", "gotcha.c", "decision.d", "question.e"])
_node = st.builds(
    lambda node_id, title, body, tags: {"id": node_id, "title": title, "body": body, "tags": tags},
    _ids,
    st.text("abcdé ", min_size=1).filter(str.strip),
    st.text("abc.\n ", min_size=1).filter(str.strip),
    st.lists(st.sampled_from(["x", "y"]), max_size=3),
)


@pytest.mark.proof
@settings(max_examples=25)
@given(st.lists(_node, min_size=1, max_size=4, unique_by=lambda node: node["id"]), st.randoms())
def test_the_order_of_entries_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, nodes: list[dict[str, Any]], chance: Any
) -> None:
    import os

    from quire.files.world import real_world

    trees = []
    shuffled = list(nodes)
    chance.shuffle(shuffled)
    os.environ["MEMORY_NOW"] = "2026-03-02T11:19:00+00:00"
    try:
        for order in (nodes, shuffled):
            folder = tmp_path_factory.mktemp("order")
            project = Project.open(str(folder), real_world())
            init_memory(project, name="Same", guidance=False)
            save_nodes(project, {"task": "t", "nodes": order})
            top = folder / ".memory/memory"
            trees.append({path.name: path.read_bytes() for path in sorted(top.iterdir())})
    finally:
        del os.environ["MEMORY_NOW"]
    assert trees[0] == trees[1]


def test_superseding_again_by_another_retires_the_first_replacement(project: Project) -> None:
    save(project, *({"kind": "decision", "title": name, "body": "x"} for name in "ABC"))
    save(project, supersede=[{"id": "decision.a", "superseded_by": "decision.b", "reason": "r"}])
    save(project, supersede=[{"id": "decision.a", "superseded_by": "decision.c", "reason": "r"}])
    assert fields(project, "memory/a.json")["superseded_by"] == "decision.c"
    assert fields(project, "relations/decision-b-supersedes-decision-a.json")["status"] == "stale"
    assert fields(project, "relations/decision-c-supersedes-decision-a.json")["status"] == "active"


def test_a_faulty_element_does_not_hide_its_neighbours_nor_make_false_echoes(project: Project) -> None:
    with pytest.raises(InputError) as caught:
        save(project, {"id": "No Id", "anchors": ["", "/etc", "ok/"], "tags": [1, ""]})
    assert problems(caught) == {
        "nodes.0.id": "SchemaPattern",
        "nodes.0.anchors.0": "SchemaMinLength",
        "nodes.0.anchors.1": "AnchorNotAllowed",
        "nodes.0.tags.0": "SchemaType",
        "nodes.0.tags.1": "SchemaMinLength",
    }


@pytest.mark.parametrize("with_git", [True, False])
def test_a_hand_edit_is_kept_also_where_git_does_not_track_it(project: Project, with_git: bool) -> None:
    import shutil

    if not with_git:
        shutil.rmtree(Path(project.root) / ".git")
    save(project, FEATURE)
    body = Path(project.root) / ".memory/memory/retry-queue.md"
    body.write_text("My careful edit.")
    saved = save(project, {"id": "feature.retry-queue", "body": "Overwritten."})
    (kept,) = saved.recovery_files
    assert (Path(project.root) / kept.recovery_path).read_text() == "My careful edit."
    assert save(project, {"id": "feature.retry-queue", "body": "Once more."}).recovery_files == []


@pytest.mark.parametrize("name", ["", "  ", "x" * 400, "red \x1b[31m", "two\nlines", "ghp_" + "a1B2c3D4e5F6" * 3])
def test_a_project_cannot_get_a_name_that_harms(repo: Path, world: Any, name: str) -> None:
    with pytest.raises(InputError):
        init_memory(Project.open(str(repo), world), name=name)
    assert not (repo / ".memory").exists()
