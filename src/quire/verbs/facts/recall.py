"""What the facts can be asked: recall, the archive, episodes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from quire.layers.facts.layout import ACTIVE, ARCHIVED, DORMANT, SUPERSEDED
from quire.model import limits
from quire.model.errors import InputError
from quire.model.records import Record
from quire.model.times import instant
from quire.project import Project
from quire.verbs.ask.query import ask_index
from quire.verbs.facts.fact_file import (
    ask_facts,
    facts_ready,
    known_facts,
    limit_within,
    record_view,
    scope_of,
    unread_lines,
)
from quire.verbs.facts.results import ConnectionView, Episodes, EpisodeView, FactView, Recalled

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.index.search import Filter
    from quire.retrieval.answer import Answer, Hit

_RECALL, _RECALL_MOST = 10, 50
_EPISODES, _EPISODES_MOST = 5, 50
_SHARPNESS = 4.0
"""Facts of one file differ by weeks, and so in confidence by halves: it must not outdo a clear match."""
_AWAY = (ARCHIVED, SUPERSEDED, DORMANT)


def memory_recall(
    project: Project,
    query: str,
    *,
    k: int | None = None,
    section: str | None = None,
    mind: str | None = None,
    faded: bool = False,
    strict: bool = False,
    note: bool = True,
) -> Recalled:
    """The facts that bear on a question, by relevance times confidence: answers, then at most three possible ones.

    What was not confirmed for long is left out and counted, unless `faded` asks for it or nothing else answers.
    With `strict`, answers alone.
    """
    from quire.layers.facts.drafts import section_named
    from quire.retrieval.current_records import FADED

    sections = (section_named(section),) if section is not None else ()
    most = limit_within(k, "k", _RECALL, _RECALL_MOST)
    _need(query)
    facts_ready(project)
    scope = scope_of(project, mind)
    allowed = fact_filter(sections=sections, statuses=(ACTIVE,), scope=scope)
    found = search_facts(project, query, most, allowed, everything=faded, strict=strict)
    results = [_hit(project, hit) for hit in found.hits]
    done = Recalled(
        query=query,
        results=results,
        connected=[_link(link.sentence, link.record) for link in (*found.connected, *found.open_questions)],
        weak=found.weak,
        faded=found.faded,
        reason="all faded" if any(hit.faded for hit in found.hits) else "",
        mind=mind or "",
    )
    if not results:
        ask_facts(project, lambda index: _say_why(index, done, allowed))
    elif note and not done.weak:
        # A look at what has faded does not bring it back.
        _note_reading(project, [view.id for view in results if view.confidence >= FADED])
    return done


def _need(query: str) -> None:
    if not query.strip():
        raise InputError(
            "`query` is empty.",
            hint="Say what you are looking for; `memory facts list` shows everything.",
            details={"field": "query"},
        )


def fact_filter(**parts: object) -> Filter:
    from quire.index.search import Filter

    return Filter(**{"layers": ("facts",), "kinds": ("fact",), **parts})  # type: ignore[arg-type]


def search_facts(
    project: Project,
    query: str,
    limit: int,
    allowed: Filter,
    *,
    everything: bool,
    strict: bool = False,
    rank_all: bool = False,
) -> Answer:
    from quire.retrieval.query import Ask

    asked = Ask(
        question=query[: limits.QUESTION_CHARS],
        budget=limits.BUDGET_MOST,
        limit=limit,
        allowed=allowed,
        everything=everything,
        strict=strict,
        rank_all=rank_all,
        sharpness=_SHARPNESS,
        rendered=False,
        linked=True,
    )
    return ask_index(project, asked)


def _hit(project: Project, hit: Hit) -> FactView:
    parts = hit.parts
    scores = {
        "lexical": parts.get("evidence", 0.0),
        "cosine": parts.get("nearness", 0.0),
        "fused": parts.get("relevance", 1.0),
        "confidence": parts.get("weight", 1.0),
        "graph": 0.0,
    }
    from quire.retrieval.answer_lines import last_said

    fields = {
        "last_said": last_said(hit.record),
        "score": round(hit.score, 4),
        "tier": hit.tier,
        "why": hit.why,
        "scores": scores,
        "verdict": hit.verdict,
        "reviewed": hit.reviewed,
    }
    return record_view(project, hit.record, project.world.now(), **fields)


def _say_why(index: Index, done: Recalled, allowed: Filter) -> None:
    """Nothing is there, or nothing fits: two different things to do."""
    stored = sum(
        number
        for (kind, _, status), number in index.section_counts("facts", allowed.scope).items()
        if kind == "fact" and status == ACTIVE
    )
    done.reason = "nothing matched" if stored else "nothing stored"
    done.unread = unread_lines(index)
    done.others = {name or "default": count for name, count in index.scopes("facts").items() if name != allowed.scope}


def _note_reading(project: Project, ids: Sequence[str]) -> None:
    from quire.layers.facts.access import note_access
    from quire.layers.facts.drafts import time_text

    if project.read_only:
        return
    note_access(project.root, list(ids), time_text(project.world.now()), project.world.token())


def memory_search_archive(project: Project, query: str, *, k: int | None = None, mind: str | None = None) -> Recalled:
    """What was put away and bears on a question. Finding it neither confirms nor revives it."""
    most = limit_within(k, "k", _RECALL, _RECALL_MOST)
    _need(query)
    facts_ready(project)
    scope = scope_of(project, mind)
    found = search_facts(project, query, most, fact_filter(statuses=_AWAY, scope=scope), everything=True)
    replaced = ask_facts(
        project, lambda index: {hit.record.ref: replacements(project, index, hit.record) for hit in found.hits}
    )
    results = [_hit(project, hit) for hit in sorted(found.hits, key=_by_relevance)]
    for view in results:
        view.replaced_by = replaced[view.ref]
        view.score = view.scores["fused"]
    return Recalled(query=query, results=results, weak=found.weak, mind=mind or "")


def replacements(project: Project, index: Index, record: Record) -> tuple[str, ...]:
    from quire.layers.facts.drafts import Draft
    from quire.layers.facts.replacement import replacements_of

    draft = Draft(known_facts(index), project.world.now())
    return tuple(fact.id for fact in replacements_of(draft, record.ref.removeprefix("fact:")))


def memory_episodes(
    project: Project,
    query: str = "",
    *,
    k: int | None = None,
    tag: str | None = None,
    since: str | None = None,
    until: str | None = None,
    mind: str | None = None,
) -> Episodes:
    """What happened in earlier sessions: those that bear on a question, or the most recent ones."""
    most = limit_within(k, "k", _EPISODES, _EPISODES_MOST)
    for name, text in (("since", since), ("until", until)):
        if text is not None and instant(text) is None:
            raise InputError(f"`{name}` is no date.", hint="Give one such as 2026-03-02.", details={"field": name})

    scope = scope_of(project, mind)

    def work(index: Index) -> list[Record]:
        found = index.page(fact_filter(kinds=("episode",), tags=(tag,) if tag else (), scope=scope))
        return [item for item in found if _within(item.created_at, since, until)]

    records = sorted(ask_facts(project, work), key=lambda item: (item.created_at, item.ref), reverse=True)
    if not query.strip():
        return Episodes(query="", results=[episode_view(item) for item in records[:most]], total=len(records))
    refs = tuple(item.ref for item in records)
    found = search_facts(
        project, query, most, fact_filter(kinds=("episode",), refs=refs, scope=scope), everything=False
    )
    results = [episode_view(hit.record, round(hit.score, 4)) for hit in found.hits]
    return Episodes(query=query, results=results, total=len(records))


def _link(sentence: str, record: Record) -> ConnectionView:
    source, relation, target = sentence.split(" ", 2)
    return ConnectionView(record.ref, source, relation, target, record.title)


def _by_relevance(hit: Hit) -> tuple[float, str]:
    return -hit.parts.get("relevance", hit.score), hit.record.ref


def _within(moment: str, since: str | None, until: str | None) -> bool:
    """Whether a time lies between two others; a day without a time of day is the whole day."""
    at = instant(moment)
    if at is None:
        return since is None and until is None
    first, last = instant(since) if since else None, instant(until) if until else None
    if last is not None and until and "T" not in until.upper() and " " not in until:
        last += timedelta(days=1, microseconds=-1)
    return (first is None or at >= first) and (last is None or at <= last)


def episode_view(record: Record, score: float | None = None) -> EpisodeView:
    from quire.layers.facts.records import episode_of_record

    episode = episode_of_record(record)
    return EpisodeView(
        ref=record.ref,
        id=episode.id,
        title=episode.title,
        narrative=episode.narrative,
        date=episode.date,
        tags=episode.tags,
        facts=episode.fact_ids,
        session=episode.session_id,
        score=score,
    )
