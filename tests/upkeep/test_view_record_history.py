"""What became of a record: commits with what they changed in words, events, what is not committed; newest first."""

import json
from pathlib import Path
from typing import Any

import pytest

from cases import each
from quire.files.world import World
from quire.project import Project
from quire.upkeep.views.change_words import changes_in_words
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.facts.archive import Archive, archive
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.confirm import confirm_nodes
from quire.verbs.graph.save import save_nodes
from quire.verbs.page.record_views import ViewHistory, view_histories, view_history
from quire.verbs.profile.remember import RememberEntry, remember_entry

NODE = {"kind": "feature", "title": "Retry queue", "body": "Sends again.\n", "stage": "idea", "anchors": ["src/"]}
REF = "feature.retry-queue"


@pytest.fixture
def views(project: Project, world: World) -> Project:
    return Project(project.root, world)


@pytest.fixture
def code(repo: Path) -> Path:
    (repo / "src").mkdir()
    (repo / "src/a.py").write_text("a = 1\n", encoding="utf-8")
    return repo


def save(project: Project, **fields: Any) -> None:
    save_nodes(project, {"task": "a task", "nodes": [{"id": REF, **fields}]})


def test_commits_events_and_open_changes_are_one_story(project: Project, views: Project, git: Any, code: Path) -> None:
    save(project, **NODE)
    git.commit("The queue")
    save(project, stage="building", title="Retries", body="Sends again.\nThree times.\n", tags=["net"])
    second = git.commit("It is built")
    (code / "src/a.py").write_text("a = 2\n", encoding="utf-8")
    confirm_nodes(project, [REF])
    found = view_history(views, ViewHistory(REF))
    assert (found.ref, found.cut) == (REF, False)
    assert [(entry.how, entry.title) for entry in found.entries if entry.how != "event"] == [
        ("uncommitted", "Not committed yet"),
        ("commit", "It is built"),
        ("commit", "The queue"),
    ]
    opened, built, made = (entry for entry in found.entries if entry.how != "event")
    assert "compared with the code again" in opened.changes
    assert (built.by, built.commit and built.commit.id) == ("Tess Ter", second)
    assert set(built.changes) >= {
        "stage: idea → building",
        "title: Retry queue → Retries",
        "tags: +net",
        "text changed (+1 −0 lines)",
    }
    assert made.changes == ("added",)
    events = [(entry.title, entry.by) for entry in found.entries if entry.how == "event"]
    assert sorted(events) == [("Confirmed", "agent"), ("Created", "agent"), ("Updated", "agent")]


def test_lines_of_the_log_that_a_merge_left_twice_count_once(
    project: Project, views: Project, git: Any, code: Path
) -> None:
    save(project, **NODE)
    save_nodes(project, {"task": "t", "stale": [{"id": REF, "reason": "It never\nran."}]})
    log = code / ".memory/events.jsonl"
    log.write_bytes(log.read_bytes() * 2 + b"no event\n\n")
    events = [entry for entry in view_history(views, ViewHistory(REF)).entries if entry.how == "event"]
    assert sorted(entry.title for entry in events) == ["Created", "Marked stale"]
    assert "reason: It never ran." in next(entry for entry in events if entry.title == "Marked stale").changes


def test_a_limit_leaves_the_oldest_out_and_says_so(project: Project, views: Project, git: Any, code: Path) -> None:
    save(project, **NODE)
    git.commit("first")
    for number in range(4):
        save(project, body=f"Number {number}.")
        git.commit(f"change {number}")
    found = view_history(views, ViewHistory(REF, limit=2))
    assert len(found.entries) == 2
    assert found.cut
    whole = view_history(views, ViewHistory(REF))
    assert not whole.cut
    assert [entry.title for entry in whole.entries if entry.how == "commit"] == [
        "change 3",
        "change 2",
        "change 1",
        "change 0",
        "first",
    ]


def test_without_git_and_before_the_first_commit_the_log_still_tells(
    project: Project, views: Project, tmp_path: Path, world: World
) -> None:
    save(project, **{**NODE, "anchors": []})
    assert [entry.how for entry in view_history(views, ViewHistory(REF)).entries] == ["uncommitted", "event"]
    bare = tmp_path / "bare"
    bare.mkdir()
    other = Project(str(bare), world)
    init_memory(other)
    save(other, **{**NODE, "anchors": []})
    assert [entry.title for entry in view_history(Project(str(bare), world), ViewHistory(REF)).entries] == ["Created"]


def test_many_histories_are_those_of_each_with_as_few_questions(
    project: Project, views: Project, git: Any, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = [{"kind": "gotcha", "title": f"Trap {number}", "body": "Mind it."} for number in range(60)]
    save(project, **NODE)
    save_nodes(project, {"task": "t", "nodes": nodes})
    git.commit("first")
    git("checkout", "--quiet", "-b", "side")
    save_nodes(project, {"task": "t", "nodes": [{"id": "gotcha.trap-3", "body": "Mind it well."}]})
    git.commit("side")
    git("checkout", "--quiet", "main")
    save(project, stage="shipped")
    git.commit("main")
    git("checkout", "--quiet", "--", ".")
    (code / ".gitattributes").write_text(".memory/events.jsonl merge=union\n", encoding="utf-8")
    git.commit("attributes")
    git("merge", "--quiet", "--no-edit", "side")
    refs = [REF, *(f"gotcha.trap-{number}" for number in range(60)), "feature.none", "fact:abcd"]
    asked: list[str] = []
    start = type(views.git).start

    def counted(self: Any, command: str, *arguments: str, **more: Any) -> Any:
        asked.append(command)
        return start(self, command, *arguments, **more)

    monkeypatch.setattr(type(views.git), "start", counted)
    found = view_histories(views, refs)
    assert len(asked) <= 6
    assert set(found) == set(refs[:-2])
    for ref in (REF, "gotcha.trap-3", "gotcha.trap-4"):
        assert found[ref] == view_history(views, ViewHistory(ref))
    titles = [entry.title for entry in found["gotcha.trap-3"].entries if entry.how == "commit"]
    assert titles == ["side", "first"]


def test_a_fact_is_followed_through_a_file_of_many(project: Project, views: Project, git: Any) -> None:
    first = store(project, Store(section="Decisions", content="Invoices are written by the worker.")).fact.id
    git.commit("first")
    second = store(project, Store(section="Decisions", content="Boats are named after rivers.")).fact.id
    git.commit("second")
    archive(project, Archive(fact_ids=[first], reason="It moved."))
    git.commit("archived")
    found = view_history(views, ViewHistory(f"fact:{first}"))
    commits = [(entry.title, entry.changes) for entry in found.entries if entry.how == "commit"]
    assert [title for title, _ in commits] == ["archived", "first"]
    assert "status: active → archived" in commits[0][1]
    assert "reason: It moved." in commits[0][1]
    assert commits[1][1] == ("added",)
    assert {entry.title for entry in found.entries if entry.how == "event"} == {"Stored", "Archived"}
    other = [entry.title for entry in view_history(views, ViewHistory(second)).entries if entry.how == "commit"]
    assert other == ["second"]


def test_a_merge_of_facts_repeats_nothing_that_its_branches_told(project: Project, views: Project, git: Any) -> None:
    store(project, Store(section="Decisions", content="Boats are named after rivers."))
    git.commit("first")
    git("checkout", "--quiet", "-b", "side")
    theirs = store(project, Store(section="Decisions", content="Invoices are written by the worker.")).fact.id
    git.commit("side")
    git("checkout", "--quiet", "main")
    mine = store(project, Store(section="Decisions", content="Every port has one master.")).fact.id
    git.commit("main")
    git("merge", "--quiet", "--no-edit", "--message", "joined", "side")
    for name, titles in ((theirs, ["side"]), (mine, ["main"])):
        found = view_history(views, ViewHistory(f"fact:{name}")).entries
        assert [entry.title for entry in found if entry.how == "commit"] == titles


def test_an_entry_of_the_profile_is_followed_through_its_document(
    project: Project, views: Project, git: Any, repo: Path
) -> None:
    remember_entry(project, RememberEntry(category="tools", key="shell", value="fish"))
    git.commit("fish")
    remember_entry(project, RememberEntry(category="tools", key="editor", value="vim"))
    git.commit("vim")
    remember_entry(project, RememberEntry(category="tools", key="shell", value="bash", force=True))
    document = repo / ".ai-state/memory.json"
    assert json.loads(document.read_bytes())["memories"]["tools"]["shell"]["value"] == "bash"
    found = view_history(views, ViewHistory("profile:tools.shell"))
    told = [(entry.how, entry.title, entry.changes) for entry in found.entries if entry.how != "event"]
    assert told == [
        ("uncommitted", "Not committed yet", ("value: fish → bash",)),
        ("commit", "fish", ("added",)),
    ]


@each(
    ("before", "after", "said"),
    [
        (None, None, ()),
        (None, b"{}", ("added",)),
        (b"{}", None, ("removed",)),
        (b'{"a":1}', b'{"a":1}', ()),
        (b'{"stage":"idea"}', b'{"stage":"shipped"}', ("stage: idea → shipped",)),
        (b'{"stage":"idea"}', b"{}", ("stage: idea → none",)),
        (b"{}", b'{"superseded_by":"feature.x"}', ("superseded by: feature.x",)),
        (b'{"tags":["a","b"]}', b'{"tags":["b","c"]}', ("tags: +c −a",)),
        (b'{"tags":["a","b"]}', b'{"tags":["b","a"]}', ("tags: in another order",)),
        (b'{"source":{"task":"x"}}', b'{"source":{"task":"y"}}', ("source task: x → y",)),
        (b'{"updated_at":"1","content_hash":"2"}', b'{"updated_at":"3","content_hash":"4"}', ()),
        (b'{"private":false}', b'{"private":true}', ("private: no → yes",)),
        (b'{"a":"x\\ny"}', b'{"a":"x\\nz"}', ("a changed (+1 −1 lines)",)),
        (b"one\ntwo\n", b"one\nthree\nfour\n", ("text changed (+2 −1 lines)",)),
        (b"not json", b'{"a":1}', ("text changed (+1 −1 lines)",)),
    ],
)
def test_changes_are_said_in_words(before: bytes | None, after: bytes | None, said: tuple[str, ...]) -> None:
    assert changes_in_words(before, after) == said
