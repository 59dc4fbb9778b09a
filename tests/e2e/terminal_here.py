"""An installed program on a real terminal: what it shows, and what somebody types at its questions."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic

QUESTION = re.compile(rb"\[q\]uit[:?] |\[y/N\] |\[\d-\d\] ")
CTRL_C, CTRL_D = "\x03", "\x04"
_SECONDS = 60.0

__all__ = ["CTRL_C", "CTRL_D", "typed"]


def typed(
    cwd: Path, env: Mapping[str, str], *line: str, answers: Sequence[str] = (), columns: int = 80
) -> tuple[int, str]:
    """Run a program on a terminal of this width; type one answer at each question. Its exit code, what was seen."""
    program = shutil.which(line[0], path=os.path.dirname(sys.executable))
    assert program
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    left = [answer if answer in (CTRL_C, CTRL_D) else f"{answer}\n" for answer in answers]
    try:
        # A session of its own whose terminal this is: else Ctrl-C would mean nothing.
        process = subprocess.Popen(
            [program, *line[1:]],
            cwd=cwd,
            env=dict(env),
            stdin=its,
            stdout=its,
            stderr=its,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(its)
        seen, asked, until = b"", 0, monotonic() + _SECONDS
        while process.poll() is None or select.select([ours], [], [], 0)[0]:
            assert monotonic() < until, seen.decode()
            if not select.select([ours], [], [], 0.05)[0]:
                continue
            try:
                seen += os.read(ours, 65536)
            except OSError:
                break  # the other side is closed
            while len(QUESTION.findall(seen)) > asked and left:
                os.write(ours, left.pop(0).encode())
                asked += 1
        code = process.wait(_SECONDS)
    finally:
        os.close(ours)
    text = seen.decode().replace("\r\n", "\n")
    assert "Quire itself failed" not in text, text
    assert not left, f"not every question was asked:\n{text}"
    return code, text
