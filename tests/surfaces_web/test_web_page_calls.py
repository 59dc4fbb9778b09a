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
from quire.surfaces.web import page_calls as module
from quire.surfaces.web.page_calls import HERE, PageCalls
from quire.verbs.admin.check import check_files
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from quire.verbs.page.actions import read_action
from quire.verbs.page.page_view import PageView
from quire.verbs.page.table import VIEWS

STALE = b'{"action": "stale", "ref": "gotcha.clock-drift", "reason": "fixed"}'


@pytest.fixture
def filled(project: Project, repo: Path, git: Git) -> Project:
    save_nodes(project, {"task": "first", "nodes": [{"kind": "gotcha", "title": "Clock drift", "body": "It is late."}]})
    git.commit("memory")
    return project


@pytest.fixture
def page_calls(filled: Project, world: World) -> Iterator[PageCalls]:
    found = PageCalls(world, filled.root, may_write=True)
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

    counted = {path: PageView(view.takes, counting(path, view.run)) for path, view in VIEWS.items()}
    monkeypatch.setattr(module, "VIEWS", counted)
    return seen


def test_an_answer_is_kept_while_nothing_changes(page_calls: PageCalls, filled: Project, worked: list[str]) -> None:
    async def story() -> None:
        name = page_calls.current()
        first = await page_calls.ask(name, "map", {})
        assert await page_calls.ask(name, "map", {}) is first
        assert worked == ["map"]
        store(filled, Store(section="Specs", content="Tickets expire."))
        await page_calls.work(lambda: page_calls.version(name, at_once=True))
        second = await page_calls.ask(name, "map", {})
        assert second.version != first.version
        assert worked == ["map", "map"]

    told(story())


def test_many_who_ask_at_once_are_answered_by_one_piece_of_work(page_calls: PageCalls, worked: list[str]) -> None:
    async def story() -> None:
        name = page_calls.current()
        found = await asyncio.gather(*(page_calls.ask(name, "graph", {}) for _ in range(50)))
        assert len({id(item) for item in found}) == 1
        assert worked == ["graph"]
        other = await asyncio.gather(*(page_calls.ask(name, "records", {"limit": str(1 + n % 2)}) for n in range(20)))
        assert len({item.data for item in other}) <= 2
        assert worked.count("records") == 2

    told(story())


def test_one_who_goes_away_takes_nothing_from_the_others(page_calls: PageCalls) -> None:
    async def story() -> None:
        name = page_calls.current()
        asking = [asyncio.ensure_future(page_calls.ask(name, "timeline", {})) for _ in range(3)]
        await asyncio.sleep(0)
        asking[0].cancel()
        found = await asyncio.gather(*asking, return_exceptions=True)
        assert isinstance(found[0], asyncio.CancelledError)
        assert found[1] == found[2]
        assert json.loads(found[1].data)["data"]["lanes"] is not None

    told(story())


def test_an_error_is_not_kept(page_calls: PageCalls, filled: Project) -> None:
    async def story() -> None:
        name = page_calls.current()
        for _ in range(2):
            with pytest.raises(NotFound):
                await page_calls.ask(name, "record", {"ref": "gotcha.later"})
        save_nodes(filled, {"task": "x", "nodes": [{"kind": "gotcha", "title": "Later", "body": "b"}]})
        await page_calls.work(lambda: page_calls.version(name, at_once=True))
        assert b"gotcha.later" in (await page_calls.ask(name, "record", {"ref": "gotcha.later"})).data

    told(story())


@pytest.mark.parametrize("path", ["no-such", "../today", "health", "record/x", "today/", "__class__"])
def test_what_nobody_answers(page_calls: PageCalls, path: str) -> None:
    with pytest.raises(NotFound):
        told(page_calls.ask(page_calls.current(), path, {}))


@pytest.mark.parametrize("name", ["", "..", "/", "/etc", "no-such", HERE, "a/b", "\0", "x" * 10_000])
def test_only_projects_of_the_list(page_calls: PageCalls, filled: Project, name: str) -> None:
    assert page_calls.current() not in ("", HERE), "the list knows it"
    assert page_calls.project(page_calls.current()).root == filled.root
    with pytest.raises(NotFound):
        page_calls.project(name)


def test_answers_that_are_kept_have_a_bound(page_calls: PageCalls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT_ANSWERS", 3)

    async def story() -> None:
        for number in range(1, 10):
            await page_calls.ask(page_calls.current(), "records", {"limit": str(number)})
        assert len(page_calls._kept) == 3
        assert any("limit=9" in key for key in page_calls._kept)

    told(story())


def test_actions_that_can_be_undone_have_a_bound(page_calls: PageCalls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT_ACTS", 2)

    async def story() -> None:
        name = page_calls.current()
        first = await page_calls.act(name, read_action(STALE))
        later = []
        for title in (b"One", b"Two"):
            act = b'{"action": "supersede", "ref": "gotcha.clock-drift", "title": "%b", "body": "b"}' % title
            later.append((await page_calls.act(name, read_action(act)))["undo"])
        assert [item["undo"] for item in page_calls.acts(name)] == later[::-1]
        with pytest.raises(NotFound):
            await page_calls.undo(name, first["undo"])

    told(story())


def test_writes_are_done_one_at_a_time(page_calls: PageCalls, filled: Project) -> None:
    """Twenty who mark the same node at once: one of them changes it, nobody sees half of it."""

    async def story() -> None:
        name = page_calls.current()
        done = await asyncio.gather(*(page_calls.act(name, read_action(STALE)) for _ in range(20)))
        assert sorted(bool(item["undo"]) for item in done) == [False] * 19 + [True]

    told(story())
    assert check_files(filled).errors == []


def test_who_only_reads_writes_nothing(filled: Project, world: World) -> None:
    page_calls = PageCalls(world, filled.root, may_write=False)
    try:
        with pytest.raises(UsageError):
            told(page_calls.act(page_calls.current(), read_action(STALE)))
        with pytest.raises(UsageError):
            told(page_calls.undo(page_calls.current(), "x"))
    finally:
        page_calls.close()


def test_an_undo_of_another_project_is_none(page_calls: PageCalls) -> None:
    async def story() -> None:
        done = await page_calls.act(page_calls.current(), read_action(STALE))
        with pytest.raises(NotFound):
            await page_calls.undo("another", done["undo"])
        assert (await page_calls.undo(page_calls.current(), done["undo"]))["action"] == "undo"

    told(story())


def test_where_there_is_no_project(world: World, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    page_calls = PageCalls(
        msgspec.structs.replace(world, cwd=str(tmp_path / "bare")), str(tmp_path / "bare"), may_write=False
    )
    try:
        assert page_calls.current() == ""
        assert not [item for item in page_calls.projects() if item["current"]]
        with pytest.raises(NotFound):
            page_calls.project(HERE)
    finally:
        page_calls.close()


def test_a_project_whose_folder_went_says_so(page_calls: PageCalls, repo: Path) -> None:
    name = page_calls.current()
    repo.rename(repo.parent / "elsewhere")
    [entry] = page_calls.projects()
    assert (entry["id"], entry["available"], entry["problem"]) == (name, False, "The folder is gone.")
    with pytest.raises(NotFound):
        told(page_calls.ask(name, "today", {}))
