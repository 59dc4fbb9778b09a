"""An export for others names nothing that only this user has, wherever it would be told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quire.project import Project
from quire.surfaces.web.export import _Making
from quire.verbs.profile.private import KeepPrivate, keep_private
from quire.verbs.profile.remember import RememberEntry, remember_entry


@pytest.fixture
def kept_apart(project: Project, repo: Path) -> Project:
    """A shared entry that a private one superseded, and a private one that is broken."""
    keep_private(project, KeepPrivate(place="here", apply=True))
    remember_entry(project, RememberEntry(category="learnings", key="old-way", value="Ask by letter."))
    remember_entry(
        project,
        RememberEntry(category="user", key="hidden-way", value="Ask by pigeon.", supersedes=["learnings.old-way"]),
    )
    remember_entry(project, RememberEntry(category="learnings", key="old-way", status="superseded"))
    document = repo / ".ai-state/local/memory.json"
    held = json.loads(document.read_text("utf-8"))
    held["memories"]["user"]["hidden-ill"] = "no object"
    document.write_text(json.dumps(held), encoding="utf-8")
    return project


def written(project: Project, *, private: bool) -> dict[str, str]:
    return {name: data.decode() for name, data in _Making(project, private=private).files()}


def test_what_is_private_is_named_nowhere(kept_apart: Project) -> None:
    files = written(kept_apart, private=False)
    assert "old-way" in files["data/items.js"]
    naming = [name for name, text in files.items() if "hidden" in text or "pigeon" in text]
    assert naming == []


def test_who_asks_for_it_gets_all_of_it(kept_apart: Project) -> None:
    files = written(kept_apart, private=True)
    assert "hidden-ill" in files["data/files.js"]
    assert "hidden-way" in files["data/items.js"]
