"""The installed command kept ready: each call runs in a process of its own, forked from one that has loaded it already.

Nine tenths of what a command costs is to start Python and to load modules. A call here has its own arguments,
environment, folder and pipes, and it runs the script that is installed; it only finds the modules loaded. Nothing was
run before it: whoever stands by has imported and has done nothing else. Two stand by, whose sets and dictionaries are
hashed differently, and take turns. `test_fresh_starts.py` compares them with commands that start anew.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from itertools import cycle
from typing import Any

__all__ = ["run_standing"]

# What these say is heeded when the interpreter starts, and by nobody later.
EARLY = ("PYTHON", "LC_", "LANG", "MALLOC", "LD_")
SAME = {"LANG": "C.UTF-8", "PYTHONWARNINGS": "error"}
# More than a pipe surely takes at once is not worth the trouble.
PIPE = 16_384
HEAD = struct.Struct("!i")


class Standing:
    """One process that waits for work, and the socket that it is told of it."""

    def __init__(self) -> None:
        self.socket, theirs = socket.socketpair()
        with theirs:
            env = {"PATH": os.environ["PATH"], **SAME}
            # Its own streams are pipes, as those of its children will be.
            self.process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                env=env,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )

    def call(self, request: dict[str, Any], stdin: bytes, seconds: float) -> tuple[int, bytes, bytes]:
        pipes = [os.pipe() for _ in range(3)]
        (to_read, to_write), *answers = pipes
        os.write(to_write, stdin)
        os.close(to_write)
        theirs = [to_read, *(writer for _, writer in answers)]
        data = json.dumps(request).encode()
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", theirs))]
        self.socket.sendmsg([HEAD.pack(len(data)) + data], rights)
        for descriptor in theirs:
            os.close(descriptor)
        (pid,) = HEAD.unpack(receive(self.socket, HEAD.size))
        out, err = read_all([reader for reader, _ in answers], pid, seconds)
        (code,) = HEAD.unpack(receive(self.socket, HEAD.size))
        if out is None or err is None:
            raise subprocess.TimeoutExpired(request["line"], seconds)
        return code, out, err


_standing: list[Standing] = []
_turns = cycle((0, 1))


def run_standing(
    line: list[str], cwd: str, env: Mapping[str, str], stdin: bytes, seconds: float
) -> tuple[int, bytes, bytes] | None:
    """How a command ended and what it said; none where only a process of its own would do."""
    early = {name: value for name, value in env.items() if name.startswith(EARLY)}
    if early != SAME or len(stdin) > PIPE or not os.path.isdir(cwd):
        return None
    if not _standing:
        _standing.extend([Standing(), Standing()])
    mask = os.umask(0)
    os.umask(mask)
    request = {"line": list(map(os.fsdecode, line)), "cwd": cwd, "env": dict(env), "umask": mask}
    return _standing[next(_turns)].call(request, stdin, seconds)


def receive(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise EOFError("whoever stood by is gone")
        data += more
    return data


def read_all(readers: list[int], pid: int, seconds: float) -> list[bytes | None]:
    """What comes until all have been closed; none where that takes too long, and the process is killed."""
    found: dict[int, list[bytes]] = {reader: [] for reader in readers}
    end = time.monotonic() + seconds
    late = False
    with selectors.DefaultSelector() as selector:
        for reader in readers:
            selector.register(reader, selectors.EVENT_READ)
        while selector.get_map() and not late:
            for key, _ in selector.select(max(0.0, end - time.monotonic())):
                data = os.read(key.fd, 65_536)
                found[key.fd].append(data)
                if not data:
                    selector.unregister(key.fd)
            late = time.monotonic() > end
    for reader in readers:
        os.close(reader)
    if late:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return [None if late else b"".join(parts) for parts in found.values()]


# -- the process that stands by -----------------------------------------------------------------------------------


def stand_by(connection: socket.socket) -> None:
    """Take calls until the other side is gone."""
    import gc
    import importlib
    import pkgutil
    import threading

    import quire

    for module in pkgutil.walk_packages(quire.__path__, "quire."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    assert threading.active_count() == 1, "only a process with one thread may be forked"
    gc.collect()
    gc.freeze()
    while True:
        head, given, _, _ = socket.recv_fds(connection, HEAD.size, 3)
        if not head:
            os._exit(0)
        (size,) = HEAD.unpack(head + receive(connection, HEAD.size - len(head)))
        request = json.loads(receive(connection, size))
        pid = os.fork()
        if pid == 0:
            connection.close()
            become(request, given)
        for descriptor in given:
            os.close(descriptor)
        connection.sendall(HEAD.pack(pid))
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        connection.sendall(HEAD.pack(code))


def become(request: dict[str, Any], given: list[int]) -> None:
    """Run the script as if it had been started; never comes back."""
    import atexit
    import runpy
    import threading
    import traceback

    code: Any = 1
    try:
        for number, descriptor in enumerate(given):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(request["env"])
        time.tzset()
        os.umask(request["umask"])
        os.chdir(request["cwd"])
        script = request["line"][0]
        sys.argv[:] = request["line"]
        sys.path[0] = os.path.dirname(script)
        runpy.run_path(script, run_name="__main__")
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BaseException:
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    stand_by(socket.socket(fileno=int(sys.argv[1])))
