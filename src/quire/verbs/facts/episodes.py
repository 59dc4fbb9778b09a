"""`memory facts episodes`, the tool `memory_episodes`: find what happened in earlier sessions."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from quire.model.errors import InputError
from quire.model.records import Record
from quire.model.text import counted
from quire.model.times import instant
from quire.verbs.facts.fact_file import ask_facts, limit_within, scope_of
from quire.verbs.facts.options import Date, Many, Mind
from quire.verbs.facts.results import EpisodeView
from quire.verbs.facts.search import episode_view, fact_filter, search_facts
from quire.verbs.verb import Arguments, Lines, Option, Recalled, Result, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project

_EPISODES, _EPISODES_MOST = 5, 50


class ShowEpisodes(Arguments, frozen=True, kw_only=True):
    query: Annotated[str, Meta(max_length=4000), Word(required=False)] = ""
    k: Annotated[Many | None, Option(metavar="NUMBER", help="The most results to show; 5 by default.")] = None
    tag: Annotated[Annotated[str, Meta(max_length=80)] | None, Option(metavar="TAG", help="Only with this tag.")] = None
    since: Annotated[Date | None, Option(metavar="DATE", help="From this day on.")] = None
    until: Annotated[Date | None, Option(metavar="DATE", help="Up to this day.")] = None
    mind: Mind = None


class Episodes(Result, kw_only=True):
    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("query",)
    query: str
    results: list[EpisodeView]
    total: int


def episodes(project: Project, given: ShowEpisodes) -> Episodes:
    """Show what happened in earlier sessions: those relevant to a question, or the most recent ones."""
    most = limit_within(given.k, "k", _EPISODES, _EPISODES_MOST)
    for name, text in (("since", given.since), ("until", given.until)):
        if text is not None and instant(text) is None:
            raise InputError(f"`{name}` is not a date.", hint="Give one such as 2026-03-02.", details={"field": name})
    scope = scope_of(project, given.mind)

    def work(index: Index) -> list[Record]:
        tags = (given.tag,) if given.tag else ()
        found = index.page(fact_filter(kinds=("episode",), tags=tags, scope=scope))
        return [item for item in found if _within(item.created_at, given.since, given.until)]

    records = sorted(ask_facts(project, work), key=lambda item: (item.created_at, item.ref), reverse=True)
    is_asked = any((given.query, given.tag, given.since, given.until, given.mind))
    nothing = "No episode matches." if is_asked else "No episodes are recorded."
    if not given.query.strip():
        views = [episode_view(item) for item in records[:most]]
        return Episodes(query="", results=views, total=len(records), nothing=nothing)
    allowed = fact_filter(kinds=("episode",), refs=tuple(item.ref for item in records), scope=scope)
    found = search_facts(project, given.query, most, allowed, everything=False)
    views = [episode_view(hit.record, round(hit.score, 4)) for hit in found.hits]
    return Episodes(query=given.query, results=views, total=len(records), nothing=nothing)


def _within(moment: str, since: str | None, until: str | None) -> bool:
    """Whether a time lies between two others; a day without a time of day is the whole day."""
    at = instant(moment)
    if at is None:
        return since is None and until is None
    first, last = instant(since) if since else None, instant(until) if until else None
    if last is not None and until and "T" not in until.upper() and " " not in until:
        last += timedelta(days=1, microseconds=-1)
    return (first is None or at >= first) and (last is None or at <= last)


def lines(found: Episodes) -> Lines:
    for item in found.results:
        tags = f"  [{', '.join(item.tags)}]" if item.tags else ""
        narrative = item.narrative.replace("\n", "\n  ")
        facts = f", {counted(len(item.facts), 'fact')}" if item.facts else ""
        text = f"{item.date}: {item.title}{tags}\n  {item.ref}{facts}\n  {narrative}"
        verdict = item.verdict.verdict if item.verdict else "unanchored"
        yield Recalled(text=text, ref=item.ref, origin="session", verdict=verdict)
        yield ""
    if not found.results:
        yield found.nothing


VERB = Verb(
    takes=ShowEpisodes,
    run=episodes,
    lines=lines,
    examples="""Examples:
  memory facts episodes
  memory facts episodes "font crash" --tag auto --since 2026-03-01
""",
    tool=Tool(
        title="Earlier sessions",
        says="Summaries of earlier sessions: relevant to a question or, without one, the newest. Use it to pick up "
        "unfinished work. For what was learned in them use memory_recall.",
        gives={"results": "array", "total": "integer"},
    ),
)
