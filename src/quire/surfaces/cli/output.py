"""Print a command's output: a JSON envelope or text; diagnostics on stderr; exit codes."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from quire.model.errors import ErrorKind, QuireError, UsageError
from quire.model.records import Problem
from quire.model.text import cut

if TYPE_CHECKING:
    from quire.project import Project

EXIT_CODES: dict[ErrorKind, int] = {"failed": 1, "usage": 2, "not_ready": 3}

_NARROW = 20
"""A column is not cut to fewer characters than this."""
_SHORT, _LONG = 8, 14
"""From how many characters on a word may be a secret: with letters and digits, and with capitals alone."""
_BAR_CHARS = 24
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_given: list[str] = []
_suspects: list[str] = []
"""How the words of the line begin that may be secrets."""


def begin(arguments: list[str]) -> None:
    """A run begins with this line. What of it is a secret is not repeated in anything that is said."""
    _given[:] = arguments
    _suspects[:] = [word[:_SHORT].lower() for text in arguments for word in text.split() if _is_suspect(word)]


def answer(project: Project | None, data: Any, warnings: Iterable[Problem] = ()) -> None:
    """The envelope of a command that did what it was asked."""
    from quire.verbs.envelope import succeeded

    _print(succeeded(project, data, warnings))


def fail(error: QuireError, *, as_json: bool) -> int:
    """Say what went wrong and what to do; the exit code."""
    if as_json:
        from quire.verbs.envelope import failed

        _print(failed(error), quotes=True)
    else:
        _say_error(f"error: {error.message}")
        issues = error.details.get("issues", [])
        for issue in issues if len(issues) > 1 else ():
            place = f"{issue['field']}: " if issue.get("field") else ""
            _say_error(f"  - {place}{issue['message']}")
            if issue.get("hint"):
                _say_error(f"    {issue['hint']}")
        hints = [error.hint, *(issue.get("hint") for issue in issues if len(issues) == 1)]
        for hint in dict.fromkeys(hint for hint in hints if hint):
            _say_error(f"hint: {hint}")
    return EXIT_CODES[error.kind]


def usage_failed(message: str, command: str, *, as_json: bool) -> int:
    """A command line that cannot be understood."""
    message = re.sub(r"^Got unexpected extra arguments? \((.*)\)$", r"Too many arguments: `\1`.", message)
    hint = f"`{command} --help` shows how it is used."
    if message.startswith("No such option"):
        hint += " Put `--` before a text that begins with a dash."
    return fail(UsageError(message, hint=hint), as_json=as_json)


def crashed(error: Exception, *, as_json: bool) -> int:
    """A fault of the program itself: said as any other error, with its trace where that was asked for."""
    from quire.verbs.envelope import crashed

    if isinstance(error, OSError) and error.filename is None and error.errno in _NO_ROOM:
        from quire.files.paths import storage_failed

        drop_stdout()  # nothing can be printed; files report this with their name
        return fail(storage_failed(error, "print the answer"), as_json=False)
    if os.environ.get("MEMORY_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    return fail(crashed(error), as_json=as_json)


def drop_stdout() -> None:
    """The reader is gone: let the interpreter's own flush at exit go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def say(text: str = "", colour: str | None = None) -> None:
    """A line for people, with nothing in it that a terminal would act on; a colour only on a terminal."""
    # Whoever closed the standard output wants to be told nothing.
    if sys.stdout is not None:
        _write(sys.stdout, withheld(text), colour if sys.stdout.isatty() and not _plain_terminal() else None)


def put(text: str) -> None:
    """A line that a program reads: nothing is written out that would make another text of it."""
    if sys.stdout is not None:
        sys.stdout.flush()
        sys.stdout.buffer.write(withheld(text).encode("utf-8", "backslashreplace") + b"\n")
        sys.stdout.buffer.flush()


def say_table(rows: Sequence[Sequence[str]]) -> None:
    """Rows as columns, the last one cut to fit the terminal; elsewhere with tabs between the cells, for programs."""
    if sys.stdout is None or not sys.stdout.isatty():
        for row in rows:
            say("\t".join(row))
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    room = os.get_terminal_size().columns - sum(widths) - 2 * sum(map(bool, widths)) + 2
    widths[-1] = max(widths[-1] + min(room, 0), min(widths[-1], _NARROW))
    for row in rows:
        cells = [cut(cell, width).ljust(width) for cell, width in zip(row, widths, strict=True) if width]
        say("  ".join(cells).rstrip())


def aside(text: str) -> None:
    """A remark beside the output proper."""
    if sys.stderr is not None:
        _write(sys.stderr, text)


def tell(text: str) -> None:
    """What is being done, beside the output proper."""
    aside(f"{text} …")


@contextlib.contextmanager
def progress_bar(counts: str) -> Iterator[Callable[[int, int, str], None] | None]:
    """What draws a bar in one line of a terminal, which is cleared at the end; None where there is no terminal.

    It is called with how many are done, of how many, and a text such as `source: 3 imported`.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return

    def draw(done: int, total: int, text: str) -> None:
        full = round(min(1.0, done / total) * _BAR_CHARS) if total else _BAR_CHARS
        head, _, tail = text.partition(": ")
        bar = "#" * full + "-" * (_BAR_CHARS - full)
        sys.stderr.write(f"\r\x1b[K{head} [{bar}] {done:,}/{total:,} {counts}{', ' if tail else ''}{tail}")
        sys.stderr.flush()

    try:
        yield draw
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def warn(warnings: Iterable[Problem]) -> None:
    for problem in warnings:
        line = f":{problem.line}" if problem.line else ""
        where = f"{problem.path}{line}" if problem.path else problem.field
        place = f"{where}: " if where else ""
        _say_error(f"warning: {place}{problem.message}")
        if problem.hint:
            _say_error(f"         {problem.hint}")


def _say_error(text: str) -> None:
    if sys.stderr is not None:
        _write(sys.stderr, withheld(text, quotes=True))


def withheld(text: str, *, quotes: bool = False) -> str:
    """A text without the secrets of the command line; what quotes other input, too, without any."""
    if not _may_repeat(text, quotes=quotes):
        return text
    from quire.guard.redaction import InputSecrets

    return InputSecrets([*_given, text] if quotes else _given).text(text)


def _may_repeat(text: str, *, quotes: bool) -> bool:
    """Whether to look closer, which most lines are spared: the guard takes longer to load than they to answer."""
    if quotes:
        return any(map(_is_suspect, text.split()))
    folded = text.lower() if _suspects else ""
    return any(word in folded for word in _suspects)


def _is_suspect(word: str) -> bool:
    if len(word) < _SHORT or word.isdigit():
        return False
    return any(map(str.isdigit, word)) or (len(word) >= _LONG and not word.islower())


def _plain_terminal() -> bool:
    return "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"


def _write(stream: TextIO, text: str, colour: str | None = None) -> None:
    if not text.isascii() or not text.replace("\n", "").replace("\t", "").isprintable():
        from quire.guard.hostile_text import make_safe

        text = make_safe(text)
    if colour:
        text = f"\x1b[{colour}m{text}\x1b[0m"
    # Bytes, so that a terminal or a locale without UTF-8 cannot fail us.
    stream.flush()
    stream.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    stream.buffer.flush()


def _print(envelope: dict[str, Any], *, quotes: bool = False) -> None:
    from quire.verbs.plain import json_line

    if sys.stdout is not None:
        text = json_line(envelope)
        if _may_repeat(text, quotes=quotes):
            from quire.guard.redaction import InputSecrets

            text = json_line(InputSecrets([_given, envelope] if quotes else _given).value(envelope))
        sys.stdout.buffer.write(text.encode() + b"\n")
        sys.stdout.buffer.flush()
