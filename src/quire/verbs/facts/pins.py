"""Read and change the working memory: pins and recent reads, on this machine alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from quire.layers.facts.layout import ACTIVE, FOLDER
from quire.model.errors import NotFound
from quire.model.records import Problem
from quire.verbs.facts.fact_file import fact_view, facts_ready, known_facts
from quire.verbs.facts.fact_lines import fact_lines
from quire.verbs.facts.results import FactView
from quire.verbs.verb import Lines, Recalled, Result

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.facts.types import Fact
    from quire.layers.facts.working_memory import Working
    from quire.project import Project

_SHORTEST = 4
_DONE = ("pinned", "already pinned", "released")


class PinsChanged(Result, kw_only=True):
    outcomes: dict[str, str]
    pins: list[FactView]
    recent: list[FactView]
    """What was read of late and fills the slots that are left."""
    slots: int
    used: int
    missing: list[str] = []
    """Pins whose facts were put away, or are not here."""
    session: str = ""

    def is_incomplete(self) -> bool:
        return any(said not in _DONE for said in self.outcomes.values())


def change_pins(
    project: Project,
    operation: str,
    session: str,
    change: Callable[[Index, Working], tuple[Working, dict[str, str]]],
    *,
    everything: bool = False,
) -> PinsChanged:
    """Change the pins that hold today. One whose fact is not here now keeps its place, in case it comes back."""
    from quire.files.write_access import write_access
    from quire.layers.facts.working_memory import SLOTS, PinnedFact, Working, read_working, write_working

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
            pins = tuple(PinnedFact(named.get(pin.id, pin.id), pin.at) for pin in changed.pins)
            room = SLOTS - len(pins)
            return Working((*resting[max(0, len(resting) - room) :], *pins), changed.released_at), outcomes

        changed, outcomes = project.with_index(work)
        if changed != working:
            for name in write_working(project.root, session, changed, project.world.token()):
                said = f"The working memory of the session `{name}` was removed to make room."
                problems.append(Problem(code="SessionForgotten", severity="warning", message=said))
    done = working_memory(project, session)
    done.outcomes, done.warnings = outcomes, problems
    return done


def pin_meant(project: Project, index: Index, working: Working, name: str) -> str:
    """The pin that is meant: by the beginning of its id, by the id of a twin, or of what it replaced."""
    from quire.layers.facts.drafts import FactsDraft, find_fact
    from quire.layers.facts.winners import replacements_of

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
            *(item.id for item in replacements_of(FactsDraft(known_facts(index), project.world.now()), fact.id)),
        ]
        near = [pinned for pinned in now if pinned in ids]
    return near[0] if near else bare


def working_memory(project: Project, session: str) -> PinsChanged:
    from quire.layers.facts.working_memory import SLOTS, read_working

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
    from quire.layers.facts.working_memory import automatic

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
    from quire.layers.facts.drafts import FactsDraft
    from quire.layers.facts.winners import replacements_of
    from quire.layers.facts.working_memory import follow

    known = known_facts(index)
    draft = FactsDraft(known, project.world.now())
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


def pin_lines(done: PinsChanged) -> Lines:
    """What became of each id, what is pinned now, and what was read of late."""
    for name, text in done.outcomes.items():
        if text not in ("pinned", "released"):
            yield Recalled(text=f"  {name}: {text}")
    yield f"Working memory: {done.used} of {done.slots} slots are pinned."
    yield from fact_lines(done.pins)
    if done.missing:
        yield Recalled(text=f"No longer stored: {', '.join(done.missing)}")
    if done.recent:
        yield "Recently read:"
        yield from fact_lines(done.recent)
