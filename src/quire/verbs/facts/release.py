"""`memory facts release`, the tool `memory_release`: unpin facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.verbs.facts.options import IDS_SCHEMA, FactIds, WorkingSession
from quire.verbs.facts.pins import PinsChanged, change_pins, pin_lines, pin_meant
from quire.verbs.verb import Arguments, Lines, Tool, Verb

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.facts.working_memory import Working
    from quire.project import Project


class Release(Arguments, frozen=True, kw_only=True):
    fact_ids: FactIds = None
    session: WorkingSession = ""


def release(project: Project, given: Release) -> PinsChanged:
    """Let go of pins: of FACT…, or of all. The facts themselves stay."""
    from quire.layers.facts.archive import named_ids
    from quire.layers.facts.working_memory import unpin
    from quire.model.times import time_text

    names = None if given.fact_ids is None else named_ids(given.fact_ids)

    def change(index: Index, working: Working) -> tuple[Working, dict[str, str]]:
        wanted = None if names is None else {name: pin_meant(project, index, working, name) for name in names}
        changed, outcomes = unpin(working, wanted and wanted.values(), time_text(project.world.now()))
        return changed, outcomes if wanted is None else {name: outcomes[wanted[name]] for name in wanted}

    return change_pins(project, "release pins", given.session, change, everything=names is None)


def lines(done: PinsChanged) -> Lines:
    yield f"Released {sum(said == 'released' for said in done.outcomes.values())}."
    yield from pin_lines(done)


VERB = Verb(
    takes=Release,
    run=release,
    lines=lines,
    writes=True,
    examples="Example:\n  memory facts release\n",
    tool=Tool(
        name="memory_release",
        title="Release pins",
        says="Let go of pins: those named, or all. The facts themselves stay; to put a fact away use memory_archive.",
        schema={"fact_ids": IDS_SCHEMA},
        gives={"outcomes": "object", "pins": "array"},
        destructive=True,
    ),
)
