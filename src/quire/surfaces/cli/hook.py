"""`memory hook`: what a client runs at its events. It answers in the client's form or not at all, and never fails.

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
_SECONDS = {"session-start": 6.0, "after-compaction": 6.0, "prompt": 2.5, "before-edit": 2.5}
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
    """Answer a hook of a client: what it says comes on standard input, what it is told goes to standard output.

    CLIENT is claude, codex, cursor, gemini, opencode or copilot; EVENT is session-start, prompt, before-edit,
    before-compaction, after-compaction, turn-end or session-end, or the client's own name of it. `memory integrate`
    writes these commands where each client looks for them. It ends with 0 whatever happens, within a few seconds
    (MEMORY_HOOK_SECONDS), and says nothing but what the client expects; why it said nothing is in
    .memory/local/hooks.log. MEMORY_HOOKS=off switches it off.
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
            answer = _silence(client, event)
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
        return world, _silence(client, event), ""
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
        _log_from_outside(root, world, f"{client} {event}: {why} without an answer")
        # It may have been making the index, which nobody would ever finish if each hook began anew.
        return world, _silence(client, event), root if event in _SECONDS and not is_whole else ""
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


# -- the child ------------------------------------------------------------------------------------


def _work(client: str, event: str, world: World, pipe: int, seconds: float) -> NoReturn:
    """Work the answer out and hand it to the parent; ends the process."""
    os.setsid()
    # Where the parent itself is killed, nobody waits for us: the kernel ends us then.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + 1)
    code = 1
    try:
        answer, waits = _answer(client, event, world, pipe, monotonic() + seconds / 2)
        _send(pipe, _ANSWER + answer + (_COLLECT if waits else b""))
        code = 0
    except KeyboardInterrupt:
        pass  # the parent wants no answer any more
    except BaseException as error:
        with contextlib.suppress(BaseException):
            _log(_root_here(world), world, f"{client} {event}: {_said(error)}")
            _send(pipe, _ANSWER + _silence(client, event))
            code = 0
    os._exit(code)


def _answer(client: str, event: str, world: World, pipe: int, until: float) -> tuple[bytes, bool]:
    """The bytes for the client, and whether there is work for later: sessions to be read, documents to be taken in."""
    from quire.clients.hooks.read_event import read_event
    from quire.clients.hooks.reply import reply, room_for
    from quire.verbs.agents.hook_answer import answer_hook as answer_hook_of
    from quire.verbs.agents.hook_answer import work_waits

    heard = read_event(client, event, _payload())
    silence = reply(heard, "")
    from quire.clients.ended_sessions import ENDING, note_session
    from quire.layers.presence import memory_root

    root = memory_root(heard.cwd or world.cwd)
    if root is None:
        return silence, False
    _send(pipe, _ABOUT + os.fsencode(root))
    try:
        room = room_for(heard)
        if heard.event in ENDING and not room.tokens:
            is_noted = note_session(root, heard, world)
            return silence, is_noted and heard.event == "session-end"
        from quire.project import Project

        project = Project.open(heard.cwd or None, world)
        project.deadline = until  # half of the time is for verdicts; what they leave open the next one finds out
        text = answer_hook_of(project, heard, room.tokens, room.chars)
        waits = heard.event == "session-start" and work_waits(project)
        return reply(heard, text), waits
    except Exception as error:
        _log(root, world, f"{client} {event}: {_said(error)}")
        return silence, False


def _silence(client: str, event: str) -> bytes:
    from quire.clients.hooks.reply import reply
    from quire.clients.hooks.types import CLIENTS, HookEvent

    return reply(HookEvent(client=client, event=event, native=""), "") if client in CLIENTS else b""


def _payload() -> bytes:
    from quire.clients.hooks.payload import PAYLOAD_BYTES

    parts, size = [], 0
    while part := os.read(0, 1 << 16):
        size += len(part)
        if size <= PAYLOAD_BYTES + 1:
            parts.append(part)
    return b"".join(parts)


def _send(pipe: int, data: bytes) -> None:
    data = data[:_MOST_BYTES]
    while data:
        data = data[os.write(pipe, data) :]


def _said(error: BaseException) -> str:
    text = getattr(error, "message", "") or str(error) or type(error).__name__
    return f"{type(error).__name__}: {' '.join(text.split())[:400]}"


# -- what is left behind --------------------------------------------------------------------------


def _root_here(world: World) -> str:
    from quire.layers.presence import memory_root

    return memory_root(world.cwd) or ""


def _log_from_outside(root: str, world: World, text: str) -> None:
    with contextlib.suppress(Exception):
        _log(root or _root_here(world), world, text)


def _log(root: str, world: World, text: str) -> None:
    """A line in the log, which git does not see; nowhere where there is no memory."""
    if not root:
        return
    from quire.clients.logs import log_line

    log_line(root, world, text)


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
