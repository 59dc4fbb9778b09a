"""Repairing a journal: what follows from the rest is set right in one go, nothing is lost, and once is enough."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from journaling import REAL, event, needs_real
from test_journal_checks import (
    CHK,
    CONFIG,
    DAMAGE,
    EVENTS,
    NOW,
    SOURCES,
    STATE,
    Store,
)

from quire.layers.journal import layout
from quire.layers.journal.canonical import content_hash, file_bytes
from quire.layers.journal.events import encode_event, read_history
from quire.layers.journal.numbered_ids import ordinal_of
from quire.layers.journal.pages import write_due_pages
from quire.layers.journal.repair import JournalRepair, plan_journal_repair
from quire.layers.journal.state_changes import counted_maintenance
from quire.layers.journal.store import Writing, commit, journal_access, open_journal
from thorough import examples


@pytest.fixture
def store(tmp_path: Path) -> Store:
    root = tmp_path / "harbor"
    root.mkdir()
    return Store.made(root)


def plan(store: Store) -> JournalRepair:
    return plan_journal_repair(str(store.root), NOW)


def repair(store: Store) -> JournalRepair:
    with journal_access(str(store.root), store.world, "repair"):
        repairing = plan(store)
        if repairing.journal is not None:
            commit(repairing.journal, repairing.writing, store.world)
        write_due_pages(str(store.root), store.world)
    return repairing


def _is_empty(repairing: JournalRepair) -> bool:
    return not repairing.said and repairing.writing == Writing()


def _line(number: int, **fields: Any) -> bytes:
    return encode_event(event(number, **fields)) + b"\n"


def _ids(store: Store) -> list[str]:
    return [held.id for held in read_history(store.read(EVENTS)).events]


def _kept(store: Store) -> list[bytes]:
    return [path.read_bytes() for path in sorted((store.folder / "local").glob("events-*.before*"))]


def test_a_sound_journal_needs_nothing(store: Store, tree: Callable[..., dict[str, bytes]]) -> None:
    before = tree(store.root, generated=True)
    repairing = plan(store)
    assert _is_empty(repairing)
    assert repairing.left == []
    assert tree(store.root, generated=True) == before


REPAIRED = {
    "bundle edited": [],
    "hash edited": [],
    "config missing": [],
    "line of garbage": [],
    "25 lines of garbage": [],
    "conflict": [],
    "id twice": [],
    "ids not rising": [],
    "id without a number": [],
    "events not counted": [],
    "events counted without end": [],
    "sources not counted": [],
    "checkpoints missing": [],
    "checkpoints empty": [],
    "checkpoint garbage": [("error", "checkpoints:read:chk-000001")],
    "checkpoint a folder": [("error", "checkpoints:read:chk-000001")],
    "checkpoint null": [("error", "checkpoints:schema:chk-000001")],
    "no latest": [],
    "page missing": [],
    "page without mark": [],
    "page of another version": [],
    "page of another id": [],
    "page edited": [],
    "page of bytes": [],
    "entry file missing": [],
    "entry block gone": [],
    "entry block old": [],
    "entry block edited": [],
    "entry block left behind": [],
}
"""What is repaired, and what is left to tell of it apart from warnings that a bundle was edited by hand."""


@pytest.mark.parametrize("name", REPAIRED)
def test_what_is_repaired_is_sound_afterwards_and_stays_so(store: Store, name: str) -> None:
    DAMAGE[name][0](store)
    repairing = repair(store)
    assert repairing.said
    left = [item for item in store.told() if item != ("warning", "checkpoints:bundle-drift")]
    assert left == REPAIRED[name]
    assert _is_empty(plan(store))


@pytest.mark.parametrize("name", [name for name in DAMAGE if name not in REPAIRED])
def test_for_what_cannot_be_repaired_nothing_is_planned(store: Store, name: str) -> None:
    DAMAGE[name][0](store)
    repairing = plan(store)
    assert _is_empty(repairing), repairing.said


def test_sources_that_are_lost_are_not_made_none(store: Store) -> None:
    store.remove(SOURCES)
    assert plan(store).left == [
        "`.agent-memory/sources.json` is missing, and the state knows of sources. "
        "`git restore` restores the committed version."
    ]


@pytest.mark.parametrize("name", [name for name in DAMAGE if name.startswith("state ")])
def test_a_state_that_cannot_be_read_is_for_restore(store: Store, name: str) -> None:
    DAMAGE[name][0](store)
    repairing = plan(store)
    assert repairing.journal is None
    assert repairing.writing == Writing()
    assert len(repairing.left) == 1
    assert repairing.left[0].endswith("`memory journal restore` restores the state from a checkpoint.")


# -- the log --------------------------------------------------------------------------------------------------------


def test_two_branches_merged_with_their_marks(store: Store) -> None:
    ours = _line(4, summary="Ours.") + _line(5, summary="Also ours.")
    theirs = _line(4, summary="Theirs.") + _line(5, summary="Also theirs.")
    store.add(b"<<<<<<< HEAD\n" + ours + b"||||||| base\n=======\n" + theirs + b">>>>>>> theirs\n")
    damaged = store.read(EVENTS)
    repairing = repair(store)
    events = read_history(store.read(EVENTS)).events
    assert [(held.id, held.summary) for held in events[3:]] == [
        ("evt-000004", "Ours."),
        ("evt-000005", "Also ours."),
        ("evt-000006", "Theirs."),
        ("evt-000007", "Also theirs."),
    ]
    assert _kept(store) == [damaged]
    assert repairing.said == [
        "4 merge conflict marks are removed from the log.",
        "2 events with a duplicate or invalid id are now `evt-000006`, `evt-000007`.",
        "The earlier log is kept as `.agent-memory/local/events-20260302T111900Z.jsonl.before`.",
        "The state counted 3 events; there are 7.",
    ]
    assert open_journal(str(store.root)).state.maintenance.history_event_count == 7
    assert store.told() == []


def test_new_ids_are_above_all_that_were_ever_given_out(store: Store) -> None:
    store.batch("prune-1", 40)
    store.batch("prune-2", listed=(50,))
    store.change(STATE, "maintenance", "recallCursors", "imports", "lastRecalledEventId", to="evt-000060")
    store.add(b'{"id": "evt-000070", "torn\n' + _line(3, summary="Another."))
    repair(store)
    assert _ids(store)[-1] == "evt-000071"


def test_ids_keep_their_events_when_they_are_put_in_order(store: Store) -> None:
    """An id is named in pages and by other events: an event that stands in the wrong place keeps it."""
    store.add(_line(9) + _line(5) + b"{}\n" + _line(7))
    lines = {held.event.id: held.raw for held in read_history(store.read(EVENTS)).lines if held.event}
    repairing = repair(store)
    assert [one.event.id if one.event else one.raw for one in read_history(store.read(EVENTS)).lines[3:]] == [
        "evt-000005",
        b"{}",
        "evt-000007",
        "evt-000009",
    ]
    assert {held.event.id: held.raw for held in read_history(store.read(EVENTS)).lines if held.event} == lines
    assert repairing.left == ["Lines of `.agent-memory/history/events.jsonl` that cannot be read, and are kept: `6`."]


def test_a_line_that_stands_there_twice_is_one_event(store: Store) -> None:
    before = store.read(EVENTS)
    store.add(before)
    repairing = repair(store)
    assert store.read(EVENTS) == before
    assert repairing.said[0] == "3 duplicate lines are removed from the log."
    assert _kept(store) == [before * 2]


def test_keys_that_nobody_knows_stay_in_a_line_that_gets_another_id(store: Store) -> None:
    value = {**json.loads(_line(3, summary="Another.")), "later": {"b": 1, "a": [None]}}
    store.add(json.dumps(value).encode() + b"\n")
    repair(store)
    last = json.loads(store.read(EVENTS).splitlines()[-1])
    assert last == {**value, "id": "evt-000004"}
    assert list(last) == list(value)


def test_a_second_repairing_in_the_same_second_keeps_its_own_copy(store: Store) -> None:
    copies = []
    for _ in range(2):
        store.add(b"=======\n")
        copies.append(store.read(EVENTS))
        repair(store)
    assert _kept(store) == copies


def test_where_the_numbers_are_used_up_nothing_is_renamed(store: Store) -> None:
    last = f"evt-{layout.ORDINAL_MOST}"
    store.add(_line(4, id=last) + _line(5, id=last, summary="Another."))
    store.count(events=5, sources=1)
    before = store.read(EVENTS)
    repairing = repair(store)
    assert repairing.said == []
    assert repairing.left == ["Events have the same id, and no numbers are left: change the ids by hand."]
    assert store.read(EVENTS) == before


@pytest.mark.parametrize("kind", ["missing", "pipe"])
def test_events_that_are_gone_stay_counted(store: Store, kind: str) -> None:
    """The count is all that tells that something is missing."""
    store.remove(EVENTS)
    if kind == "pipe":
        os.mkfifo(store.folder / EVENTS)
    repairing = repair(store)
    assert repairing.said == []
    assert len(repairing.left) == 1
    assert store.value(STATE)["maintenance"]["historyEventCount"] == 3


# -- lines that are no JSON -----------------------------------------------------------------------------------------


def test_lines_that_are_no_json_are_taken_out_and_the_log_as_it_was_is_kept(store: Store) -> None:
    """Halves of lines, bytes of something else; what is JSON and no event is somebody's, and stays where it stood."""
    sound = store.read(EVENTS)
    long = b'{"id": "evt-000005", "x": "' + b"x" * layout.LINE_BYTES + b"\n"
    store.add(_line(4)[:60] + b"\n" + b"null\n\xff\xfe\n" + b'{"id": "evt-000004"}\n[1, 2]\n' + long + b"<html>\n")
    damaged = store.read(EVENTS)
    repairing = repair(store)
    assert store.read(EVENTS) == sound + b'null\n{"id": "evt-000004"}\n[1, 2]\n' + long
    assert _kept(store) == [damaged]
    assert repairing.said == [
        "Lines that are not JSON, such as an incomplete one, are removed from the log: `4`, `6`, `10`.",
        "The earlier log is kept as `.agent-memory/local/events-20260302T111900Z.jsonl.before`.",
    ]
    assert repairing.left == [
        "Lines of `.agent-memory/history/events.jsonl` that cannot be read, and are kept: `5`, `7`, `8`, `9`."
    ]
    assert _is_empty(plan(store))


def test_a_last_line_that_is_cut_off_is_left_to_the_next_event(store: Store) -> None:
    """Somebody may be in the middle of it."""
    store.add(_line(4)[:60])
    before = store.read(EVENTS)
    assert _is_empty(repair(store))
    assert store.read(EVENTS) == before
    assert _kept(store) == []


def test_a_last_line_that_is_cut_off_goes_where_the_log_is_written_anew(store: Store) -> None:
    store.add(b"=======\n" + _line(4) + _line(5)[:60])
    store.count(events=4, sources=1)
    before = store.read(EVENTS)
    repairing = repair(store)
    assert _ids(store) == [f"evt-{number:06}" for number in range(1, 5)]
    assert store.read(EVENTS).endswith(_line(4))
    assert _kept(store) == [before]
    assert repairing.said[:2] == [
        "Lines that are not JSON, such as an incomplete one, are removed from the log: `6`.",
        "1 merge conflict marks are removed from the log.",
    ]
    assert store.told() == []


def test_a_last_event_without_an_end_is_whole(store: Store) -> None:
    store.add(b"=======\n" + _line(4).rstrip(b"\n"))
    store.count(events=4, sources=1)
    repair(store)
    assert store.read(EVENTS).endswith(_line(3) + _line(4))
    assert store.told() == []


# -- ids that others have -------------------------------------------------------------------------------------------


def test_an_id_that_another_event_in_the_archive_has_is_given_up(store: Store) -> None:
    store.batch("prune-1", 40)
    store.put("archive/prune-1/events.jsonl", _line(40) + _line(2, content_hash="another"))
    repairing = repair(store)
    assert _ids(store) == ["evt-000001", "evt-000003", "evt-000041"]
    assert repairing.said[0] == "1 events with a duplicate or invalid id are now `evt-000041`."
    assert _is_empty(plan(store))


def test_an_event_that_is_in_the_archive_too_keeps_its_id(store: Store) -> None:
    store.batch("prune-1", 2, 3)
    assert _is_empty(plan(store))


def _cursors(store: Store) -> list[str | None]:
    maintenance = store.value(STATE)["maintenance"]
    cursors = maintenance["recallCursors"]
    own = [cursors[name]["lastRecalledEventId"] for name in ("all", "local", "imports")]
    return [*own, maintenance["lastRecalledEventId"]]


def _set_cursors(store: Store, all_: int, local: int, imports: int) -> None:
    for name, number in {"all": all_, "local": local, "imports": imports}.items():
        to = f"evt-{number:06}"
        store.change(STATE, "maintenance", "recallCursors", name, "lastRecalledEventId", to=to)
    store.change(STATE, "maintenance", "lastRecalledEventId", to=f"evt-{all_:06}")


def test_after_ids_that_two_had_the_cursors_go_back_before_the_lowest(store: Store) -> None:
    """One of the two was perhaps recalled under that id, and nobody can tell which."""
    store.add(_line(4) + _line(5) + _line(6) + _line(5, summary="Theirs.") + _line(4, summary="Also theirs."))
    _set_cursors(store, 6, 3, 4)
    repairing = repair(store)
    assert _ids(store) == [f"evt-{number:06}" for number in range(1, 9)]
    assert _cursors(store) == ["evt-000003", "evt-000003", "evt-000003", "evt-000003"]
    assert repairing.said[-1] == "The next recall looks again at what was written since then."
    assert _is_empty(plan(store))


def test_cursors_before_the_first_event_are_none(store: Store) -> None:
    store.add(_line(1, summary="Theirs."))
    _set_cursors(store, 3, 3, 3)
    repair(store)
    assert _cursors(store) == [None] * 4


def test_an_id_of_the_archive_takes_the_cursors_back_as_well(store: Store) -> None:
    store.batch("prune-1", 40)
    store.put("archive/prune-1/events.jsonl", _line(40) + _line(3, content_hash="another"))
    _set_cursors(store, 3, 1, 3)
    repair(store)
    assert _cursors(store) == ["evt-000002", "evt-000001", "evt-000002", "evt-000002"]


def test_ids_without_a_number_hide_no_doubled_one(store: Store) -> None:
    """Here and in the archive stands an event whose id has none; that is no reason to leave the cursors."""
    store.batch("prune-1", 40)
    store.put("archive/prune-1/events.jsonl", _line(40) + _line(41, id="odd", content_hash="another"))
    store.add(_line(4, id="strange") + _line(3, summary="Theirs."))
    _set_cursors(store, 3, 3, 3)
    repair(store)
    assert _cursors(store) == ["evt-000002"] * 4


@pytest.mark.parametrize("name", ["ids not rising", "conflict", "line of garbage"])
def test_the_cursors_stay_where_every_event_has_an_id_of_its_own(store: Store, name: str) -> None:
    _set_cursors(store, 3, 2, 3)
    DAMAGE[name][0](store)
    before = _cursors(store)
    assert repair(store).said
    assert _cursors(store) == before


# -- any log --------------------------------------------------------------------------------------------------------

EVENT_LINES = st.lists(
    st.one_of(
        st.builds(lambda number, text: _line(number, summary=f"s{text}"), st.integers(1, 6), st.integers(0, 3)),
        st.sampled_from([b"<<<<<<< a\n", b"=======\n", b">>>>>>> b\n", b"{bad\n", b"\xff\n", b"null\n", b"\n"]),
        st.builds(lambda name: _line(1, id=name), st.sampled_from(["odd", "evt-", "evt-1", "evt-0", "evt-000004"])),
    ),
    max_size=14,
)
LAST = st.sampled_from([b"", b'{"id": "evt-000007", "ki', b"null", _line(6, summary="last").rstrip()])
"""What stands behind the last line's end."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Store:
    root = tmp_path_factory.mktemp("sound") / "harbor"
    root.mkdir()
    return Store.made(root)


def _copy_of(store: Store, folder: str) -> Store:
    root = Path(folder) / "harbor"
    shutil.copytree(store.root, root, symlinks=True)
    return Store(root)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _told_without_ids(data: bytes) -> set[str]:
    """Every event by what it says, and every other line that is JSON."""
    values = [json.loads(line) for line in data.splitlines() if _is_json(line)]
    return {json.dumps({**value, "id": ""} if isinstance(value, dict) else value) for value in values}


@settings(max_examples=examples(60))
@given(lines=EVENT_LINES, last=LAST)
def test_whatever_stands_in_the_log_nothing_is_lost_and_the_ids_rise(
    sound: Store, lines: list[bytes], last: bytes
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = _copy_of(sound, folder)
        data = b"".join(lines) + last
        store.put(EVENTS, data)
        repair(store)
        after = store.read(EVENTS)
        assert _told_without_ids(after) == _told_without_ids(data)
        # A last line that is cut off stays where it is all that is wrong.
        broken = [line for line in after.splitlines() if line.strip() and not _is_json(line)]
        assert broken == ([last] if after == data and last and not _is_json(last) else [])
        numbers = [ordinal_of(name) for name in _ids(store)]
        assert numbers == sorted(set(numbers) - {0})
        firsts: dict[int, str] = {}
        for held in read_history(data).events:
            firsts.setdefault(ordinal_of(held.id), held.summary)
        kept = {ordinal_of(held.id): held.summary for held in read_history(after).events}
        assert all(kept[number] == summary for number, summary in firsts.items() if number)
        codes = {code for _, code in store.told()}
        assert not codes & {"history:duplicate", "history:ordering", "history:conflict", "history:event-count"}
        assert "history:events-read" not in codes
        assert _is_empty(plan(store))
        assert _kept(store) == ([] if after == data else [data])


# -- checkpoints and the rest ---------------------------------------------------------------------------------------


def test_the_latest_checkpoint_is_the_newest_that_holds_what_the_state_holds(store: Store) -> None:
    own = store.value(CHK)
    for number in (2, 3):
        store.put(f"{layout.CHECKPOINTS}/chk-{number:06d}.json", json.dumps({**own, "id": f"chk-{number:06d}"}))
    store.checkpoint(4, gotchas=[])
    store.change(STATE, "maintenance", "latestCheckpointId", to="chk-000077")
    repairing = repair(store)
    assert repairing.said == ["The state named the checkpoint `chk-000077`; it is `chk-000003`."]
    assert store.told() == [("warning", "checkpoints:newer")]
    assert _is_empty(plan(store))


def test_where_none_holds_it_the_newest_is_the_latest(store: Store) -> None:
    store.remove(CHK)
    store.checkpoint(4, gotchas=[])
    store.checkpoint(12, gotchas=[], nextSteps=[])
    repair(store)
    assert store.value(STATE)["maintenance"]["latestCheckpointId"] == "chk-000012"


def test_without_a_checkpoint_one_is_made_above_those_that_were(store: Store) -> None:
    store.remove(CHK)
    store.batch("prune-1")
    store.put("archive/prune-1/checkpoints/chk-000030.json", b"{}")
    repair(store)
    made = store.value(f"{layout.CHECKPOINTS}/chk-000031.json")
    state = store.value(STATE)
    assert made["bundle"] == state["bundle"]
    assert made["bundleHash"] == state["bundleHash"] == content_hash(state["bundle"])
    assert state["maintenance"]["latestCheckpointId"] == "chk-000031"


def test_sources_that_are_missing_and_were_none_are_written(store: Store) -> None:
    store.remove(SOURCES)
    store.count(events=3, sources=0)
    assert repair(store).said == [
        "`.agent-memory/sources.json` was missing; it holds no sources, and the state knew of none."
    ]
    assert store.read(SOURCES) == b"[]\n"
    assert store.told() == []


def test_sources_are_counted_as_the_next_command_counts_them(store: Store) -> None:
    """An entry that cannot be read is one, too: it is kept."""
    store.put(SOURCES, file_bytes([*store.value(SOURCES), {"id": "broken"}]))
    store.count(events=3, sources=7)
    repair(store)
    journal = open_journal(str(store.root))
    assert journal.state.maintenance.import_source_count == counted_maintenance(journal).import_source_count == 2


def test_settings_and_sources_that_cannot_be_read_keep_nobody_from_the_rest(store: Store) -> None:
    store.put(CONFIG, b"{")
    store.put(SOURCES, b"{}")
    store.add(_line(3, summary="Another."))
    repairing = repair(store)
    assert len(repairing.left) == 2
    assert _ids(store)[-1] == "evt-000004"
    assert (store.read(CONFIG), store.read(SOURCES)) == (b"{", b"{}")
    assert store.value(STATE)["maintenance"]["importSourceCount"] == 1


def test_a_journal_that_was_opened_does_as_well(store: Store) -> None:
    store.count(events=9, sources=1)
    journal = open_journal(str(store.root))
    repairing = plan_journal_repair(journal, NOW)
    assert repairing.said == ["The state counted 9 events; there are 3."]
    commit(journal, repairing.writing, store.world)
    assert store.told() == []


def test_keys_of_the_state_that_nobody_knows_stay(store: Store) -> None:
    store.change(STATE, "later", to={"a": 1})
    store.change(STATE, "maintenance", "later", to=[2])
    store.count(events=9, sources=1)
    repair(store)
    value = store.value(STATE)
    assert (value["later"], value["maintenance"]["later"]) == ({"a": 1}, [2])


def test_pages_that_are_due_are_not_made_due_again(store: Store) -> None:
    note = b'{"version":1,"formerly":"docs/OLD.md"}\n'
    store.put("local/pages-due.json", note)
    (store.root / layout.PROJECTIONS / "gotchas.md").unlink()
    assert _is_empty(plan(store))
    assert store.read("local/pages-due.json") == note


def test_what_is_in_the_way_of_a_page_is_told(store: Store) -> None:
    page = store.root / layout.PROJECTIONS / "gotchas.md"
    page.unlink()
    page.mkdir()
    repairing = plan(store)
    assert _is_empty(repairing)
    assert len(repairing.left) == 1
    assert repairing.left[0].startswith("The pages cannot be written: ")


@settings(max_examples=examples(60))
@given(
    name=st.sampled_from([STATE, CONFIG, SOURCES, EVENTS, CHK, "archive/prune-1/manifest.json"]),
    data=st.binary(max_size=60) | st.sampled_from([b"null", b"[]", b"{}", b"[null]", b'{"a": 1}']),
)
def test_arbitrary_bytes_are_repaired_once_or_left(sound: Store, name: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = _copy_of(sound, folder)
        store.put(name, data)
        repair(store)
        assert store.read(name) == data or name == EVENTS
        assert _is_empty(plan(store))


@pytest.mark.proof
@needs_real
def test_journals_of_the_original_program_are_repaired_once(tmp_path: Path) -> None:
    roots = sorted({path.parent for path in REAL.rglob(".agent-memory")})
    repaired = 0
    for number, root in enumerate(roots):
        store = Store(tmp_path / str(number))
        shutil.copytree(root, store.root, symlinks=True)
        repaired += bool(repair(store).said)
        assert _is_empty(plan(store)), root
    assert repaired > 20
