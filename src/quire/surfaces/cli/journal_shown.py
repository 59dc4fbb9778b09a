"""What the verbs of the journal share: replies, results as lines, questions to the person at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from quire.model.records import Problem
from quire.surfaces.cli.commands import Option, Session, as_called
from quire.surfaces.cli.output import answer, say, warn

DRY = Option(name="--dry-run", into="dry_run", help="Show what would be done; write nothing.")
YES = Option(name="--yes", short="-y", into="yes", help="Do not ask.")
SHOW_DIFF = Option(name="--show-diff", into="show_diff", help="Show every file that changes, line by line.")

_ITEMS = (
    ("changedSections", "changed sections"),
    ("addedGotchas", "added gotchas"),
    ("removedGotchas", "removed gotchas"),
    ("addedNextSteps", "added next steps"),
    ("removedNextSteps", "removed next steps"),
    ("mergedGotchas", "merged gotchas"),
    ("mergedNextSteps", "merged next steps"),
)
_ONLY_IF_ANY = (("changedGotchas", "changed gotchas"), ("changedNextSteps", "changed next steps"))


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


def is_model(provider: str | None) -> bool:
    """Whether this provider is a model: to ask it costs something, and it never answers the same twice."""
    return provider not in (None, "auto", "local")


def confirmed(question: str) -> bool:
    """Yes, or just Enter. Says so where the answer is no, or nobody answered."""
    sys.stderr.write(f"{question} [Y/n] ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    if line and line.strip().lower() in ("", "y", "yes"):
        return True
    if not line:
        sys.stderr.write("\n")
    say("Nothing was written.")
    return False


def teller(session: Session, always: bool) -> Callable[[str], None] | None:
    """Says on stderr what is being done: on a terminal, or always where programs of the project are run."""
    if session.as_json or not (always or sys.stderr.isatty()):
        return None

    def show(text: str) -> None:
        from quire.guard.hostile_text import make_safe

        sys.stderr.write(make_safe(f"{text} …") + "\n")
        sys.stderr.flush()

    return show


# -- lines ------------------------------------------------------------------------------------


def listed(items: Iterable[str]) -> str:
    return ", ".join(items) or "none"


def diff_lines(value: dict[str, Any], *, capital: bool = True) -> list[str]:
    """What changed between two states of the memory, item by item."""
    found = [(label, listed(value.get(key) or ())) for key, label in _ITEMS]
    found += [(label, listed(value[key])) for key, label in _ONLY_IF_ANY if value.get(key)]
    return [f"- {label[0].upper() + label[1:] if capital else label}: {items}" for label, items in found]


def say_planned(planned: Iterable[Any]) -> None:
    planned = list(planned)
    if planned:
        say()
        say("Planned changes:")
    for item in planned:
        say(f"- {item.kind} {item.path}: {item.note}")


def say_diffs(files: Iterable[Any], *, heading: str = "File diffs:") -> None:
    say()
    say(heading)
    shown = [item for item in files if item.diff]
    for item in shown:
        say(item.diff.rstrip("\n"))
    if not shown:
        say("- none")


def say_cost(cost_usd: float, provider: str) -> None:
    if cost_usd:
        say(f"Cost: ${cost_usd:.4f} ({provider})")
