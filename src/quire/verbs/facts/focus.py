"""`memory facts focus` and `release`, the tools `memory_focus` and `memory_release`: pin facts to working memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.layers.facts.archive import named_ids
from quire.layers.facts.drafts import find_fact
from quire.model.errors import NotFound
from quire.model.times import time_text
from quire.verbs.facts.fact_file import facts_ready, known_facts
from quire.verbs.facts.options import IDS_SCHEMA, FactIds, WorkingSession
from quire.verbs.facts.pins import PinsChanged, change_pins, pin_lines, pin_meant, working_memory
from quire.verbs.verb import Arguments, Lines, Tool, Verb

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.facts.working_memory import Working
    from quire.project import Project


class Focus(Arguments, frozen=True, kw_only=True):
    fact_ids: FactIds = None
    session: WorkingSession = ""


def focus(project: Project, given: Focus) -> PinsChanged:
    """Pin facts to working memory: they come first in every context and survive compaction.

    There are 25 slots. Without FACTS, shows what is pinned and what was read recently.
    """
    from quire.layers.facts.working_memory import pin

    if given.fact_ids is None:
        facts_ready(project)
        return working_memory(project, given.session)
    names = named_ids(given.fact_ids)

    def change(index: Index, working: Working) -> tuple[Working, dict[str, str]]:
        known = known_facts(index)
        refused: dict[str, str] = {}
        ids: dict[str, str] = {}
        for name in names:
            try:
                fact = find_fact(known, name, "fact_ids").fact
            except NotFound as error:
                several = error.hint and error.hint.startswith("It could be")
                refused[name] = f"not found: {error.hint}" if several else "not found"
                continue
            if fact.mind != known.overview.mind:
                refused[name] = f"not pinned: it belongs to the mind {fact.mind}"
            elif not fact.is_active:
                refused[name] = f"not pinned: it is {fact.status}"
            else:
                ids[name] = fact.id
        changed, outcomes = pin(working, ids.values(), time_text(project.world.now()))
        named = {name: outcomes[fact_id] for name, fact_id in ids.items()}
        return changed, {name: {**named, **refused}[name] for name in names}

    return change_pins(project, "pin facts", given.session, change)


def lines(done: PinsChanged) -> Lines:
    if done.outcomes:
        pinned = sum(said in ("pinned", "already pinned") for said in done.outcomes.values())
        yield f"Pinned {pinned} of {len(done.outcomes)}."
    yield from pin_lines(done)


VERB = Verb(
    takes=Focus,
    run=focus,
    lines=lines,
    writes=True,
    examples="Examples:\n  memory facts focus 57afd07611e9\n  memory facts focus\n",
    tool=Tool(
        title="Pin facts",
        says="Pin facts to working memory: they come first in every context and survive compaction. 25 slots, kept "
        "on this machine. Only for facts that matter in every turn.",
        needs=("fact_ids",),
        schema={"fact_ids": IDS_SCHEMA},
        gives={"outcomes": "object", "pins": "array"},
    ),
)


class Release(Arguments, frozen=True, kw_only=True):
    fact_ids: FactIds = None
    session: WorkingSession = ""


def release(project: Project, given: Release) -> PinsChanged:
    """Unpin FACTS, or all facts. The facts themselves stay."""
    from quire.layers.facts.working_memory import unpin

    names = None if given.fact_ids is None else named_ids(given.fact_ids)

    def change(index: Index, working: Working) -> tuple[Working, dict[str, str]]:
        wanted = None if names is None else {name: pin_meant(project, index, working, name) for name in names}
        changed, outcomes = unpin(working, wanted and wanted.values(), time_text(project.world.now()))
        return changed, outcomes if wanted is None else {name: outcomes[wanted[name]] for name in wanted}

    return change_pins(project, "release pins", given.session, change, everything=names is None)


def released_lines(done: PinsChanged) -> Lines:
    yield f"Released {sum(said == 'released' for said in done.outcomes.values())}."
    yield from pin_lines(done)


RELEASE = Verb(
    takes=Release,
    run=release,
    lines=released_lines,
    writes=True,
    examples="Example:\n  memory facts release\n",
    tool=Tool(
        title="Release pins",
        says="Unpin facts: those named, or all. The facts stay; to archive a fact use memory_archive.",
        schema={"fact_ids": IDS_SCHEMA},
        gives={"outcomes": "object", "pins": "array"},
        destructive=True,
    ),
)
