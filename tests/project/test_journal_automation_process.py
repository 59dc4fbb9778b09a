"""The process that keeps a journal, and cycles as processes: two at once, killed ones, when it ends by itself."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from quire.files import daemons
from quire.files.file_lock import Holder, held
from quire.files.world import World
from quire.layers.journal.daemon_process import StartedDaemon, start_daemon
from quire.model.errors import Conflict, QuireError
from quire.project import Project
from quire.verbs.agents.session_end import journal_run_once
from quire.verbs.journal.automate_process import start, stop
from quire.verbs.journal.automate_status import automate_status
from quire.verbs.journal.init import JournalInit, journal_init
from quire.verbs.journal.log import JournalLog, journal_log
from quire.verbs.journal.sources import JournalAdd, add
from quire.verbs.journal.status import JournalStatus, journal_status
from quire.verbs.verb import Arguments

CYCLE = (
    "from quire.project import Project; from quire.verbs.agents.session_end import journal_run_once; "
    "journal_run_once(Project.open(), background=True)"
)
KEEP = """
import sys
from quire.project import Project
from quire.layers.journal.daemon_loop import Bounds, DaemonLoop
project = Project.open()
DaemonLoop(project.root, project.world, {cycle!r}, Bounds({bounds})).run()
"""
"""What `automate daemon` does, with bounds of the test's own."""
LESSON = "DECISION: Retries run in the worker.\nGOTCHA: Late acks drop messages: the deadline is 10 s."


@pytest.fixture
def here(repo: Path, environment: dict[str, str]) -> Iterator[Project]:
    """A journal in the real world. Whatever process keeps it when the test ends is ended."""
    tokens = iter(os.urandom(8).hex() for _ in range(10**6))
    world = World(
        cwd=str(repo),
        env=environment,
        now=lambda: datetime.now(UTC),
        token=lambda: next(tokens),
        sleep=time.sleep,
        pid=os.getpid(),
    )
    project = Project.open(str(repo), world)
    journal_init(project, JournalInit())
    set_interval(project, 0.02)
    yield project
    if os.path.isdir(os.path.join(project.root, ".agent-memory")):
        with contextlib.suppress(QuireError):
            stop(project, Arguments())


def set_interval(project: Project, minutes: float) -> None:
    path = Path(project.root, ".agent-memory/config.json")
    config = json.loads(path.read_bytes())
    config["automation"]["intervalMinutes"] = minutes
    path.write_text(json.dumps(config))


def keeping(cycle: str = CYCLE, bounds: str = "") -> list[str]:
    """The command of a process that keeps the journal."""
    line = [sys.executable, "-P", "-c", cycle]
    return [sys.executable, "-P", "-c", KEEP.format(cycle=line, bounds=bounds), "automate"]


def started(project: Project, command: list[str], **options: Any) -> StartedDaemon:
    return start_daemon(project.root, project.world, command, **options)


def eventually(is_so: Callable[[], Any], seconds: float = 60.0) -> Any:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = is_so()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("it never came to that")


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def automation(project: Project, name: str) -> Path:
    return Path(project.root, ".agent-memory/automation", name)


def waits(project: Project) -> float:
    """Seconds to the next cycle."""
    at = automate_status(project, Arguments()).next_run_at
    assert at is not None
    return (datetime.fromisoformat(at) - datetime.now(UTC)).total_seconds()


def logged(project: Project) -> str:
    path = Path(project.root, ".agent-memory/local/daemon.log")
    return path.read_text() if path.exists() else ""


@contextlib.contextmanager
def somebody(*words: str) -> Iterator[int]:
    """A process that has nothing to do with us."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", *words])
    try:
        eventually(Path(f"/proc/{process.pid}/cmdline").read_bytes)
        yield process.pid
        assert process.poll() is None, "it was sent a signal"
    finally:
        process.kill()
        process.wait()


def claim(project: Project, pid: int) -> None:
    """Files as another program, or a process that was killed, leaves them."""
    automation(project, "").mkdir(exist_ok=True)
    now = "2026-03-02T11:19:00.000Z"
    fields = {"pid": pid, "startedAt": now, "lastHeartbeatAt": now, "intervalMinutes": 15, "provider": "auto"}
    automation(project, "daemon.json").write_text(json.dumps(fields))
    automation(project, "daemon.lock").write_text(json.dumps({"pid": pid, "createdAt": now}))


# -- cycles as processes --------------------------------------------------------------------------


def add_sessions(project: Project, tmp_path: Path, number: int) -> None:
    folder = tmp_path / "agent/transcripts"
    folder.mkdir(parents=True, exist_ok=True)
    for count in range(number):
        line = {"type": "assistant", "timestamp": "2026-03-01T10:00:00.000Z"}
        line["message"] = {"role": "assistant", "content": f"{LESSON} Case {count}."}  # type: ignore[assignment]
        path = folder / f"s{count}.jsonl"
        path.write_text(json.dumps(line) + "\n")
        os.utime(path, (1.7e9, 1.7e9))
    add(project, JournalAdd(source_type="claude-local", path=str(folder.parent), name="agent"))


def test_a_run_while_another_is_under_way_does_nothing(here: Project, tmp_path: Path) -> None:
    add_sessions(here, tmp_path, 3)
    lock = Path(here.root, ".agent-memory/local/run.lock")
    holder = Holder(pid=os.getpid(), operation="automation", created_at="2026-03-02T11:19:00+00:00")
    with held(str(lock), holder, 0.0, time.sleep, keep=True):
        before = Path(here.root, ".agent-memory/history/events.jsonl").read_bytes()
        cycle = journal_run_once(here)
        assert (cycle.status, cycle.busy, cycle.run) == ("idle", True, {})
        assert Path(here.root, ".agent-memory/history/events.jsonl").read_bytes() == before
        assert not automation(here, "latest-run.json").exists()
    assert journal_run_once(here).status == "recalled"


def test_many_runs_at_once_import_everything_once(here: Project, tmp_path: Path) -> None:
    add_sessions(here, tmp_path, 40)
    line = [sys.executable, "-P", "-c", CYCLE]
    processes = [subprocess.Popen(line, cwd=here.root, env=dict(here.world.env)) for _ in range(4)]
    assert [process.wait(30) for process in processes] == [0, 0, 0, 0]
    journal_run_once(here)
    found = journal_log(here, JournalLog(events=True, archived=True, limit=0)).results
    assert [entry.kind for entry in found].count("imported_session") == 40
    assert len({entry.id for entry in found}) == len(found)


KILLED = """
import os, sys
from quire.files import disk
from quire.project import Project
from quire.verbs.agents.session_end import journal_run_once
left = [int(sys.argv[1])]
def count(operation, path):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), 9)
disk.before = count
journal_run_once(Project.open())
"""


@pytest.mark.proof
def test_a_run_that_is_killed_anywhere_is_continued_by_the_next(here: Project, tmp_path: Path) -> None:
    """In the import, the recall and the archiving: the sessions are old enough for all three."""
    add_sessions(here, tmp_path, 3)
    before = tmp_path / "before"
    shutil.copytree(here.root, before)
    killed, step = 0, 2
    while True:
        shutil.rmtree(here.root)
        shutil.copytree(before, here.root)
        line = [sys.executable, "-P", "-c", KILLED, str(step)]
        code = subprocess.run(line, cwd=here.root, env=dict(here.world.env), check=False, timeout=30).returncode
        if code == 0:
            break
        assert code == -signal.SIGKILL
        killed += 1
        step += 11
        assert journal_run_once(here).run["errors"] == []
        status = journal_status(here, JournalStatus())
        assert (status.unrecalled["all"], status.warnings) == (0, [])
        found = journal_log(here, JournalLog(events=True, archived=True, limit=0)).results
        assert [entry.kind for entry in found].count("imported_session") == 3
        assert len({entry.id for entry in found}) == len(found)
        assert journal_run_once(here).status == "idle"
    assert killed >= 5


def test_a_run_in_the_background_ends_after_the_current_write(here: Project, tmp_path: Path) -> None:
    """It waits for the lock of the journal when it is asked; what waits is left after a moment."""
    add_sessions(here, tmp_path, 3)
    holder = Holder(pid=os.getpid(), operation="test", created_at="2026-03-02T11:19:00+00:00")
    with held(os.path.join(here.root, ".agent-memory/.lock"), holder, 1.0, time.sleep):
        line = [sys.executable, "-P", "-c", CYCLE]
        process = subprocess.Popen(line, cwd=here.root, env=dict(here.world.env))
        lock = Path(here.root, ".agent-memory/local/run.lock")
        eventually(lambda: lock.exists() and lock.read_bytes())
        time.sleep(0.5)
        process.terminate()
        assert process.wait(60) == 0
    run = json.loads(automation(here, "latest-run.json").read_bytes())
    assert any("It was stopped" in text for text in (*run["errors"], *run["warnings"]))
    assert run["importSync"]["results"] == []
    assert journal_run_once(here).status == "recalled"


# -- the process ----------------------------------------------------------------------------------


def test_it_starts_runs_cycles_gives_signs_of_life_and_stops(here: Project, tmp_path: Path) -> None:
    add_sessions(here, tmp_path, 2)
    done = started(here, keeping())
    assert (done.started, runs(done.pid)) == (True, True)
    state = automate_status(here, Arguments())
    assert (state.running, state.pid, state.other_program, state.elsewhere) == (True, done.pid, False, False)
    assert state.interval_minutes == 0.02
    assert state.heartbeat_age_seconds is not None
    assert state.heartbeat_age_seconds < 5
    eventually(lambda: [note["status"] for note in automate_status(here, Arguments()).runs][-1:] == ["recalled"])
    first = automate_status(here, Arguments()).last_heartbeat_at
    eventually(lambda: automate_status(here, Arguments()).last_heartbeat_at != first)
    stopped = stop(here, Arguments())
    assert (stopped.pid, stopped.stopped, stopped.killed) == (done.pid, True, False)
    eventually(lambda: not runs(done.pid))
    assert sorted(path.name for path in automation(here, "").iterdir()) == ["latest-run.json"]
    assert automate_status(here, Arguments()).running is False
    assert stop(here, Arguments()) == type(stopped)(pid=None, stopped=False)
    assert logged(here).splitlines()[-1].endswith("ended: it was asked to stop")


def test_it_belongs_to_nobody_and_reads_and_says_nothing(here: Project) -> None:
    pid = started(here, keeping()).pid
    assert os.getsid(pid) == pid
    assert Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[4] == "0"  # no controlling terminal
    eventually(lambda: {os.readlink(f"/proc/{pid}/fd/{number}") for number in range(3)} == {"/dev/null"})
    # Between two cycles, it holds its lock and nothing else.
    eventually(lambda: sorted(os.listdir(f"/proc/{pid}/fd")) == ["0", "1", "2", "3"])
    assert os.readlink(f"/proc/{pid}/fd/3") == str(automation(here, "daemon.lock").resolve())


def test_there_is_one_for_each_project(here: Project) -> None:
    pid = started(here, keeping()).pid
    with pytest.raises(Conflict, match=f"pid={pid}"):
        start(here, Arguments())
    again = started(here, keeping())
    assert (again.pid, again.started) == (pid, False)


def test_of_two_that_are_started_at_once_one_stays(here: Project) -> None:
    code = (
        "import sys\nfrom quire.project import Project\n"
        "from quire.layers.journal.daemon_process import start_daemon\n"
        "project = Project.open()\n"
        f"done = start_daemon(project.root, project.world, {keeping()!r})\n"
        "sys.stdout.write(f'{done.pid} {done.started}')"
    )
    line = [sys.executable, "-P", "-c", code]
    pipes = {"stdout": subprocess.PIPE, "text": True}
    started = [subprocess.Popen(line, cwd=here.root, env=dict(here.world.env), **pipes) for _ in range(3)]  # type: ignore[call-overload]
    said = [process.communicate(timeout=30)[0].split() for process in started]
    assert len({pid for pid, _ in said}) == 1
    assert sorted(is_new for _, is_new in said) == ["False", "False", "True"]


def test_a_sign_of_life_comes_during_a_cycle_too(here: Project) -> None:
    started(here, keeping("import time; time.sleep(60)"))
    seen = {eventually(lambda: automate_status(here, Arguments()).last_heartbeat_at)}
    eventually(lambda: seen.add(automate_status(here, Arguments()).last_heartbeat_at) or len(seen) > 2)
    assert stop(here, Arguments()).killed is False


def test_settings_are_read_again_before_each_cycle(here: Project) -> None:
    started(here, keeping())
    set_interval(here, 7)
    eventually(lambda: 400 < waits(here) <= 420)
    assert automate_status(here, Arguments()).interval_minutes == 7


def test_one_that_was_killed_is_known_to_be_gone(here: Project) -> None:
    pid = started(here, keeping()).pid
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not runs(pid))
    # A cycle that it was just starting holds its lock for as long as it takes to become another program.
    eventually(lambda: not automate_status(here, Arguments()).running)
    state = automate_status(here, Arguments())
    assert (state.running, state.stale_pid) == (False, pid)
    again = started(here, keeping())
    assert again.pid != pid
    stop(here, Arguments())
    claim(here, pid)
    stopped = stop(here, Arguments())
    assert (stopped.stopped, stopped.pid) == (False, pid)
    assert not automation(here, "daemon.json").exists()


# -- whose number it is ---------------------------------------------------------------------------


def test_a_number_that_was_given_to_another_process_is_never_sent_a_signal(here: Project) -> None:
    with somebody() as pid:
        claim(here, pid)
        assert automate_status(here, Arguments()).running is False
        stopped = stop(here, Arguments())
        assert (stopped.stopped, stopped.pid) == (False, pid)
        assert not automation(here, "daemon.lock").exists()
        claim(here, pid)
        ours = started(here, keeping()).pid
        assert ours != pid
        assert json.loads(automation(here, "daemon.lock").read_bytes())["pid"] == ours


def test_a_lock_that_is_held_under_another_processes_number_is_no_reason_to_kill_it(here: Project) -> None:
    """As in a container: the lock is held, and the number in it is somebody else's here."""
    ours = started(here, keeping("pass", "beat=60.0")).pid
    set_interval(here, 60)
    eventually(lambda: waits(here) > 3000)  # no cycle is under way, and none for long
    before = [(path, path.read_bytes()) for path in (automation(here, "daemon.json"), automation(here, "daemon.lock"))]
    with somebody() as pid:
        for path, data in before:
            with path.open("r+b") as file:
                file.write(data.replace(str(ours).encode(), str(pid).encode()))
                file.truncate()
        assert automate_status(here, Arguments()).elsewhere is True
        with pytest.raises(Conflict, match="is not the one"):
            stop(here, Arguments())
        for path, data in before:
            with path.open("r+b") as file:
                file.write(data)
                file.truncate()
    assert stop(here, Arguments()).pid == ours


def test_the_original_programs_process_is_respected(here: Project) -> None:
    with somebody("automate", "__daemon") as pid:
        claim(here, pid)
        state = automate_status(here, Arguments())
        assert (state.running, state.pid, state.other_program) == (True, pid, True)
        assert started(here, keeping()).started is False
        with pytest.raises(Conflict, match="another program"):
            stop(here, Arguments())
        automation(here, "daemon.json").unlink()
        line = subprocess.run(keeping(), cwd=here.root, env=dict(here.world.env), capture_output=True, check=False)
        assert line.returncode == 1  # not even one that is started by hand takes its lock
        assert json.loads(automation(here, "daemon.lock").read_bytes())["pid"] == pid
    assert started(here, keeping()).started is True


def test_a_process_is_known_by_more_than_its_number(here: Project) -> None:
    env = here.world.env
    with somebody("with", "words") as pid:
        mark = daemons.process_mark(pid, env)
        assert mark
        assert mark != daemons.process_mark(os.getpid(), env)
        words = daemons.command_line(pid, env)
        assert words is not None
        assert words[-2:] == ["with", "words"]
        assert daemons.send_signal(pid, signal.SIGKILL, lambda: False) is False
    assert daemons.process_mark(pid, env) == ""
    assert daemons.command_line(pid, env) == []
    assert daemons.send_signal(pid, signal.SIGKILL, lambda: True) is False
    assert [daemons.is_process_id(number) for number in (-1, 0, 1, 2, 2**31, 2.0, True, "7")] == [False] * 3 + [
        True
    ] + [False] * 4


# -- how it ends by itself ------------------------------------------------------------------------


def test_it_ends_when_the_project_goes_away(here: Project) -> None:
    pid = started(here, keeping()).pid
    shutil.rmtree(here.root)
    eventually(lambda: not runs(pid))
    assert not os.path.exists(here.root)


def test_it_ends_when_the_journal_goes_away(here: Project) -> None:
    pid = started(here, keeping()).pid
    Path(here.root, ".agent-memory/state.json").unlink()
    eventually(lambda: not runs(pid))
    assert "the journal was removed" in logged(here)
    assert not automation(here, "daemon.json").exists()
    journal_init(here, JournalInit(yes=True))


def test_it_ends_when_another_takes_its_place(here: Project) -> None:
    pid = started(here, keeping()).pid
    data = json.loads(automation(here, "daemon.json").read_bytes())
    automation(here, "daemon.json").write_text(json.dumps({**data, "pid": 2}))
    eventually(lambda: not runs(pid))
    assert json.loads(automation(here, "daemon.json").read_bytes())["pid"] == 2


def test_it_ends_when_its_lock_is_taken_away(here: Project) -> None:
    pid = started(here, keeping()).pid
    automation(here, "daemon.lock").unlink()
    eventually(lambda: not runs(pid))
    assert "its lock was removed" in logged(here)


@pytest.mark.proof
def test_it_ends_after_its_time_and_after_failures_in_a_row(here: Project) -> None:
    pid = started(here, keeping(bounds="life=1.5")).pid
    eventually(lambda: not runs(pid))
    assert "its time is up" in logged(here)
    failing = "import sys; sys.exit('the reason')"
    pid = started(here, keeping(failing, "failures=2")).pid
    eventually(lambda: not runs(pid))
    assert "2 cycles in a row failed" in logged(here)
    assert "a cycle ended with 1: the reason" in logged(here)


def test_a_cycle_that_hangs_is_ended(here: Project) -> None:
    pid = started(here, keeping("import time; time.sleep(600)", "cycle=0.5, failures=1")).pid
    eventually(lambda: not runs(pid))
    assert "a cycle was ended after" in logged(here)


# -- starts that come to nothing ------------------------------------------------------------------


def test_one_that_is_too_slow_is_stopped_and_nothing_runs_unseen(here: Project, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    slow = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    with pytest.raises(QuireError, match="did not respond within 1 s"):
        started(here, [sys.executable, "-c", slow], seconds=1.0)
    assert not runs(int(note.read_text()))


def test_one_that_fails_says_why(here: Project) -> None:
    with pytest.raises(QuireError, match=r"it ended with 1.*the reason"):
        started(here, [sys.executable, "-c", "import sys; sys.exit('the reason')"])
    with pytest.raises(QuireError, match="start the automation"):
        started(here, ["/no/such/program"])
    assert automate_status(here, Arguments()).running is False


def test_settings_that_cannot_be_read_are_told_before_anything_is_started(here: Project) -> None:
    Path(here.root, ".agent-memory/config.json").write_text("{")
    with pytest.raises(QuireError, match=r"config\.json"):
        started(here, keeping())
    assert not automation(here, "").exists()
