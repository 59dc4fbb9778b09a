"""Every kind of file × every kind of damage: named or harmless, kept byte for byte, and nobody else suffers.

Every run tries a few damages of each kind, another few of the next one; a long run tries all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kinds_catalogue import KINDS, Space, kind_of, lent, read_all, strangers
from kinds_damage import BYTES, SHAPES
from kinds_judge import concerned, judge
from kinds_trial import ANEW, HURTS, OTHERS, READ_THROUGH, UNHEARD, Trial

from promised import proves, tally
from quire.clients import lines as clients
from quire.files import layout
from quire.inbox import layout as inbox
from quire.layers.facts import layout as facts
from quire.layers.graph import layout as graph
from quire.layers.journal import layout as journal
from quire.layers.profile import layout as profile
from thorough import LONG

pytestmark = proves("P5.1")


@pytest.fixture
def space() -> Iterator[Space]:
    yield from lent()


# -- the catalogue is complete ------------------------------------------------------------------------------------


@pytest.mark.proof
def test_every_file_that_verbs_leave_is_of_a_kind_and_no_kind_is_without_one(space: Space) -> None:
    for place in ("graph", "facts", "profile", "journal", "inbox", "wiring", "machine"):
        reading, writing = concerned(place)
        assert judge(space, {**reading, **writing}).crashed == {}
    assert strangers(list(read_all(space.folder))) == []
    assert [name for name, path in space.paths.items() if not path and name != "pages due"] == []


def test_every_name_that_a_layout_gives_is_of_a_kind() -> None:
    """Who adds a file to a layout adds its kind, and with that all its damages."""
    memory, state, past = (f"harbor/{folder}" for folder in (graph.FOLDER, profile.FOLDER, journal.FOLDER))
    named = [
        *(f"{memory}/{name}" for name in (graph.CONFIG, graph.EVENTS, graph.SYNC_STATE, facts.FILE)),
        f"{memory}/{graph.NODES}/x.json",
        f"{memory}/{graph.NODES}/x.md",
        f"{memory}/{graph.RELATIONS}/x.json",
        f"{memory}/{graph.SCHEMA}/event.schema.json",
        f"{memory}/{graph.INDEX}/quire.sqlite",
        f"{memory}/{inbox.REJECTED}/{'0' * 32}.json",
        *(f"{memory}/{layout.LOCAL}/{name}" for name in (inbox.FILE, clients.ENDED, clients.RECEIPTS, clients.LOG)),
        *(f"{memory}/{name}/x.json" for name in graph.OTHERS if name == "integrations"),
        *(f"{state}/{name}" for name in (profile.FILE, profile.PRIVATE, profile.BACKUP, profile.FORGOTTEN)),
        *(f"{state}/{name}" for name in (profile.LOCK, f"{profile.MIGRATION_PREFIX}1.1.json")),
        f"inland/{profile.FOLDER}/{profile.SETTING}",
        *(f"{past}/{name}" for name in (journal.STATE, journal.CONFIG, journal.SOURCES, journal.EVENTS)),
        *(f"{past}/{name}" for name in (journal.EXPIRED, journal.DAEMON, journal.DAEMON_LOCK, journal.LATEST_RUN)),
        f"{past}/{journal.CHECKPOINTS}/chk-000001.json",
        *(
            f"{past}/{journal.ARCHIVE}/{journal.BATCH_PREFIX}x/{name}"
            for name in (journal.BATCH_MANIFEST, journal.BATCH_EVENTS, f"{journal.BATCH_CHECKPOINTS}/chk-000001.json")
        ),
        *(f"{past}/{journal.LOCAL}/{name}" for name in (journal.IMPORTS, journal.PAGES_DUE)),
        *(f"harbor/{journal.PROJECTIONS}/{name}" for name in journal.PROJECTION_FILES.values()),
        *(f"harbor/{name}" for name in journal.ENTRY_FILES if name != "README.md"),
    ]
    assert [path for path in named if not kind_of(path)] == []


def test_the_reasons_of_silence_and_of_harm_are_those_of_kinds_that_are_there() -> None:
    assert {*HURTS, *UNHEARD, *READ_THROUGH, *ANEW, *OTHERS} <= KINDS.keys()


# -- the matrix ---------------------------------------------------------------------------------------------------

NAMES = [name for name in KINDS if name != "pages due"]
MOST = 1


def chosen(kind: str) -> list[str]:
    """Which damages are tried: all of them, or some, others for each kind."""
    names = [*BYTES, *SHAPES]
    if LONG:
        return names
    first = NAMES.index(kind) * MOST
    return [names[(first + step) % len(names)] for step in range(MOST)]


@pytest.mark.proof(keep=3)
@proves("P5.1", "A11", "D1", "D4", "E3", over="graph facts profile journal inbox wiring")
@proves("P5.2", "A11", "D1", over="graph facts profile journal inbox wiring")
@proves("P5.3", "D4", over="graph facts profile journal inbox wiring")
@proves("P5.4", "D10", "D11", over="graph facts profile journal inbox wiring")
@proves("P5.5", "D15", over="graph facts profile journal inbox wiring machine")
@proves("P6.2", "E3", over="graph facts profile journal inbox wiring")
@proves("P7.2", "D10", over="graph facts profile journal inbox wiring")
@pytest.mark.parametrize("kind", NAMES)
def test_whatever_becomes_of_a_file_it_is_named_or_harmless_and_kept_and_nobody_else_suffers(
    space: Space, kind: str
) -> None:
    wrong, tried = [], 0
    for damage in chosen(kind):
        trial = Trial(space, kind, damage)
        if trial.begin():
            tried += 1
            wrong += [f"{damage}: {said}" for said in trial.wrong()]
    assert wrong == []
    tally("P5.1", inputs=tried)
