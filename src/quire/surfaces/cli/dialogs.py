"""List the verbs that ask questions on a terminal, each with the module that asks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from quire.surfaces.cli.commands import Session

if TYPE_CHECKING:
    from quire.verbs.verb import Verb

DIALOGS = {
    "init": "first_run",
    "add": "add_dialog",
    "confirm": "confirm_dialog",
    "import": "import_dialog",
    "inbox": "inbox_dialog",
    "integrate": "consent:before_integrate",
    "journal init": "journal_consent",
    "journal update": "journal_consent",
    "journal recall": "journal_consent",
    "journal restore": "journal_consent",
    "journal integrate": "consent:before_journal_integrate",
    "resolve": "resolve_dialog",
    "purge": "consent:before_purge",
    "reset": "consent:before_reset",
}
"""The words of a command; the module below `quire.surfaces.cli` that asks, and its function, else `on_terminal`."""

_ASK_BESIDE_OUTPUT = ("import", "integrate", "purge", "reset")
"""Those that also ask where only standard input is a terminal, and the output goes elsewhere."""


def can_ask(words: str) -> bool:
    """Whether a person is there whom this command may ask."""
    return is_terminal() or (words in _ASK_BESIDE_OUTPUT and sys.stdin is not None and sys.stdin.isatty())


def is_terminal() -> bool:
    """Whether a person can be asked: standard input and output are both a terminal."""
    streams = (sys.stdin, sys.stdout)
    return all(stream is not None and stream.isatty() for stream in streams)


def dialog_of(words: str) -> Callable[[Session, Verb, Any], int | None]:
    """What asks; it returns an exit code, or None to go on as without a terminal."""
    module, _, name = DIALOGS[words].partition(":")
    ask: Callable[[Session, Verb, Any], int | None]
    ask = getattr(import_module(f"quire.surfaces.cli.{module}"), name or "on_terminal")
    return ask
