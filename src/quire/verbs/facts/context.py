"""`memory facts context`: list what an agent needs in this turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from quire.layers.facts.layout import ACTIVE, SECTIONS
from quire.model import limits
from quire.verbs.facts.fact_file import facts_ready, scope_of
from quire.verbs.facts.options import Mind, WorkingSession
from quire.verbs.facts.pins import working_memory
from quire.verbs.facts.search import fact_filter, search_facts
from quire.verbs.verb import Arguments, Lines, Option, Recalled, Verb, Word

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project
    from quire.retrieval.facts_context import FactsContext, Offer

_CONTEXT_TOKENS = 2_000
_CONTEXT_FACTS = 40
_SHARE_OFFERS = 6
_EPISODES_LOOK = 5


class ShowContext(Arguments, frozen=True, kw_only=True):
    prompt: Annotated[str, Word(required=False)] = ""
    budget: Annotated[int | None, Option(metavar="TOKENS", help="At most this many tokens; 2000 by default.")] = None
    session: WorkingSession = ""
    mind: Mind = None


def context(project: Project, given: ShowContext) -> FactsContext:
    """Print what an agent should know in this turn, within a budget of tokens.

    Pins come first, then facts relevant to PROMPT with a fair share for every section, then at most one episode. A
    prompt without content ("ok", "continue") gets only the pins. The same input gives the same text.
    """
    from quire.retrieval.current_records import FADED
    from quire.retrieval.facts_context import fit_facts
    from quire.retrieval.low_signal import is_low_signal

    tokens = limits.budget(given.budget, _CONTEXT_TOKENS)
    facts_ready(project)
    working = working_memory(project, given.session)
    low = is_low_signal(given.prompt)
    relevant: list[Offer] = []
    episode: Offer | None = None
    shares: dict[str, list[Offer]] = {}
    if not low:
        scope = scope_of(project, given.mind)
        relevant = _relevant(project, given.prompt, scope)
        shares = project.with_index(lambda index: _shares(project, index, scope))
        episode = _related_episode(project, given.prompt, scope)
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


def lines(found: FactsContext) -> Lines:
    if found.markdown:
        yield Recalled(text=found.markdown.rstrip("\n"), origin="facts")


VERB = Verb(
    takes=ShowContext,
    run=context,
    lines=lines,
    examples='Example:\n  memory facts context "add a retry to the mailer" --budget 1200\n',
)
