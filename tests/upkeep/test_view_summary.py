"""A project in numbers: the same that the status tells, and patient with what is not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from installed import Git as UsersGit
from quire.project import Project
from quire.upkeep.verdicts import Verdicts
from quire.upkeep.views.summary import ProjectSummary, project_summary
from quire.verbs.ask.status import status as status_of
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from quire.verbs.graph.sync import Sync, sync
from quire.verbs.profile.remember import RememberEntry, remember_entry


def summary(project: Project, hidden: frozenset[str] = frozenset()) -> ProjectSummary:
    about: dict[str, Any] = {"name": "Harbor", "root": "/harbor", "inbox": 3, "unreadable": 2, "hidden": hidden}
    return project.with_index(
        lambda index: project_summary(
            index, project.graph, project.git, Verdicts(project.root, project.git, index), **about
        )
    )


def save(project: Project, *nodes: dict[str, Any], **lists: Any) -> None:
    save_nodes(project, {"task": "t", "nodes": [{"body": "x", **node} for node in nodes], **lists})


def test_live_nodes_stages_and_layers_are_counted(project: Project) -> None:
    save(
        project,
        {"kind": "feature", "title": "Queue", "stage": "building"},
        {"kind": "feature", "title": "Fax", "stage": "dead"},
        {"kind": "feature", "title": "Wish"},
        {"kind": "feature", "title": "Old", "stage": "shipped"},
        {"kind": "decision", "title": "Worker"},
        {"kind": "question", "title": "When"},
        {"kind": "question", "title": "Answered", "status": "closed"},
    )
    save(project, stale=[{"id": "feature.old", "reason": "Nobody needs it."}])
    store(project, Store(section="Architecture", content="The queue is small."))
    found = summary(project)
    assert found.stages == {"idea": 1, "building": 1, "shipped": 0, "paused": 0, "dead": 1}
    assert found.kinds == {"decision": 1, "feature": 2, "project": 1, "question": 1}
    assert found.layers == {"graph": 8, "facts": 1}
    assert found.open_questions == 1
    assert (found.name, found.root, found.inbox, found.unreadable) == ("Harbor", "/harbor", 3, 2)


def test_what_needs_a_look_is_what_the_status_says(project: Project, repo: Path, git: UsersGit) -> None:
    for name in ("queue", "page", "gone", "kept"):
        (repo / f"{name}.py").write_text(f"def {name}():\n    return '{name}'\n")
    git.commit()
    names = ("queue", "page", "gone", "kept")
    save(project, *({"kind": "feature", "title": name, "anchors": [f"{name}.py"]} for name in names))
    save(project, {"kind": "gotcha", "title": "Loose"})
    (repo / "queue.py").write_text("def other():\n    pass\n")
    git("mv", "page.py", "leaf.py")
    (repo / "gone.py").unlink()
    head = git.commit()
    found, status = summary(project), status_of(project)
    assert found.verdicts == {state: number for state, number in status.verdicts.items() if number}
    assert found.verdicts == {"fresh": 1, "changed": 1, "moved": 1, "orphaned": 1, "unanchored": 1}
    assert found.stale == 3
    assert (found.last_activity, found.git) == (status.last_activity, status.git)
    assert (found.git.available, found.git.branch, found.git.commit) == (True, "main", head)


def test_the_last_activity_is_that_of_any_layer(project: Project, repo: Path) -> None:
    later = "2026-03-05T00:00:00.000Z"
    fact = '{"_type":"fact","id":"f1","section":"Specs","status":"active","content":"A.","created_at":"%s"}\n'
    assert summary(project).last_activity == "2026-03-02T11:19:00+00:00"
    (repo / ".memory/facts.jsonl").write_text(fact % later)
    assert summary(project).last_activity == status_of(project).last_activity
    assert str(summary(project).last_activity).startswith("2026-03-05T00:00:00")


def test_the_last_sync_is_told_once_there_was_one(project: Project, repo: Path, git: UsersGit) -> None:
    assert summary(project).last_sync is None
    git.commit()
    sync(project, Sync())
    assert summary(project).last_sync == "2026-03-02T11:19:00+00:00"
    (repo / ".memory/sync-state.json").write_text('{"last_sync_at": 7}')
    assert summary(project).last_sync is None
    (repo / ".memory/sync-state.json").write_text("{")
    assert summary(project).last_sync is None


def test_hidden_entries_are_not_counted(project: Project) -> None:
    remember_entry(project, RememberEntry(category="tools", key="editor", value="helix"))
    remember_entry(project, RememberEntry(category="tools", key="shell", value="fish"))
    assert summary(project).layers["profile"] == 2
    assert summary(project, frozenset({"profile:tools.shell"})).layers["profile"] == 1
    assert "profile" not in summary(project, frozenset({"profile:tools.shell", "profile:tools.editor"})).layers
