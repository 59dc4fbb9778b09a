"""Programs are run to their end, or to the end of their time, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from quire.files.programs import Finished, run_program, start_program

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks at open files through /proc")
ENV = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


def sh(script: str, cwd: Path, *, stdin: bytes = b"", seconds: float = 20, **more: object) -> Finished:
    return run_program(["/bin/sh", "-c", script], cwd=str(cwd), env=ENV, stdin=stdin, seconds=seconds, **more)  # type: ignore[arg-type]


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.strip().startswith("Z")


def wait_until_gone(pid: int, seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not is_running(pid):
            return True
        time.sleep(0.02)
    return False


def test_a_program_says_how_it_ended_and_what_it_said(tmp_path: Path) -> None:
    done = sh("cat; echo wrong >&2; pwd; exit 3", tmp_path, stdin=b"in\n")
    assert done == Finished(code=3, out=f"in\n{tmp_path.resolve()}\n".encode(), err=b"wrong\n")


def test_its_environment_is_the_one_it_is_given_and_no_shell_reads_its_arguments(tmp_path: Path) -> None:
    code = "import os, sys; print(sorted(k for k in os.environ if k != 'LC_CTYPE'), sys.argv[1:])"
    line = [sys.executable, "-c", code, "$HOME; touch x", "`id`", ""]
    done = run_program(line, cwd=str(tmp_path), env={"ONLY": "this"}, seconds=20)
    assert done.out.decode().strip() == "['ONLY'] ['$HOME; touch x', '`id`', '']"
    assert list(tmp_path.iterdir()) == []


def test_a_signal_is_a_negative_code(tmp_path: Path) -> None:
    assert sh("kill -TERM $$", tmp_path).code == -signal.SIGTERM


@pytest.mark.parametrize(
    ("argv", "said"),
    [(["/nowhere/at-all"], "No such file"), (["./plain"], "Permission denied"), (["a\0b"], "null byte")],
)
def test_what_cannot_be_started_is_missing(tmp_path: Path, argv: list[str], said: str) -> None:
    (tmp_path / "plain").write_text("no program")
    done = run_program(argv, cwd=str(tmp_path), env=ENV, seconds=5)
    assert done.code is None
    assert said in done.missing
    assert not done.timed_out


def test_a_line_that_is_too_long_for_the_system_is_missing_too(tmp_path: Path) -> None:
    done = run_program(["/bin/echo", "x" * 3_000_000], cwd=str(tmp_path), env=ENV, seconds=5)
    assert "too long" in done.missing


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "No such file" in run_program(["/bin/true"], cwd=str(tmp_path / "gone"), env=ENV, seconds=5).missing


def test_a_child_that_does_not_read_is_no_error(tmp_path: Path) -> None:
    done = sh("exec 0<&-; echo enough", tmp_path, stdin=b"x" * 5_000_000)
    assert done == Finished(code=0, out=b"enough\n")


def test_much_is_sent_while_much_comes_back(tmp_path: Path) -> None:
    sent = os.urandom(3_000_000)
    done = sh("cat", tmp_path, stdin=sent)
    assert done.out == sent


def test_at_the_time_limit_the_whole_group_goes(tmp_path: Path) -> None:
    done = sh("sleep 60 & echo $! > child; echo started; trap '' TERM; sleep 60", tmp_path, seconds=0.7)
    assert (done.code, done.timed_out, done.out) == (None, True, b"started\n")
    assert wait_until_gone(int((tmp_path / "child").read_text()))


def test_a_program_that_closes_its_pipes_and_goes_on_is_stopped_as_well(tmp_path: Path) -> None:
    done = sh("echo $$ > me; exec 1>&- 2>&-; exec sleep 60", tmp_path, seconds=0.7)
    assert (done.code, done.timed_out) == (None, True)
    assert wait_until_gone(int((tmp_path / "me").read_text()))


def test_a_child_that_holds_the_pipe_does_not_hold_us(tmp_path: Path) -> None:
    done = sh("sleep 60 & echo $! > child; echo done; exit 4", tmp_path, seconds=30)
    assert done == Finished(code=4, out=b"done\n")
    assert wait_until_gone(int((tmp_path / "child").read_text()))


def test_a_child_with_a_session_of_its_own_does_not_hold_us_either(tmp_path: Path) -> None:
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid(); open('child', 'w').write(str(os.getpid())); time.sleep(60)\n"
        "while not os.path.exists('child') or not os.path.getsize('child'): time.sleep(0.01)\n"
        "print('done')"
    )
    done = run_program([sys.executable, "-c", code], cwd=str(tmp_path), env=ENV, seconds=30)
    child = int((tmp_path / "child").read_text())
    try:
        assert (done.code, done.out) == (0, b"done\n")
        assert is_running(child)
    finally:
        os.kill(child, signal.SIGKILL)


def test_of_a_long_answer_the_end_is_kept_in_little_memory(tmp_path: Path) -> None:
    code = (
        "import resource, sys\n"
        "from quire.files.programs import run_program\n"
        "said = 'import sys\\nfor n in range(100): sys.stdout.write(chr(65 + n % 26) * 1000000)\\nprint(\"the end\")'\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "done = run_program([sys.executable, '-c', said], cwd='/', env={}, seconds=60, most=100_000)\n"
        "after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(done.code, done.too_long, len(done.out), done.out[-8:], after - before < 20_000)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == r"0 True 100000 b'the end\n' True"


def test_an_endless_answer_ends_when_it_is_too_long_if_that_is_wanted(tmp_path: Path) -> None:
    done = sh("yes", tmp_path, seconds=60, most=50_000, end_when_long=True)
    assert (done.code, done.too_long, done.timed_out, len(done.out)) == (None, True, False, 50_000)


@needs_proc
def test_our_other_files_are_closed_to_it(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    try:
        done = sh("ls /proc/self/fd", tmp_path)
    finally:
        os.close(descriptor)
    assert str(descriptor) not in done.out.decode().split()


def test_it_leads_a_group_of_its_own(tmp_path: Path) -> None:
    code = "import os; print(os.getpid() == os.getpgrp() == os.getsid(0))"
    assert run_program([sys.executable, "-c", code], cwd=str(tmp_path), env=ENV, seconds=20).out == b"True\n"


@needs_proc
def test_nothing_of_it_is_left_open(tmp_path: Path) -> None:
    sh("true", tmp_path)
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(5):
        sh("cat", tmp_path, stdin=b"x")
        sh("sleep 9", tmp_path, seconds=0.05)
    assert len(set(os.listdir("/proc/self/fd")) - before) == 0


def test_who_is_interrupted_takes_the_program_along(tmp_path: Path) -> None:
    code = (
        "import signal\n"
        "from quire.files.programs import run_program\n"
        # Who starts the tests in the background has them ignore it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        # The program says where it is once whoever started it surely reads from it.
        "run_program(['/bin/sh', '-c', 'sleep 0.5; echo $$ > me; exec sleep 60'], "
        f"cwd={str(tmp_path)!r}, env={{'PATH': '/usr/bin:/bin'}}, seconds=60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    me = tmp_path / "me"
    while not me.exists() or not me.read_text().strip():
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert b"KeyboardInterrupt" in said
    assert wait_until_gone(int(me.read_text()))


@needs_proc
def test_a_program_in_the_background_lives_without_us(tmp_path: Path) -> None:
    code = (
        "from quire.files.programs import start_program\n"
        f"print(start_program(['/bin/sh', '-c', 'cat; sleep 0.5; echo $$ > said; exec sleep 60'], "
        f"cwd={str(tmp_path)!r}, env={{'PATH': '/usr/bin:/bin'}}))"
    )
    env = {**os.environ, "PYTHONWARNINGS": "error"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert done.stderr == ""
    pid = int(done.stdout)
    try:
        said = tmp_path / "said"
        end = time.monotonic() + 60
        while time.monotonic() < end and not (said.exists() and said.read_text().strip()):
            time.sleep(0.02)
        assert int(said.read_text()) == pid
        assert is_running(pid)
        assert os.getsid(pid) == pid
        assert {os.readlink(f"/proc/{pid}/fd/{number}") for number in (0, 1, 2)} == {"/dev/null"}
    finally:
        os.kill(pid, signal.SIGKILL)


@needs_proc
def test_a_program_in_the_background_leaves_no_dead_process(tmp_path: Path) -> None:
    pid = start_program(["/bin/true"], cwd=str(tmp_path), env=ENV)
    end = time.monotonic() + 60
    while time.monotonic() < end and Path(f"/proc/{pid}").exists():
        time.sleep(0.02)
    assert not Path(f"/proc/{pid}").exists()


def test_a_background_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        start_program(["/nowhere/at-all"], cwd=str(tmp_path), env=ENV)
