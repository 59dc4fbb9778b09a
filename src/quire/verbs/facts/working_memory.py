"""What an agent has before its eyes: pins, what was read of late, and the context of a turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from quire.layers.facts.layout import ACTIVE, FOLDER, SECTIONS
from quire.model import limits
from quire.model.errors import NotFound
from quire.model.records import Problem
from quire.project import Project
from quire.verbs.facts.fact_file import fact_view, facts_ready, known_facts, scope_of
from quire.verbs.facts.recall import fact_filter, search_facts
from quire.verbs.facts.results import PinsChanged

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.facts.types import Fact
    from quire.layers.facts.working import Working
    from quire.retrieval.facts_context import FactsContext, Offer

_CONTEXT_TOKENS = 2_000
_CONTEXT_FACTS = 40
_SHARE_OFFERS = 6
_SHORTEST = 4
_EPISODES_LOOK = 5


def memory_focus(project: Project, fact_ids: Sequence[str] | str, *, session: str = "") -> PinsChanged:
    """Pin facts: they come first in every turn, and outlive a compaction."""
    from quire.layers.facts.archive import named_ids
    from quire.layers.facts.drafts import find_fact, time_text
    from quire.layers.facts.working import pin

    names = named_ids(fact_ids)

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

    return _change_pins(project, "pin facts", session, change)


def memory_release(project: Project, fact_ids: Sequence[str] | str | None = None, *, session: str = "") -> PinsChanged:
    """Let go of pins: of these, or of all, and then of what was read of late, too."""
    from quire.layers.facts.archive import named_ids
    from quire.layers.facts.drafts import time_text
    from quire.layers.facts.working import unpin

    names = None if fact_ids is None else named_ids(fact_ids)

    def change(index: Index, working: Working) -> tuple[Working, dict[str, str]]:
        wanted = None if names is None else {name: _pinned(project, index, working, name) for name in names}
        changed, outcomes = unpin(working, wanted and wanted.values(), time_text(project.world.now()))
        return changed, outcomes if wanted is None else {name: outcomes[wanted[name]] for name in wanted}

    return _change_pins(project, "release pins", session, change, everything=names is None)


def _change_pins(
    project: Project,
    operation: str,
    session: str,
    change: Callable[[Index, Working], tuple[Working, dict[str, str]]],
    *,
    everything: bool = False,
) -> PinsChanged:
    """Change the pins that hold today. One whose fact is not here now keeps its place, in case it comes back."""
    from quire.files.write_access import write_access
    from quire.layers.facts.working import SLOTS, Pin, Working, read_working, write_working

    facts_ready(project)
    with write_access(project.root, FOLDER, project.world, operation):
        working, problems = read_working(project.root, session)

        def work(index: Index) -> tuple[Working, dict[str, str]]:
            live, missing, named = live_pins(project, index, working)
            changed, outcomes = change(index, live)
            resting = [pin for pin in working.pins if pin.id in missing and not everything]
            for pin in list(resting):
                asked = next((name for name in outcomes if name.removeprefix("fact:") == pin.id), None)
                if asked is not None and operation == "release pins":
                    outcomes[asked] = "released"
                    resting.remove(pin)
            # Each as it was named: on another branch the fact that it followed may not be there.
            pins = tuple(Pin(named.get(pin.id, pin.id), pin.at) for pin in changed.pins)
            room = SLOTS - len(pins)
            return Working((*resting[max(0, len(resting) - room) :], *pins), changed.released_at), outcomes

        changed, outcomes = project.with_index(work)
        if changed != working:
            for name in write_working(project.root, session, changed, project.world.token()):
                said = f"The working memory of the session `{name}` was forgotten to make room."
                problems.append(Problem(code="SessionForgotten", severity="warning", message=said))
    done = working_memory(project, session)
    done.outcomes, done.warnings = outcomes, problems
    return done


def _pinned(project: Project, index: Index, working: Working, name: str) -> str:
    """The pin that is meant: by the beginning of its id, by the id of a twin, or of what it replaced."""
    from quire.layers.facts.drafts import Draft, find_fact
    from quire.layers.facts.replacement import replacements_of

    bare = name.removeprefix("fact:")
    ids = [pin.id for pin in working.pins]
    near = [pinned for pinned in ids if len(bare) >= _SHORTEST and pinned.startswith(bare)]
    if bare in ids or len(near) != 1:
        try:
            fact = find_fact(known_facts(index), name, "fact_ids").fact
        except NotFound:
            return bare
        now = [
            fact.id,
            *(item.id for item in replacements_of(Draft(known_facts(index), project.world.now()), fact.id)),
        ]
        near = [pinned for pinned in now if pinned in ids]
    return near[0] if near else bare


def memory_working(project: Project, *, session: str = "") -> PinsChanged:
    """What is pinned, and what was read of late."""
    facts_ready(project)
    return working_memory(project, session)


def working_memory(project: Project, session: str) -> PinsChanged:
    from quire.layers.facts.working import SLOTS, read_working

    working, problems = read_working(project.root, session)
    now = project.world.now()
    project.access_times = None  # what was read since this began counts, too

    def work(index: Index) -> PinsChanged:
        live, missing, _ = live_pins(project, index, working)
        pinned = [held.fact for pin in live.pins if (held := known_facts(index).fact(pin.id))]
        recent = _recent(project, index, live)
        return PinsChanged(
            outcomes={},
            pins=[fact_view(project, fact, now) for fact in pinned],
            recent=[fact_view(project, fact, now) for fact in recent],
            slots=SLOTS,
            used=len(pinned),
            missing=missing,
            session=session,
            warnings=problems,
        )

    return project.with_index(work)


def _recent(project: Project, index: Index, working: Working) -> list[Fact]:
    """What was read of late and still holds, as much as there are slots for."""
    from quire.layers.facts.records import held_of
    from quire.layers.facts.working import automatic

    found: dict[str, Fact] = {}
    gone: set[str] = set()
    while True:
        names = automatic(working, project.accessed(), gone)
        unknown = [name for name in names if name not in found]
        for name in unknown:
            record = index.find(f"fact:{name}")
            if record is None or record.status != ACTIVE or record.scope:
                gone.add(name)
            else:
                found[name] = held_of(record).fact
        if not gone.intersection(unknown):
            return [found[name] for name in names]


def live_pins(project: Project, index: Index, working: Working) -> tuple[Working, list[str], dict[str, str]]:
    """The pins as they are today: a superseded fact's replacement has its place, one put away has none.

    Then the names of those that have none, and by which name each of the others was pinned.
    """
    from quire.layers.facts.drafts import Draft
    from quire.layers.facts.replacement import replacements_of
    from quire.layers.facts.working import follow

    known = known_facts(index)
    draft = Draft(known, project.world.now())
    moves: dict[str, str | None] = {}
    missing = []
    for pin in working.pins:
        held = known.fact(pin.id)
        if held is not None and held.fact.is_active:
            if held.fact.id != pin.id:
                moves[pin.id] = held.fact.id
            continue
        now = replacements_of(draft, held.fact.id) if held is not None else []
        moves[pin.id] = now[0].id if now else None
        if not now:
            missing.append(pin.id)
    named = {today: pinned for pinned, today in moves.items() if today is not None}
    return follow(working, moves), missing, named


# -- the context of a turn --------------------------------------------------------------


def memory_context(
    project: Project, prompt: str = "", *, budget: int | None = None, session: str = "", mind: str | None = None
) -> FactsContext:
    """What an agent should have before its eyes in this turn, within a budget of tokens."""
    from quire.retrieval.current_records import FADED
    from quire.retrieval.facts_context import fit_facts
    from quire.retrieval.low_signal import is_low_signal

    tokens = limits.within(
        _CONTEXT_TOKENS if budget is None else budget, "budget", limits.BUDGET_LEAST, limits.BUDGET_MOST
    )
    facts_ready(project)
    working = working_memory(project, session)
    low = is_low_signal(prompt)
    relevant: list[Offer] = []
    episode: Offer | None = None
    shares: dict[str, list[Offer]] = {}
    if not low:
        scope = scope_of(project, mind)
        relevant = _relevant(project, prompt, scope)
        shares = project.with_index(lambda index: _shares(project, index, scope))
        episode = _related_episode(project, prompt, scope)
    return fit_facts(
        pins=project.with_index(lambda index: _offers(project, index, [view.ref for view in working.pins])),
        missing_pins=[f"fact:{name}" for name in working.missing],
        relevant=relevant,
        shares=shares,
        episode=episode,
        budget=tokens,
        sections=SECTIONS,
        low_signal=low,
        floor=FADED,
    )


def _offers(project: Project, index: Index, refs: Sequence[str]) -> list[Offer]:
    from quire.retrieval.facts_context import Offer

    weigh = project.weigh()
    records = [record for ref in refs if (record := index.find(ref))]
    return [Offer(record=record, confidence=weigh(record)) for record in records]


def _relevant(project: Project, prompt: str, scope: str) -> list[Offer]:
    from quire.retrieval.facts_context import Offer

    allowed = fact_filter(statuses=(ACTIVE,), scope=scope)
    found = search_facts(project, prompt, _CONTEXT_FACTS, allowed, everything=False, rank_all=True)
    if found.weak:
        return []  # what does not clearly bear on the prompt is no better than any other fact
    weigh = project.weigh()
    return [Offer(record=hit.record, score=hit.score, confidence=weigh(hit.record)) for hit in found.hits]


def _related_episode(project: Project, prompt: str, scope: str) -> Offer | None:
    from quire.layers.facts.records import episode_of_record
    from quire.layers.facts.sessions import tells_something
    from quire.retrieval.facts_context import Offer

    allowed = fact_filter(kinds=("episode",), scope=scope)
    found = search_facts(project, prompt, _EPISODES_LOOK, allowed, everything=False, strict=True)
    telling = [hit for hit in found.hits if tells_something(episode_of_record(hit.record))]
    if not telling:
        return None
    return Offer(record=telling[0].record, score=telling[0].score)


def _shares(project: Project, index: Index, scope: str) -> dict[str, list[Offer]]:
    """The best of each section: what was read of late first, then what counts most today."""
    from quire.retrieval.facts_context import Offer

    weigh, read = project.weigh(), project.accessed()
    found: dict[str, list[Offer]] = {}
    for section in SECTIONS:
        allowed = fact_filter(statuses=(ACTIVE,), sections=(section,), scope=scope)
        newest = index.page(allowed, limit=10 * _SHARE_OFFERS)
        best = sorted(
            newest,
            key=lambda item: (-(item.ref.removeprefix("fact:") in read), -weigh(item), item.ref),
        )[:_SHARE_OFFERS]
        found[section] = [Offer(record=record, confidence=weigh(record)) for record in best]
    return found
