"""`memory journal providers`: list the models that may be asked, and their spending limits."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from quire.capture.providers.availability import available
from quire.capture.providers.settings import ceiling_of, read_settings, settings_path, write_settings
from quire.capture.providers.spend_log import spent_today
from quire.layers.journal.layout import LOCAL_PROVIDER
from quire.model.errors import InputError
from quire.model.text import counted
from quire.project import Project
from quire.verbs.verb import Arguments, Lines, Option, Result, Verb


class JournalProviders(Arguments, frozen=True, kw_only=True):
    ceiling: Annotated[float | None, Option(metavar="USD", help="The most that may be spent on models in a day.")] = (
        None
    )
    versions: Annotated[bool, Option(help="Ask each program for its version.")] = False


class ProviderSeen(msgspec.Struct, frozen=True, kw_only=True):
    """Someone who can make proposals."""

    name: str
    found: bool
    path: str = ""
    version: str = ""
    reason: str = ""


class ProvidersSeen(Result, kw_only=True):
    ceiling_usd: float
    spent_usd: float
    open_usd: float
    """Reserved for calls whose cost is not known yet."""
    calls: int
    day: str
    settings_path: str
    providers: list[ProviderSeen]


def journal_providers(project: Project, given: JournalProviders) -> ProvidersSeen:
    """Show the available models and the spending limit.

    No model is asked unless --provider names one. --ceiling sets what may be spent in a day, in US dollars, on this
    machine; 0 turns it off.
    """
    settings = read_settings(project.world)
    if given.ceiling is not None:
        if not math.isfinite(given.ceiling) or given.ceiling < 0:
            raise InputError("The ceiling is an amount in US dollars, 0 or more.", hint="0 turns spending off.")
        settings = msgspec.structs.replace(settings, daily_ceiling_usd=given.ceiling)
        write_settings(project.world, settings)
    ours = ProviderSeen(name=LOCAL_PROVIDER, found=True, reason="built in; needs no model")
    others = [
        ProviderSeen(
            name=item.name,
            found=item.found,
            path=item.path or "",
            version=item.version or "",
            reason=item.reason or "",
        )
        for item in available(settings, project.world, root=project.root, versions=given.versions)
    ]
    return ProvidersSeen(
        ceiling_usd=ceiling_of(settings, project.world),
        **msgspec.structs.asdict(spent_today(project.world)),
        settings_path=settings_path(project.world),
        providers=[ours, *others],
    )


def lines(found: ProvidersSeen) -> Lines:
    yield f"Daily ceiling: ${found.ceiling_usd:.2f}"
    waiting = f", and ${found.open_usd:.4f} set aside" if found.open_usd else ""
    yield f"Spent on {found.day}: ${found.spent_usd:.4f} in {counted(found.calls, 'call')}{waiting}"
    yield f"Settings: {found.settings_path}"
    yield ""
    yield "Providers:"
    for item in found.providers:
        said = ", ".join(part for part in (item.path, item.version, item.reason) if part)
        yield f"- {item.name}: {'found' if item.found else 'not found'}{f' ({said})' if said else ''}"


VERB = Verb(
    takes=JournalProviders,
    run=journal_providers,
    lines=lines,
    examples="Examples:\n  memory journal providers --versions\n  memory journal providers --ceiling 2.50\n",
)
