"""What happened when: which lane everything stands in, what a merge left twice, who gives way where room is short."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from installed import Git
from quire.files.world import World
from quire.project import Project
from quire.upkeep.views import timeline as module
from quire.upkeep.views.timeline import DayCount, Mark, Timeline, timeline_of
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.facts.session import NoteSession, record_session
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes

NOW = "2026-03-02T11:19:00+00:00"
EVENTS = ".memory/events.jsonl"
JOURNAL = ".agent-memory/history/events.jsonl"


def timeline(project: Project, limit: int = 3_000) -> Timeline:
    return project.with_index(lambda index: timeline_of(index, project.graph, project.git, limit))


def lane(found: Timeline, name: str) -> list[Mark]:
    return [mark for mark in found.marks if mark.lane == name]


def total(found: Timeline, name: str) -> int:
    return {one.lane: one.total for one in found.lanes}[name]


def dated(repo: Path, environment: Mapping[str, str], at: str, message: str) -> str:
    return Git(repo, {**environment, "GIT_COMMITTER_DATE": at, "GIT_AUTHOR_DATE": at}).commit(message)


def log(repo: Path, *events: dict[str, Any]) -> None:
    with (repo / EVENTS).open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(event) + "\n" for event in events)


def event(node: str, at: str, name: str = "memory.created", **fields: Any) -> dict[str, Any]:
    return {"event": name, "actor": "user", "timestamp": at, "id": node, **fields}


def session(number: int, name: str, at: str, kind: str = "imported_session") -> str:
    return json.dumps(
        {
            "id": f"evt-{number:06}",
            "kind": kind,
            "sourceId": "theirs",
            "externalItemId": name,
            "createdAt": at,
            "contentHash": name * 4,
            "summary": f"Asked: repair {name}.",
            "signals": {
                "decisions": [],
                "gotchas": [],
                "nextStepHints": [],
                "keyPaths": [],
                "validationObservations": [],
            },
            "sourceRef": "theirs",
        }
    )


def journal(repo: Path, *lines: str) -> None:
    path = repo / JOURNAL
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def test_a_save_is_told_by_the_title_of_what_was_saved(project: Project) -> None:
    save_nodes(
        project, {"task": "t", "nodes": [{"kind": "decision", "title": "Retries run in the worker", "body": "b"}]}
    )
    found = timeline(project)
    decision = Mark(
        at=NOW,
        lane="decision",
        layer="graph",
        kind="created",
        ref="decision.retries-run-in-the-worker",
        title="Retries run in the worker",
    )
    assert lane(found, "decision") == [decision]
    assert [(one.lane, one.total) for one in found.lanes] == [
        ("session", 0),
        ("decision", 1),
        ("record", 1),
        ("commit", 0),
    ]
    assert (found.begin, found.to, found.cut) == (NOW, NOW, False)
    assert found.days == (DayCount("2026-03-02", {"decision": 1, "record": 1}),)
    assert set(msgspec.to_builtins(found)) == {"from", "to", "lanes", "marks", "cut", "days"}


def test_what_became_of_a_node_is_told_one_by_one(project: Project, repo: Path) -> None:
    (repo / "queue.py").write_text("a = 1\n", encoding="utf-8")
    node = {"kind": "feature", "title": "Queue", "body": "b", "anchors": ["queue.py"]}
    save_nodes(project, {"task": "t", "nodes": [node]})
    save_nodes(project, {"task": "t", "nodes": [{**node, "id": "feature.queue", "body": "c"}]})
    (repo / "queue.py").write_text("a = 2\n", encoding="utf-8")
    save_nodes(project, {"task": "t", "confirm": [{"id": "feature.queue"}]})
    save_nodes(project, {"task": "t", "stale": [{"id": "feature.queue", "reason": "gone"}]})
    assert [mark.kind for mark in lane(timeline(project), "record")[1:]] == [
        "created",
        "updated",
        "confirmed",
        "marked_stale",
    ]


def test_the_last_change_of_its_status_closed_a_question(project: Project) -> None:
    save_nodes(project, {"task": "t", "nodes": [{"kind": "question", "title": "Who pays", "body": "b"}]})
    changes: list[dict[str, str]] = [{"status": "closed"}, {"status": "open"}, {"status": "closed"}, {"body": "c"}]
    for number, fields in enumerate(changes):
        save_nodes(project, {"task": f"t{number}", "nodes": [{"id": "question.who-pays", **fields}]})
    kinds = [mark.kind for mark in lane(timeline(project), "record")[1:]]
    assert kinds == ["created", "updated", "updated", "closed", "updated"]


def test_of_a_node_that_is_gone_the_id_is_left(project: Project, repo: Path) -> None:
    log(repo, event("feature.gone", "2026-03-01T10:00:00+02:00"))
    (first, _) = lane(timeline(project), "record")
    assert (first.at, first.ref, first.title) == ("2026-03-01T08:00:00+00:00", "", "feature.gone")


def test_a_line_that_a_merge_left_twice_counts_once(project: Project, repo: Path) -> None:
    one = event("feature.a", "2026-03-01T10:00:00Z", payload={"task": "t", "fields": ["body"]})
    other = event("feature.a", "2026-03-01T10:00:00Z", payload={"task": "u", "fields": ["body"]})
    log(repo, one, other, dict(reversed(one.items())))
    assert total(timeline(project), "record") == 1 + 2


def test_relations_and_broken_lines_are_no_saves(project: Project, repo: Path) -> None:
    log(repo, {"event": "relation.created", "actor": "user", "timestamp": NOW, "relation_id": "rel.a"})
    log(repo, {"event": "index.rebuilt", "actor": "user", "timestamp": NOW})
    with (repo / EVENTS).open("a") as file:
        file.write("{broken\n\n<<<<<<< ours\n")
    log(repo, event("feature.last", NOW))
    assert [mark.title for mark in lane(timeline(project), "record")][1:] == ["feature.last"]


def test_a_line_of_very_many_brackets_is_only_a_broken_line(project: Project, repo: Path) -> None:
    deep = json.dumps(event("feature.deep", NOW, payload={"a": 1})).replace("1}", "[" * 50_000 + "]" * 50_000 + "}")
    with (repo / EVENTS).open("a") as file:
        file.write(f"{deep}\n")
    log(repo, event("feature.last", NOW))
    assert [mark.title for mark in lane(timeline(project), "record")][1:] == ["feature.last"]


def test_commits_are_told_with_their_ids_the_oldest_first(
    project: Project, repo: Path, environment: dict[str, str]
) -> None:
    first = dated(repo, environment, "2026-03-01T23:30:00-02:00", "One  thing")
    second = dated(repo, environment, "2026-03-02T10:00:00+00:00", "Another — größer\0".strip("\0"))
    found = lane(timeline(project), "commit")
    assert [(mark.at, mark.commit, mark.title, mark.ref, mark.layer) for mark in found] == [
        ("2026-03-02T01:30:00+00:00", first, "One thing", "", ""),
        ("2026-03-02T10:00:00+00:00", second, "Another — größer", "", ""),
    ]


def test_of_very_many_commits_the_newest_are_told(
    project: Project, repo: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_COMMITS", 2)
    for number in range(2):
        dated(repo, environment, f"2026-03-01T10:00:0{number}Z", f"c{number}")
    assert timeline(project).cut is False
    dated(repo, environment, "2026-03-01T10:00:02Z", "c2")
    found = timeline(project)
    assert [mark.title for mark in lane(found, "commit")] == ["c1", "c2"]
    assert found.cut is True


def test_without_git_there_are_no_commits(tmp_path: Path, world: World) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    project = Project.open(str(folder), msgspec.structs.replace(world, cwd=str(folder)))
    init_memory(project)
    found = timeline(project)
    assert (total(found, "commit"), total(found, "record")) == (0, 1)


def test_a_session_that_left_facts_is_told_once_by_its_episode(project: Project, world: World, repo: Path) -> None:
    store(project, Store(section="Architecture", content="Retries run in the worker.", session="s-1"))
    store(project, Store(section="Decisions", content="Invoices are kept for ten years.", session="s-2"))
    store(project, Store(section="Decisions", content="Berths are let by the season.", session="s-2"))
    record_session(
        project,
        NoteSession(session_id="s-1", title="Repaired retries", narrative="What was done.", turns=3, close=True),
    )
    found = timeline(project)
    told = {mark.title: mark for mark in lane(found, "session")}
    assert set(told) == {
        "Session 2026-03-02: Repaired retries",
        *(title for title in told if title.startswith("Session s-2: ")),
    }
    assert len(told) == 2
    assert told["Session 2026-03-02: Repaired retries"].ref.startswith("episode:")
    assert {mark.kind for mark in told.values()} == {"session"}


def test_a_session_that_was_imported_is_not_told_again_by_its_facts(project: Project, repo: Path) -> None:
    store(project, Store(section="Architecture", content="Retries run in the worker.", session="lantern"))
    assert total(timeline(project), "session") == 1
    journal(
        repo,
        session(1, "lantern", "2026-03-01T10:00:00.000Z"),
        session(2, "run", "2026-03-01T11:00:00.000Z", kind="tool_run"),
    )
    assert [(mark.ref, mark.layer, mark.title) for mark in lane(timeline(project), "session")] == [
        ("event:evt-000001", "journal", "Asked: repair lantern.")
    ]
    record_session(project, NoteSession(session_id="lantern", title="Lantern", narrative="Repaired.", close=True))
    (mark,) = lane(timeline(project), "session")
    assert (mark.layer, mark.title) == ("facts", "Session 2026-03-02: Lantern"), "an episode says more than its import"


@pytest.mark.parametrize("at", ["", "never", "2026-13-01T00:00:00Z"])
def test_what_has_no_usable_time_is_left_out(at: str, project: Project, repo: Path) -> None:
    journal(repo, session(1, "a", at), session(2, "b", "2999-01-01T00:00:00.000Z"))
    found = timeline(project)
    assert [mark.ref for mark in lane(found, "session")] == ["event:evt-000002"]
    assert found.to == "2999-01-01T00:00:00+00:00"


def test_where_room_is_short_the_newest_of_every_lane_stay(
    project: Project, repo: Path, environment: dict[str, str]
) -> None:
    log(repo, *(event(f"feature.f{number}", f"2026-02-{number + 1:02}T00:00:00Z") for number in range(20)))
    journal(repo, *(session(number, f"s{number}", f"2026-01-{number + 1:02}T00:00:00Z") for number in range(20)))
    dated(repo, environment, "2025-12-24T00:00:00Z", "only one")
    found = timeline(project, 9)
    assert [mark.title for mark in lane(found, "commit")] == ["only one"]
    assert [mark.title for mark in lane(found, "session")] == [f"Asked: repair s{number}." for number in range(16, 20)]
    assert [mark.title for mark in lane(found, "record")][:3] == ["feature.f17", "feature.f18", "feature.f19"]
    assert len(found.marks) == 9
    assert [mark.at for mark in found.marks] == sorted(mark.at for mark in found.marks)
    assert found.cut is True
    assert (total(found, "record"), total(found, "session"), total(found, "commit")) == (21, 20, 1)
    assert len(found.days) == 20 + 20 + 1 + 1
    assert found.days[0] == DayCount("2025-12-24", {"commit": 1})
    assert sum(day.counts.get("record", 0) for day in found.days) == 21
    assert (found.begin, found.to) == ("2025-12-24T00:00:00+00:00", NOW)


@pytest.mark.parametrize("limit", range(1, 50, 7))
def test_never_more_marks_than_were_asked_for(limit: int, project: Project, repo: Path) -> None:
    log(repo, *(event(f"feature.f{number}", NOW) for number in range(30)))
    journal(repo, *(session(number, f"s{number}", NOW) for number in range(5)))
    found = timeline(project, limit)
    assert len(found.marks) == min(limit, 36)
    assert found.cut is (limit < 36)


def test_days_are_bounded(project: Project, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DAYS", 3)
    log(repo, *(event("feature.a", f"2026-02-{day:02}T00:00:00Z") for day in range(1, 9)))
    found = timeline(project)
    assert [one.day for one in found.days] == ["2026-02-07", "2026-02-08", "2026-03-02"]
    assert found.cut is True


def test_a_time_before_all_days_in_utc_stops_nobody(project: Project, repo: Path) -> None:
    """One such event in a journal once made the index impossible to open."""
    journal(repo, session(1, "a", "0001-01-01T00:00:00+10:00"))
    assert [mark.at for mark in lane(timeline(project), "session")] == ["0001-01-01T00:00:00+00:00"]
