"""Records of every layer are viewed by any of their names, with patience where something is damaged or missing."""

from pathlib import Path
from typing import Any

import pytest
from clocks import Clock

from quire.files.world import World
from quire.model.errors import InputError, InvalidStore, NotFound, NotInitialized
from quire.project import Project
from quire.verbs.facts.archive import Archive, archive
from quire.verbs.facts.connect import Connect, connect
from quire.verbs.facts.store import Store, store
from quire.verbs.facts.supersede import Supersede, supersede
from quire.verbs.graph.save import save_nodes
from quire.verbs.journal.init import JournalInit, journal_init
from quire.verbs.journal.log import JournalLog, journal_log
from quire.verbs.page.record_views import (
    ViewDiff,
    ViewHistory,
    ViewRecord,
    view_diff,
    view_histories,
    view_history,
    view_record,
)
from quire.verbs.profile.link import LinkEntries, link_entries
from quire.verbs.profile.remember import RememberEntry, remember_entry

NODE = {"kind": "feature", "title": "Retry queue", "body": "Sends again."}


@pytest.fixture
def views(project: Project, world: World) -> Project:
    return Project(project.root, world)


def told(found: Any, part: str) -> dict[str, str]:
    return {field.name: field.value for field in getattr(found, part)}


# -- facts ------------------------------------------------------------------------------------


def test_a_fact_is_found_by_its_ref_its_id_and_the_beginning_of_it(project: Project, views: Project) -> None:
    name = store(project, Store(section="Decisions", content="The queue lives in Redis.", tags=["net"])).fact.id
    for ref in (f"fact:{name}", name, name[:8], f" {name} "):
        found = view_record(views, ViewRecord(ref))
        assert (found.item.ref, found.body, found.path) == (
            f"fact:{name}",
            "The queue lives in Redis.",
            ".memory/facts.jsonl",
        )
    assert found.may == ("stale", "supersede")
    assert found.verdict is None
    assert told(found, "fields")["section"] == "Decisions"
    assert told(found, "provenance")["times stored"] == "1"
    assert view_history(views, ViewHistory(name[:8])).ref == f"fact:{name}"


def test_a_fact_that_was_replaced_says_by_what_and_what_is_connected(
    project: Project, views: Project, clock: Clock
) -> None:
    old = store(project, Store(section="Decisions", content="The queue lives in Redis.")).fact.id
    new = supersede(project, Supersede(fact_id=old, content="The queue lives in a table.")).new.id
    save_nodes(project, {"task": "t", "nodes": [NODE]})
    connect(project, Connect(source=new, target="feature.retry-queue", relation="enables"))
    gone, there = view_record(views, ViewRecord(old)), view_record(views, ViewRecord(new))
    assert gone.superseded_by is not None
    assert (gone.superseded_by.ref, gone.may) == (f"fact:{new}", ())
    assert sorted((one.direction, one.says, one.other_ref) for one in there.relations) == [
        ("out", "enables", "feature.retry-queue"),
        ("out", "replaces", f"fact:{old}"),
    ]
    node = view_record(views, ViewRecord("feature.retry-queue"))
    assert [(one.says, one.other_ref) for one in node.relations] == [("is enabled by", f"fact:{new}")]
    before = gone.revision
    archive(project, Archive(fact_ids=[new], reason="gone"))
    assert view_record(views, ViewRecord(old)).revision == before
    assert view_record(views, ViewRecord(new)).revision != there.revision


# -- profile and journal ----------------------------------------------------------------------


def test_a_profile_alone_is_enough(repo: Path, world: World) -> None:
    remember_entry(Project(str(repo), world), RememberEntry(category="tools", key="shell", value="fish", importance=8))
    views = Project(str(repo), world)
    for ref in ("profile:tools.shell", "tools.shell"):
        found = view_record(views, ViewRecord(ref))
        assert (found.item.ref, found.body, found.path) == ("profile:tools.shell", "fish", ".ai-state/memory.json")
    assert told(found, "fields")["importance"] == "8"
    assert found.may == ()
    assert [entry.how for entry in view_history(views, ViewHistory("tools.shell")).entries] == ["uncommitted", "event"]
    assert view_histories(views, ["profile:tools.shell"]) == {}
    with pytest.raises(NotFound):
        view_record(views, ViewRecord("profile:tools.editor"))
    with pytest.raises(NotInitialized):
        view_record(views, ViewRecord("feature.none"))


def test_links_of_the_profile_are_relations(project: Project, views: Project) -> None:
    remember_entry(project, RememberEntry(category="tools", key="shell", value="fish is what runs here"))
    remember_entry(project, RememberEntry(category="tools", key="prompt", value="starship draws it"))
    link_entries(project, LinkEntries(source="tools.prompt", target="tools.shell", relation="depends-on"))
    found = view_record(views, ViewRecord("tools.shell"))
    assert [(one.says, one.direction, one.other_ref) for one in found.relations] == [
        ("is depended on by", "in", "profile:tools.prompt")
    ]


def test_a_journal_alone_is_enough_and_a_section_is_one_record(repo: Path, world: World, git: Any) -> None:
    (repo / "README.md").write_text("# Harbor\n\nBoats and ports.\n", encoding="utf-8")
    git.commit("code")
    project = Project(str(repo), world)
    journal_init(project, JournalInit())
    git.commit("journal")
    views = Project(str(repo), world)
    focus = view_record(views, ViewRecord("bundle:current-focus"))
    assert (focus.item.kind, focus.path, focus.may) == ("bundle", ".agent-memory/state.json", ())
    assert focus.body
    section = view_record(views, ViewRecord("bundle:next-steps"))
    assert (section.item.ref, section.item.title) == ("bundle:next-steps", "Next steps")
    name = journal_log(project, JournalLog()).results[0].ref
    checkpoint = view_record(views, ViewRecord(name))
    assert (checkpoint.item.kind, checkpoint.path) == (
        "checkpoint",
        f".agent-memory/history/checkpoints/{name[11:]}.json",
    )
    event = journal_log(project, JournalLog(events=True)).results[0].ref
    for ref in ("bundle:current-focus", name, event):
        commits = [entry.title for entry in view_history(views, ViewHistory(ref)).entries if entry.how == "commit"]
        assert commits == ["journal"]
        commit = view_history(views, ViewHistory(ref)).entries[0].commit
        assert commit is not None
        assert len(view_diff(views, ViewDiff(ref, commit=commit.id)).files) == 1
    with pytest.raises(NotFound):
        view_record(views, ViewRecord("bundle:nothing"))


# -- what is wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ask",
    [
        lambda project, ref: view_record(project, ViewRecord(ref)),
        lambda project, ref: view_history(project, ViewHistory(ref)),
    ],
)
def test_what_is_not_there_is_told_as_other_commands_tell_it(project: Project, views: Project, ask: Any) -> None:
    save_nodes(project, {"task": "t", "nodes": [NODE]})
    with pytest.raises(NotFound) as missing:
        ask(views, "feature.retry-queues")
    assert missing.value.hint == "Did you mean feature.retry-queue?"
    with pytest.raises(NotFound):
        ask(views, "fact:nothing-like-it")
    with pytest.raises(InputError, match="is not a ref"):
        ask(views, "../../etc/passwd")
    with pytest.raises(InputError):
        ask(views, "")
    with pytest.raises(InputError, match="limit"):
        view_history(views, ViewHistory("feature.retry-queue", limit=0))


def test_a_damaged_node_is_named_and_others_are_still_viewed(project: Project, views: Project, repo: Path) -> None:
    save_nodes(project, {"task": "t", "nodes": [NODE, {"kind": "gotcha", "title": "Trap", "body": "Mind it."}]})
    (repo / ".memory/memory/trap.json").write_text("{broken", encoding="utf-8")
    with pytest.raises(InvalidStore, match=r"trap\.json"):
        view_record(views, ViewRecord("gotcha.trap"))
    assert view_record(views, ViewRecord("feature.retry-queue")).body == "Sends again."
    (repo / ".memory/events.jsonl").unlink()
    assert [entry.how for entry in view_history(views, ViewHistory("feature.retry-queue")).entries] == ["uncommitted"]
    (repo / ".memory/facts.jsonl").write_bytes(b"\xff not json\n")
    assert view_record(views, ViewRecord("feature.retry-queue")).relations == ()


def test_a_repository_whose_git_is_broken_still_shows_the_record(project: Project, views: Project, repo: Path) -> None:
    (repo / "a.py").write_text("a\n", encoding="utf-8")
    save_nodes(project, {"task": "t", "nodes": [{**NODE, "anchors": ["a.py"]}]})
    (repo / ".git/HEAD").write_text("nonsense", encoding="utf-8")
    found = view_record(views, ViewRecord("feature.retry-queue"))
    assert found.body == "Sends again."
    assert [
        entry.title for entry in view_history(views, ViewHistory("feature.retry-queue")).entries if entry.how == "event"
    ] == ["Created"]
    assert view_diff(views, ViewDiff("feature.retry-queue", anchor="a.py")).files == ()


def test_viewing_changes_no_file_of_the_memory(project: Project, views: Project, repo: Path, tree: Any) -> None:
    name = store(project, Store(section="Decisions", content="The queue lives in Redis.")).fact.id
    remember_entry(project, RememberEntry(category="tools", key="shell", value="fish"))
    save_nodes(project, {"task": "t", "nodes": [NODE]})
    before = tree(repo)
    for ref in (name, "tools.shell", "feature.retry-queue"):
        view_record(views, ViewRecord(ref))
        view_history(views, ViewHistory(ref))
    assert tree(repo) == before
