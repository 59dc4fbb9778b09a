"""What an agent has before its eyes: pins, what was read of late, and the context of a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quire.layers.facts.layout import ACTIVE, FOLDER, SECTIONS
from quire.model import limits
from quire.project.fact_results import PinsChanged
from quire.project.recalling import FactAsking

if TYPE_CHECKING:
    from quire.index import Index
    from quire.layers.facts import Fact, Working
    from quire.retrieval import Context, Offer

_CONTEXT_TOKENS = 2_000
_CONTEXT_FACTS = 40
_SHARE_OFFERS = 6
_SHORTEST = 4

__all__ = ["WorkingMemory"]


class WorkingMemory(FactAsking):
    """Operations on what belongs to this machine: nothing tracked is written."""

    def memory_focus(self, fact_ids: Sequence[str] | str, *, session: str = "") -> PinsChanged:
        """Pin facts: they come first in every turn, and outlive a compaction."""
        from quire.files import write_access
        from quire.layers.facts import find_fact, named_ids, pin, read_working, time_text, write_working
        from quire.model import NotFound

        names = named_ids(fact_ids)
        self._ready()
        with write_access(self.root, FOLDER, self.world, "facts focus"):
            working, problems = read_working(self.root, session)

            def resolve(index: Index) -> tuple[Working, dict[str, str], dict[str, str]]:
                known, refused, ids = self._known(index), dict[str, str](), dict[str, str]()
                for name in names:
                    try:
                        held = find_fact(known, name, "fact_ids")
                    except NotFound:
                        refused[name] = "not found"
                        continue
                    if held.fact.is_active:
                        ids[name] = held.fact.id
                    else:
                        refused[name] = f"not pinned: it is {held.fact.status}"
                live, _ = self._live_pins(index, working)
                return live, refused, ids

            live, refused, ids = self._with_index(resolve)
            changed, outcomes = pin(live, ids.values(), time_text(self.world.now()))
            if changed != working:
                write_working(self.root, session, changed, self.world.token())
        named = {name: outcomes[fact_id] for name, fact_id in ids.items()}
        done = self._working(session)
        done.outcomes, done.warnings = {name: {**named, **refused}[name] for name in names}, problems
        return done

    def memory_release(self, fact_ids: Sequence[str] | str | None = None, *, session: str = "") -> PinsChanged:
        """Let go of pins: of these, or of all, and then of what was read of late, too."""
        from quire.files import write_access
        from quire.layers.facts import named_ids, read_working, time_text, unpin, write_working

        names = None if fact_ids is None else [name.removeprefix("fact:") for name in named_ids(fact_ids)]
        self._ready()
        with write_access(self.root, FOLDER, self.world, "facts release"):
            working, problems = read_working(self.root, session)
            live, _ = self._with_index(lambda index: self._live_pins(index, working))
            wanted = None if names is None else [_pinned(live, name) for name in names]
            changed, outcomes = unpin(live, wanted, time_text(self.world.now()))
            if changed != working:
                write_working(self.root, session, changed, self.world.token())
        done = self._working(session)
        done.outcomes, done.warnings = outcomes, problems
        return done

    def memory_working(self, *, session: str = "") -> PinsChanged:
        """What is pinned, and what was read of late."""
        self._ready()
        return self._working(session)

    def _working(self, session: str) -> PinsChanged:
        from quire.layers.facts import SLOTS, read_working

        working, problems = read_working(self.root, session)
        now = self.world.now()
        self._access = None  # what was read since this began counts, too

        def work(index: Index) -> PinsChanged:
            live, missing = self._live_pins(index, working)
            pinned = [held.fact for pin in live.pins if (held := self._known(index).fact(pin.id))]
            recent = self._recent(index, live)
            return PinsChanged(
                outcomes={},
                pins=[self._fact_view(fact, now) for fact in pinned],
                recent=[self._fact_view(fact, now) for fact in recent],
                slots=SLOTS,
                used=len(pinned),
                missing=missing,
                session=session,
                warnings=problems,
            )

        return self._with_index(work)

    def _recent(self, index: Index, working: Working) -> list[Fact]:
        """What was read of late and still holds, as much as there are slots for."""
        from quire.layers.facts import automatic, held_of

        found: dict[str, Fact] = {}
        gone: set[str] = set()
        while True:
            names = automatic(working, self._accessed(), gone)
            unknown = [name for name in names if name not in found]
            for name in unknown:
                record = index.find(f"fact:{name}")
                if record is None or record.status != ACTIVE or record.scope:
                    gone.add(name)
                else:
                    found[name] = held_of(record).fact
            if not gone.intersection(unknown):
                return [found[name] for name in names]

    def _live_pins(self, index: Index, working: Working) -> tuple[Working, list[str]]:
        """The pins as they are today: a superseded fact's replacement has its place, one put away has none."""
        from quire.layers.facts import Draft, follow, replacements_of

        known = self._known(index)
        draft = Draft(known, self.world.now())
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
        return follow(working, moves), missing

    # -- the context of a turn --------------------------------------------------------------

    def memory_context(
        self, prompt: str = "", *, budget: int | None = None, session: str = "", mind: str | None = None
    ) -> Context:
        """What an agent should have before its eyes in this turn, within a budget of tokens."""
        from quire.retrieval import FADED, fit_context, is_low_signal

        tokens = limits.within(
            _CONTEXT_TOKENS if budget is None else budget, "budget", limits.BUDGET_LEAST, limits.BUDGET_MOST
        )
        self._ready()
        working = self._working(session)
        low = is_low_signal(prompt)
        relevant: list[Offer] = []
        episode: Offer | None = None
        shares: dict[str, list[Offer]] = {}
        if not low:
            scope = self._scope_of(mind)
            relevant = self._relevant(prompt, scope)
            shares = self._with_index(lambda index: self._shares(index, scope))
            episode = self._related_episode(prompt, scope)
        return fit_context(
            pins=self._with_index(lambda index: self._offers(index, [view.ref for view in working.pins])),
            missing_pins=[f"fact:{name}" for name in working.missing],
            relevant=relevant,
            shares=shares,
            episode=episode,
            budget=tokens,
            sections=SECTIONS,
            low_signal=low,
            floor=FADED,
        )

    def _offers(self, index: Index, refs: Sequence[str]) -> list[Offer]:
        from quire.retrieval import Offer

        weigh = self._weigh()
        records = [record for ref in refs if (record := index.find(ref))]
        return [Offer(record=record, confidence=weigh(record)) for record in records]

    def _relevant(self, prompt: str, scope: str) -> list[Offer]:
        from quire.retrieval import Offer

        allowed = self._filter(statuses=(ACTIVE,), scope=scope)
        found = self._search(prompt, _CONTEXT_FACTS, allowed, everything=False)
        if found.weak:
            return []  # what does not clearly bear on the prompt is no better than any other fact
        weigh = self._weigh()
        return [Offer(record=hit.record, score=hit.score, confidence=weigh(hit.record)) for hit in found.hits]

    def _related_episode(self, prompt: str, scope: str) -> Offer | None:
        from quire.retrieval import Offer

        found = self._search(prompt, 1, self._filter(kinds=("episode",), scope=scope), everything=False)
        if found.weak or not found.hits:
            return None
        return Offer(record=found.hits[0].record, score=found.hits[0].score)

    def _shares(self, index: Index, scope: str) -> dict[str, list[Offer]]:
        """The best of each section: what was read of late first, then what counts most today."""
        from quire.retrieval import Offer

        weigh, read = self._weigh(), self._accessed()
        found: dict[str, list[Offer]] = {}
        for section in SECTIONS:
            allowed = self._filter(statuses=(ACTIVE,), sections=(section,), scope=scope)
            newest = index.page(allowed, limit=10 * _SHARE_OFFERS)
            best = sorted(
                newest,
                key=lambda item: (-(item.ref.removeprefix("fact:") in read), -weigh(item), item.ref),
            )[:_SHARE_OFFERS]
            found[section] = [Offer(record=record, confidence=weigh(record)) for record in best]
        return found


def _pinned(working: Working, name: str) -> str:
    """The pin that is named, also by the beginning of its id where that is enough."""
    near = [pin.id for pin in working.pins if len(name) >= _SHORTEST and pin.id.startswith(name)]
    return near[0] if len(near) == 1 else name
