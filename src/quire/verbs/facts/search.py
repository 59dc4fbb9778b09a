"""Search facts with the common engine, and show what each score consists of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.model import limits
from quire.model.errors import InputError
from quire.model.records import Record
from quire.verbs.ask.answers import ask_index
from quire.verbs.facts.fact_file import known_facts, record_view
from quire.verbs.facts.results import EpisodeView, FactView

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.index.search import Filter
    from quire.project import Project
    from quire.retrieval.answer import Answer, Hit

RECALL, RECALL_MOST = 10, 50
_SHARPNESS = 4.0
"""Facts of one file differ by weeks, and so in confidence by halves: it must not outdo a clear match."""


def need_question(query: str) -> None:
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


def fact_hit(project: Project, hit: Hit) -> FactView:
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


def replacements(project: Project, index: Index, record: Record) -> tuple[str, ...]:
    from quire.layers.facts.drafts import FactsDraft
    from quire.layers.facts.winners import replacements_of

    draft = FactsDraft(known_facts(index), project.world.now())
    return tuple(fact.id for fact in replacements_of(draft, record.ref.removeprefix("fact:")))


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
