"""What can be asked for about one project: the name of each answer, and the call of `Project` that gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from quire.model.errors import InputError
from quire.model.text import cut
from quire.verbs.page.health_views import view_anchor_health, view_coverage, view_files, view_receipts, view_timeline
from quire.verbs.page.record_views import view_diff, view_history
from quire.verbs.page.views import view_graph, view_inbox, view_map, view_summary, view_today

if TYPE_CHECKING:
    from quire.project import Project

Query = Mapping[str, str]
Answer = Callable[["Project", Query], Any]
_LONGEST = 4_000
_RESULTS = 20


def _number(query: Query, name: str, usual: int) -> int:
    text = query.get(name, "")
    if not text:
        return usual
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise InputError(f"`{name}` is no number.", hint="Give a whole number.", details={"field": name})
    return int(text)


def _words(query: Query, name: str) -> tuple[str, ...]:
    return tuple(word for word in query.get(name, "").split(",") if word)


def _needed(query: Query, name: str) -> str:
    text = query.get(name, "")
    if not text:
        raise InputError(f"`{name}` is missing.", hint="Say which record.", details={"field": name})
    if len(text) > _LONGEST:
        raise InputError(f"`{cut(text, 40)}` is too long.", hint="Give it as it is shown.", details={"field": name})
    return text


def record_answer(project: Project, ref: str) -> dict[str, Any]:
    """One record in full, its text as a tree beside it."""
    from quire.fields.viewing import viewed_fields
    from quire.surfaces.web.prose import prose_of
    from quire.verbs.page.record_views import view_record

    found = view_record(project, ref)
    return {**viewed_fields(found), "prose": prose_of(found.body)}


def _record(project: Project, query: Query) -> Any:
    return record_answer(project, _needed(query, "ref"))


def _records(project: Project, query: Query) -> Any:
    from quire.verbs.page.views import view_records

    live = query.get("live", "")
    return view_records(
        project,
        layer=query.get("layer", ""),
        kind=query.get("kind", ""),
        status=query.get("status", ""),
        stage=query.get("stage", ""),
        section=query.get("section", ""),
        verdict=query.get("verdict", ""),
        live=None if live == "" else live == "1",
        text=query.get("text", "")[:_LONGEST],
        offset=_number(query, "offset", 0),
        limit=_number(query, "limit", 100),
    )


def _search(project: Project, query: Query) -> dict[str, Any]:
    from time import perf_counter

    from quire.fields.viewing import searched_fields
    from quire.verbs.ask.query import query as query_of

    begun = perf_counter()
    found = query_of(
        project,
        query.get("q", ""),
        layers=_words(query, "layers"),
        kinds=_words(query, "kinds"),
        everything=query.get("all", "") == "1",
        limit=_number(query, "limit", _RESULTS),
    )
    return searched_fields(found, milliseconds=round((perf_counter() - begun) * 1000))


ANSWERS: Mapping[str, Answer] = {
    "": lambda project, _: view_summary(project),
    "today": lambda project, query: view_today(project, query.get("since", "")),
    "map": lambda project, _: view_map(project),
    "records": _records,
    "record": _record,
    "history": lambda project, query: view_history(project, _needed(query, "ref")),
    "diff": lambda project, query: view_diff(
        project, _needed(query, "ref"), anchor=query.get("anchor", ""), commit=query.get("commit", "")
    ),
    "graph": lambda project, _: view_graph(project),
    "search": _search,
    "timeline": lambda project, _: view_timeline(project),
    "inbox": lambda project, query: view_inbox(project, _number(query, "offset", 0), _number(query, "limit", 50)),
    "health/anchors": lambda project, _: view_anchor_health(project),
    "health/coverage": lambda project, _: view_coverage(project),
    "health/receipts": lambda project, _: view_receipts(project),
    "health/files": lambda project, _: view_files(project),
}
