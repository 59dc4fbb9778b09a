"""Views of a whole project: all layers, what is private, and projects that are broken or hold next to nothing."""

from __future__ import annotations

import json
import os
import shutil
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from clocks import Clock

from installed import Git
from quire.files.world import World
from quire.inbox.proposals import propose
from quire.model.errors import InputError, NotInitialized, UnsupportedVersion
from quire.project import Project
from quire.verbs.facts.archive import Archive, archive
from quire.verbs.facts.connect import Connect, connect
from quire.verbs.facts.focus import Focus, focus
from quire.verbs.facts.notes import TakeNote, take_note
from quire.verbs.facts.store import Store, store
from quire.verbs.facts.supersede import Supersede, supersede
from quire.verbs.graph.save import save_nodes
from quire.verbs.inbox.add import inbox_add
from quire.verbs.inbox.reject import Reject, reject
from quire.verbs.journal.init import JournalInit, journal_init
from quire.verbs.page.views import (
    ViewGraph,
    ViewInbox,
    ViewMap,
    ViewRecords,
    ViewSummary,
    ViewToday,
    view_graph,
    view_inbox,
    view_map,
    view_records,
    view_summary,
    view_today,
)
from quire.verbs.profile.link import LinkEntries, link_entries
from quire.verbs.profile.private import KeepPrivate, keep_private
from quire.verbs.profile.remember import RememberEntry, remember_entry


@pytest.fixture
def views(repo: Path, world: World) -> Project:
    return Project(str(repo), world)


def save(project: Project, *nodes: dict[str, Any], **lists: Any) -> None:
    save_nodes(project, {"task": "t", "nodes": [{"body": "x", **node} for node in nodes], **lists})


def private_profile(project: Project) -> None:
    """An entry that everybody has, and one that only this user has, tied to each other."""
    remember_entry(project, RememberEntry(category="project", key="style", value="tabs"))
    remember_entry(project, RememberEntry(category="user", key="name", value="Tess"))
    link_entries(project, LinkEntries(source="project.style", target="user.name", relation="related-to"))
    keep_private(project, KeepPrivate(place="here", apply=True))


def everything(views: Project, *, private: bool = True) -> dict[str, Any]:
    """All views as the page gets them; that they can be encoded is part of the promise."""
    found = {
        "summary": view_summary(views, ViewSummary(private=private)),
        "today": view_today(views, ViewToday(private=private)),
        "inbox": view_inbox(views, ViewInbox(private=private)),
        "map": view_map(views, ViewMap()),
        "records": view_records(views, ViewRecords(private=private)),
        "graph": view_graph(views, ViewGraph(private=private)),
    }
    return json.loads(msgspec.json.encode(found))


# -- today ----------------------------------------------------------------------------------------


def test_a_week_is_looked_back_unless_a_time_is_given(project: Project, views: Project, clock: Clock) -> None:
    save(project, {"kind": "decision", "title": "Worker"})
    clock.now += timedelta(days=5)
    save(project, {"kind": "gotcha", "title": "Clocks"})
    clock.now += timedelta(days=4)
    assert [change.item.ref for change in view_today(views, ViewToday()).changed] == ["gotcha.clocks"]
    found = view_today(views, ViewToday("2026-03-01"))
    assert (found.since, found.until) == ("2026-03-01T00:00:00+00:00", "2026-03-11T11:19:00+00:00")
    assert [change.item.ref for change in found.changed] == ["gotcha.clocks", "decision.worker"]
    assert view_today(views, ViewToday("2026-03-02T13:19:00+02:00")).changed_total == 2
    assert view_today(views, ViewToday("2026-03-02T11:19:01Z")).changed_total == 1


@pytest.mark.parametrize("since", ["soon", "  ", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "\0"])
def test_a_time_that_names_none_is_a_week(project: Project, views: Project, since: str) -> None:
    assert view_today(views, ViewToday(since)).since == "2026-02-23T11:19:00+00:00"


def test_what_drifted_is_news_by_its_commit(
    project: Project, views: Project, repo: Path, environment: dict[str, str], clock: Clock
) -> None:
    def commit(date: str) -> None:
        Git(repo, {**environment, "GIT_COMMITTER_DATE": date}).commit()

    (repo / "queue.py").write_text("def send():\n    return 1\n")
    (repo / "page.py").write_text("def page():\n    return 1\n")
    commit("2026-03-01T00:00:00+00:00")
    save(project, *({"kind": "feature", "title": name, "anchors": [f"{name}.py"]} for name in ("queue", "page")))
    (repo / "queue.py").write_text("def send():\n    return 2\n")
    commit("2026-03-10T00:00:00+00:00")
    (repo / "page.py").write_text("def page():\n    return 2\n")
    clock.now += timedelta(days=10)
    found = view_today(views, ViewToday())
    assert [(change.item.ref, change.how, change.at) for change in found.changed] == [
        ("feature.queue", "drifted", "2026-03-10T00:00:00+00:00")
    ]
    assert [item.ref for item in found.attention] == ["feature.page", "feature.queue"]
    assert view_today(views, ViewToday("2026-03-11")).changed_total == 0


def test_notes_and_proposals_of_this_machine_are_shown(project: Project, views: Project) -> None:
    take_note(project, TakeNote(words=["Ask about the berth."]))
    texts = [f"Proposal number {number} says something." for number in range(30)]
    inbox_add(
        project,
        (
            propose("facts", "fact", text, {"section": "Specs", "content": text}, origin="file:a", by="file")
            for text in texts
        ),
    )
    found = view_today(views, ViewToday())
    assert [(note.number, note.text) for note in found.notes] == [(1, "Ask about the berth.")]
    assert (found.inbox.pending, [item.text for item in found.inbox.items]) == (30, texts[:20])
    page = view_inbox(views, ViewInbox(offset=25, limit=50))
    assert (page.pending, page.offset, [item.text for item in page.items]) == (30, 25, texts[25:])
    assert view_summary(views, ViewSummary()).inbox == 30
    reject(project, Reject(ids=[page.items[0].id]))
    assert view_inbox(views, ViewInbox()).pending == 29


def test_a_pin_follows_its_fact(project: Project, views: Project) -> None:
    kept, old, gone = (
        store(project, Store(section="Specs", content=text)).fact.id for text in ("Kept.", "Old.", "Gone.")
    )
    focus(project, Focus(fact_ids=[kept, old, gone]))
    new = supersede(project, Supersede(fact_id=old, content="New.")).new.id
    archive(project, Archive(fact_ids=[gone]))
    assert [item.ref for item in view_today(views, ViewToday()).pins] == [f"fact:{kept}", f"fact:{new}"]


def test_the_journal_tells_of_focus_steps_and_sessions(project: Project, views: Project, repo: Path) -> None:
    journal_init(project, JournalInit())
    path = repo / ".agent-memory/state.json"
    state = json.loads(path.read_bytes())
    state["bundle"]["currentFocus"]["summary"] = "Retries."
    step = {"why": "w", "start": "s", "done": "d", "evidence": []}
    state["bundle"]["nextSteps"] = [{"title": title, **step} for title in ("Write it", "Add it", "Repair it")]
    path.write_text(json.dumps(state))
    found = view_today(views, ViewToday())
    assert [item.title for item in found.focus] == ["Retries."]
    assert [item.title for item in found.next_steps] == ["Write it", "Add it", "Repair it"]
    assert {change.item.kind for change in found.changed if change.item.layer == "journal"} <= {"checkpoint"}
    refs = view_graph(views, ViewGraph()).refs
    assert "bundle:current-focus" in refs
    assert any(ref.startswith("event:") for ref in refs)


# -- lists and the network ------------------------------------------------------------------------


def test_records_of_all_layers_are_listed_and_tied(project: Project, views: Project) -> None:
    save(project, {"kind": "feature", "title": "Queue"}, {"kind": "decision", "title": "Worker"})
    fact = store(project, Store(section="Decisions", content="The worker sends.")).fact.id
    connect(project, Connect(source=fact, target="decision.worker", relation="motivated_by"))
    remember_entry(project, RememberEntry(category="tools", key="editor", value="helix"))
    listed = view_records(views, ViewRecords())
    assert listed.facets["layer"] == {"facts": 1, "graph": 3, "profile": 1}
    assert view_records(views, ViewRecords(text="WORKER", limit=1)).total == 2
    found = view_graph(views, ViewGraph())
    assert sorted(found.refs) == sorted(item.ref for item in listed.items)
    ends = zip(found.edges.source, found.edges.predicate, found.edges.target, strict=True)
    assert [(found.refs[source], found.words.predicate[name], found.refs[target]) for source, name, target in ends] == [
        (f"fact:{fact}", "motivated_by", "decision.worker")
    ]
    assert (
        view_graph(views, ViewGraph(2)).total,
        view_graph(views, ViewGraph(2)).cut,
        len(view_graph(views, ViewGraph(2)).refs),
    ) == (5, True, 2)


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"layer": "graphs"}, "layer"),
        ({"limit": 0}, "limit"),
        ({"limit": 501}, "limit"),
        ({"offset": -1}, "offset"),
    ],
)
def test_choices_that_cannot_be_are_refused(
    project: Project, views: Project, asked: dict[str, Any], field: str
) -> None:
    with pytest.raises(InputError) as caught:
        view_records(views, ViewRecords(**asked))
    assert caught.value.details is not None
    assert caught.value.details["field"] == field
    assert caught.value.hint


def test_limits_of_the_other_views_are_kept(project: Project, views: Project) -> None:
    for ask in (
        lambda: view_map(views, ViewMap(0)),
        lambda: view_graph(views, ViewGraph(0)),
        lambda: view_inbox(views, ViewInbox(limit=501)),
    ):
        with pytest.raises(InputError):
            ask()


# -- what is private ------------------------------------------------------------------------------


def test_what_only_this_user_has_is_shown_and_can_be_left_out(project: Project, views: Project) -> None:
    private_profile(project)
    take_note(project, TakeNote(words=["Call the harbour master."]))
    text = "Tess likes boats."
    inbox_add(project, [propose("facts", "fact", text, {"content": text}, origin="file:a", by="user")])
    focus(project, Focus(fact_ids=[store(project, Store(section="Specs", content="Pinned.")).fact.id]))
    shown, left = everything(views), everything(views, private=False)
    assert {item["ref"] for item in shown["records"]["items"]} - {item["ref"] for item in left["records"]["items"]} == {
        "profile:user.name"
    }
    assert "profile:project.style" in left["graph"]["refs"]
    assert "profile:user.name" not in left["graph"]["refs"]
    assert len(shown["graph"]["edges"]["source"]) > 0
    assert left["graph"]["edges"]["source"] == []
    assert left["summary"]["layers"]["profile"] == shown["summary"]["layers"]["profile"] - 1
    assert len(shown["today"]["pins"]) == len(shown["today"]["notes"]) == shown["inbox"]["pending"] == 1
    said = json.dumps(left)
    for word in ("Tess", "user.name", "harbour master", views.root):
        assert word in json.dumps(shown)
        assert word not in said


# -- projects that hold next to nothing, or are broken --------------------------------------------


def test_an_empty_memory_has_an_answer_to_everything(project: Project, views: Project) -> None:
    found = everything(views)
    assert found["summary"]["layers"] == {"graph": 1}
    assert found["summary"]["verdicts"] == {}
    assert found["today"]["digest"] == dict.fromkeys(found["today"]["digest"], 0)
    assert found["graph"]["refs"] == [item["ref"] for item in found["records"]["items"]]


def test_without_git_everything_is_answered(project: Project, views: Project, repo: Path) -> None:
    (repo / "queue.py").write_text("x = 1\n")
    save(project, {"kind": "feature", "title": "Queue", "anchors": ["queue.py"]}, {"kind": "gotcha", "title": "G"})
    shutil.rmtree(repo / ".git")
    (repo / "queue.py").write_text("x = 2\n")
    found = everything(views)
    assert found["summary"]["git"] == {"available": False, "branch": None, "commit": None}
    assert sum(found["summary"]["verdicts"].values()) == 2
    assert found["today"]["digest"]["drifted"] == 0


def test_a_git_folder_that_is_none_stops_nobody(project: Project, views: Project, repo: Path) -> None:
    save(project, {"kind": "feature", "title": "Queue", "anchors": ["queue.py"]})
    shutil.rmtree(repo / ".git")
    (repo / ".git").write_text("gitdir: nowhere\n")
    assert everything(views)["summary"]["kinds"]["feature"] == 1


@pytest.mark.parametrize("layer", ["profile", "journal"])
def test_a_layer_alone_is_enough(repo: Path, world: World, views: Project, layer: str) -> None:
    project = Project(str(repo), world)
    if layer == "profile":
        remember_entry(project, RememberEntry(category="tools", key="editor", value="helix"))
    else:
        journal_init(project, JournalInit())
    found = everything(views)
    assert set(found["summary"]["layers"]) == {layer}
    assert found["summary"]["name"] == "harbor"
    assert found["map"]["project"] is None
    assert found["graph"]["words"]["layer"] == [layer]


def test_where_there_is_no_memory_that_is_said(views: Project) -> None:
    for ask in (
        partial(view_summary, views, ViewSummary()),
        partial(view_today, views, ViewToday()),
        partial(view_inbox, views, ViewInbox()),
        partial(view_map, views, ViewMap()),
        partial(view_graph, views, ViewGraph()),
    ):
        with pytest.raises(NotInitialized):
            ask()


def test_damaged_files_are_told_of_and_the_rest_is_shown(project: Project, views: Project, repo: Path) -> None:
    save(project, {"kind": "feature", "title": "Queue"}, {"kind": "gotcha", "title": "Clocks"})
    store(project, Store(section="Specs", content="A fact."))
    (repo / ".memory/memory/clocks.json").write_text("{")
    with (repo / ".memory/facts.jsonl").open("a") as file:
        file.write("no line\n")
    (repo / ".memory/local").mkdir(exist_ok=True)
    (repo / ".memory/local/inbox.jsonl").write_text("no proposal\n")
    (repo / ".memory/local/working.json").write_text("[")
    (repo / ".memory/sync-state.json").write_bytes(b"\xff")
    found = everything(views)
    assert found["summary"]["unreadable"] == 2
    paths = {problem["path"] for problem in found["today"]["problems"]}
    assert {".memory/memory/clocks.json", ".memory/facts.jsonl"} <= paths
    assert len(found["today"]["problems"]) > 2
    assert found["summary"]["layers"] == {"graph": 2, "facts": 1}


def test_a_configuration_that_cannot_be_read_stops_nobody(project: Project, views: Project, repo: Path) -> None:
    save(project, {"kind": "feature", "title": "Queue"})
    (repo / ".memory/config.json").write_text("{")
    found = everything(views)
    assert found["summary"]["name"] == "harbor"
    assert found["summary"]["unreadable"] == len(found["today"]["problems"]) == 1
    assert "feature.queue" in found["graph"]["refs"]


def test_storage_of_another_version_is_left_alone(project: Project, views: Project, repo: Path) -> None:
    path = repo / ".memory/config.json"
    config = json.loads(path.read_bytes())
    path.write_text(json.dumps({**config, "version": 99, "storage_version": 99}))
    with pytest.raises(UnsupportedVersion):
        view_summary(views, ViewSummary())


@pytest.mark.skipif(os.name != "posix", reason="names of bytes")
def test_a_folder_whose_name_is_no_text_can_be_shown(tmp_path: Path, world: World) -> None:
    folder = os.path.join(os.fsencode(tmp_path), b"har\xff")
    os.mkdir(folder)
    views = Project(os.fsdecode(folder), world)
    remember_entry(Project(os.fsdecode(folder), world), RememberEntry(category="tools", key="editor", value="helix"))
    assert everything(views)["summary"]["name"] == "har�"
