"""Views of a project: summary, today, inbox, map, lists, graph."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import perf_counter
from typing import Any, TypeVar

import msgspec

from quire.inbox.proposals import Proposal
from quire.inbox.store import count_pending, read_inbox
from quire.index.catalog import Index
from quire.layers.facts.notes import read_notes
from quire.layers.facts.working_memory import read_working
from quire.layers.table import layer_named, path_from_root
from quire.model import limits
from quire.model.errors import InvalidStore, NotInitialized, not_one_of
from quire.model.records import Problem, Record
from quire.model.text import cut, one_line
from quire.model.times import instant, timestamp
from quire.model.vocabulary import LAYER_NAMES
from quire.project import Project
from quire.upkeep.views.board import ProductMap, product_board
from quire.upkeep.views.items import is_current
from quire.upkeep.views.network import GraphData, all_edges, network_of
from quire.upkeep.views.record_list import RecordFilter, RecordPage, hidden_refs, page_of_records, records_and_verdicts
from quire.upkeep.views.summary import ProjectSummary, project_summary
from quire.upkeep.views.today import WAITING, InboxPage, Today, inbox_page, today_of
from quire.verbs.ask.answers import answer_question
from quire.verbs.ask.query import answered
from quire.verbs.facts.pins import live_pins
from quire.verbs.inbox.overview import grouped
from quire.verbs.page.page_view import PageArguments, ready_to_view, verify_for_page
from quire.verbs.plain import plain

Result = TypeVar("Result")

_DAYS = 7
_PAGE_MOST = 500
_SHELF_MOST = 1_000
_NODES_MOST = 100_000
_OFFSET_MOST = 10_000_000


class ViewSummary(PageArguments, frozen=True):
    private: bool = True


def view_summary(project: Project, given: ViewSummary) -> ProjectSummary:
    """What the project holds, in numbers."""

    def work(index: Index, problems: list[Problem]) -> ProjectSummary:
        return project_summary(
            index,
            project.graph,
            project.git,
            verify_for_page(project, index),
            name=view_name(project),
            root=_plain(project.root) if given.private else "",
            inbox=count_pending(project.root) if given.private else 0,
            unreadable=len({problem.path or problem.code for problem in problems}),
            hidden=hidden_refs(index, private=given.private),
        )

    return _looked_at(project, work, private=given.private)


class ViewToday(PageArguments, frozen=True):
    since: str = ""
    private: bool = True


def view_today(project: Project, given: ViewToday) -> Today:
    """What changed since a time, by default within a week, and what is to be looked at or waits."""
    now = project.world.now()
    start = _since(given.since, now)
    private = given.private

    def work(index: Index, problems: list[Problem]) -> Today:
        hidden = hidden_refs(index, private=private)
        records, verdicts = records_and_verdicts(index, verify_for_page(project, index), hidden=hidden)
        inbox = read_inbox(project.root) if private else None
        if inbox is not None:
            problems += inbox.problems
        return today_of(
            records,
            verdicts,
            project.git,
            since=start,
            times=(timestamp(start), timestamp(now)),
            pins=_shown_pins(project, index, problems) if private else (),
            notes=read_notes(project.root, problems) if private else (),
            inbox=inbox_page(_by_source(inbox.pending) if inbox else [], 0, WAITING),
            problems=problems,
        )

    return _looked_at(project, work, private=private)


class ViewInbox(PageArguments, frozen=True):
    source: str = ""
    offset: int = 0
    limit: int = 50
    private: bool = True


def view_inbox(project: Project, given: ViewInbox) -> InboxPage:
    """Pending proposals, the oldest first."""
    _check_page(given.offset, given.limit)
    ready_to_view(project)
    pending = _by_source(read_inbox(project.root).pending) if given.private else []
    return inbox_page(pending, given.offset, given.limit, given.source)


def _by_source(pending: list[Proposal]) -> list[list[Proposal]]:
    return [group.items for group in grouped(pending)]


class ViewMap(PageArguments, frozen=True):
    limit: int = 200


def view_map(project: Project, given: ViewMap) -> ProductMap:
    """Features by stage, decisions, traps and questions, at most so many of each."""
    limits.within(given.limit, "limit", 1, _SHELF_MOST)
    return _looked_at(project, lambda index, _: product_board(index, verify_for_page(project, index), given.limit))


class ViewRecords(RecordFilter, frozen=True, kw_only=True, forbid_unknown_fields=True):
    offset: int = 0
    limit: int = 100
    private: bool = True


def view_records(project: Project, given: ViewRecords) -> RecordPage:
    """Records of all layers that are so and say this, the newest first."""
    _check_page(given.offset, given.limit)
    if given.layer and given.layer not in LAYER_NAMES:
        hint = f"It is one of {', '.join(LAYER_NAMES)}."
        raise not_one_of(f"There is no layer `{cut(given.layer, 40)}`.", "layer", LAYER_NAMES, hint)
    choice = msgspec.structs.replace(given, text=given.text[: limits.QUESTION_CHARS].strip())

    def work(index: Index, _: list[Problem]) -> RecordPage:
        hidden = hidden_refs(index, private=given.private)
        records, verdicts = records_and_verdicts(index, verify_for_page(project, index), hidden=hidden)
        return page_of_records(records, verdicts, choice, given.offset, given.limit)

    return _looked_at(project, work)


class ViewGraph(PageArguments, frozen=True):
    limit: int = 20_000
    private: bool = True


def view_graph(project: Project, given: ViewGraph) -> GraphData:
    """The records of all layers and what ties them, in columns."""
    limits.within(given.limit, "limit", 1, _NODES_MOST)

    def work(index: Index, _: list[Problem]) -> GraphData:
        hidden = hidden_refs(index, private=given.private)
        records, verdicts = records_and_verdicts(index, verify_for_page(project, index), hidden=hidden)
        return network_of(records, verdicts, all_edges(index), given.limit)

    return _looked_at(project, work)


# -- what all of them need ----------------------------------------------------------------


def _looked_at(project: Project, work: Callable[[Index, list[Problem]], Result], *, private: bool = True) -> Result:
    """Do this with a fresh index, and with what could not be read."""
    found = ready_to_view(project)

    def looked(index: Index) -> Result:
        unread = [
            Problem(code=code, message=message, path=path_from_root(layer, path))
            for layer, path, code, message in index.problems()
            # What is wrong with such a layer may be wrong with its private part, and name records of it.
            if private or not layer_named(layer).has_private
        ]
        return work(index, [*found, *unread])

    return project.with_index(looked)


def view_name(project: Project) -> str:
    """What the project is called; the folder's name where nothing says it."""
    try:
        return project.graph.config().project.name
    except (NotInitialized, InvalidStore):
        return _plain(os.path.basename(project.root))


def _shown_pins(project: Project, index: Index, problems: list[Problem]) -> list[Record]:
    """The facts that all sessions have pinned; one that was superseded gives its place to what replaced it."""
    working, wrong = read_working(project.root)
    problems += wrong
    if not working.pins:
        return []
    live, _, _ = live_pins(project, index, working)
    found = (index.find(f"fact:{pin.id}") for pin in live.pins)
    return [record for record in found if record is not None]


def _since(text: str, now: datetime) -> datetime:
    """The time that is meant, in UTC; a week ago where none is."""
    moment = instant(text.strip())
    try:
        return moment.astimezone(UTC) if moment else now - timedelta(days=_DAYS)
    except OverflowError:  # within a day of the first or the last year
        return now - timedelta(days=_DAYS)


def _check_page(offset: int, limit: int) -> None:
    limits.within(offset, "offset", 0, _OFFSET_MOST)
    limits.within(limit, "limit", 1, _PAGE_MOST)


def _plain(path: str) -> str:
    """A path that can be written as text, whatever bytes it has."""
    return os.fsencode(path).decode("utf-8", "replace")


class SearchPage(PageArguments, frozen=True):
    q: str = ""
    layers: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    all: bool = False
    limit: int = 20


def search_page(project: Project, given: SearchPage) -> dict[str, Any]:
    """The answer to a question with the parts of each score, each hit in the form of a list, and how long it took."""
    begun = perf_counter()
    found = answer_question(
        project, given.q, layers=given.layers, kinds=given.kinds, everything=given.all, limit=given.limit
    )
    milliseconds = round((perf_counter() - begun) * 1000)
    fields: dict[str, Any] = plain(answered(found, explain=True))
    for hit, shown in zip(found.hits, fields["results"], strict=True):
        record = hit.record
        shown["live"] = is_current(record)
        shown["section"] = record.section
        shown["because"] = hit.verdict.because if hit.verdict else ""
        shown["created_at"] = record.created_at
        shown["excerpt"] = cut(one_line(shown.pop("text")), 600)
        shown["title"] = one_line(record.title) or cut(shown["excerpt"], 120)
    return {**fields, "milliseconds": milliseconds, "words_only": False}
