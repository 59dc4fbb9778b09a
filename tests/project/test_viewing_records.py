"""Records of every layer are viewed by any of their names, with patience where something is damaged or missing."""

from pathlib import Path
from typing import Any

import pytest
from clocks import Clock

from quire.files.world import World
from quire.model.errors import InputError, InvalidStore, NotFound, NotInitialized
from quire.project import Project
from quire.project.viewing_records import ViewingRecords

NODE = {"kind": "feature", "title": "Retry queue", "body": "Sends again."}


@pytest.fixture
def views(project: Project, world: World) -> ViewingRecords:
    return ViewingRecords(project.root, world)


def told(found: Any, part: str) -> dict[str, str]:
    return {field.name: field.value for field in getattr(found, part)}


# -- facts ------------------------------------------------------------------------------------


def test_a_fact_is_found_by_its_ref_its_id_and_the_beginning_of_it(project: Project, views: ViewingRecords) -> None:
    name = project.memory_store("Decisions", "The queue lives in Redis.", tags=["net"]).fact.id
    for ref in (f"fact:{name}", name, name[:8], f" {name} "):
        found = views.view_record(ref)
        assert (found.item.ref, found.body, found.path) == (
            f"fact:{name}",
            "The queue lives in Redis.",
            ".memory/facts.jsonl",
        )
    assert found.may == ("stale", "supersede")
    assert found.verdict is None
    assert told(found, "fields")["section"] == "Decisions"
    assert told(found, "provenance")["confirmed"] == "1"
    assert views.view_history(name[:8]).ref == f"fact:{name}"


def test_a_fact_that_was_replaced_says_by_what_and_what_is_connected(
    project: Project, views: ViewingRecords, clock: Clock
) -> None:
    old = project.memory_store("Decisions", "The queue lives in Redis.").fact.id
    new = project.memory_supersede(old, "The queue lives in a table.").new.id
    project.save({"task": "t", "nodes": [NODE]})
    project.memory_connect(new, "feature.retry-queue", "enables")
    gone, there = views.view_record(old), views.view_record(new)
    assert gone.superseded_by is not None
    assert (gone.superseded_by.ref, gone.may) == (f"fact:{new}", ())
    assert sorted((one.direction, one.says, one.other_ref) for one in there.relations) == [
        ("out", "enables", "feature.retry-queue"),
        ("out", "replaces", f"fact:{old}"),
    ]
    node = views.view_record("feature.retry-queue")
    assert [(one.says, one.other_ref) for one in node.relations] == [("is enabled by", f"fact:{new}")]
    before = gone.revision
    project.memory_archive([new], reason="gone")
    assert views.view_record(old).revision == before
    assert views.view_record(new).revision != there.revision


# -- profile and journal ----------------------------------------------------------------------


def test_a_profile_alone_is_enough(repo: Path, world: World) -> None:
    Project(str(repo), world).profile_remember("tools", "shell", "fish", importance=8)
    views = ViewingRecords(str(repo), world)
    for ref in ("profile:tools.shell", "tools.shell"):
        found = views.view_record(ref)
        assert (found.item.ref, found.body, found.path) == ("profile:tools.shell", "fish", ".ai-state/memory.json")
    assert told(found, "fields")["importance"] == "8"
    assert found.may == ()
    assert [entry.how for entry in views.view_history("tools.shell").entries] == ["uncommitted", "event"]
    assert views.view_histories(["profile:tools.shell"]) == {}
    with pytest.raises(NotFound):
        views.view_record("profile:tools.editor")
    with pytest.raises(NotInitialized):
        views.view_record("feature.none")


def test_links_of_the_profile_are_relations(project: Project, views: ViewingRecords) -> None:
    project.profile_remember("tools", "shell", "fish is what runs here")
    project.profile_remember("tools", "prompt", "starship draws it")
    project.profile_link("tools.prompt", "tools.shell", "depends-on")
    found = views.view_record("tools.shell")
    assert [(one.says, one.direction, one.other_ref) for one in found.relations] == [
        ("is depended on by", "in", "profile:tools.prompt")
    ]


def test_a_journal_alone_is_enough_and_a_section_is_one_record(repo: Path, world: World, git: Any) -> None:
    (repo / "README.md").write_text("# Harbor\n\nBoats and ports.\n", encoding="utf-8")
    git.commit("code")
    project = Project(str(repo), world)
    project.journal_init()
    git.commit("journal")
    views = ViewingRecords(str(repo), world)
    focus = views.view_record("bundle:current-focus")
    assert (focus.item.kind, focus.path, focus.may) == ("bundle", ".agent-memory/state.json", ())
    assert focus.body
    section = views.view_record("bundle:next-steps")
    assert (section.item.ref, section.item.title) == ("bundle:next-steps", "Next steps")
    name = project.journal_log().results[0].ref
    checkpoint = views.view_record(name)
    assert (checkpoint.item.kind, checkpoint.path) == (
        "checkpoint",
        f".agent-memory/history/checkpoints/{name[11:]}.json",
    )
    event = project.journal_log(events=True).results[0].ref
    for ref in ("bundle:current-focus", name, event):
        commits = [entry.title for entry in views.view_history(ref).entries if entry.how == "commit"]
        assert commits == ["journal"]
        commit = views.view_history(ref).entries[0].commit
        assert commit is not None
        assert len(views.view_diff(ref, commit=commit.id).files) == 1
    with pytest.raises(NotFound):
        views.view_record("bundle:nothing")


# -- what is wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize("ask", ["view_record", "view_history"])
def test_what_is_not_there_is_told_as_other_commands_tell_it(project: Project, views: ViewingRecords, ask: str) -> None:
    project.save({"task": "t", "nodes": [NODE]})
    with pytest.raises(NotFound) as missing:
        getattr(views, ask)("feature.retry-queues")
    assert missing.value.hint == "Did you mean feature.retry-queue?"
    with pytest.raises(NotFound):
        getattr(views, ask)("fact:nothing-like-it")
    with pytest.raises(InputError, match="is not a ref"):
        getattr(views, ask)("../../etc/passwd")
    with pytest.raises(InputError):
        getattr(views, ask)("")
    with pytest.raises(InputError, match="limit"):
        views.view_history("feature.retry-queue", limit=0)


def test_a_damaged_node_is_named_and_others_are_still_viewed(
    project: Project, views: ViewingRecords, repo: Path
) -> None:
    project.save({"task": "t", "nodes": [NODE, {"kind": "gotcha", "title": "Trap", "body": "Mind it."}]})
    (repo / ".memory/memory/trap.json").write_text("{broken", encoding="utf-8")
    with pytest.raises(InvalidStore, match=r"trap\.json"):
        views.view_record("gotcha.trap")
    assert views.view_record("feature.retry-queue").body == "Sends again."
    (repo / ".memory/events.jsonl").unlink()
    assert [entry.how for entry in views.view_history("feature.retry-queue").entries] == ["uncommitted"]
    (repo / ".memory/facts.jsonl").write_bytes(b"\xff not json\n")
    assert views.view_record("feature.retry-queue").relations == ()


def test_a_repository_whose_git_is_broken_still_shows_the_record(
    project: Project, views: ViewingRecords, repo: Path
) -> None:
    (repo / "a.py").write_text("a\n", encoding="utf-8")
    project.save({"task": "t", "nodes": [{**NODE, "anchors": ["a.py"]}]})
    (repo / ".git/HEAD").write_text("nonsense", encoding="utf-8")
    found = views.view_record("feature.retry-queue")
    assert found.body == "Sends again."
    assert [entry.title for entry in views.view_history("feature.retry-queue").entries if entry.how == "event"] == [
        "Created"
    ]
    assert views.view_diff("feature.retry-queue", anchor="a.py").files == ()


def test_viewing_changes_no_file_of_the_memory(project: Project, views: ViewingRecords, repo: Path, tree: Any) -> None:
    name = project.memory_store("Decisions", "The queue lives in Redis.").fact.id
    project.profile_remember("tools", "shell", "fish")
    project.save({"task": "t", "nodes": [NODE]})
    before = tree(repo)
    for ref in (name, "tools.shell", "feature.retry-queue"):
        views.view_record(ref)
        views.view_history(ref)
    assert tree(repo) == before
