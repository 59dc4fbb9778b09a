"""Entries of a real profile, each looked for with three words out of it, in any order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quire.project import Project
from quire.verbs.profile.search import SearchEntries, search_entries

REAL = Path(__file__).parents[3] / "shared" / "fixtures" / "profile"
LEAST = 0.97
"""The mean of one divided by the place of the sought entry."""

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="the real profile lies outside the repository")


@pytest.mark.proof
def test_an_entry_is_found_by_three_of_its_words(project: Project) -> None:
    folder = Path(project.root) / ".ai-state"
    folder.mkdir()
    (folder / "memory.json").write_bytes((REAL / "docs" / "real-2.0-a85646b.json").read_bytes())
    queries = json.loads((REAL / "known_item_queries.json").read_bytes())
    assert len(queries) > 50
    places = []
    for asked in queries:
        found = [view.id for view in search_entries(project, SearchEntries(query=asked["query"], status="any")).results]
        sought = f"{asked['category']}.{asked['key']}"
        places.append(found.index(sought) + 1 if sought in found else 0)
    missed = [asked["query"] for asked, place in zip(queries, places, strict=True) if not place]
    assert not missed
    assert sum(1 / place for place in places) / len(places) >= LEAST
