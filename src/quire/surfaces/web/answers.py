"""What can be asked for about one project: the name of each answer, and the call of `Project` that gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from quire.model.errors import InputError
from quire.model.text import cut

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

    found = project.view_record(ref)
    return {**viewed_fields(found), "prose": prose_of(found.body)}


def _record(project: Project, query: Query) -> Any:
    return record_answer(project, _needed(query, "ref"))


def _records(project: Project, query: Query) -> Any:
    live = query.get("live", "")
    return project.view_records(
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

    begun = perf_counter()
    found = project.query(
        query.get("q", ""),
        layers=_words(query, "layers"),
        kinds=_words(query, "kinds"),
        everything=query.get("all", "") == "1",
        limit=_number(query, "limit", _RESULTS),
    )
    return searched_fields(found, milliseconds=round((perf_counter() - begun) * 1000))


ANSWERS: Mapping[str, Answer] = {
    "": lambda project, _: project.view_summary(),
    "today": lambda project, query: project.view_today(query.get("since", "")),
    "map": lambda project, _: project.view_map(),
    "records": _records,
    "record": _record,
    "history": lambda project, query: project.view_history(_needed(query, "ref")),
    "diff": lambda project, query: project.view_diff(
        _needed(query, "ref"), anchor=query.get("anchor", ""), commit=query.get("commit", "")
    ),
    "graph": lambda project, _: project.view_graph(),
    "search": _search,
    "timeline": lambda project, _: project.view_timeline(),
    "inbox": lambda project, query: project.view_inbox(_number(query, "offset", 0), _number(query, "limit", 50)),
    "health/anchors": lambda project, _: project.view_anchor_health(),
    "health/coverage": lambda project, _: project.view_coverage(),
    "health/receipts": lambda project, _: project.view_receipts(),
    "health/files": lambda project, _: project.view_files(),
}
