"""Wiring Claude Code and Codex to the journal, as `agent-memory integrate` does; and how they are wired now.

`memory integrate` wires clients to the whole memory, and keeps a record of what it wrote so that it can take it back.
This verb writes entries under the journal's own name beside those; they are no part of that record, because taking a
recorded file back would take them along.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from quire.layers.journal.layout import CONFIG, FOLDER
from quire.model.errors import InputError, QuireError
from quire.model.records import Problem
from quire.model.text import cut
from quire.project import Project
from quire.verbs.journal.journal_state import journal_locked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quire.clients.wiring_journal.types import Component, ComponentSeen, JournalIntegrated, JournalIntegration

_ALL = "all"
_COMMAND = "memory journal integrate"
_NOTHING = "Nothing to do."

Config = Literal["there", "missing", "made"]


def journal_integration(project: Project, target: str = _ALL) -> JournalIntegration:
    """How both clients are wired, with what to do about the one that is asked about, or about both."""
    from quire.clients.wiring_journal.engine import look_at
    from quire.clients.wiring_journal.types import JournalIntegration

    _check(target)
    parts = look_at(_components(project), project.root)
    asked = [part for part in parts if target in (_ALL, part.client)]
    return JournalIntegration(target=target, parts=parts, advice=_advice(asked))


def journal_integrate(
    project: Project, target: str = _ALL, *, repair: bool = False, dry_run: bool = False, user: bool = False
) -> JournalIntegrated:
    """Write what a client needs and has not; with `repair` only what was written once and is not as it should be.

    The configuration in the user's home is changed only with `user`. The journal gets the usual settings where it
    has none.
    """
    from quire.clients.wiring_journal.engine import wire
    from quire.clients.wiring_journal.types import JournalIntegrated

    _check(target)
    project.recover()
    chosen = [one for one in _components(project) if target in (_ALL, one.client)]
    warnings: list[Problem] = []
    files = wire(chosen, project.root, project.world, repair=repair, dry_run=True, user=user)
    config = _config_state(project)
    changes = any(item.action in ("CREATE", "UPDATE") for item in files)
    if not dry_run and (changes or (config == "missing" and not repair)):
        with journal_locked(project, "integrate"):
            files = wire(chosen, project.root, project.world, repair=repair, dry_run=False, user=user)
            if config == "missing":
                config = _make_config(project, warnings)
    return JournalIntegrated(
        target=target,
        repair=repair,
        dry_run=dry_run,
        files=files,
        config=config,
        advice=journal_integration(project, target).advice,
        warnings=tuple(warnings),
    )


def _components(project: Project) -> tuple[Component, ...]:
    from quire.clients.wiring_journal.components import components_of

    return components_of(project.root, project.world.cwd, project.world.env)


def _config_state(project: Project) -> Config:
    return "there" if os.path.lexists(os.path.join(project.root, FOLDER, CONFIG)) else "missing"


def _make_config(project: Project, warnings: list[Problem]) -> Config:
    """The usual settings, written out. The caller holds the lock."""
    from quire.files.durable_write import write_file
    from quire.files.paths import inside
    from quire.layers.journal.layout import default_config
    from quire.layers.journal.settings import config_bytes

    try:
        path = inside(os.path.join(project.root, FOLDER), CONFIG)
        write_file(path, config_bytes(default_config()), project.world.token(), expects=None)
    except QuireError as error:
        warnings.append(Problem(code=error.code, severity="warning", message=error.message, hint=error.hint))
        return "missing"
    return "made"


def _check(target: str) -> None:
    from quire.clients.wiring_journal.types import TARGETS

    if target not in TARGETS:
        raise InputError(
            f"`{cut(target, 40)}` is no client that can be wired to the journal.",
            hint=f"It is any of {', '.join(TARGETS)}. `memory integrate` knows more of them.",
            details={"field": "target", "allowed": list(TARGETS)},
        )


def _advice(asked: Sequence[ComponentSeen]) -> str:
    """What to do first: what only a person can mend, then what was changed, then what is missing."""
    by_state = {
        state: [part for part in asked if part.status == state]
        for state in ("unreadable", "managed_mismatch", "missing")
    }
    if found := by_state["unreadable"]:
        places = ", ".join(f"`{part.path}`" if part.path else part.label for part in found)
        return f"Mend {places} by hand, then run `{_COMMAND}`."
    if found := by_state["managed_mismatch"]:
        return f"`{_COMMAND}{_target(found)} --repair` writes anew what was changed."
    if found := by_state["missing"]:
        return f"`{_COMMAND}{_target(found)}` writes what is missing."
    return _NOTHING


def _target(parts: Sequence[ComponentSeen]) -> str:
    clients = {part.client for part in parts}
    return f" {clients.pop()}" if len(clients) == 1 else ""
