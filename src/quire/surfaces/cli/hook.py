"""`memory hook`: answer a client's hook in a child process with a time limit; never fail.

The work is done by a child, which the parent ends when its time is up. Whatever happens to the child (an error, a hang,
a signal), the parent prints either a whole answer or nothing and ends with 0, so that no client is ever held up.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
from time import monotonic
from typing import TYPE_CHECKING, NoReturn

from quire.surfaces.cli.commands import Argument, Command, Session
from quire.surfaces.cli.output import drop_stdout

if TYPE_CHECKING:
    from quire.files.world import World

_EXAMPLES = """Examples:
  quire hook claude session-start < payload.json
  quire hook gemini prompt < payload.json
  MEMORY_HOOKS=off claude       without hooks, this once
"""
_SECONDS = {"session-start": 6.0, "after-compaction": 6.0, "prompt": 2.5, "before-edit": 2.5, "turn-end": 5.0}
"""The end of a turn only leaves a note, unless agents may be asked there: then the session is looked at."""
_OTHER_SECONDS = 1.0
"""What only leaves a note is over in milliseconds; some clients give the end of a session no more than 1.5 seconds."""
_MOST_SECONDS = 60.0
_LAST_SECONDS = 0.25
_MOST_BYTES = 1 << 20
_OFF = ("off", "0", "no", "false")
_ABOUT, _ANSWER, _COLLECT = b"\x00", b"\x01", b"\x02"
"""What the child says: which project it is about, its answer, and that there is work for later."""
_NOTHING = b"{}\n"
"""What every client takes for no answer; each has a silence of its own, where that can still be found out."""


def run(session: Session, words: tuple[str, ...]) -> int:  # noqa: ARG001
    """Answer a hook of a client: its payload comes on standard input, the answer goes to standard output.

    CLIENT is claude, codex, cursor, gemini, opencode or copilot; EVENT is session-start, prompt, before-edit,
    before-compaction, after-compaction, turn-end or session-end, or the client's own name of it. `memory integrate`
    writes these commands where each client looks for them. It always ends with 0 within a few seconds
    (MEMORY_HOOK_SECONDS) and prints only what the client expects; .memory/local/hooks.log says why there was no
    output. MEMORY_HOOKS=off switches it off.
    """
    return answer_hook(list(words))


def answer_hook(words: list[str]) -> int:
    """Answer one hook; always 0."""
    client, event = (*words, "", "")[:2]
    root = ""
    try:
        world, answer, root = _guarded(client, event)
    except (Exception, KeyboardInterrupt):
        # Whoever hooked us in must not notice: a signal, a full process table, a folder that is gone.
        answer = _NOTHING
        with contextlib.suppress(Exception, KeyboardInterrupt):
            answer = _silent(client, event)
    with contextlib.suppress(Exception, KeyboardInterrupt):
        _print(answer)
        if root:
            _collect_later(root, world)
    return 0


def _guarded(client: str, event: str) -> tuple[World, bytes, str]:
    """What is to be printed; and the project, if sessions wait there to be read."""
    from quire.files.world import real_world

    world = real_world()
    if world.env.get("MEMORY_HOOKS", "").strip().lower() in _OFF:
        return world, _silent(client, event), ""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    seconds = _allowed(event, world)
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        _work(client, event, world, write_end, seconds)
    os.close(write_end)
    said, is_whole, is_done = _heard(read_end, child, seconds)
    about, _, rest = said.removeprefix(_ABOUT).partition(_ANSWER)
    root = about.decode("utf-8", "surrogateescape")
    if not is_done:
        why = "its process died" if is_whole else f"ended after {seconds:g} s"
        _log_from_outside(root, world, client, event, f"{why} without an answer")
        # It may have been making the index, which nobody would ever finish if each hook began anew.
        return world, _silent(client, event), root if event in _SECONDS and not is_whole else ""
    answer, later, _ = rest.partition(_COLLECT)
    return world, answer, root if later else ""


def _print(answer: bytes) -> None:
    if not answer or sys.stdout is None:
        return
    try:
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
    except OSError:
        drop_stdout()


def _allowed(event: str, world: World) -> float:
    usual = _SECONDS.get(event, _OTHER_SECONDS)
    try:
        return min(max(0.05, float(world.env.get("MEMORY_HOOK_SECONDS", usual))), _MOST_SECONDS)
    except ValueError:
        return usual


def _heard(pipe: int, child: int, seconds: float) -> tuple[bytes, bool, bool]:
    """What the child says, whether it came to its end in time, and whether it succeeded."""
    parts: list[bytes] = []
    whole = False
    try:
        whole = _read_until(pipe, monotonic() + seconds, parts)
    finally:
        if not whole:
            # It first has the time to end the programs that it started in groups of their own.
            _end(child, signal.SIGTERM)
            _read_until(pipe, monotonic() + _LAST_SECONDS, [])
            _end(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
    return b"".join(parts), whole, whole and status == 0


def _end(child: int, number: signal.Signals) -> None:
    """A signal to the child and the programs that it started."""
    try:
        os.killpg(child, number)
    except (ProcessLookupError, PermissionError):
        os.kill(child, number)  # it leads no group yet


def _read_until(pipe: int, until: float, parts: list[bytes]) -> bool:
    """Whether the pipe came to its end before the time did."""
    while (left := until - monotonic()) > 0:
        if select.select([pipe], [], [], left)[0]:
            part = os.read(pipe, 1 << 16)
            if not part:
                return True
            parts.append(part)
    return False


def _silent(client: str, event: str) -> bytes:
    from quire.verbs.agents.hook_reply import silent_reply

    return silent_reply(client, event)


# -- the child ------------------------------------------------------------------------------------


def _work(client: str, event: str, world: World, pipe: int, seconds: float) -> NoReturn:
    """Work the answer out and hand it to the parent; ends the process."""
    os.setsid()
    # Where the parent itself is killed, nobody waits for us: the kernel ends us then.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + 1)
    code = 1
    try:
        from quire.verbs.agents.hook_reply import reply_to_hook

        until = monotonic() + seconds / 2
        answer, waits = reply_to_hook(
            client, event, _payload, world, until, lambda root: _send(pipe, _ABOUT + os.fsencode(root))
        )
        _send(pipe, _ANSWER + answer + (_COLLECT if waits else b""))
        code = 0
    except KeyboardInterrupt:
        pass  # the parent wants no answer any more
    except BaseException as error:
        with contextlib.suppress(BaseException):
            from quire.verbs.agents.hook_reply import log_failure, root_with_memory, silent_reply

            log_failure(root_with_memory(world.cwd), world, client, event, error)
            _send(pipe, _ANSWER + silent_reply(client, event))
            code = 0
    os._exit(code)


def _payload(most: int) -> bytes:
    """Standard input to its end, so that the client can write all of it; about `most` bytes of it are kept."""
    parts, size = [], 0
    while part := os.read(0, 1 << 16):
        if size < most:
            parts.append(part)
        size += len(part)
    return b"".join(parts)


def _send(pipe: int, data: bytes) -> None:
    data = data[:_MOST_BYTES]
    while data:
        data = data[os.write(pipe, data) :]


# -- what remains afterwards --------------------------------------------------------------------------


def _log_from_outside(root: str, world: World, client: str, event: str, text: str) -> None:
    with contextlib.suppress(Exception):
        from quire.verbs.agents.hook_reply import log_failure, root_with_memory

        log_failure(root or root_with_memory(world.cwd), world, client, event, text)


def _collect_later(root: str, world: World) -> None:
    """Have the sessions that wait read by a process of its own, which ends by itself; the client need not wait."""
    from quire.files.programs import own_command, start_program

    env = {**world.env, "MEMORY_HOOKS": "off"}
    start_program(own_command("inbox", "collect", "--in-background"), cwd=root, env=env)


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    arguments=(Argument(name="words", many=True, required=False, metavar="CLIENT EVENT"),),
    paths=(),
)
