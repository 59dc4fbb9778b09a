"""Views of the memory as a whole, through the front door: whole projects, odd ones, and none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quire.clients.receipts import Receipt, ReceiptItem, add_receipt
from quire.files.world import World
from quire.model.errors import InputError, NotInitialized, UnsupportedVersion
from quire.project import Project
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from quire.verbs.journal.init import JournalInit, journal_init
from quire.verbs.page.health_views import (
    ViewAnchorHealth,
    ViewCoverage,
    ViewFiles,
    ViewReceipts,
    ViewTimeline,
    view_anchor_health,
    view_coverage,
    view_files,
    view_receipts,
    view_timeline,
)
from quire.verbs.profile.remember import RememberEntry, remember_entry

VIEWS: list[Callable[[Project], Any]] = [
    lambda project: view_timeline(project, ViewTimeline()),
    lambda project: view_anchor_health(project, ViewAnchorHealth()),
    lambda project: view_coverage(project, ViewCoverage()),
    lambda project: view_receipts(project, ViewReceipts()),
    lambda project: view_files(project, ViewFiles()),
]


def opened(root: Path, world: World) -> Project:
    return Project.open(str(root), msgspec.structs.replace(world, cwd=str(root)))


def shown(view: Callable[[Project], Any], viewing: Project) -> Any:
    """What a page is sent."""
    return json.loads(msgspec.json.encode(view(viewing)))


@pytest.fixture
def viewing(project: Project, repo: Path, world: World) -> Project:
    return opened(repo, world)


def test_every_view_has_the_fields_of_the_page(viewing: Project) -> None:
    fields = [set(shown(view, viewing)) for view in VIEWS]
    assert fields == [
        {"from", "to", "lanes", "marks", "cut", "days"},
        {"now", "series", "oldest"},
        {"root", "files", "covered", "cut", "titles"},
        {"answers", "tokens", "days", "by_client", "by_event", "most_told", "recent"},
        {"layers", "index"},
    ]


def test_a_project_with_everything(viewing: Project, project: Project, repo: Path, git: Any) -> None:
    (repo / "queue.py").write_text("a = 1\n", encoding="utf-8")
    git.commit("first")
    save_nodes(
        project,
        {
            "task": "t",
            "nodes": [
                {"kind": "feature", "title": "Queue", "body": "b", "anchors": ["queue.py"]},
                {"kind": "feature", "title": "Dropped", "body": "b", "anchors": ["queue.py"], "stage": "dead"},
                {"kind": "decision", "title": "Worker", "body": "b", "anchors": ["nowhere.py"]},
            ],
        },
    )
    store(project, Store(section="Architecture", content="Retries run in the worker.", session="s-1"))
    item = ReceiptItem(ref="feature.queue", outcome="included", tokens=12)
    add_receipt(str(repo), Receipt(at="2026-03-02T11:00:00Z", client="claude", event="prompt", items=(item,)), "00")
    lanes = {one.lane: one.total for one in view_timeline(viewing, ViewTimeline()).lanes}
    assert lanes == {"session": 1, "record": 3, "decision": 1, "commit": 1}
    assert view_anchor_health(viewing, ViewAnchorHealth()).now == {"fresh": 1, "orphaned": 1}
    coverage = view_coverage(viewing, ViewCoverage())
    assert (coverage.files, coverage.covered, coverage.root.refs) == (1, 1, ("feature.queue",))
    (told,) = view_receipts(viewing, ViewReceipts()).most_told
    assert (told.ref, told.title, told.times, told.tokens) == ("feature.queue", "Queue", 1, 12)
    assert [layer.records for layer in view_files(viewing, ViewFiles()).layers] == [4, 1, 0, 0]


def test_what_was_told_and_is_gone_has_no_title(viewing: Project, repo: Path) -> None:
    item = ReceiptItem(ref="feature.gone", outcome="included", tokens=1)
    add_receipt(str(repo), Receipt(at="2026-03-02T11:00:00Z", client="claude", event="prompt", items=(item,)), "00")
    found = view_receipts(viewing, ViewReceipts())
    assert [(told.ref, told.title) for told in found.most_told] == [("feature.gone", "")]
    assert (found.answers, len(found.recent)) == (1, 1)


@pytest.mark.parametrize("limit", [0, -1, 10**6])
def test_a_limit_out_of_range_is_refused(limit: int, viewing: Project) -> None:
    views: list[Callable[[], Any]] = [
        lambda: view_timeline(viewing, ViewTimeline(limit)),
        lambda: view_coverage(viewing, ViewCoverage(limit)),
        lambda: view_receipts(viewing, ViewReceipts(limit)),
    ]
    for view in views:
        with pytest.raises(InputError) as caught:
            view()
        assert caught.value.details is not None
        assert caught.value.details["field"] == "limit"


@pytest.mark.parametrize("view", VIEWS)
def test_where_there_is_no_memory_that_is_said(view: Callable[[Project], Any], repo: Path, world: World) -> None:
    with pytest.raises(NotInitialized):
        view(opened(repo, world))


@pytest.mark.parametrize("view", VIEWS)
def test_a_profile_alone_and_a_journal_alone_are_enough(
    view: Callable[[Project], Any], tmp_path: Path, world: World
) -> None:
    for name in ("profile", "journal"):
        folder = tmp_path / name
        folder.mkdir()
        project = Project.open(str(folder), msgspec.structs.replace(world, cwd=str(folder)))
        if name == "profile":
            remember_entry(
                project, RememberEntry(category="learnings", key="retry-limit", value="Five attempts are enough.")
            )
        else:
            journal_init(project, JournalInit(provider="local"))
        assert shown(view, opened(folder, world))


@pytest.mark.parametrize("view", VIEWS)
def test_damaged_files_stop_nobody(
    view: Callable[[Project], Any], viewing: Project, project: Project, repo: Path
) -> None:
    save_nodes(
        project, {"task": "t", "nodes": [{"kind": "feature", "title": "Queue", "body": "b", "anchors": ["a.py"]}]}
    )
    before = shown(view, viewing)
    memory = repo / ".memory"
    (memory / "config.json").write_text("{", encoding="utf-8")
    (memory / "memory/broken.json").write_bytes(b"\xff\xfe")
    (memory / "events.jsonl").write_bytes(b"\xff\n{}\n[]\n")
    (memory / "facts.jsonl").write_bytes(b'{"_type":"fact"}\n\xff\n')
    (memory / "local").mkdir(exist_ok=True)
    (memory / "local/receipts.jsonl").write_bytes(b"\xff\nnull\n{}\n")
    (repo / ".ai-state").mkdir()
    (repo / ".ai-state/memory.json").write_bytes(b"[]")
    (repo / ".agent-memory/history").mkdir(parents=True)
    (repo / ".agent-memory/state.json").write_bytes(b"{")
    (repo / ".agent-memory/history/events.jsonl").write_bytes(b"{}\n\xff")
    (repo / ".git/HEAD").write_text("nonsense", encoding="utf-8")
    assert set(shown(view, viewing)) == set(before)


@pytest.mark.parametrize("view", VIEWS)
def test_storage_of_another_version_is_not_read(view: Callable[[Project], Any], viewing: Project, repo: Path) -> None:
    path = repo / ".memory/config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": 99}), encoding="utf-8")
    with pytest.raises(UnsupportedVersion):
        view(viewing)


@pytest.mark.parametrize("view", VIEWS)
def test_looking_writes_nothing_but_the_index(
    view: Callable[[Project], Any], viewing: Project, project: Project, repo: Path, tree: Callable[..., Any]
) -> None:
    save_nodes(
        project, {"task": "t", "nodes": [{"kind": "feature", "title": "Queue", "body": "b", "anchors": ["a.py"]}]}
    )
    before = tree(repo)
    view(viewing)
    assert tree(repo) == before
