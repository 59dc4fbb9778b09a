"""Every kind of file cut off at every byte, and with one bit flipped: found or harmless, never a crash.

Files of lines are also written to afterwards: what was whole is read, and the next line begins a line of its own.
"""

from __future__ import annotations

import errno
import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kinds_catalogue import KINDS, TOLD, Space, lent
from kinds_damage import put
from kinds_trial import Trial

from promised import proves, tally
from quire.clients.receipts import Receipt, add_receipt, read_receipts
from quire.clients.spool import Ended, note_ended, waiting_sessions
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.agents.session_end import collect_sessions
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from quire.verbs.journal.log import JournalLog, journal_log
from quire.verbs.journal.session_import import import_sessions
from quire.verbs.journal.sources import JournalAdd, add, sources
from quire.verbs.profile.remember import RememberEntry, remember_entry
from quire.verbs.profile.restore import ForgetEntry, forget_entry, forgotten_entries
from quire.verbs.verb import Arguments
from thorough import either, some

CUTS, FLIPS = 2, either(1, 200)
ALL_CUTS = 1_500
"""So many places of a large file are tried in a long run; of a smaller one, all."""
NAMES = [name for name, kind in KINDS.items() if name != "pages due" and kind.form != "other"]


@pytest.fixture
def space() -> Iterator[Space]:
    yield from lent()


def places(size: int) -> list[int]:
    every = list(range(size)) if size <= ALL_CUTS else [number * size // ALL_CUTS for number in range(ALL_CUTS)]
    return some(every[1:], CUTS) if len(every) > CUTS else every


def is_inside_a_line(whole: bytes, size: int) -> bool:
    """Whether a cut leaves a part of a line. Every line that is whole counts; nobody can tell that there were more.

    A last line that lacks its end alone is whole, too: it is read, and the next one begins a line of its own.
    """
    return not whole[:size].endswith(b"\n") and whole[size : size + 1] != b"\n"


@pytest.mark.proof(keep=3)
@proves("P5.1", "A11", over="graph facts profile journal inbox wiring machine")
@proves("P5.2", "A11", over="graph facts profile journal inbox wiring machine")
@pytest.mark.parametrize("kind", NAMES)
def test_a_file_cut_off_anywhere_is_named_and_hurts_no_other(space: Space, kind: str) -> None:
    whole = space.whole[space.paths[kind]]
    wrong, tried = [], 0
    for size in places(len(whole)):
        trial = Trial(space, kind, data=whole[:size])
        trial.begin()
        is_found = whole[size:].strip() != b"" and (KINDS[kind].form == "json" or is_inside_a_line(whole, size))
        wrong += [f"cut at {size}: {said}" for said in trial.wrong_at_a_glance(is_read=is_found)]
        tried += 1
    assert wrong == []
    tally("P5.1", inputs=tried)


@pytest.mark.proof(keep=6)
@proves("P5.1", "A12", over="graph facts profile journal inbox wiring machine")
@pytest.mark.parametrize("kind", some(NAMES, 20))
def test_a_flipped_bit_anywhere_crashes_nothing_and_hurts_no_other(space: Space, kind: str) -> None:
    whole = space.whole[space.paths[kind]]
    rng = random.Random(20260302)
    wrong, tried = [], 0
    for _ in range(FLIPS):
        data = bytearray(whole)
        place, bit = rng.randrange(len(whole)), rng.randrange(8)
        data[place] ^= 1 << bit
        trial = Trial(space, kind, data=bytes(data))
        trial.begin()
        # Times, ids and names have no digest in these forms: of them only git can tell.
        wrong += [f"bit {bit} of byte {place}: {said}" for said in trial.wrong_at_a_glance(is_read=False)]
        tried += 1
    assert wrong == []
    tally("P5.1", inputs=tried)


SEALED = {
    "sidecar": b"Victim",
    "body": b"paragraphs",
    "relation": b"depends_on",
    "facts": b"Retries run in the worker",
    "state": b"summary",
}
"""Texts that are stored with a digest of them."""


@proves("P5.1", "A12", over="graph facts journal")
@pytest.mark.parametrize("kind", SEALED)
def test_a_flipped_bit_in_a_text_that_has_a_digest_is_found(space: Space, kind: str) -> None:
    text = SEALED[kind]
    whole = space.whole[space.paths[kind]]
    shown = space.paths[kind].removeprefix("harbor/")
    begin = whole.index(text)
    for place in some(range(begin, begin + len(text)), 2):
        data = bytearray(whole)
        data[place] ^= 1
        put(space.path(kind), bytes(data))
        found = check_files(space.open())
        named = [problem.path for problem in (*found.errors, *found.warnings)]
        assert any(os.path.splitext(path)[0] == os.path.splitext(shown)[0] for path in named), place


# -- the last line ------------------------------------------------------------------------------------------------

Step = Callable[[Project, str], object]
"""Adds a line that can be told from the others by a word."""


def _add_receipt(project: Project, word: str) -> None:
    receipt = Receipt(at="2026-03-03T00:00:00Z", client="claude", event="prompt", session=word)
    add_receipt(project.root, receipt, project.world.token())


def _add_pointer(project: Project, word: str) -> object:
    ended = Ended(client="claude", session=word, at="2026-03-03T00:00:00Z", event="session-end")
    return note_ended(project.root, ended, project.world.token())


def _save(project: Project, word: str) -> object:
    return save_nodes(project, {"task": word, "nodes": [{"kind": "gotcha", "title": word, "body": "Saved after it."}]})


def _sync(project: Project, word: str) -> object:
    folder = Path(project.root).parents[1] / "sessions" / "more"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{word}.md").write_text(f"# {word}\n\nDecision: keep {word} because it holds.\n", encoding="utf-8")
    if "more" not in {source.id for source in sources(project, Arguments()).sources}:
        add(project, JournalAdd(source_type="markdown", path=str(folder), name="more"))
    return import_sessions(project)


ADDED: dict[str, tuple[Step, Callable[[Project], str]]] = {
    "events": (_save, lambda project: repr([line.event for line in project.graph.events()])),
    "facts": (
        lambda project, word: store(project, Store(section="Specs", content=f"{word} came after it.")),
        lambda project: repr([view.content for view in list_facts(project, ListFacts()).results]),
    ),
    "forgotten": (
        lambda project, word: (
            remember_entry(project, RememberEntry(category="tools", key=word, value=f"{word}, for a moment.")),
            forget_entry(project, ForgetEntry(category="tools", key=word)),
        ),
        lambda project: repr([(item.category, item.key) for item in forgotten_entries(project)]),
    ),
    "history": (
        _sync,
        lambda project: repr([item.summary for item in journal_log(project, JournalLog(events=True)).results]),
    ),
    "spool": (_add_pointer, lambda project: repr([item.session for item in waiting_sessions(project.root)])),
    "receipts": (_add_receipt, lambda project: repr([item.session for item in read_receipts(project.root)])),
}


@proves("P5.1", "A10", over="graph facts profile journal inbox", found="a hook wrote on where a line was cut off")
@pytest.mark.parametrize("kind", ADDED)
def test_after_a_last_line_that_was_cut_off_the_next_begins_a_line_of_its_own(space: Space, kind: str) -> None:
    add, read = ADDED[kind]
    add(space.open(), "first")
    add(space.open(), "second")
    path = space.path(kind)
    whole = Path(path).read_bytes()
    assert whole.endswith(b"\n")
    begin = whole.rindex(b"\n", 0, len(whole) - 1) + 1
    earlier = read(space.open())
    for size in some(range(begin, len(whole)), 4):
        space.restore()
        for word in ("first", "second"):
            add(space.open(), word)
        put(path, whole[:size])
        add(space.open(), "third")
        said = read(space.open())
        assert "third" in said, f"cut at {size}"
        assert "first" in said or "first" not in earlier, f"cut at {size}"
        assert Path(path).read_bytes().startswith(whole[:begin]), f"cut at {size}: what was whole stays"
    assert TOLD[0] in repr(list_facts(space.open(), ListFacts()).results)


@proves("P5.2", "A10", over="inbox", found="lines of the spool that could not be read were removed in silence")
def test_a_pointer_that_was_cut_off_is_told_of_once_and_kept(space: Space) -> None:
    path = space.path("spool")
    whole = Path(path).read_bytes()
    put(path, whole + whole[: len(whole) // 2])
    done = collect_sessions(space.open())
    assert [(problem.code, problem.path) for problem in done.warnings if problem.code == "LocalStateDamaged"] == [
        ("LocalStateDamaged", ".memory/local/ended.jsonl")
    ]
    assert Path(path + ".damaged").read_bytes() == whole + whole[: len(whole) // 2]
    assert not os.path.lexists(path)
    assert collect_sessions(space.open()).warnings == []


@proves("P1.3", "C4", over="inbox", found="a session that could not be opened at that moment was not read any more")
def test_a_session_that_cannot_be_opened_for_a_passing_reason_waits(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = [one.session for one in waiting_sessions(space.open().root)]
    assert waiting
    real = os.open

    def refused(path: str, *arguments: Any, **options: Any) -> int:
        if path == space.path("transcript"):
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), path)
        return real(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refused)
        (failed,) = collect_sessions(space.open()).failed
    assert "too many files are open" in failed.reason
    assert [one.session for one in waiting_sessions(space.open().root)] == waiting
    assert collect_sessions(space.open()).sessions == len(waiting)


@proves("P5.2", "A10", over="inbox", found="a spool too large to be read was removed unread")
def test_a_spool_that_is_too_large_is_kept(space: Space) -> None:
    path = space.path("spool")
    os.truncate(path, 9 * 1024 * 1024)
    assert [problem.code for problem in collect_sessions(space.open()).warnings] == ["LocalStateDamaged"]
    assert os.path.getsize(path + ".damaged") == 9 * 1024 * 1024


@proves("P5.4", "D11", over="inbox", found="a folder in the place of the spool was moved away again and again")
def test_a_folder_in_the_place_of_the_spool_stays_where_it_is(space: Space) -> None:
    path = space.path("spool")
    os.unlink(path)
    os.makedirs(os.path.join(path, "inside"))
    assert collect_sessions(space.open()).failed == []
    assert os.path.isdir(os.path.join(path, "inside"))


@proves("P5.1", "A11", over="inbox", found="how far sessions were read, of another type, stopped their collection")
def test_notes_of_another_type_keep_no_session_from_being_read(space: Space) -> None:
    put(space.path("collected"), json.dumps({"version": 1, "sessions": [1, 2]}).encode())
    assert collect_sessions(space.open()).failed == []
