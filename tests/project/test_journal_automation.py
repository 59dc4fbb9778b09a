"""One cycle of the automation: what it imports, recalls and archives, what it notes, and what does not stop it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from clocks import Clock

from quire.files.world import World
from quire.layers.journal import daemon
from quire.layers.journal.canonical import file_bytes
from quire.model.errors import NotInitialized, UnsupportedVersion
from quire.project import Project
from quire.verbs.agents.session_end import journal_run_once
from quire.verbs.journal.init import JournalInit, journal_init
from quire.verbs.journal.session_import import import_sessions
from quire.verbs.journal.sources import JournalAdd, add
from quire.verbs.journal.status import JournalStatus, journal_status

LESSON = (
    "Cache the order list.",
    "DECISION: Cache the order list for 30 seconds in src/cache.ts.\n"
    "GOTCHA: Cache keys must include the tenant: otherwise tenants see each other's orders.",
)
SETTLED = datetime.fromisoformat("2026-03-01T12:00:00+00:00").timestamp()


@pytest.fixture
def journal(repo: Path, world: World) -> Project:
    """A project with an empty journal and nothing else."""
    (repo / "README.md").write_text("# Orders\n\nTakes orders.\n")
    project = Project.open(str(repo), world)
    journal_init(project, JournalInit())
    return project


@pytest.fixture
def sessions(journal: Project, tmp_path: Path) -> Path:
    """A folder of sessions that is registered as the source `agent`."""
    folder = tmp_path / "agent/transcripts"
    folder.mkdir(parents=True)
    add(journal, JournalAdd(source_type="claude-local", path=str(folder.parent), name="agent"))
    return folder


def write_session(path: Path, said: tuple[str, ...] = LESSON, changed: float = SETTLED) -> None:
    lines = []
    for number, text in enumerate(said):
        role = "assistant" if number % 2 else "user"
        at = f"2026-03-01T10:{number:02}:00.000Z"
        lines.append(
            {"type": role, "sessionId": path.stem, "timestamp": at, "message": {"role": role, "content": text}}
        )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    os.utime(path, (changed, changed))


def set_config(project: Project, **parts: dict[str, Any]) -> None:
    path = Path(project.root, ".agent-memory/config.json")
    config = json.loads(path.read_bytes())
    for name, fields in parts.items():
        config[name] = {**config[name], **fields}
    path.write_text(json.dumps(config))


def latest(project: Project) -> Any:
    return json.loads(Path(project.root, ".agent-memory/automation/latest-run.json").read_bytes())


def events(project: Project) -> list[Any]:
    lines = Path(project.root, ".agent-memory/history/events.jsonl").read_bytes().splitlines()
    return [json.loads(line) for line in lines]


def shared(tree: Callable[..., dict[str, bytes]], project: Project) -> dict[str, bytes]:
    """Every file but those of this machine."""
    return {name: data for name, data in tree(Path(project.root)).items() if "/local/" not in name}


# -- what it does ---------------------------------------------------------------------------------


def test_new_sessions_are_imported_and_recalled_in_one_call(journal: Project, sessions: Path) -> None:
    write_session(sessions / "one.jsonl")
    cycle = journal_run_once(journal)
    assert (cycle.status, cycle.busy) == ("recalled", False)
    result = {"sourceId": "agent", "importedCount": 1, "skippedCount": 0, "failedCount": 0, "failures": []}
    assert cycle.run["importSync"] == {"attempted": True, "results": [result]}
    recall = cycle.run["recall"]
    assert (recall["attempted"], recall["applied"], recall["rawEventCount"]) == (True, True, 1)
    assert [event["kind"] for event in events(journal)] == ["tool_run", "imported_session", "tool_run"]
    bundle = json.loads(Path(journal.root, ".agent-memory/state.json").read_bytes())["bundle"]
    assert [item["title"] for item in bundle["gotchas"]] == ["Cache keys must include the tenant"]
    assert journal_status(journal, JournalStatus()).unrecalled == {"all": 0, "local": 0, "imports": 0}


def test_the_run_is_noted_in_canonical_form(journal: Project, sessions: Path) -> None:
    write_session(sessions / "one.jsonl")
    cycle = journal_run_once(journal)
    data = Path(journal.root, ".agent-memory/automation/latest-run.json").read_bytes()
    assert data == file_bytes(cycle.run)
    assert json.loads(data)["startedAt"] == "2026-03-02T11:19:00.000Z"
    assert Path(journal.root, ".gitignore").read_text().count(".agent-memory/automation/") == 1


def test_a_run_that_finds_nothing_writes_nothing_that_is_shared(
    journal: Project, sessions: Path, clock: Clock, tree: Callable[..., dict[str, bytes]]
) -> None:
    write_session(sessions / "one.jsonl")
    assert journal_run_once(journal).status == "recalled"
    after = shared(tree, journal)
    clock.now += timedelta(minutes=15)
    assert journal_run_once(journal).status == "idle"
    before = shared(tree, journal)
    changed = {name for name in before if before[name] != after.get(name)}
    assert changed == {".agent-memory/automation/latest-run.json"}  # the status is another one: that is noted
    clock.now += timedelta(minutes=15)
    stamps = {name: Path(journal.root, name).stat().st_mtime_ns for name in before}
    cycle = journal_run_once(journal)
    assert cycle.status == "idle"
    assert cycle.run["importSync"]["results"][0]["skippedCount"] == 1
    assert shared(tree, journal) == before
    assert {name: Path(journal.root, name).stat().st_mtime_ns for name in before} == stamps
    assert latest(journal)["startedAt"] == "2026-03-02T11:34:00.000Z"


def test_after_a_day_even_an_idle_run_is_noted(journal: Project, clock: Clock) -> None:
    journal_run_once(journal)
    first = latest(journal)["finishedAt"]
    clock.now += timedelta(hours=23)
    journal_run_once(journal)
    assert latest(journal)["finishedAt"] == first
    clock.now += timedelta(hours=2)
    journal_run_once(journal)
    assert latest(journal)["finishedAt"] == "2026-03-03T12:19:00.000Z"


def test_an_idle_run_opens_no_index_and_starts_no_program(repo: Path, journal: Project, sessions: Path) -> None:
    write_session(sessions / "one.jsonl")
    journal_run_once(journal)
    journal_run_once(journal)
    code = (
        "import sys\nfrom quire.project import Project\nfrom quire.verbs.agents.session_end import journal_run_once\n"
        "cycle = journal_run_once(Project.open())\n"
        "assert cycle.status == 'idle', cycle\n"
        "heavy = {'apsw', 'subprocess', 'click', 'quire.index.database', 'quire.capture.session_events', 'json'}\n"
        "sys.exit(' '.join(heavy & set(sys.modules)) or 0)"
    )
    env = {**journal.world.env, "MEMORY_NOW": "2026-03-02T11:19:00+00:00"}
    done = subprocess.run([sys.executable, "-c", code], cwd=repo, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_session_that_somebody_works_in_is_left_for_later(journal: Project, sessions: Path, clock: Clock) -> None:
    write_session(sessions / "old.jsonl")
    write_session(sessions / "fresh.jsonl", changed=clock.now.timestamp() - 60)
    assert journal_run_once(journal).run["importSync"]["results"][0]["importedCount"] == 1
    assert journal_run_once(journal).status == "idle"
    clock.now += timedelta(minutes=10)
    assert journal_run_once(journal).run["importSync"]["results"][0]["importedCount"] == 1


def test_a_session_that_grew_is_found_by_its_stamp(journal: Project, sessions: Path) -> None:
    write_session(sessions / "one.jsonl")
    journal_run_once(journal)
    journal_run_once(journal)
    more = (*LESSON, "And the runbook?", "NEXT: Write a cache runbook: nobody knows how to clear it.")
    write_session(sessions / "one.jsonl", more, changed=SETTLED + 60)
    cycle = journal_run_once(journal)
    assert cycle.run["importSync"]["results"][0]["importedCount"] == 1
    assert cycle.status == "recalled"


def test_without_automatic_recall_it_only_imports(journal: Project, sessions: Path) -> None:
    set_config(journal, automation={"autoRecall": False})
    write_session(sessions / "one.jsonl")
    cycle = journal_run_once(journal)
    assert (cycle.status, cycle.run["recall"]["attempted"]) == ("imported", False)
    assert journal_run_once(journal).status == "idle"


def test_without_sync_it_only_recalls(journal: Project, sessions: Path) -> None:
    write_session(sessions / "one.jsonl")
    write_session(sessions / "two.jsonl")
    import_sessions(journal, "agent")
    set_config(journal, automation={"importSyncBeforeRecall": False})
    cycle = journal_run_once(journal)
    assert (cycle.status, cycle.run["importSync"]) == ("recalled", {"attempted": False, "results": []})


def test_a_recall_that_finds_nothing_new_is_made_once(journal: Project, sessions: Path) -> None:
    said = ("Cache it.", "DECISION: Cache the order list for 30 seconds in src/cache.ts.")
    write_session(sessions / "one.jsonl", said)
    assert journal_run_once(journal).status == "recalled"
    write_session(sessions / "two.jsonl", said)
    cycle = journal_run_once(journal)
    assert cycle.status == "recalled_noop"
    assert cycle.run["recall"]["noopReason"]
    assert journal_run_once(journal).status == "idle"


def test_the_policy_of_the_settings_decides_what_is_recalled(journal: Project, sessions: Path) -> None:
    write_session(sessions / "one.jsonl")
    set_config(journal, recall={"policy": "local-only"})
    assert journal_run_once(journal).status == "imported"
    set_config(journal, recall={"policy": "imports-only"})
    assert journal_run_once(journal).status == "recalled"


# -- retention ------------------------------------------------------------------------------------


def test_a_policy_that_narrows_leaves_the_other_events_waiting(journal: Project, sessions: Path) -> None:
    log = Path(journal.root, ".agent-memory/history/events.jsonl")
    log.write_text(log.read_text() + json.dumps({**events(journal)[0], "id": "evt-000002"}) + "\n")
    set_config(journal, recall={"policy": "imports-only"})
    write_session(sessions / "one.jsonl")
    assert journal_run_once(journal).run["recall"]["rawEventCount"] == 1
    assert journal_status(journal, JournalStatus()).unrecalled == {"all": 2, "local": 2, "imports": 0}


def test_what_has_aged_is_archived_and_a_batch_expires(journal: Project, sessions: Path, clock: Clock) -> None:
    set_config(journal, retention={"checkpoints": {"maxAgeDays": 30, "keepRecent": 1}})
    write_session(sessions / "one.jsonl")
    journal_run_once(journal)
    clock.now += timedelta(days=100)
    cycle = journal_run_once(journal)
    prune = cycle.run["prune"]
    assert cycle.status == "idle"
    assert (prune["archivedEventCount"], prune["archivedCheckpointCount"]) == (3, 1)
    batch = Path(journal.root, prune["archiveBatchPath"])
    assert sorted(path.name for path in batch.iterdir()) == ["checkpoints", "events.jsonl", "manifest.json"]
    assert events(journal) == []
    assert latest(journal)["prune"] == prune
    clock.now += timedelta(days=1)
    again = journal_run_once(journal)  # what was archived is not imported once more
    assert (again.status, again.run["prune"]["archivedEventCount"]) == ("idle", 0)
    clock.now += timedelta(days=180)
    assert journal_run_once(journal).run["prune"]["expiredArchiveBatchCount"] == 1
    assert not batch.exists()


def test_retention_can_be_switched_off(journal: Project, clock: Clock) -> None:
    set_config(journal, retention={"enabled": False})
    clock.now += timedelta(days=200)
    prune = journal_run_once(journal).run["prune"]
    assert prune["attempted"] is False
    assert prune["skippedReason"] == "Retention is switched off."
    assert len(events(journal)) == 1


def test_an_empty_folder_that_a_killed_run_left_is_swept(journal: Project) -> None:
    left = Path(journal.root, ".agent-memory/archive/prune-20260101T000000000Z/checkpoints")
    left.mkdir(parents=True)
    journal_run_once(journal)
    assert not left.parent.exists()


# -- what does not stop it ------------------------------------------------------------------------


def test_retention_that_fails_keeps_nothing_else_from_being_done(
    journal: Project, sessions: Path, clock: Clock
) -> None:
    journal_run_once(journal)
    clock.now += timedelta(days=100)
    Path(journal.root, ".agent-memory/archive").write_text("in the way")
    write_session(sessions / "one.jsonl")
    cycle = journal_run_once(journal)
    assert cycle.status == "failed"
    assert cycle.run["recall"]["applied"] is True
    assert len(cycle.run["errors"]) == 1
    assert cycle.run["prune"]["attempted"] is False
    assert len(events(journal)) == 3
    Path(journal.root, ".agent-memory/archive").unlink()
    assert journal_run_once(journal).run["prune"]["archivedEventCount"] == 2


def test_a_source_that_is_gone_keeps_no_other_from_being_read(journal: Project, sessions: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    add(journal, JournalAdd(source_type="codex-local", path=str(gone), name="gone"))
    gone.rmdir()
    write_session(sessions / "one.jsonl")
    cycle = journal_run_once(journal)
    assert cycle.status == "recalled"
    counts = {
        item["sourceId"]: (item["importedCount"], item["failedCount"]) for item in cycle.run["importSync"]["results"]
    }
    assert counts == {"agent": (1, 0), "gone": (0, 1)}
    assert cycle.run["warnings"] == [f"gone: There is nothing at `{gone}`."]
    assert cycle.run["errors"] == []
    assert journal_run_once(journal).status == "idle"  # another source was read: no failure of the run


def test_a_run_in_which_nothing_but_failures_happened_has_failed(journal: Project, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    add(journal, JournalAdd(source_type="codex-local", path=str(gone), name="gone"))
    gone.rmdir()
    cycle = journal_run_once(journal)
    assert (cycle.status, cycle.run["errors"]) == ("failed", [])
    before = latest(journal)
    journal_run_once(journal)
    assert latest(journal) == before  # the same failure is not noted twice


def test_damage_that_can_be_lived_with_is_a_warning(journal: Project, sessions: Path) -> None:
    folder = Path(journal.root, ".agent-memory")
    with (folder / "history/events.jsonl").open("ab") as file:
        file.write(b'{"id": "evt-0000')
    sources = json.loads((folder / "sources.json").read_bytes())
    (folder / "sources.json").write_text(json.dumps([{"id": ""}, *sources]))
    (folder / "history/checkpoints/chk-000001.json").unlink()
    write_session(sessions / "one.jsonl")
    cycle = journal_run_once(journal)
    assert cycle.status == "recalled"
    said = " ".join(cycle.run["warnings"])
    assert "incomplete" in said
    assert "sources[0]" in said
    assert "chk-000001" in said


@pytest.mark.parametrize("name", ["state.json", "config.json", "sources.json"])
def test_a_file_that_cannot_be_used_fails_the_run_and_is_left_alone(journal: Project, name: str) -> None:
    path = Path(journal.root, ".agent-memory", name)
    path.write_bytes(b'{"half": ')
    cycle = journal_run_once(journal)
    assert cycle.status == "failed"
    assert name in cycle.run["errors"][0]
    assert latest(journal)["status"] == "failed"
    assert path.read_bytes() == b'{"half": '


def test_where_there_is_no_journal_nothing_is_made(repo: Path, world: World) -> None:
    with pytest.raises(NotInitialized):
        journal_run_once(Project.open(str(repo), world))
    assert [path.name for path in repo.iterdir()] == [".git"]


def test_a_journal_of_another_version_is_not_touched(journal: Project, tree: Callable[..., dict[str, bytes]]) -> None:
    path = Path(journal.root, ".agent-memory/state.json")
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "schemaVersion": 3}))
    before = tree(Path(journal.root))
    with pytest.raises(UnsupportedVersion):
        journal_run_once(journal)
    assert tree(Path(journal.root)) == before


# -- models ---------------------------------------------------------------------------------------


def test_nothing_is_spent_where_no_ceiling_allows_it(journal: Project, sessions: Path, tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\n")
    program.chmod(0o755)
    env = {**journal.world.env, "AGENT_MEMORY_CLAUDE_BIN": str(program)}
    project = Project.open(journal.root, msgspec.structs.replace(journal.world, env=env))
    set_config(project, automation={"provider": "claude"})
    write_session(sessions / "one.jsonl")
    cycle = journal_run_once(project)
    assert (cycle.status, cycle.run["provider"]) == ("recalled", "claude")
    assert "The recall was made without a model." in " ".join(cycle.run["warnings"])
    assert not (tmp_path / "asked").exists()


# -- the runs of this machine ---------------------------------------------------------------------


def test_the_last_runs_are_kept_and_quiet_ones_counted(journal: Project, sessions: Path, clock: Clock) -> None:
    write_session(sessions / "one.jsonl")
    for _ in range(4):
        journal_run_once(journal)
        clock.now += timedelta(minutes=15)
    found = daemon.read_runs(journal.root)
    assert [(note.status, note.imported, note.times) for note in found] == [("recalled", 1, 1), ("idle", 0, 3)]
    assert (found[1].started_at, found[1].finished_at) == ("2026-03-02T11:34:00.000Z", "2026-03-02T12:04:00.000Z")


def test_the_runs_stay_few_whatever_happens(journal: Project) -> None:
    path = Path(journal.root, ".agent-memory/local/runs.jsonl")
    for number in range(1200):
        status = "failed" if number % 2 else "idle"
        note = daemon.RunNote(started_at="a", finished_at=str(number), status=status, errors=("why",) * (number % 2))
        daemon.add_run(journal.root, note, f"{number:016x}")
    assert path.stat().st_size <= 64 * 1024
    assert [note.finished_at for note in daemon.read_runs(journal.root)] == [
        str(number) for number in range(1180, 1200)
    ]


def test_damaged_lines_of_the_runs_do_not_count(journal: Project) -> None:
    journal_run_once(journal)
    path = Path(journal.root, ".agent-memory/local/runs.jsonl")
    path.write_bytes(b'\xff\n{"half": \n' + path.read_bytes() + b"[]\n")
    assert [note.status for note in daemon.read_runs(journal.root)] == ["idle"]
    path.unlink()
    path.mkdir()
    assert daemon.read_runs(journal.root) == []
    cycle = journal_run_once(journal)
    assert cycle.status == "idle"
    assert "could not be noted" in cycle.run["warnings"][-1]


def test_the_log_is_bounded(journal: Project) -> None:
    for number in range(3000):
        daemon.log_line(journal.root, "2026-03-02T11:19:00.000Z", f"{number} " + "x" * 400)
    folder = Path(journal.root, ".agent-memory/local")
    sizes = [(folder / name).stat().st_size for name in ("daemon.log", "daemon.log.1")]
    assert max(sizes) <= daemon.LOG_BYTES + 2000
    assert sorted(path.name for path in folder.glob("daemon.log*")) == ["daemon.log", "daemon.log.1"]
    assert daemon.last_logged(journal.root)[-1].split()[1] == "2999"
