"""`memory facts refresh`: count the age of old facts from today."""

from __future__ import annotations

from typing import Annotated

from quire.index.catalog import Index
from quire.layers.facts.drafts import FactsDraft
from quire.layers.facts.layout import ACTIVE
from quire.layers.facts.records import held_of
from quire.layers.facts.store_fact import refresh_fact
from quire.model.errors import InputError, UsageError
from quire.model.text import cut
from quire.model.times import instant
from quire.project import Project
from quire.verbs.facts.fact_file import change_facts, known_facts, scope_in
from quire.verbs.facts.options import Date, DryRun, Mind
from quire.verbs.facts.search import fact_filter
from quire.verbs.verb import Arguments, Lines, Option, Result, Verb


class Refresh(Arguments, frozen=True, kw_only=True):
    since: Annotated[Date | None, Option(metavar="DATE", help="The day of the oldest facts to include.")] = None
    mind: Mind = None
    dry_run: DryRun = False


class Refreshed(Result, kw_only=True):
    since: str
    refreshed: int
    """Facts that count from today."""
    active: int
    mind: str
    dry_run: bool = False


def refresh(project: Project, given: Refresh) -> Refreshed:
    """Make old facts count from today: all active ones that were confirmed or read on DATE or later.

    Facts fade unless they are confirmed, so the facts of a file that was not used for a long time are left out of
    answers. This restarts their clock in one step and confirms nothing. They fade as fast as before.
    """
    if given.since is None:
        raise UsageError("The date is missing.", hint="memory facts refresh --since 2026-01-01")
    since = given.since
    first = instant(since)
    if first is None or first > project.world.now():
        said = "is not a date" if first is None else "is in the future"
        hint = "Give the day of the oldest facts that are still true, such as 2026-03-02."
        raise InputError(f"`{cut(since, 40)}` {said}.", hint=hint, details={"field": "since"})

    def plan(draft: FactsDraft, index: Index) -> Refreshed:
        scope = scope_in(index, given.mind)
        records = index.page(fact_filter(statuses=(ACTIVE,), scope=scope))
        rejections = project.rejections()
        done = 0
        for record in records:
            seen = instant(record.since)
            is_due = record.half_life > 0 and seen is not None and seen >= first
            # What was rejected must not be written again; `memory check` names it.
            if is_due and (rejections is None or not rejections.match(record.text)):
                refresh_fact(draft, held_of(record))
                done += 1
        name = given.mind or known_facts(index).overview.mind
        return Refreshed(since=since, refreshed=done, active=len(records), mind=name, dry_run=given.dry_run)

    return change_facts(project, "refresh facts", plan, dry_run=given.dry_run)


def lines(done: Refreshed) -> Lines:
    if not done.refreshed:
        yield f"No active fact was confirmed since {done.since}, or none fades."
        return
    verb = "Would refresh" if done.dry_run else "Refreshed"
    yield f"{verb} {done.refreshed:,} of {done.active:,} active facts: they count from today."
    if not done.dry_run:
        yield "`memory facts archive <id>` archives what is no longer true."


VERB = Verb(
    takes=Refresh,
    run=refresh,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory facts refresh --since 2026-01-01 --dry-run
  memory facts refresh --since 2026-01-01
""",
)
