"""Issues of Beads: features with a stage, decisions and traps by label, next steps; what is over is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire.capture.hosts.registry import find_hosts, read_host
from quire.capture.hosts.types import FILE_BYTES, HostRead, HostSource
from quire.inbox.proposals import QUOTE_CHARS, TEXT_CHARS, Proposal
from thorough import examples

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(
    [
        *("id", "title", "status", "priority", "issue_type", "description", "design", "notes", "close_reason"),
        *("labels", "dependencies", "_type", "key", "value", "updated_at"),
        *("type", "name", "entityType", "observations", "from", "to", "relationType"),
    ]
)
NOW = "2026-03-01T12:00:00+00:00"


def _issue(name: str, title: str, status: str = "open", kind: str = "task", **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "title": title,
        "status": status,
        "priority": 2,
        "issue_type": kind,
        "created_at": "2025-12-16T13:26:47.117226-08:00",
        "updated_at": "2025-12-17T16:11:17.070763-08:00",
        **more,
    }


def _needs(name: str, *targets: str, kind: str = "blocks") -> list[dict[str, str]]:
    return [{"issue_id": name, "depends_on_id": target, "type": kind, "created_by": "daemon"} for target in targets]


def _find(root: Path) -> list[HostSource]:
    return find_hosts(str(root), "", {}, ["beads"])


def _read(root: Path, *items: dict[str, Any] | str, name: str = "issues.jsonl") -> HostRead:
    (root / ".beads").mkdir(exist_ok=True)
    lines = [item if isinstance(item, str) else json.dumps(item) for item in items]
    (root / ".beads" / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    [source] = _find(root)
    return read_host(source, str(root), "", NOW)


def _one(root: Path, *items: dict[str, Any]) -> Proposal:
    [made] = _read(root, *items).proposals
    return made


def test_a_feature_and_what_it_depends_on(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/queue.py").write_text("")
    read = _read(
        tmp_path,
        _issue("bd-1", "Worker pool", "closed", "epic", close_reason="Completed"),
        _issue(
            "bd-2",
            "Retry queue",
            "in_progress",
            "feature",
            description="Failed jobs come back.\nSee src/queue.py:12.",
            design="One queue.",
            acceptance_criteria="A job is retried five times.",
            labels=["backend", "Q1 Goals"],
            dependencies=[
                *_needs("bd-2", "bd-1", "bd-3", "bd-404"),
                *_needs("bd-2", "bd-4", kind="parent-child"),
                *_needs("bd-2", "bd-5", kind="discovered-from"),
            ],
        ),
        _issue("bd-3", "Fix the lock", "open", "bug"),
        _issue("bd-4", "Jobs", "open", "epic"),
        _issue("bd-5", "Metrics", "open", "feature"),
    )
    made = {item.fields["id"]: item for item in read.proposals if item.into == "graph"}
    assert {name: item.fields["stage"] for name, item in made.items()} == {
        "feature.retry-queue": "building",
        "feature.jobs": "idea",
        "feature.metrics": "idea",
        "feature.worker-pool": "shipped",
    }
    queue = made["feature.retry-queue"]
    assert queue.fields == {
        "kind": "feature",
        "id": "feature.retry-queue",
        "title": "Retry queue",
        "body": "Failed jobs come back.\nSee src/queue.py:12.\n\nDesign: One queue.\n\n"
        "Done when: A job is retried five times.",
        "stage": "building",
        "anchors": ["src/queue.py"],
        "tags": ["beads", "backend", "q1-goals"],
        "related": [
            {"predicate": "depends_on", "to": "feature.worker-pool"},
            {"predicate": "related_to", "to": "feature.jobs"},
        ],
    }
    assert (queue.kind, queue.origin, queue.by) == ("feature", "file:.beads/issues.jsonl", "file")
    assert queue.evidence[0].where == ".beads/issues.jsonl:2"
    assert made["feature.jobs"].fields["body"] == "Jobs."
    assert made["feature.worker-pool"].fields["body"] == "Outcome: Completed"


@pytest.mark.parametrize(
    ("status", "reason", "stage"),
    [
        ("open", "", "idea"),
        ("in_progress", "", "building"),
        ("blocked", "", "paused"),
        ("deferred", "", "paused"),
        ("awaiting_review", "", "building"),
        ("closed", "", "shipped"),
        ("closed", "Implemented, with a cancel button and rejected states", "shipped"),
        ("closed", "Fixed duplicate rows that were dropped", "shipped"),
        ("closed", "Won't do: too costly", "dead"),
        ("closed", "wontfix", "dead"),
        ("closed", "Closing as obsolete", "dead"),
        ("closed", "Cancelled by the team", "dead"),
        ("closed", "This is no longer needed", "dead"),
    ],
)
def test_the_stage_of_a_feature(tmp_path: Path, status: str, reason: str, stage: str) -> None:
    assert _one(tmp_path, _issue("bd-1", "Queue", status, "feature", close_reason=reason)).fields["stage"] == stage


def test_open_bugs_and_tasks_are_next_steps_the_urgent_first(tmp_path: Path) -> None:
    read = _read(
        tmp_path,
        _issue("bd-1", "Tidy up", kind="chore", priority=4),
        _issue("bd-2", "Fix the lock", "in_progress", "bug", priority=0, description="It stays. After a crash."),
        _issue("bd-3", "Write the guide.", description="Write the guide.", dependencies=_needs("bd-3", "bd-2", "bd-9")),
        _issue("bd-9", "Done before", "closed"),
    )
    assert [made.fields["text"] for made in read.proposals] == [
        "bd-2 (bug, P0, in progress): Fix the lock. It stays.",
        "bd-3 (task, P2): Write the guide. Waits for bd-2.",
        "bd-1 (chore, P4): Tidy up.",
    ]
    assert {(made.into, made.kind) for made in read.proposals} == {("notes", "next step")}
    assert read.skipped == 1


def test_what_a_label_or_a_type_makes_of_an_issue(tmp_path: Path) -> None:
    read = _read(
        tmp_path,
        _issue("bd-1", "One queue for all", "closed", "decision", description="Two were never in step."),
        _issue("bd-2", "Jobs may run twice", labels=["gotcha"], description="After a crash."),
        _issue("bd-3", "How long are jobs kept?", labels=["question"]),
        _issue("bd-4", "Plain bug", kind="bug", labels=["bug"]),
        _issue("bd-5", "Use Go", labels=["ADR"], close_reason="We know it.", status="closed"),
        _issue("bd-6", "Use Rust", "closed", labels=["decision"], close_reason="Rejected"),
        _issue("bd-7", "A trap that is gone", "closed", labels=["gotcha"]),
    )
    assert [(made.kind, made.fields.get("id"), made.fields.get("body")) for made in read.proposals] == [
        ("gotcha", "gotcha.jobs-may-run-twice", "After a crash."),
        ("question", "question.how-long-are-jobs-kept", "How long are jobs kept?"),
        ("next step", None, None),
        ("decision", "decision.one-queue-for-all", "Two were never in step."),
        ("decision", "decision.use-go", "Outcome: We know it."),
    ]
    assert all("stage" not in made.fields for made in read.proposals)
    assert read.skipped == 2


def test_what_is_over_or_no_work_is_counted(tmp_path: Path) -> None:
    read = _read(
        tmp_path,
        _issue("bd-1", "Deleted", "tombstone", "feature", deleted_at=NOW),
        _issue("bd-2", "Closed task", "closed"),
        _issue("bd-3", "Closed bug", "closed", "bug"),
        _issue("bd-4", "A message", kind="message"),
        _issue("bd-5", "A wisp", ephemeral=True),
        _issue("bd-6", "Same as bd-7", "closed", "feature", close_reason="Duplicate of bd-7"),
        _issue("bd-8", "A form", kind="epic", is_template=True),
    )
    assert (read.proposals, read.skipped, read.problems) == ((), 7, ())


def test_memories_beside_the_issues_are_facts(tmp_path: Path) -> None:
    made = _one(tmp_path, {"_type": "memory", "key": "auth-jwt", "value": "Tokens are checked in the gateway."})
    assert (made.into, made.fields) == (
        "facts",
        {
            "section": "Patterns & Conventions",
            "content": "Tokens are checked in the gateway.",
            "tags": ["auth-jwt"],
        },
    )


def test_two_of_one_title_have_two_ids(tmp_path: Path) -> None:
    read = _read(
        tmp_path,
        _issue("bd-1", "Queue", kind="feature", description="The first."),
        _issue("bd-2", "Queue", kind="feature", description="The second."),
    )
    assert [made.fields["id"] for made in read.proposals] == ["feature.queue", "feature.queue-bd-2"]


def test_of_an_issue_that_stands_twice_the_newest_holds(tmp_path: Path) -> None:
    made = _one(
        tmp_path,
        _issue("bd-1", "Queue", "in_progress", "feature", updated_at="2026-02-02T00:00:00Z"),
        _issue("bd-1", "Queue", "open", "feature", updated_at="2026-01-01T00:00:00Z"),
    )
    assert (made.fields["stage"], made.evidence[0].where) == ("building", ".beads/issues.jsonl:1")


def test_odd_lines_are_told_and_stop_nothing(tmp_path: Path) -> None:
    read = _read(
        tmp_path,
        "<<<<<<< HEAD",
        {"id": 3, "title": "x"},
        {"id": "bd-1"},
        {"_type": "header", "version": 1},
        {
            "id": "bd-2",
            "title": "Odd",
            "status": None,
            "issue_type": 4,
            "priority": "high",
            "labels": "x",
            "dependencies": [1, {"type": 2}, {"depends_on_id": "bd-2"}],
            "description": ["x"],
        },
    )
    assert [made.text for made in read.proposals] == ["bd-2 (task): Odd."]
    assert [problem.line for problem in read.problems] == [1, 2, 3]


def test_what_may_not_be_kept_is_told(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    read = _read(
        tmp_path,
        _issue("bd-1", "Deploy", description=f"With {token}."),
        _issue("bd-2", "Trick \u202e", kind="feature"),
        _issue("bd-3", "Fine"),
        _issue("bd-4", "Label", kind="epic", labels=[token]),
        {"_type": "memory", "key": token, "value": "Fine too"},
    )
    assert [made.text for made in read.proposals] == ["bd-3 (task, P2): Fine."]
    assert sorted((problem.line, problem.code) for problem in read.problems) == [
        (1, "HostSecret"),
        (2, "HostTextUnsafe"),
        (4, "HostSecret"),
        (5, "HostSecret"),
    ]
    assert token not in "".join(problem.message for problem in read.problems)


def test_which_file_is_read(tmp_path: Path) -> None:
    folder = tmp_path / ".beads"
    (folder / "backup").mkdir(parents=True)
    assert _find(tmp_path) == []
    line = json.dumps(_issue("bd-1", "Queue")) + "\n"
    steps = [
        ("backup/issues.jsonl", ["backup/issues.jsonl"]),
        ("deletions.jsonl", ["backup/issues.jsonl"]),
        ("beads.left.jsonl", ["backup/issues.jsonl"]),
        ("export-2026.jsonl", ["export-2026.jsonl"]),
        ("beads.jsonl", ["beads.jsonl"]),
        ("issues.jsonl", ["issues.jsonl"]),
    ]
    for name, expected in steps:
        (folder / name).write_text(line)
        assert [source.shown for source in _find(tmp_path)] == [f".beads/{path}" for path in expected]


def test_links_and_large_files(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / ".beads").mkdir(parents=True)
    (tmp_path / "out.jsonl").write_text(json.dumps(_issue("bd-1", "Queue")) + "\n")
    (root / ".beads/issues.jsonl").symlink_to(tmp_path / "out.jsonl")
    assert _find(root) == []
    (root / ".beads/issues.jsonl").unlink()
    (root / ".beads/issues.jsonl").write_text("x" * (FILE_BYTES + 1))
    [source] = _find(root)
    [problem] = read_host(source, str(root), "", NOW).problems
    assert "larger than" in problem.message


def test_the_same_file_gives_the_same_proposals(tmp_path: Path) -> None:
    issues = [_issue("bd-1", "Queue", kind="feature"), _issue("bd-2", "Fix")]
    assert _read(tmp_path, *issues) == _read(tmp_path, *issues)


@pytest.mark.parametrize(("kind", "place"), [("beads", ".beads/issues.jsonl"), ("mcp-memory", "memory.jsonl")])
@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=st.lists(st.dictionaries(NAMES, VALUES | st.sampled_from(["bd-1", "entity", "relation", "epic"]))))
def test_whatever_the_lines_hold_nothing_is_raised(
    tmp_path: Path, kind: str, place: str, items: list[dict[str, Any]]
) -> None:
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text("".join(json.dumps(item) + "\n" for item in [*items, {"id": "x"}]))
    [source] = find_hosts(str(tmp_path), "", {}, [kind])
    read = read_host(source, str(tmp_path), "", NOW)
    for made in read.proposals:
        assert made.text.strip()
        assert len(made.text) <= TEXT_CHARS
        assert 0 < len(made.evidence[0].quote) <= QUOTE_CHARS
    assert len({made.id for made in read.proposals}) == len(read.proposals)
