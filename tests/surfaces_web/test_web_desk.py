"""Where questions are worked on: kept while nothing changes, worked out once for many, each of its own project."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from installed import Git
from quire.files.world import World
from quire.model.errors import NotFound, UsageError
from quire.project import Project
from quire.surfaces.web import desk as module
from quire.surfaces.web.acts import read_act
from quire.surfaces.web.answers import ANSWERS
from quire.surfaces.web.desk import HERE, Desk
from quire.verbs.facts.changes import memory_store
from quire.verbs.graph.changes import check, save

STALE = b'{"action": "stale", "ref": "gotcha.clock-drift", "reason": "fixed"}'


@pytest.fixture
def filled(project: Project, repo: Path, git: Git) -> Project:
    save(project, {"task": "first", "nodes": [{"kind": "gotcha", "title": "Clock drift", "body": "It is late."}]})
    git.commit("memory")
    return project


@pytest.fixture
def desk(filled: Project, world: World) -> Iterator[Desk]:
    found = Desk(world, filled.root, may_write=True)
    yield found
    found.close()


def told(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


@pytest.fixture
def worked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which answers were worked out, in their order."""
    seen: list[str] = []

    def counting(path: str, answer: Any) -> Any:
        def count(project: Project, query: Any) -> Any:
            seen.append(path)
            return answer(project, query)

        return count

    monkeypatch.setattr(module, "ANSWERS", {path: counting(path, answer) for path, answer in ANSWERS.items()})
    return seen


def test_an_answer_is_kept_while_nothing_changes(desk: Desk, filled: Project, worked: list[str]) -> None:
    async def story() -> None:
        name = desk.current()
        first = await desk.ask(name, "map", {})
        assert await desk.ask(name, "map", {}) is first
        assert worked == ["map"]
        memory_store(filled, "Specs", "Tickets expire.")
        await desk.work(lambda: desk.version(name, at_once=True))
        second = await desk.ask(name, "map", {})
        assert second.version != first.version
        assert worked == ["map", "map"]

    told(story())


def test_many_who_ask_at_once_are_answered_by_one_piece_of_work(desk: Desk, worked: list[str]) -> None:
    async def story() -> None:
        name = desk.current()
        found = await asyncio.gather(*(desk.ask(name, "graph", {}) for _ in range(50)))
        assert len({id(item) for item in found}) == 1
        assert worked == ["graph"]
        other = await asyncio.gather(*(desk.ask(name, "records", {"limit": str(1 + n % 2)}) for n in range(20)))
        assert len({item.data for item in other}) <= 2
        assert worked.count("records") == 2

    told(story())


def test_one_who_goes_away_takes_nothing_from_the_others(desk: Desk) -> None:
    async def story() -> None:
        name = desk.current()
        asking = [asyncio.ensure_future(desk.ask(name, "timeline", {})) for _ in range(3)]
        await asyncio.sleep(0)
        asking[0].cancel()
        found = await asyncio.gather(*asking, return_exceptions=True)
        assert isinstance(found[0], asyncio.CancelledError)
        assert found[1] == found[2]
        assert json.loads(found[1].data)["data"]["lanes"] is not None

    told(story())


def test_an_error_is_not_kept(desk: Desk, filled: Project) -> None:
    async def story() -> None:
        name = desk.current()
        for _ in range(2):
            with pytest.raises(NotFound):
                await desk.ask(name, "record", {"ref": "gotcha.later"})
        save(filled, {"task": "x", "nodes": [{"kind": "gotcha", "title": "Later", "body": "b"}]})
        await desk.work(lambda: desk.version(name, at_once=True))
        assert b"gotcha.later" in (await desk.ask(name, "record", {"ref": "gotcha.later"})).data

    told(story())


@pytest.mark.parametrize("path", ["no-such", "../today", "health", "record/x", "today/", "__class__"])
def test_what_nobody_answers(desk: Desk, path: str) -> None:
    with pytest.raises(NotFound):
        told(desk.ask(desk.current(), path, {}))


@pytest.mark.parametrize("name", ["", "..", "/", "/etc", "no-such", HERE, "a/b", "\0", "x" * 10_000])
def test_only_projects_of_the_list(desk: Desk, filled: Project, name: str) -> None:
    assert desk.current() not in ("", HERE), "the list knows it"
    assert desk.project(desk.current()).root == filled.root
    with pytest.raises(NotFound):
        desk.project(name)


def test_answers_that_are_kept_have_a_bound(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT_ANSWERS", 3)

    async def story() -> None:
        for number in range(1, 10):
            await desk.ask(desk.current(), "records", {"limit": str(number)})
        assert len(desk._kept) == 3
        assert any("limit=9" in key for key in desk._kept)

    told(story())


def test_actions_that_can_be_undone_have_a_bound(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT_ACTS", 2)

    async def story() -> None:
        name = desk.current()
        first = await desk.act(name, read_act(STALE))
        later = []
        for title in (b"One", b"Two"):
            act = b'{"action": "supersede", "ref": "gotcha.clock-drift", "title": "%b", "body": "b"}' % title
            later.append((await desk.act(name, read_act(act)))["undo"])
        assert [item["undo"] for item in desk.acts(name)] == later[::-1]
        with pytest.raises(NotFound):
            await desk.undo(name, first["undo"])

    told(story())


def test_writes_are_done_one_at_a_time(desk: Desk, filled: Project) -> None:
    """Twenty who mark the same node at once: one of them changes it, nobody sees half of it."""

    async def story() -> None:
        name = desk.current()
        done = await asyncio.gather(*(desk.act(name, read_act(STALE)) for _ in range(20)))
        assert sorted(bool(item["undo"]) for item in done) == [False] * 19 + [True]

    told(story())
    assert check(filled).errors == []


def test_who_only_reads_writes_nothing(filled: Project, world: World) -> None:
    desk = Desk(world, filled.root, may_write=False)
    try:
        with pytest.raises(UsageError):
            told(desk.act(desk.current(), read_act(STALE)))
        with pytest.raises(UsageError):
            told(desk.undo(desk.current(), "x"))
    finally:
        desk.close()


def test_an_undo_of_another_project_is_none(desk: Desk) -> None:
    async def story() -> None:
        done = await desk.act(desk.current(), read_act(STALE))
        with pytest.raises(NotFound):
            await desk.undo("another", done["undo"])
        assert (await desk.undo(desk.current(), done["undo"]))["action"] == "undo"

    told(story())


def test_where_there_is_no_project(world: World, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    desk = Desk(msgspec.structs.replace(world, cwd=str(tmp_path / "bare")), str(tmp_path / "bare"), may_write=False)
    try:
        assert desk.current() == ""
        assert not [item for item in desk.projects() if item["current"]]
        with pytest.raises(NotFound):
            desk.project(HERE)
    finally:
        desk.close()


def test_a_project_whose_folder_went_says_so(desk: Desk, repo: Path) -> None:
    name = desk.current()
    repo.rename(repo.parent / "elsewhere")
    [entry] = desk.projects()
    assert (entry["id"], entry["available"], entry["problem"]) == (name, False, "The folder is gone.")
    with pytest.raises(NotFound):
        told(desk.ask(name, "today", {}))
