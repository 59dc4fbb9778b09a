"""Documents with something odd in one place are still of use in all others."""

from __future__ import annotations

import json
from pathlib import Path

from quire.files.world import World
from quire.project import Project
from quire.verbs.profile.export import ExportProfile, export_profile
from quire.verbs.profile.recall import RecallEntries, recall_entries
from quire.verbs.profile.session_start import start_session
from quire.verbs.verb import Arguments

ENTRY = {"value": "Helix", "created_at": "2026-02-09T14:00:00Z", "updated_at": "2026-02-09T14:00:00Z"}


def write(root: Path, text: str, name: str = "memory.json") -> Path:
    path = root / ".ai-state" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def current(**categories: object) -> str:
    return json.dumps({"schema_version": "1.2", "session_count": 0, "memories": categories})


def test_an_older_document_that_would_lose_something_is_read_and_left_as_it_is(repo: Path, world: World) -> None:
    twice = '{"value": "1", "value": "2"}'
    older = f'{{"schema_version": "1.0", "memories": {{"tools": {{"a": {twice}, "b": {json.dumps(ENTRY)}}}}}}}'
    path = write(repo, older)
    found = recall_entries(Project.open(str(repo), world), RecallEntries(category="tools", key="b"))
    assert [view.value for view in found.results] == ["Helix"]
    assert path.read_text(encoding="utf-8") == older
    assert not list(path.parent.glob("memory.pre-migration-*"))


def test_a_session_is_counted_where_the_assistant_cannot_be_named(repo: Path, world: World) -> None:
    path = write(repo, current(assistant=[1], tools={"editor": ENTRY}))
    started = start_session(Project.open(str(repo), world), Arguments())
    assert (started.session_count, started.counted, started.name_assigned) == (1, True, False)
    assert json.loads(path.read_text(encoding="utf-8"))["memories"]["assistant"] == [1]


def test_an_export_has_the_private_entries_whatever_stands_in_the_shared_document(repo: Path, world: World) -> None:
    shared = write(repo, current(user=[1]))
    write(repo, current(user={"editor": ENTRY}), "local/memory.json")
    before = shared.read_bytes()
    exported = export_profile(Project.open(str(repo), world), ExportProfile(output_format="json"))
    assert json.loads(exported.content)["memories"]["user"] == {"editor": ENTRY}
    assert shared.read_bytes() == before
