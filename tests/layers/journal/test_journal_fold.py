"""What branches wrote is taken into the history."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from quire.layers.journal.events import read_history
from quire.layers.journal.fold import folded_history
from thorough import examples


def line(number: int, text: str, at: int = 0) -> bytes:
    fields = {
        "id": f"evt-{number:06d}",
        "kind": "imported_session",
        "sourceId": "notes",
        "externalItemId": text,
        "createdAt": f"2026-11-19T10:00:{at:02d}.000Z",
        "contentHash": "0" * 64,
        "summary": text,
        "signals": {"validations": [], "decisions": [], "gotchas": [], "nextSteps": [], "touchedPaths": []},
        "sourceRef": "notes.md",
        "more": "kept",
    }
    return json.dumps(fields).encode() + b"\n"


def ids_and_texts(data: bytes) -> list[tuple[str, str]]:
    return [(event.id, event.summary) for event in read_history(data).events]


def test_an_id_that_two_events_have_is_given_to_the_first() -> None:
    main = line(1, "one") + line(2, "two")
    folded = folded_history(main, main + line(3, "b", 2) + line(3, "a", 1), ["evt-000007"])
    assert ids_and_texts(folded) == [
        ("evt-000001", "one"),
        ("evt-000002", "two"),
        ("evt-000003", "a"),
        ("evt-000008", "b"),
    ]
    assert all(json.loads(raw)["more"] == "kept" for raw in folded.splitlines())


@settings(max_examples=examples(30))
@given(st.lists(st.tuples(st.integers(1, 5), st.sampled_from("abcdef"), st.integers(0, 3)), max_size=6), st.randoms())
def test_the_order_makes_no_difference_and_nothing_is_lost(events: list[tuple[int, str, int]], random: object) -> None:
    main = line(1, "main")
    lines = [line(*event) for event in events]
    folded = folded_history(main, main + b"".join(lines), [])
    random.shuffle(lines)  # type: ignore[attr-defined]
    assert folded_history(main, main + b"".join(lines), []) == folded
    assert folded_history(folded, folded, []) == folded
    assert folded_history(folded, folded + b"".join(lines), []) == folded
    found = ids_and_texts(folded)
    assert {text for _, text in found} == {"main", *(text for _, text, _ in events)}
    assert len(found) == 1 + len({(text, at) for _, text, at in events})
    assert len({name for name, _ in found}) == len(found)
