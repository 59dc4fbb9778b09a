"""Whatever happens to a hook, its client sees an answer in its form or silence, in time, and never a failure."""

from __future__ import annotations

import os
import pty
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest
from hooks_here import SHOP_NODES, SILENCE, Hooks, left_behind, text_in

from installed import Git, Memory, without_shell
from promised import proves

CAP = 0.4
SLACK = 2.0
"""What starting Python and loading the program may take on a busy machine."""
SHORT = {"MEMORY_HOOK_SECONDS": str(CAP)}
NEST = b'{"a":' * 20_000
# A payload of every odd kind: none of them says what happened, or where.
ODD_PAYLOADS = {
    "nothing": b"",
    "blanks": b" \n\t ",
    "a list": b"[1, 2]",
    "a number": b"1e999",
    "half an object": b'{"cwd": "/',
    "bytes": bytes(range(256)) * 10,
    "zeros": b"\0" * 1000,
    "nesting": NEST,
    "nesting with a tail": NEST + b"1" + b"}" * 20_000,
    "ten megabytes": b"\xfe\x00garbage" * (10 * 1024 * 1024 // 9),
    "ten megabytes of JSON": b'{"prompt": "' + b"a" * (10 * 1024 * 1024) + b'"}',
    "half a character": b'{"hook_event_name": "\\ud800", "cwd": "\\udfff"}',
    "another event": b'{"hook_event_name": "PostToolUse"}',
    "wrong kinds": b'{"session_id": 5, "cwd": {"a": 1}, "prompt": [null], "tool_input": "x", "source": {}}',
}


@pytest.fixture
def shop(memory: Memory, repo: Path) -> Hooks:
    memory.init()
    (repo / "src").mkdir()
    (repo / "src/orders.py").write_text("def add(): ...\n")
    memory.save(*SHOP_NODES)
    return Hooks(repo, memory.env)


def silent(done: object, client: str) -> None:
    assert (done.code, done.out, done.err) == (0, SILENCE[client], "")  # type: ignore[attr-defined]


# -- what it is called with ----------------------------------------------------------------------------------------


@pytest.mark.proof(keep=4)
@pytest.mark.parametrize(
    "words",
    [
        (),
        ("",),
        ("claude",),
        ("emacs", "session-start"),
        ("cline", "session-start"),
        ("claude", "nonsense"),
        ("gemini",),
        ("gemini", "nonsense"),
        ("gemini", "after-compaction"),
        ("--bogus",),
        ("--json", "claude", "session-start"),
        ("--", "claude", "session-start"),
        ("-h",),
        ("claude", "x" * 100_000),
        ("x" * 100_000, "prompt"),
        ("claude\n\x1b[2J", "prompt"),
        ("\udcff", "\udcfe"),
    ],
    ids=lambda words: " ".join(words)[:30].encode("ascii", "replace").decode() or "nothing",
)
def test_words_that_mean_nothing(shop: Hooks, words: tuple[str, ...]) -> None:
    silent(shop(*words), words[0] if words[:1] == ("gemini",) else "claude")
    assert left_behind(shop) == []


def test_further_words_do_no_harm(shop: Hooks) -> None:
    for number, more in enumerate((("more", "words"), ("--bogus",), ("--json",), ("--", "-v"))):
        done = shop("gemini", "session-start", *more, stdin={"session_id": f"s-{number}"})
        assert (done.code, done.err) == (0, "")
        assert "Order book" in text_in(done.out, "gemini")


def test_people_who_ask_for_help_get_it(shop: Hooks) -> None:
    done = shop("--help")
    assert (done.code, done.err) == (0, "")
    assert "MEMORY_HOOKS=off" in done.out


# -- what comes on standard input ----------------------------------------------------------------------------------


@pytest.mark.proof(keep=7)
@proves("P10.5", "H6")
@pytest.mark.parametrize("client", ["claude", "gemini"])
@pytest.mark.parametrize("kind", ODD_PAYLOADS)
def test_odd_payloads(shop: Hooks, kind: str, client: str) -> None:
    done = shop(client, "prompt", stdin=ODD_PAYLOADS[kind])
    silent(done, client)
    if kind != "wrong kinds":  # then there is a payload without a prompt
        assert len(shop.log()) == 1
        assert f"{client} prompt: " in shop.log()[0]


def test_a_start_without_a_readable_payload_says_nothing(shop: Hooks) -> None:
    for payload in (b"", b"[]", b'{"cwd":'):
        silent(shop("claude", "session-start", stdin=payload), "claude")
    silent(shop("gemini", "session-start", stdin=b""), "gemini")


def test_a_closed_standard_input(shop: Hooks) -> None:
    for closed in ("<&-", "<&- 2>&-", "</dev/null"):
        for client in ("claude", "gemini"):
            line = f'exec "$0" hook {client} session-start {closed}'
            done = subprocess.run(
                ["/bin/sh", "-c", line, shop.program], cwd=shop.root, env=shop.env, capture_output=True, check=False
            )
            assert (done.returncode, done.stdout.decode(), done.stderr) == (0, SILENCE[client], b""), closed
    assert left_behind(shop) == []


@proves("P10.5", "H6")
@pytest.mark.parametrize("client", ["claude", "gemini"])
def test_a_standard_input_that_is_held_open(shop: Hooks, client: str) -> None:
    with shop.start(client, "session-start", env=SHORT) as process:
        assert process.stdin is not None
        process.stdin.write(b'{"session_id": "s')
        process.stdin.flush()
        assert process.wait(60) == 0
        assert process.stdout is not None
        assert process.stdout.read() == SILENCE[client].encode()
    assert [line.partition(" ")[2] for line in shop.log()] == [
        f"{client} session-start: ended after 0.4 s without an answer"
    ]
    assert left_behind(shop) == []


@proves("P10.5", "H6")
def test_a_standard_input_that_never_ends(shop: Hooks) -> None:
    with open("/dev/zero", "rb") as zeros, shop.start("cursor", "session-start", env=SHORT, stdin=zeros) as process:
        assert process.wait(60) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b"{}\n"
    assert left_behind(shop) == []


def test_a_terminal_as_standard_input(shop: Hooks) -> None:
    ours, theirs = pty.openpty()
    try:
        with shop.start("gemini", "session-start", env=SHORT, stdin=theirs) as process:
            assert process.wait(60) == 0
            assert process.stdout is not None
            assert process.stdout.read() == b"{}\n"
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("said", ["", "nan", "-1", "soon", "1e400", "0"])
def test_a_limit_that_is_no_number_of_seconds(shop: Hooks, said: str) -> None:
    done = shop("claude", "turn-end", env={"MEMORY_HOOK_SECONDS": said})
    silent(done, "claude")


# -- where the answer goes -----------------------------------------------------------------------------------------


@pytest.mark.proof(keep=3)
@pytest.mark.parametrize("target", [">&-", ">&- 2>&-", ">&- <&- 2>&-", ">/dev/full", "| true", "2>&-", "2>/dev/full"])
@pytest.mark.parametrize("client", ["claude", "gemini"])
def test_a_standard_output_that_nobody_reads(shop: Hooks, target: str, client: str) -> None:
    line = (
        f'"$0" hook {client} session-start {target}'
        if "|" in target
        else f'exec "$0" hook {client} session-start {target}'
    )
    done = subprocess.run(
        ["/bin/sh", "-c", line, shop.program],
        cwd=shop.root,
        env=shop.env,
        input=shop.payload(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert left_behind(shop) == []


def test_a_pipe_whose_reader_went_away(shop: Hooks) -> None:
    reader, writer = os.pipe()
    with shop.start("claude", "session-start", stdout=writer) as process:
        os.close(writer)
        os.close(reader)
        _, said = process.communicate(shop.payload(), timeout=20)
        assert (process.returncode, said) == (0, b"")


# -- signals -------------------------------------------------------------------------------------------------------


def child_of(process: subprocess.Popen[bytes]) -> int:
    """The one process that a hook started, once it waits for the payload."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        except OSError:
            found = []
        if found:
            time.sleep(0.1)
            return int(found[0])
        time.sleep(0.01)
    raise AssertionError("it started none")


proc = pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="children are found in /proc")


@proves("P10.5", "H6")
@proc
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize("client", ["claude", "gemini"])
def test_a_signal_ends_it_well(shop: Hooks, number: signal.Signals, client: str) -> None:
    with shop.start(client, "session-start") as process:
        child_of(process)
        process.send_signal(number)
        assert process.wait(60) == 0
        assert process.stdout is not None
        assert process.stderr is not None
        assert (process.stdout.read(), process.stderr.read()) == (SILENCE[client].encode(), b"")
    assert left_behind(shop) == []


@proc
def test_a_signal_that_says_that_nobody_reads_is_not_heeded(shop: Hooks) -> None:
    with shop.start("claude", "session-start") as process:
        child_of(process)
        process.send_signal(signal.SIGPIPE)
        out, err = process.communicate(shop.payload(), timeout=20)
        assert (process.returncode, err) == (0, b"")
        assert "Order book" in text_in(out.decode(), "claude")


@proc
def test_a_key_that_interrupts_everybody(shop: Hooks) -> None:
    with shop.start("gemini", "session-start", start_new_session=True) as process:
        child_of(process)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert (process.returncode, out, err) == (0, b"{}\n", b"")
    assert left_behind(shop) == []


@proves("P10.5", "H6")
@proc
@pytest.mark.parametrize("client", ["claude", "gemini"])
def test_a_child_that_is_killed(shop: Hooks, client: str) -> None:
    with shop.start(client, "session-start") as process:
        os.kill(child_of(process), signal.SIGKILL)
        assert process.wait(60) == 0
        assert process.stdout is not None
        assert process.stdout.read() == SILENCE[client].encode()
    assert [line.partition(" ")[2] for line in shop.log()] == [
        f"{client} session-start: its process died without an answer"
    ]


@proc
def test_a_child_whose_parent_is_killed_goes_by_itself(shop: Hooks) -> None:
    with shop.start("claude", "session-start", env=SHORT) as process:
        child = child_of(process)
        process.kill()
        process.wait(60)
        assert str(child) in " ".join(left_behind(shop))
        assert left_behind(shop, 5) == []


def test_programs_that_it_started_are_ended_with_it(shop: Hooks, git: Git, tmp_path: Path) -> None:
    """A git that hangs: the hook ends in time, and takes it along."""
    git.commit()
    (shop.root / "src/orders.py").write_text("def add(): return 1\n")
    slow = tmp_path / "bin/git"
    slow.parent.mkdir()
    slow.write_text(f"#!/bin/sh\ntouch {tmp_path}/was-called\nexec sleep 60\n")
    slow.chmod(0o755)
    env = {**SHORT, "PATH": f"{slow.parent}:{shop.env['PATH']}"}
    done = [
        shop("claude", event, env=env, stdin={"prompt": "webhook retries"}) for event in ("session-start", "prompt")
    ]
    assert [(item.code, item.err) for item in done] == [(0, ""), (0, "")]
    assert (tmp_path / "was-called").exists()
    assert left_behind(shop, 1) == []


# -- a machine that refuses ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("client", ["claude", "gemini"])
def test_a_machine_that_starts_no_process(shop: Hooks, tmp_path: Path, client: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import errno, os\n\ndef refuse():\n    raise BlockingIOError(errno.EAGAIN, 'no more processes')\n\n"
        "os.fork = refuse\n"
    )
    silent(shop(client, "session-start", env={"PYTHONPATH": str(tmp_path)}), client)
    if os.geteuid() != 0:  # root may always start one

        def few() -> None:
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))

        silent(shop(client, "session-start", preexec_fn=few), client)


@pytest.mark.proof
@without_shell
@proves("P10.5", "H6")
@pytest.mark.parametrize("client", ["claude", "gemini"])
def test_few_open_files(shop: Hooks, client: str) -> None:
    for most in range(3, 12):

        def few(most: int = most) -> None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

        done = shop(client, "session-start", stdin={"session_id": f"s-{most}"}, preexec_fn=few)
        if done.code != 0:
            # With so few the interpreter itself does not start.
            assert most < 8, done
            assert "quire/surfaces/cli/hook" not in done.err
            continue
        assert done.err == ""
        text_in(done.out, client)


@proves("P10.5", "H6")
@pytest.mark.parametrize("client", ["claude", "gemini"])
def test_a_disk_that_takes_nothing_more(shop: Hooks, client: str) -> None:
    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    for event in ("session-start", "prompt", "session-end"):
        done = shop(client, event, stdin={"prompt": "webhook retries"}, preexec_fn=full)
        assert (done.code, done.err) == (0, "")
        text_in(done.out, client)
    # What was there can still be read, and is told.
    assert "Order book" in text_in(shop(client, "session-start", preexec_fn=full).out, client)


@proves("P10.5", "H6")
@pytest.mark.parametrize("client", ["claude", "gemini"])
def test_little_memory(shop: Hooks, client: str) -> None:
    def little() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (60_000_000, 60_000_000))

    done = shop(client, "session-start", preexec_fn=little)
    assert (done.code, done.err) == (0, "")
    text_in(done.out, client)


@without_shell
@proves("P10.5", "H6")
@pytest.mark.parametrize("client", ["claude", "gemini"])
def test_a_folder_that_is_gone(shop: Hooks, tmp_path: Path, client: str) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f'cd {gone} && rmdir {gone} && exec "$0" hook {client} session-start'
    done = subprocess.run(
        ["/bin/sh", "-c", line, shop.program], env=shop.env, input=shop.payload(), capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    text_in(done.stdout.decode(), client)


@pytest.mark.proof(keep=3)
@proves("P10.5", "H6")
@pytest.mark.parametrize(
    "env",
    [
        {"HOME": None, "MEMORY_HOME": None},
        {"HOME": "/nonexistent", "MEMORY_HOME": None},
        {"HOME": "", "MEMORY_HOME": ""},
        {"PATH": None},
        {"LANG": "C", "LC_ALL": "POSIX"},
        {"PYTHONIOENCODING": "ascii"},
        {"MEMORY_LOCK_TIMEOUT": "x"},
        {"TZ": "Nowhere/Nothing"},
    ],
    ids=lambda env: ",".join(env),
)
def test_an_odd_environment(shop: Hooks, env: dict[str, str | None]) -> None:
    done = shop("claude", "session-start", env=env)
    assert (done.code, done.err) == (0, "")
    assert "Order book" in text_in(done.out, "claude")


@pytest.mark.parametrize("client", ["claude", "gemini"])
def test_a_pinned_clock_that_is_no_date(shop: Hooks, client: str) -> None:
    for event in ("session-start", "prompt", "before-edit", "turn-end", "session-end"):
        done = shop(client, event, env={"MEMORY_NOW": "yesterday"}, stdin={"prompt": "webhook retries"})
        assert (done.code, done.err) == (0, "")
        text_in(done.out, client)
