"""Nothing that a command or a tool says changes by mistake.

Where a change is meant, `python tests/golden/golden_record.py` writes the files anew, and the changelog names it.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from golden_record import GOLDEN, RECORDERS, read


def test_every_file_has_its_recorder() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(RECORDERS)


@pytest.mark.parametrize("name", RECORDERS)
def test_it_says_what_it_said(name: str) -> None:
    found, known = json.loads(json.dumps(RECORDERS[name]())), read(name)
    changed = [entry for entry in {**known, **found} if found.get(entry) != known.get(entry)]
    assert {entry: difference(known.get(entry), found.get(entry)) for entry in changed} == {}


def difference(known: Any, found: Any, place: str = "") -> list[str]:
    """Each value that differs, with its place."""
    if isinstance(known, dict) and isinstance(found, dict):
        names = {**known, **found}
        return [line for name in names for line in difference(known.get(name), found.get(name), f"{place}.{name}")]
    if isinstance(known, list) and isinstance(found, list) and len(known) == len(found):
        pairs = enumerate(zip(known, found, strict=True))
        return [line for number, (one, two) in pairs for line in difference(one, two, f"{place}[{number}]")]
    return [] if known == found else [f"{place}: {json.dumps(known)} became {json.dumps(found)}"]


def test_a_difference_is_seen() -> None:
    known = {"out": [1, {"a": 2}], "gone": True}
    assert difference(known, known) == []
    assert difference(known, {"out": [1, {"a": 3}]}) == [".out[1].a: 2 became 3", ".gone: true became null"]
