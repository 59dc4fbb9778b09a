"""The installed command, stopped from outside: by signals, and by a tracer that kills it or refuses its calls."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from promised import proves, tally
from thorough import either

TRACER = shutil.which("strace")
# The command as it is installed, but for this: at its first sync it says so, and takes its time.
SLOWLY = """
import sys, time
from quire.files import disk
def before(operation, path):
    if operation == "fsync":
        disk.before = lambda _operation, _path: None
        print("writing", file=sys.stderr, flush=True)
        time.sleep(0.6)
disk.before = before
from quire.surfaces.cli.main import main
sys.exit(main())
"""
NODE = '{"task": "t", "nodes": [{"kind": "feature", "title": "New", "body": "B."}]}'


class Saving(NamedTuple):
    """A command that saves, and how to see whether it did."""

    line: tuple[str, ...]
    stdin: str
    is_there: Callable[[Path], bool]


def holds(name: str, text: bytes) -> Callable[[Path], bool]:
    return lambda repo: (repo / name).is_file() and text in (repo / name).read_bytes()


SAVING = {
    "graph": Saving(("save", "--stdin"), NODE, holds(".memory/memory/new.md", b"B.")),
    "facts": Saving(
        ("facts", "store", "Decisions", "Mails go out at night."), "", holds(".memory/facts.jsonl", b"Mails go out")
    ),
    "profile": Saving(
        ("profile", "remember", "user", "timezone", "Europe/Madrid"), "", holds(".ai-state/memory.json", b"Madrid")
    ),
    "journal": Saving(("journal", "init"), "", holds(".agent-memory/state.json", b"schemaVersion")),
}
SIGNALS = [("graph", "INT"), ("facts", "TERM"), ("profile", "INT"), ("journal", "TERM")]
SIGNALS += [(layer, {"INT": "TERM", "TERM": "INT"}[name]) for layer, name in SIGNALS]


@proves("P1.4", "A8", over="graph facts profile journal")
@pytest.mark.parametrize(("layer", "name"), either(SIGNALS[:4], SIGNALS))
def test_a_signal_in_the_middle_of_a_save_ends_the_command_and_blocks_nobody(
    project: Any, memory: Any, repo: Path, layer: str, name: str
) -> None:
    """Ctrl-C waits until what is being written is decided; whoever ends the process may end it anywhere."""
    sent = {"INT": signal.SIGINT, "TERM": signal.SIGTERM}[name]
    saving = SAVING[layer]
    line = [sys.executable, "-c", SLOWLY, *saving.line]
    # Whoever runs the tests in the background has them ignore Ctrl-C, and that is inherited.
    with subprocess.Popen(
        line,
        cwd=repo,
        env=memory.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(sent, signal.SIG_DFL),
    ) as process:
        assert process.stdin
        assert process.stderr
        process.stdin.write(saving.stdin.encode())
        process.stdin.close()
        process.stdin = None
        assert process.stderr.readline() == b"writing\n"
        process.send_signal(sent)
        said = process.communicate(timeout=60)[1]
    # A shell tells of the end by a signal as 128 and its number.
    assert process.returncode == (130 if name == "INT" else -signal.SIGTERM)
    assert b"Traceback" not in said
    again = memory(*saving.line, stdin=saving.stdin.encode(), env={"MEMORY_LOCK_TIMEOUT": "0"})
    assert again.code == 0 or "already" in again.err, again.err
    assert saving.is_there(repo)
    assert memory("check").code == 0
    tally("P1.4", faults=1, processes=1)


@proves("P1.4", "A8", over="graph")
@pytest.mark.skipif(not os.path.exists("/proc/self/syscall"), reason="needs a look at what a process waits for")
@pytest.mark.parametrize(
    ("sent", "code"), either([(signal.SIGINT, 130)], [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
)
def test_a_signal_ends_a_command_that_waits_for_its_input(
    project: Any, memory: Any, sent: signal.Signals, code: int
) -> None:
    with memory.start("save", "--stdin", preexec_fn=lambda: signal.signal(sent, signal.SIG_DFL)) as process:
        waiting_for_input(process.pid)
        process.send_signal(sent)
        assert process.wait(30) == code
        assert process.stderr
        assert b"Traceback" not in process.stderr.read()
    tally("P1.4", faults=1, processes=1)


def waiting_for_input(pid: int) -> None:
    """Until the process reads from its standard input."""
    read = (os.uname().machine == "x86_64" and "0 0x0 ") or ("63 0x0 ")
    for _ in range(3_000):
        if Path(f"/proc/{pid}/syscall").read_text(encoding="ascii").startswith(read):
            return
        time.sleep(0.02)
    pytest.fail("the command never asked for its input")


# -- from outside -------------------------------------------------------------------------


@pytest.fixture(scope="session")
def tracer() -> str:
    if TRACER is None:
        pytest.skip("strace is not installed")
    line = [TRACER, "-f", "-qq", "-e", "trace=fsync", "-e", "inject=fsync:error=EIO", "true"]
    if subprocess.run(line, capture_output=True, check=False).returncode:
        pytest.skip("processes may not be traced here (ptrace)")
    return TRACER


def traced(tracer: str, memory: Any, what: str) -> Any:
    """The installed command below a tracer that does this to its calls."""
    call = what.partition(":")[0]
    return type(memory)(memory.cwd, memory.env, [tracer, "-f", "-qq", "-e", f"trace={call}", "-e", f"inject={what}"])


@proves("P1.1", "A1", "A5", over="graph facts profile journal")
@pytest.mark.parametrize("layer", either(["graph"], list(SAVING)))
def test_a_kill_at_any_sync_leaves_all_or_nothing(
    tracer: str, project: Any, memory: Any, repo: Path, tmp_path: Path, layer: str
) -> None:
    saving = SAVING[layer]
    shutil.copytree(repo, tmp_path / "template", symlinks=True)
    numbers = either([3], range(1, 200))
    done = 0
    for number in numbers:
        shutil.rmtree(repo)
        shutil.copytree(tmp_path / "template", repo, symlinks=True)
        ended = traced(tracer, memory, f"fsync:signal=SIGKILL:when={number}")(*saving.line, stdin=saving.stdin.encode())
        if ended.code == 0:
            break
        done += 1
        assert ended.code in (-signal.SIGKILL, 128 + signal.SIGKILL), (number, ended)
        assert memory("status").code == 0
        there = saving.is_there(repo)
        assert memory("check").code == 0, (number, there)
        again = memory(*saving.line, stdin=saving.stdin.encode(), env={"MEMORY_LOCK_TIMEOUT": "0"})
        assert again.code == 0 or there, (number, again)
        assert saving.is_there(repo)
        assert not list(repo.glob(".*/recovery/transaction-*"))
    tally("P1.1", faults=done, processes=done)
    assert done >= either(1, 4)


@proves("P1.3", "C1", "C4", over="graph facts profile journal")
@pytest.mark.parametrize("layer", SAVING)
@pytest.mark.parametrize("what", ["write:error=ENOSPC", "fsync:error=EIO", "rename:error=EROFS"])
@pytest.mark.skipif(either(True, False), reason="only in a long run")
def test_a_call_that_the_system_refuses_is_told_and_tears_nothing(
    tracer: str, project: Any, memory: Any, repo: Path, tmp_path: Path, layer: str, what: str
) -> None:
    saving = SAVING[layer]
    shutil.copytree(repo, tmp_path / "template", symlinks=True)
    refused = 0
    for number in range(1, 60):
        shutil.rmtree(repo)
        shutil.copytree(tmp_path / "template", repo, symlinks=True)
        ended = traced(tracer, memory, f"{what}:when={number}")(*saving.line, stdin=saving.stdin.encode())
        assert "Traceback" not in ended.err, (number, ended.err[-600:])
        refused += ended.code != 0
        if ended.code == 0:
            assert saving.is_there(repo), number
        assert memory("check").code == 0, number
        assert memory(*saving.line, stdin=saving.stdin.encode()).code == 0 or saving.is_there(repo), number
    tally("P1.3", faults=59, processes=59)
    assert refused >= (0 if what.startswith("rename") else 1)
