"""What the verbs of the journal share: replies, results as lines, questions to the person at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import msgspec

from quire.layers.journal.layout import PREFERENCES
from quire.model.records import Problem
from quire.surfaces.cli.commands import Option, Session, as_called
from quire.surfaces.cli.output import answer, say, warn

DRY = Option(name="--dry-run", into="dry_run", help="Show what would be done; write nothing.")

PROVIDER = Option(
    name="--provider",
    into="provider",
    metavar="NAME",
    choices=PREFERENCES,
    help="Who proposes: ours, which needs no model (by default), or a model that is asked by name.",
)


def reply(session: Session, project: Any, fields: dict[str, Any], warnings: Iterable[Problem] = ()) -> None:
    """The envelope, with warnings that name commands as they were called."""
    answer(project, fields, _as_called(session, warnings))


def warn_of(session: Session, warnings: Iterable[Problem]) -> None:
    warn(_as_called(session, warnings))


def tell(session: Session, text: str) -> None:
    """A line of ours that names commands."""
    say(as_called(text, session.program))


def _as_called(session: Session, warnings: Iterable[Problem]) -> list[Problem]:
    return [
        msgspec.structs.replace(item, hint=as_called(item.hint, session.program)) if item.hint else item
        for item in warnings
    ]


# -- asking a person --------------------------------------------------------------------------


def is_asking(session: Session, yes: bool, dry_run: bool) -> bool:
    """Whether somebody is there who can be asked, and wants to be."""
    return not (yes or dry_run or session.as_json) and sys.stdin.isatty() and sys.stdout.isatty()


# -- lines ------------------------------------------------------------------------------------


def listed(items: Iterable[str]) -> str:
    return ", ".join(items) or "none"


def say_cost(cost_usd: float, provider: str) -> None:
    if cost_usd:
        say(f"Cost: ${cost_usd:.4f} ({provider})")
