"""Read the input of a command: numbers from options, texts from standard input or a file."""

from __future__ import annotations

import os
import sys

from quire.model import limits
from quire.model.errors import Cancelled, InputError, UsageError


def number(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return int(text.encode("ascii"))
    except ValueError:
        raise UsageError(f"--{name} takes a whole number, not `{text[:40]}`.") from None


def share(name: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--{name} takes a number, not `{text[:40]}`.") from None


def asked(question: str) -> str:
    """The line that someone at the terminal answers, in small letters; empty where the input has ended."""
    sys.stderr.write(f"{question} ")
    sys.stderr.flush()
    return sys.stdin.readline().lower()


def agreed(question: str) -> bool:
    """Whether someone at the terminal says yes; anything else is a no."""
    return asked(f"{question} [y/N]").strip() in ("y", "yes")


def edited(text: str, nothing: str, instead: str) -> str | None:
    """What someone makes of a text in the editor; None where they leave it as it is."""
    import click

    try:
        return click.edit(text, extension=".md")
    except click.ClickException as error:
        raise Cancelled(
            f"The editor could not be used ({error.format_message().rstrip('.')}). {nothing}",
            hint=f"Set EDITOR to your editor, or give the text {instead}.",
        ) from None


def answered(question: str, letters: str) -> str:
    """The letter that someone presses at the terminal, without Enter; other keys are passed over."""
    import termios
    import tty

    terminal, key = sys.stdin.fileno(), ""
    before = termios.tcgetattr(terminal)
    try:
        # What was typed before the question is no answer to it.
        tty.setcbreak(terminal, termios.TCSAFLUSH)
        sys.stdout.write(question)
        sys.stdout.flush()
        while not key and (pressed := os.read(terminal, 1)) not in (b"", b"\x04"):
            key = pressed.decode("ascii", "replace").lower()
            key = key if key in letters else ""
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
        sys.stdout.write(f"{key}\n")
    if not key:
        raise Cancelled("Nobody answered; what is left stays in the inbox.")
    return key


def read_hidden(what: str) -> str:
    """A text that a terminal asks for and does not show; elsewhere it comes from standard input."""
    if not sys.stdin.isatty():
        return read_text(what)
    from getpass import getpass

    return getpass(f"{what} (it is not shown): ", stream=sys.stderr)


def read_text(what: str) -> str:
    """A text from standard input."""
    data, _ = read_input(None, what)
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise InputError(f"Standard input is not UTF-8 text (byte {error.start}).", hint="Send UTF-8.") from None


def read_input(file: str | None, what: str, most: int = limits.INPUT_BYTES) -> tuple[bytes, str]:
    """Standard input, or a file, with its name; one byte more than the limit, so that what exceeds it is seen."""
    if file is None:
        if sys.stdin.isatty():
            sys.stderr.write(f"Type or paste {what}, then press Ctrl-D.\n")
        return sys.stdin.buffer.read(most + 1), "standard input"
    try:
        with open(file, "rb") as stream:
            return stream.read(most + 1), file
    except OSError as error:
        raise InputError(
            f"`{file}` cannot be read: {(error.strerror or '').lower()}.",
            hint=f"Name a file with {what}.",
            details={"field": "file"},
        ) from None


def read_offered(seconds: float, most: int) -> bytes:
    """What another program wrote to standard input; nothing where it is a terminal, or nothing comes in this time.

    From cron or a script, standard input may stay open for ever.
    """
    import select

    stdin = sys.stdin
    if stdin is None or stdin.closed or stdin.isatty():
        return b""
    data = b""
    try:
        while len(data) < most and select.select([stdin], [], [], seconds)[0]:
            more = os.read(stdin.fileno(), most)
            data += more
            if not more:
                break
    except (OSError, ValueError):  # it is no file, and cannot be waited for
        return stdin.buffer.read(most)
    return data
