"""Working memory in a project: 25 slots, pins that follow their facts, what was read of late beside them."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from clocks import Clock

from quire.files.world import World
from quire.model.errors import InputError
from quire.project import Project
from quire.verbs.facts.changes import (
    memory_archive,
    memory_normalize,
    memory_query,
    memory_restore,
    memory_store,
    memory_supersede,
)
from quire.verbs.facts.recall import memory_recall, memory_search_archive
from quire.verbs.facts.working_memory import memory_context, memory_focus, memory_release, memory_working

SLOTS = 25


def store(project: Project, content: str, **fields: Any) -> str:
    return memory_store(project, "Architecture", content, **fields).fact.id


def many(project: Project, count: int) -> list[str]:
    """So many facts, written as lines: nobody here asks how they came."""
    made = {"_type": "fact", "section": "Architecture", "status": "active", "created_at": "2026-03-01T00:00:00.000Z"}
    facts = [{**made, "id": f"f{number:03}", "content": f"Module m{number} is small."} for number in range(count)]
    Path(project.root, ".memory/facts.jsonl").write_text("".join(json.dumps(fact) + "\n" for fact in facts))
    return [f"f{number:03}" for number in range(count)]


def pins(project: Project, session: str = "") -> list[str]:
    return [view.id for view in memory_working(project, session=session).pins]


def recent(project: Project, session: str = "") -> list[str]:
    return [view.id for view in memory_working(project, session=session).recent]


def data(root: Path) -> bytes:
    return (root / ".memory/facts.jsonl").read_bytes()


# -- slots ----------------------------------------------------------------------------------------


def test_there_are_so_many_slots(project: Project) -> None:
    ids = many(project, 30)
    done = memory_focus(project, ids)
    assert (done.slots, done.used) == (SLOTS, SLOTS)
    assert [done.outcomes[name] for name in ids] == ["pinned"] * 25 + ["no slot"] * 5
    assert pins(project) == ids[:SLOTS]
    # No pin gives way to another; a slot that is free is used.
    assert memory_focus(project, [ids[29]]).outcomes == {ids[29]: "no slot"}
    memory_release(project, [ids[3]])
    assert memory_focus(project, [ids[29], ids[28]]).outcomes == {ids[29]: "pinned", ids[28]: "no slot"}
    assert pins(project) == [*ids[:3], *ids[4:25], ids[29]]


def test_a_pin_that_is_pinned_again_is_the_newest(project: Project) -> None:
    ids = many(project, 3)
    memory_focus(project, ids)
    done = memory_focus(project, ids[0])
    assert done.outcomes == {ids[0]: "already pinned"}
    assert pins(project) == [ids[1], ids[2], ids[0]]


def test_each_name_is_answered_for(project: Project) -> None:
    live, old, gone = (store(project, text) for text in ("Live.", "Old.", "Gone."))
    new = memory_supersede(project, old, "New.").new.id
    memory_archive(project, [gone])
    done = memory_focus(project, [f"fact:{live}", new[:6], old, gone, "nobody"])
    assert done.outcomes == {
        f"fact:{live}": "pinned",
        new[:6]: "pinned",
        old: "not pinned: it is superseded",
        gone: "not pinned: it is archived",
        "nobody": "not found",
    }
    assert pins(project) == [live, new]
    for nothing in ([], "", ["  "]):
        with pytest.raises(InputError):
            memory_focus(project, nothing)


def test_pins_belong_to_this_machine(project: Project, repo: Path, git: Any) -> None:
    name = store(project, "Live.")
    git.commit("before")
    before = data(repo)
    memory_focus(project, [name])
    memory_recall(project, "live")
    memory_release(project)
    assert data(repo) == before
    assert git("status", "--porcelain") == ""


# -- pins follow their facts ----------------------------------------------------------------------


def test_a_pin_follows_a_chain_of_replacements(project: Project, repo: Path) -> None:
    first, other = store(project, "First."), store(project, "Beside it.")
    memory_focus(project, [first, other])
    newest = first
    for text in ("Second.", "Third.", "Fourth."):
        newest = memory_supersede(project, newest, text).new.id
    assert pins(project) == [newest, other]
    shutil.rmtree(repo / ".memory/index")
    assert pins(project) == [newest, other]
    assert memory_working(project).missing == []


def test_a_pin_whose_replacement_is_pinned_too_is_one_pin(project: Project) -> None:
    old, kept = store(project, "Old."), store(project, "Kept.")
    memory_focus(project, [old, kept])
    memory_supersede(project, old, "Kept.")
    done = memory_working(project)
    assert ([view.id for view in done.pins], done.used, done.missing) == ([kept], 1, [])


def test_pins_follow_a_fact_that_two_branches_stored(project: Project, repo: Path, git: Any, clock: Clock) -> None:
    store(project, "Held before the branches part.")
    git.commit("base")
    git("checkout", "--quiet", "-b", "laptop")
    theirs = store(project, "Said on both sides.")
    memory_focus(project, [theirs])
    git.commit("laptop")
    git("checkout", "--quiet", "main")
    clock.now += timedelta(hours=1)
    ours = store(project, "Said on both sides.")
    # The other branch's fact is not here now; its pin waits.
    assert (memory_working(project).missing, pins(project)) == ([theirs], [])
    git.commit("main")
    git("merge", "--quiet", "--message", "both", "laptop")
    assert ours != theirs
    (seen,) = memory_working(project).pins
    assert (seen.id in (ours, theirs), seen.content) == (True, "Said on both sides.")
    # Either name means the one fact.
    done = memory_focus(project, [ours, theirs])
    assert (set(done.outcomes.values()), done.used) == ({"already pinned"}, 1)
    assert len(memory_context(project, "ok").pins) == 1
    memory_normalize(project, dry_run=False)
    assert pins(project) == [seen.id]
    new = memory_supersede(project, theirs, "Said anew.").new.id
    assert pins(project) == [new]


def test_two_names_of_one_fact_take_one_slot(project: Project, repo: Path) -> None:
    """Each was pinned while the other was not known: on two branches, before they were merged."""
    (name,) = many(project, 1)
    twin = {**json.loads(data(repo)), "id": "twin", "created_at": "2026-03-01T09:00:00.000Z"}
    with (repo / ".memory/facts.jsonl").open("a") as stream:
        stream.write(json.dumps(twin) + "\n")
    held = [{"id": "twin", "at": "2026-03-01T10:00:00.000Z"}, {"id": name, "at": "2026-03-01T11:00:00.000Z"}]
    file = repo / ".memory/local/working.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"version": 1, "sessions": {"": {"pins": held, "released_at": ""}}}))
    done = memory_working(project)
    assert (len(done.pins), done.used, done.missing) == (1, 1, [])
    assert len(memory_context(project, "ok").pins) == 1


def test_a_pin_whose_fact_is_put_away_rests_until_it_comes_back(project: Project) -> None:
    first, second = store(project, "First."), store(project, "Second.")
    memory_focus(project, [first, second])
    memory_archive(project, [first])
    done = memory_working(project)
    assert ([view.id for view in done.pins], done.missing, done.used) == ([second], [first], 1)
    assert memory_context(project, "ok").pins == (f"fact:{second}",)
    memory_restore(project, [first])
    assert (pins(project), memory_working(project).missing) == ([first, second], [])


def test_a_pin_that_rests_is_not_pushed_out_by_another(project: Project) -> None:
    """A pin is only ever released: whether it comes back must not depend on what was pinned meanwhile."""
    first, second, third = (store(project, text) for text in ("First.", "Second.", "Third."))
    memory_focus(project, [first, second])
    memory_archive(project, [first])
    memory_focus(project, [third])
    memory_release(project, [second])
    memory_restore(project, [first])
    assert sorted(pins(project)) == sorted([first, third])


def test_a_pin_of_another_branch_survives_a_focus_on_this_one(project: Project, git: Any) -> None:
    here = store(project, "Known everywhere.")
    git.commit("base")
    git("checkout", "--quiet", "-b", "laptop")
    there = store(project, "Known on the laptop's branch alone.")
    memory_focus(project, [there])
    git.commit("laptop")
    git("checkout", "--quiet", "main")
    memory_focus(project, [here])
    git("checkout", "--quiet", "laptop")
    assert sorted(pins(project)) == sorted([here, there])


# -- letting go -----------------------------------------------------------------------------------


def test_release_by_name_and_all(project: Project) -> None:
    ids = many(project, 4)
    memory_focus(project, ids)
    done = memory_release(project, [ids[1], f"fact:{ids[2]}", "nobody"])
    assert list(done.outcomes.values()) == ["released", "released", "not pinned"]
    assert (pins(project), done.used) == ([ids[0], ids[3]], 2)
    done = memory_release(project)
    assert (done.outcomes, done.used) == ({ids[0]: "released", ids[3]: "released"}, 0)
    assert memory_release(project).outcomes == {}
    for nothing in ("", "  "):
        with pytest.raises(InputError):
            memory_release(project, nothing)
    with pytest.raises(InputError):
        memory_release(project, [])


def test_release_takes_the_names_that_focus_takes(project: Project) -> None:
    name = store(project, "Live.")
    memory_focus(project, [name[:6]])
    assert list(memory_release(project, [name[:6]]).outcomes.values()) == ["released"]
    assert pins(project) == []


def test_release_by_the_name_under_which_it_was_pinned(project: Project) -> None:
    name = store(project, "Old.")
    memory_focus(project, [name])
    memory_supersede(project, name, "New.")
    assert list(memory_release(project, [name]).outcomes.values()) == ["released"]
    assert pins(project) == []


def test_a_pin_that_is_missing_can_be_released(project: Project) -> None:
    name = store(project, "Live.")
    memory_focus(project, [name])
    memory_archive(project, [name])
    assert list(memory_release(project, [name]).outcomes.values()) == ["released"]
    memory_restore(project, [name])
    assert pins(project) == []


def test_the_fact_itself_stays(project: Project) -> None:
    name = store(project, "Live.")
    memory_focus(project, [name])
    memory_release(project)
    assert [view.id for view in memory_query(project).results] == [name]


# -- sessions -------------------------------------------------------------------------------------


def test_sessions_do_not_see_each_other(project: Project) -> None:
    ids = many(project, 30)
    memory_focus(project, ids[:2])
    memory_focus(project, ids[2:4], session="s-1")
    memory_focus(project, ids[4:], session="s-2")
    assert (pins(project), pins(project, "s-1")) == (ids[:2], ids[2:4])
    assert pins(project, "s-2") == ids[4:29]
    memory_release(project, session="s-1")
    assert (pins(project), pins(project, "s-1"), len(pins(project, "s-2"))) == (ids[:2], [], SLOTS)
    assert memory_release(project, [ids[0]], session="s-2").outcomes == {ids[0]: "not pinned"}
    assert pins(project) == ids[:2]
    assert pins(project, "never seen") == []


@pytest.mark.parametrize("session", ["x" * 161, "two\nlines", "red \x1b[31m"])
def test_a_name_that_is_none(project: Project, session: str) -> None:
    name = store(project, "Live.")
    for work in (
        lambda: memory_focus(project, [name], session=session),
        lambda: memory_release(project, session=session),
        lambda: memory_working(project, session=session),
        lambda: memory_context(project, "ok", session=session),
    ):
        with pytest.raises(InputError) as raised:
            work()
        assert raised.value.details["field"] == "session"


# -- what was read of late ------------------------------------------------------------------------


def test_what_was_read_fills_the_slots_that_are_left(project: Project, clock: Clock) -> None:
    ids = many(project, 40)
    memory_focus(project, ids[:20])
    for number in range(20, 30):
        clock.now += timedelta(minutes=1)
        memory_recall(project, f"module m{number}", k=1)
    # The newest first, and no more of them than there is room beside the pins.
    assert recent(project) == [ids[number] for number in (29, 28, 27, 26, 25)]
    assert pins(project) == ids[:20]


def test_what_was_read_never_pushes_out_a_pin(project: Project, clock: Clock) -> None:
    ids = many(project, 60)
    memory_focus(project, ids[:SLOTS])
    clock.now += timedelta(minutes=1)
    for number in (30, 40, 50):
        memory_recall(project, f"module m{number}", k=50)
    assert (pins(project), recent(project)) == (ids[:SLOTS], [])
    # And what is read is not in the way of what somebody wants to pin.
    memory_release(project, ids[:5])
    assert len(recent(project)) == 5
    done = memory_focus(project, ids[50:55])
    assert (set(done.outcomes.values()), done.recent) == ({"pinned"}, [])
    assert pins(project) == [*ids[5:SLOTS], *ids[50:55]]


def test_what_was_read_is_not_told_as_if_it_were_pinned(project: Project) -> None:
    many(project, 5)
    memory_recall(project, "module m3", k=1)
    assert recent(project) == ["f003"]
    assert memory_context(project, "ok").markdown == ""


def test_letting_go_of_all_forgets_what_was_read(project: Project, clock: Clock) -> None:
    many(project, 5)
    memory_recall(project, "module m3", k=1)
    clock.now += timedelta(minutes=1)
    memory_release(project)
    assert recent(project) == []
    clock.now += timedelta(minutes=1)
    memory_recall(project, "module m2", k=1)
    assert recent(project) == ["f002"]


def test_only_what_holds_is_among_what_was_read(project: Project, clock: Clock) -> None:
    live, gone, old = (store(project, f"Module {name} is small.") for name in ("one", "two", "three"))
    memory_recall(project, "small module", k=10)
    assert sorted(recent(project)) == sorted([live, gone, old])
    memory_archive(project, [gone])
    memory_supersede(project, old, "Module three is large.")
    assert recent(project) == [live]


def test_looking_through_the_archive_is_no_reading(project: Project) -> None:
    name = store(project, "Module one is small.")
    memory_archive(project, [name])
    memory_search_archive(project, "small module")
    memory_restore(project, [name])
    assert recent(project) == []


# -- the index, the file --------------------------------------------------------------------------


def test_without_the_index_nothing_changes(project: Project, repo: Path, world: World) -> None:
    ids = many(project, 8)
    memory_focus(project, ids[:5])
    memory_focus(project, ids[5:7], session="s-1")
    memory_supersede(project, ids[0], "Module m0 is large.")
    memory_archive(project, [ids[1]])
    memory_recall(project, "module m7", k=1)
    before = [memory_working(project), memory_working(project, session="s-1")]
    shutil.rmtree(repo / ".memory/index")
    again = Project.open(str(repo), world)
    assert [memory_working(again), memory_working(again, session="s-1")] == before


@pytest.mark.parametrize("damage", [b"{half", b"[]", b"", b'{"version": 1, "sessions": 7}', b"\xff\xfe"])
def test_a_damaged_file_is_reported_and_kept(project: Project, repo: Path, damage: bytes) -> None:
    name = store(project, "Live.")
    file = repo / ".memory/local/working.json"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(damage)
    done = memory_working(project)
    assert (done.pins, [problem.code for problem in done.warnings]) == ([], ["LocalStateDamaged"])
    assert memory_focus(project, [name]).outcomes == {name: "pinned"}
    assert pins(project) == [name]
    assert (file.parent / "working.json.damaged").read_bytes() == damage


def test_working_memory_of_a_store_without_facts(project: Project, repo: Path) -> None:
    done = memory_working(project)
    assert (done.pins, done.recent, done.used, done.slots, done.missing) == ([], [], 0, SLOTS, [])
    assert memory_focus(project, ["nobody"]).outcomes == {"nobody": "not found"}
    assert memory_release(project).outcomes == {}
    assert not (repo / ".memory/facts.jsonl").exists()
