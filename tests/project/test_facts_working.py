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
from quire.verbs.facts.archive import Archive, Restore, archive, restore
from quire.verbs.facts.context import ShowContext, context
from quire.verbs.facts.focus import Focus, Release, focus, release
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.facts.normalize import Normalize, normalize
from quire.verbs.facts.recall import Recall, find_facts
from quire.verbs.facts.search_archive import SearchArchive, search_archive
from quire.verbs.facts.store import Store
from quire.verbs.facts.store import store as store_fact
from quire.verbs.facts.supersede import Supersede, supersede

SLOTS = 25


def store(project: Project, content: str, **fields: Any) -> str:
    return store_fact(project, Store(section="Architecture", content=content, **fields)).fact.id


def many(project: Project, count: int) -> list[str]:
    """So many facts, written as lines: nobody here asks how they came."""
    made = {"_type": "fact", "section": "Architecture", "status": "active", "created_at": "2026-03-01T00:00:00.000Z"}
    facts = [{**made, "id": f"f{number:03}", "content": f"Module m{number} is small."} for number in range(count)]
    Path(project.root, ".memory/facts.jsonl").write_text("".join(json.dumps(fact) + "\n" for fact in facts))
    return [f"f{number:03}" for number in range(count)]


def pins(project: Project, session: str = "") -> list[str]:
    return [view.id for view in focus(project, Focus(session=session)).pins]


def recent(project: Project, session: str = "") -> list[str]:
    return [view.id for view in focus(project, Focus(session=session)).recent]


def data(root: Path) -> bytes:
    return (root / ".memory/facts.jsonl").read_bytes()


# -- slots ----------------------------------------------------------------------------------------


def test_there_are_so_many_slots(project: Project) -> None:
    ids = many(project, 30)
    done = focus(project, Focus(fact_ids=ids))
    assert (done.slots, done.used) == (SLOTS, SLOTS)
    assert [done.outcomes[name] for name in ids] == ["pinned"] * 25 + ["no slot"] * 5
    assert pins(project) == ids[:SLOTS]
    # No pin gives way to another; a slot that is free is used.
    assert focus(project, Focus(fact_ids=[ids[29]])).outcomes == {ids[29]: "no slot"}
    release(project, Release(fact_ids=[ids[3]]))
    assert focus(project, Focus(fact_ids=[ids[29], ids[28]])).outcomes == {ids[29]: "pinned", ids[28]: "no slot"}
    assert pins(project) == [*ids[:3], *ids[4:25], ids[29]]


def test_a_pin_that_is_pinned_again_is_the_newest(project: Project) -> None:
    ids = many(project, 3)
    focus(project, Focus(fact_ids=ids))
    done = focus(project, Focus(fact_ids=ids[0]))
    assert done.outcomes == {ids[0]: "already pinned"}
    assert pins(project) == [ids[1], ids[2], ids[0]]


def test_each_name_is_answered_for(project: Project) -> None:
    live, old, gone = (store(project, text) for text in ("Live.", "Old.", "Gone."))
    new = supersede(project, Supersede(fact_id=old, content="New.")).new.id
    archive(project, Archive(fact_ids=[gone]))
    done = focus(project, Focus(fact_ids=[f"fact:{live}", new[:6], old, gone, "nobody"]))
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
            focus(project, Focus(fact_ids=nothing))


def test_pins_belong_to_this_machine(project: Project, repo: Path, git: Any) -> None:
    name = store(project, "Live.")
    git.commit("before")
    before = data(repo)
    focus(project, Focus(fact_ids=[name]))
    find_facts(project, Recall(query="live"))
    release(project, Release())
    assert data(repo) == before
    assert git("status", "--porcelain") == ""


# -- pins follow their facts ----------------------------------------------------------------------


def test_a_pin_follows_a_chain_of_replacements(project: Project, repo: Path) -> None:
    first, other = store(project, "First."), store(project, "Beside it.")
    focus(project, Focus(fact_ids=[first, other]))
    newest = first
    for text in ("Second.", "Third.", "Fourth."):
        newest = supersede(project, Supersede(fact_id=newest, content=text)).new.id
    assert pins(project) == [newest, other]
    shutil.rmtree(repo / ".memory/index")
    assert pins(project) == [newest, other]
    assert focus(project, Focus()).missing == []


def test_a_pin_whose_replacement_is_pinned_too_is_one_pin(project: Project) -> None:
    old, kept = store(project, "Old."), store(project, "Kept.")
    focus(project, Focus(fact_ids=[old, kept]))
    supersede(project, Supersede(fact_id=old, content="Kept."))
    done = focus(project, Focus())
    assert ([view.id for view in done.pins], done.used, done.missing) == ([kept], 1, [])


def test_pins_follow_a_fact_that_two_branches_stored(project: Project, repo: Path, git: Any, clock: Clock) -> None:
    store(project, "Held before the branches part.")
    git.commit("base")
    git("checkout", "--quiet", "-b", "laptop")
    theirs = store(project, "Said on both sides.")
    focus(project, Focus(fact_ids=[theirs]))
    git.commit("laptop")
    git("checkout", "--quiet", "main")
    clock.now += timedelta(hours=1)
    ours = store(project, "Said on both sides.")
    # The other branch's fact is not here now; its pin waits.
    assert (focus(project, Focus()).missing, pins(project)) == ([theirs], [])
    git.commit("main")
    git("merge", "--quiet", "--message", "both", "laptop")
    assert ours != theirs
    (seen,) = focus(project, Focus()).pins
    assert (seen.id in (ours, theirs), seen.content) == (True, "Said on both sides.")
    # Either name means the one fact.
    done = focus(project, Focus(fact_ids=[ours, theirs]))
    assert (set(done.outcomes.values()), done.used) == ({"already pinned"}, 1)
    assert len(context(project, ShowContext(prompt="ok")).pins) == 1
    normalize(project, Normalize(write=not False))
    assert pins(project) == [seen.id]
    new = supersede(project, Supersede(fact_id=theirs, content="Said anew.")).new.id
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
    done = focus(project, Focus())
    assert (len(done.pins), done.used, done.missing) == (1, 1, [])
    assert len(context(project, ShowContext(prompt="ok")).pins) == 1


def test_a_pin_whose_fact_is_put_away_rests_until_it_comes_back(project: Project) -> None:
    first, second = store(project, "First."), store(project, "Second.")
    focus(project, Focus(fact_ids=[first, second]))
    archive(project, Archive(fact_ids=[first]))
    done = focus(project, Focus())
    assert ([view.id for view in done.pins], done.missing, done.used) == ([second], [first], 1)
    assert context(project, ShowContext(prompt="ok")).pins == (f"fact:{second}",)
    restore(project, Restore(fact_ids=[first]))
    assert (pins(project), focus(project, Focus()).missing) == ([first, second], [])


def test_a_pin_that_rests_is_not_pushed_out_by_another(project: Project) -> None:
    """A pin is only ever released: whether it comes back must not depend on what was pinned meanwhile."""
    first, second, third = (store(project, text) for text in ("First.", "Second.", "Third."))
    focus(project, Focus(fact_ids=[first, second]))
    archive(project, Archive(fact_ids=[first]))
    focus(project, Focus(fact_ids=[third]))
    release(project, Release(fact_ids=[second]))
    restore(project, Restore(fact_ids=[first]))
    assert sorted(pins(project)) == sorted([first, third])


def test_a_pin_of_another_branch_survives_a_focus_on_this_one(project: Project, git: Any) -> None:
    here = store(project, "Known everywhere.")
    git.commit("base")
    git("checkout", "--quiet", "-b", "laptop")
    there = store(project, "Known on the laptop's branch alone.")
    focus(project, Focus(fact_ids=[there]))
    git.commit("laptop")
    git("checkout", "--quiet", "main")
    focus(project, Focus(fact_ids=[here]))
    git("checkout", "--quiet", "laptop")
    assert sorted(pins(project)) == sorted([here, there])


# -- letting go -----------------------------------------------------------------------------------


def test_release_by_name_and_all(project: Project) -> None:
    ids = many(project, 4)
    focus(project, Focus(fact_ids=ids))
    done = release(project, Release(fact_ids=[ids[1], f"fact:{ids[2]}", "nobody"]))
    assert list(done.outcomes.values()) == ["released", "released", "not pinned"]
    assert (pins(project), done.used) == ([ids[0], ids[3]], 2)
    done = release(project, Release())
    assert (done.outcomes, done.used) == ({ids[0]: "released", ids[3]: "released"}, 0)
    assert release(project, Release()).outcomes == {}
    for nothing in ("", "  "):
        with pytest.raises(InputError):
            release(project, Release(fact_ids=nothing))
    with pytest.raises(InputError):
        release(project, Release(fact_ids=[]))


def test_release_takes_the_names_that_focus_takes(project: Project) -> None:
    name = store(project, "Live.")
    focus(project, Focus(fact_ids=[name[:6]]))
    assert list(release(project, Release(fact_ids=[name[:6]])).outcomes.values()) == ["released"]
    assert pins(project) == []


def test_release_by_the_name_under_which_it_was_pinned(project: Project) -> None:
    name = store(project, "Old.")
    focus(project, Focus(fact_ids=[name]))
    supersede(project, Supersede(fact_id=name, content="New."))
    assert list(release(project, Release(fact_ids=[name])).outcomes.values()) == ["released"]
    assert pins(project) == []


def test_a_pin_that_is_missing_can_be_released(project: Project) -> None:
    name = store(project, "Live.")
    focus(project, Focus(fact_ids=[name]))
    archive(project, Archive(fact_ids=[name]))
    assert list(release(project, Release(fact_ids=[name])).outcomes.values()) == ["released"]
    restore(project, Restore(fact_ids=[name]))
    assert pins(project) == []


def test_the_fact_itself_stays(project: Project) -> None:
    name = store(project, "Live.")
    focus(project, Focus(fact_ids=[name]))
    release(project, Release())
    assert [view.id for view in list_facts(project, ListFacts()).results] == [name]


# -- sessions -------------------------------------------------------------------------------------


def test_sessions_do_not_see_each_other(project: Project) -> None:
    ids = many(project, 30)
    focus(project, Focus(fact_ids=ids[:2]))
    focus(project, Focus(fact_ids=ids[2:4], session="s-1"))
    focus(project, Focus(fact_ids=ids[4:], session="s-2"))
    assert (pins(project), pins(project, "s-1")) == (ids[:2], ids[2:4])
    assert pins(project, "s-2") == ids[4:29]
    release(project, Release(session="s-1"))
    assert (pins(project), pins(project, "s-1"), len(pins(project, "s-2"))) == (ids[:2], [], SLOTS)
    assert release(project, Release(fact_ids=[ids[0]], session="s-2")).outcomes == {ids[0]: "not pinned"}
    assert pins(project) == ids[:2]
    assert pins(project, "never seen") == []


@pytest.mark.parametrize("session", ["x" * 161, "two\nlines", "red \x1b[31m"])
def test_a_name_that_is_none(project: Project, session: str) -> None:
    name = store(project, "Live.")
    for work in (
        lambda: focus(project, Focus(fact_ids=[name], session=session)),
        lambda: release(project, Release(session=session)),
        lambda: focus(project, Focus(session=session)),
        lambda: context(project, ShowContext(prompt="ok", session=session)),
    ):
        with pytest.raises(InputError) as raised:
            work()
        assert raised.value.details["field"] == "session"


# -- what was read of late ------------------------------------------------------------------------


def test_what_was_read_fills_the_slots_that_are_left(project: Project, clock: Clock) -> None:
    ids = many(project, 40)
    focus(project, Focus(fact_ids=ids[:20]))
    for number in range(20, 30):
        clock.now += timedelta(minutes=1)
        find_facts(project, Recall(query=f"module m{number}", k=1))
    # The newest first, and no more of them than there is room beside the pins.
    assert recent(project) == [ids[number] for number in (29, 28, 27, 26, 25)]
    assert pins(project) == ids[:20]


def test_what_was_read_never_pushes_out_a_pin(project: Project, clock: Clock) -> None:
    ids = many(project, 60)
    focus(project, Focus(fact_ids=ids[:SLOTS]))
    clock.now += timedelta(minutes=1)
    for number in (30, 40, 50):
        find_facts(project, Recall(query=f"module m{number}", k=50))
    assert (pins(project), recent(project)) == (ids[:SLOTS], [])
    # And what is read is not in the way of what somebody wants to pin.
    release(project, Release(fact_ids=ids[:5]))
    assert len(recent(project)) == 5
    done = focus(project, Focus(fact_ids=ids[50:55]))
    assert (set(done.outcomes.values()), done.recent) == ({"pinned"}, [])
    assert pins(project) == [*ids[5:SLOTS], *ids[50:55]]


def test_what_was_read_is_not_told_as_if_it_were_pinned(project: Project) -> None:
    many(project, 5)
    find_facts(project, Recall(query="module m3", k=1))
    assert recent(project) == ["f003"]
    assert context(project, ShowContext(prompt="ok")).markdown == ""


def test_letting_go_of_all_forgets_what_was_read(project: Project, clock: Clock) -> None:
    many(project, 5)
    find_facts(project, Recall(query="module m3", k=1))
    clock.now += timedelta(minutes=1)
    release(project, Release())
    assert recent(project) == []
    clock.now += timedelta(minutes=1)
    find_facts(project, Recall(query="module m2", k=1))
    assert recent(project) == ["f002"]


def test_only_what_holds_is_among_what_was_read(project: Project, clock: Clock) -> None:
    live, gone, old = (store(project, f"Module {name} is small.") for name in ("one", "two", "three"))
    find_facts(project, Recall(query="small module", k=10))
    assert sorted(recent(project)) == sorted([live, gone, old])
    archive(project, Archive(fact_ids=[gone]))
    supersede(project, Supersede(fact_id=old, content="Module three is large."))
    assert recent(project) == [live]


def test_looking_through_the_archive_is_no_reading(project: Project) -> None:
    name = store(project, "Module one is small.")
    archive(project, Archive(fact_ids=[name]))
    search_archive(project, SearchArchive(query="small module"))
    restore(project, Restore(fact_ids=[name]))
    assert recent(project) == []


# -- the index, the file --------------------------------------------------------------------------


def test_without_the_index_nothing_changes(project: Project, repo: Path, world: World) -> None:
    ids = many(project, 8)
    focus(project, Focus(fact_ids=ids[:5]))
    focus(project, Focus(fact_ids=ids[5:7], session="s-1"))
    supersede(project, Supersede(fact_id=ids[0], content="Module m0 is large."))
    archive(project, Archive(fact_ids=[ids[1]]))
    find_facts(project, Recall(query="module m7", k=1))
    before = [focus(project, Focus()), focus(project, Focus(session="s-1"))]
    shutil.rmtree(repo / ".memory/index")
    again = Project.open(str(repo), world)
    assert [focus(again, Focus()), focus(again, Focus(session="s-1"))] == before


@pytest.mark.parametrize("damage", [b"{half", b"[]", b"", b'{"version": 1, "sessions": 7}', b"\xff\xfe"])
def test_a_damaged_file_is_reported_and_kept(project: Project, repo: Path, damage: bytes) -> None:
    name = store(project, "Live.")
    file = repo / ".memory/local/working.json"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(damage)
    done = focus(project, Focus())
    assert (done.pins, [problem.code for problem in done.warnings]) == ([], ["LocalStateDamaged"])
    assert focus(project, Focus(fact_ids=[name])).outcomes == {name: "pinned"}
    assert pins(project) == [name]
    assert (file.parent / "working.json.damaged").read_bytes() == damage


def test_working_memory_of_a_store_without_facts(project: Project, repo: Path) -> None:
    done = focus(project, Focus())
    assert (done.pins, done.recent, done.used, done.slots, done.missing) == ([], [], 0, SLOTS, [])
    assert focus(project, Focus(fact_ids=["nobody"])).outcomes == {"nobody": "not found"}
    assert release(project, Release()).outcomes == {}
    assert not (repo / ".memory/facts.jsonl").exists()
