"""How the memory drifts: what holds, since when something does not, and what waits longest."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from installed import Git
from quire.files.git import Git as QuireGit
from quire.files.world import World
from quire.model.records import Record
from quire.model.verdicts import AnchorVerdict, Verdict
from quire.project import Project
from quire.upkeep.verdicts import Verdicts
from quire.upkeep.views.drift import AnchorHealth, anchor_health
from quire.upkeep.views.items import is_judged
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.graph.save import save_nodes

NOW = datetime(2026, 3, 2, 11, 19, tzinfo=UTC)


class Desk:
    """A repository where saves and commits happen at times of one's choice."""

    def __init__(self, repo: Path, environment: Mapping[str, str], world: World) -> None:
        self.repo = repo
        self.environment = environment
        self.world = world

    def at(self, time: str) -> Project:
        moment = datetime.fromisoformat(time)
        return Project.open(str(self.repo), msgspec.structs.replace(self.world, now=lambda: moment))

    def write(self, name: str, text: str) -> None:
        path = self.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def commit(self, time: str, message: str = "work") -> str:
        env = {**self.environment, "GIT_COMMITTER_DATE": time, "GIT_AUTHOR_DATE": time}
        return Git(self.repo, env).commit(message)

    def feature(self, time: str, title: str, *anchors: str) -> None:
        node = {"kind": "feature", "title": title, "body": "b", "anchors": list(anchors)}
        save_nodes(self.at(time), {"task": "t", "nodes": [node]})

    def health(self, now: datetime = NOW) -> AnchorHealth:
        project = self.at(now.isoformat())

        def work(index: Any) -> AnchorHealth:
            records = [record for record in index.records("graph") if is_judged(record)]
            return anchor_health(records, Verdicts(project.root, project.git, index)(records), project.git, now)

        return project.with_index(work)


@pytest.fixture
def desk(project: Project, repo: Path, environment: dict[str, str], world: World) -> Desk:
    return Desk(repo, environment, world)


def test_an_empty_memory_has_no_series(desk: Desk) -> None:
    assert desk.health() == AnchorHealth(now={}, series=(), oldest=())


def test_what_has_no_anchor_is_counted_now_and_in_no_series(desk: Desk) -> None:
    desk.feature("2026-01-01T00:00:00Z", "Plan")
    assert desk.health() == AnchorHealth(now={"unanchored": 1}, series=(), oldest=())


def test_nodes_come_drift_and_are_told_the_oldest_first(desk: Desk) -> None:
    desk.write("src/a.py", "a = 1\n")
    desk.write("src/b.py", "b = 1\n")
    desk.write("src/c.py", "c = 1\n")
    desk.commit("2026-01-01T00:00:00Z")
    desk.feature("2026-01-02T00:00:00Z", "A", "src/a.py")
    desk.feature("2026-01-12T00:00:00Z", "B", "src/b.py")
    desk.feature("2026-01-22T00:00:00Z", "C", "src/c.py")
    desk.write("src/b.py", "b = 2\n")
    second = desk.commit("2026-02-01T00:00:00Z")
    desk.write("src/a.py", "a = 2\n")
    first = desk.commit("2026-02-11T00:00:00+02:00")
    found = desk.health()
    assert found.now == {"fresh": 1, "changed": 2}
    assert [(one.item.ref, one.at, one.commit, one.item.verdict) for one in found.oldest] == [
        ("feature.b", "2026-02-01T00:00:00+00:00", second, "changed"),
        ("feature.a", "2026-02-10T22:00:00+00:00", first, "changed"),
    ]
    assert 40 <= len(found.series) <= 80
    assert found.series[0] == type(found.series[0])("2026-01-02T00:00:00+00:00", 1, 0)
    assert found.series[-1] == type(found.series[0])("2026-03-02T11:19:00+00:00", 1, 2)
    told = {point.at[:10]: (point.fresh, point.drifted) for point in found.series}
    assert told["2026-01-13"] == (2, 0)
    assert told["2026-01-31"] == (3, 0)
    assert told["2026-02-05"] == (2, 1)
    assert told["2026-02-20"] == (1, 2)


def test_what_a_merge_brought_drifted_with_the_merge(desk: Desk) -> None:
    """Commits of another branch may be older than the record that they make untrue."""
    desk.write("src/a.py", "a = 1\n")
    desk.write("src/b.py", "b = 1\n")
    desk.commit("2026-01-01T00:00:00Z")
    git = Git(desk.repo, desk.environment)
    git("switch", "--quiet", "--create", "other")
    desk.write("src/a.py", "a = 2\n")
    changed = desk.commit("2026-01-02T00:00:00Z")
    git("switch", "--quiet", "-")
    desk.feature("2026-02-01T00:00:00Z", "A", "src/a.py")
    desk.feature("2026-02-01T00:00:00Z", "B", "src/b.py")
    desk.commit("2026-02-01T00:00:00Z")
    date = "2026-02-20T00:00:00+00:00"
    dated = Git(desk.repo, {**desk.environment, "GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date})
    dated("merge", "--quiet", "--no-edit", "other")
    found = desk.health()
    assert [(one.item.ref, one.at, one.commit) for one in found.oldest] == [("feature.a", date, changed)]
    drifted = {point.at[:10]: point.drifted for point in found.series}
    assert (drifted["2026-02-01"], drifted["2026-02-19"], drifted["2026-02-21"]) == (0, 0, 1)


def test_what_was_pulled_without_a_merge_drifted_just_now(desk: Desk) -> None:
    """Nothing tells when it came: it was not there when the record was made, and is now."""
    desk.write("src/a.py", "a = 1\n")
    desk.commit("2026-01-01T00:00:00Z")
    desk.feature("2026-02-01T00:00:00Z", "A", "src/a.py")
    desk.write("src/a.py", "a = 2\n")
    changed = desk.commit("2026-01-02T00:00:00Z")
    found = desk.health()
    assert [(one.at, one.commit) for one in found.oldest] == [("2026-03-02T11:19:00+00:00", changed)]
    assert {point.drifted for point in found.series[:-1]} == {0}


def test_what_is_not_committed_drifted_just_now(desk: Desk) -> None:
    desk.write("src/a.py", "a = 1\n")
    desk.commit("2026-01-01T00:00:00Z")
    desk.feature("2026-01-02T00:00:00Z", "A", "src/a.py")
    desk.write("src/a.py", "a = 2\n")
    found = desk.health()
    assert [(point.fresh, point.drifted) for point in found.series] == [(1, 0)] * (len(found.series) - 1) + [(0, 1)]
    assert [(one.at, one.commit) for one in found.oldest] == [("2026-03-02T11:19:00+00:00", "")]


def test_the_first_of_several_anchors_decides(desk: Desk) -> None:
    desk.write("src/a.py", "a = 1\n")
    desk.write("src/b.py", "b = 1\n")
    desk.commit("2026-01-01T00:00:00Z")
    desk.feature("2026-01-02T00:00:00Z", "Both", "src/a.py", "src/b.py")
    desk.write("src/b.py", "b = 2\n")
    first = desk.commit("2026-02-01T00:00:00Z")
    desk.write("src/a.py", "a = 2\n")
    desk.commit("2026-02-11T00:00:00Z")
    assert [one.commit for one in desk.health().oldest] == [first]


def test_confirming_makes_fresh_and_is_not_seen_in_the_past(desk: Desk) -> None:
    desk.write("src/a.py", "a = 1\n")
    desk.commit("2026-01-01T00:00:00Z")
    desk.feature("2026-01-02T00:00:00Z", "A", "src/a.py")
    desk.write("src/a.py", "a = 2\n")
    desk.commit("2026-02-01T00:00:00Z")
    assert desk.health().series[-1].drifted == 1
    save_nodes(desk.at("2026-02-20T00:00:00Z"), {"task": "t", "confirm": [{"id": "feature.a"}]})
    found = desk.health()
    assert (found.now, found.oldest) == ({"fresh": 1}, ())
    assert {(point.fresh, point.drifted) for point in found.series} == {(1, 0)}
    assert found.series[0].at == "2026-01-02T00:00:00+00:00"


def test_a_file_that_is_gone_and_one_that_moved_have_drifted(desk: Desk) -> None:
    text = "".join(f"value_{number} = {number}\n" for number in range(40))
    desk.write("src/a.py", text)
    desk.write("src/b.py", "b = 1\n")
    desk.commit("2026-01-01T00:00:00Z")
    desk.feature("2026-01-02T00:00:00Z", "A", "src/a.py")
    desk.feature("2026-01-02T00:00:00Z", "B", "src/b.py")
    (desk.repo / "src/a.py").rename(desk.repo / "src/z.py")
    (desk.repo / "src/b.py").unlink()
    desk.commit("2026-02-01T00:00:00Z")
    found = desk.health()
    assert found.now == {"moved": 1, "orphaned": 1}
    assert (found.series[0].fresh, found.series[-1].drifted) == (2, 2)


def test_without_commits_or_without_git_there_is_an_answer(desk: Desk, tmp_path: Path, world: World) -> None:
    desk.write("src/a.py", "a = 1\n")
    desk.feature("2026-01-02T00:00:00Z", "A", "src/a.py")
    assert desk.health().now == {"fresh": 1}
    plain = tmp_path / "plain"
    plain.mkdir()
    project = Project.open(str(plain), msgspec.structs.replace(world, cwd=str(plain)))
    init_memory(project)
    other = Desk(plain, {}, world)
    other.feature("2026-01-02T00:00:00Z", "A", "src/a.py")
    found = other.health()
    assert found.now == {"orphaned": 1}
    assert [(one.at, one.commit) for one in found.oldest] == [("2026-01-02T00:00:00+00:00", "")]  # it never was there


# -- odd verdicts and times -----------------------------------------------------------------


def record(name: str, created: str) -> Record:
    return Record(
        ref=f"feature.{name}",
        layer="graph",
        kind="feature",
        title=name,
        text="",
        status="active",
        path=f"memory/{name}.json",
        created_at=created,
    )


def changed(commit: str) -> Verdict:
    anchor = AnchorVerdict(anchor="a.py", verdict="changed", commit=commit)
    return Verdict(verdict="changed", anchors=(anchor,))


@pytest.mark.parametrize("commit", ["", "--output=x", "f" * 40, "HEAD"])
def test_a_commit_that_is_none_counts_as_just_now(commit: str, desk: Desk) -> None:
    desk.commit("2026-01-01T00:00:00Z")
    one = record("a", "2026-01-02T00:00:00Z")
    found = anchor_health([one], {one.ref: changed(commit)}, QuireGit(str(desk.repo), desk.world.env), NOW)
    assert [(drifted.at, drifted.commit) for drifted in found.oldest] == [("2026-03-02T11:19:00+00:00", "")]
    assert found.series[-1].drifted == 1
    assert not (desk.repo / "x").exists()


@pytest.mark.parametrize("created", ["", "never", "2999-01-01T00:00:00Z", "0001-01-01T00:00:00+10:00"])
def test_the_last_point_is_always_what_is_now(created: str, desk: Desk) -> None:
    commit = desk.commit("2026-02-01T00:00:00Z")
    records = [record("a", created), record("b", "2026-02-20T00:00:00Z"), record("c", created)]
    verdicts = {"feature.a": changed(commit), "feature.b": changed(commit), "feature.c": Verdict(verdict="fresh")}
    found = anchor_health(records, verdicts, QuireGit(str(desk.repo), desk.world.env), NOW)
    assert (found.series[-1].fresh, found.series[-1].drifted) == (1, 2)
    assert all(point.fresh >= 0 and point.drifted >= 0 for point in found.series)
    # A commit of an older branch: the node was never fresh, and not there before it was created.
    assert found.series[0].fresh + found.series[0].drifted >= 1


def test_a_memory_of_this_very_second_has_one_point(desk: Desk) -> None:
    one = record("a", NOW.isoformat())
    found = anchor_health([one], {one.ref: Verdict(verdict="fresh")}, QuireGit(str(desk.repo), desk.world.env), NOW)
    assert [(point.at, point.fresh) for point in found.series] == [("2026-03-02T11:19:00+00:00", 1)]


def test_only_the_first_twenty_are_told(desk: Desk) -> None:
    commits = [desk.commit((NOW - timedelta(days=40 - number)).isoformat(), f"c{number}") for number in range(3)]
    records = [record(f"n{number:02}", "2026-01-02T00:00:00Z") for number in range(30)]
    verdicts = {one.ref: changed(commits[2 - number // 10]) for number, one in enumerate(records)}
    found = anchor_health(records, verdicts, QuireGit(str(desk.repo), desk.world.env), NOW)
    assert [one.item.ref for one in found.oldest] == [
        f"feature.n{number:02}" for number in (*range(20, 30), *range(10, 20))
    ]
    assert found.series[-1].drifted == 30
