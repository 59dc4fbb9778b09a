"""Views of one record: all of it, its history, changes in its code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from quire.index.catalog import Index
from quire.layers.graph.source import node_record
from quire.layers.journal.layout import STATE
from quire.layers.table import layer_named
from quire.model import limits
from quire.model.errors import Conflict, InputError
from quire.model.records import Record
from quire.model.refs import parse_ref
from quire.model.verdicts import Verdict
from quire.project import Project
from quire.upkeep.explained_changes import Explained, explanations
from quire.upkeep.views.anchor_diff import anchor_diff, commit_diff
from quire.upkeep.views.record import Explain, RecordDetail, record_detail
from quire.upkeep.views.record_events import graph_events, kept_dates
from quire.upkeep.views.record_history import RecordHistory, record_histories
from quire.upkeep.views.record_list import Verify
from quire.upkeep.views.text_diff import TextDiff
from quire.verbs.ask.inspect import Inspect, full_ref, inspect
from quire.verbs.ask.inspected_record import WholeRecords
from quire.verbs.page.page_view import PageArguments, PageRef, verify_for_page
from quire.verbs.team.resolve import fields_contested

Result = TypeVar("Result")
_ENTRIES = 100
_ENTRIES_MOST = 1_000


class ViewRecord(PageArguments, frozen=True):
    ref: PageRef


def view_record(project: Project, given: ViewRecord) -> RecordDetail:
    """One record of any layer in full."""

    def work(index: Index, record: Record) -> RecordDetail:
        def explain(verdicts: Mapping[str, Verdict]) -> Explained:
            return explanations(project.root, project.git, index, verdicts)

        verify = verify_for_page(project, index)
        return _detail(project, record, index, verify, explain)

    return _viewed(project, given.ref, work)


def view_details(project: Project, refs: Iterable[str]) -> dict[str, RecordDetail]:
    """Many records in full; what is not there is left out."""
    project.ready_to_ask()

    def work(index: Index) -> dict[str, RecordDetail]:
        verify = verify_for_page(project, index)
        records = [record for ref in refs if (record := index.find(ref)) is not None]
        return {record.ref: _detail(project, record, index, verify) for record in records}

    return project.with_index(work)


def _detail(
    project: Project, record: Record, index: Index, verify: Verify, explain: Explain | None = None
) -> RecordDetail:
    contested = fields_contested(project, record) if record.contested else []
    kept = layer_named(record.layer).details(project, record, project.weigh()(record))
    return record_detail(record, kept, index, project.git, verify, contested=contested, explain=explain)


class ViewHistory(PageArguments, frozen=True):
    ref: PageRef
    limit: int = _ENTRIES


def view_history(project: Project, given: ViewHistory) -> RecordHistory:
    """What became of a record: commits, what the memory noted, what is not committed."""
    most = limits.within(given.limit, "limit", 1, _ENTRIES_MOST)

    def work(_index: Index, record: Record) -> RecordHistory:
        is_node = record.layer == "graph"
        told = graph_events(project.graph, [record.ref]) if is_node else {record.ref: kept_dates(record)}
        return record_histories(project.root, project.git, [record], told, most)[record.ref]

    return _viewed(project, given.ref, work)


def view_histories(project: Project, refs: Iterable[str]) -> dict[str, RecordHistory]:
    """The histories of many nodes of the graph at once; what is none, or is not there, is left out."""
    project.ready_to_ask()

    def work(index: Index) -> dict[str, RecordHistory]:
        wanted = set(refs)
        records = [record for record in index.records("graph") if record.ref in wanted]
        told = graph_events(project.graph, wanted)
        return record_histories(project.root, project.git, records, told, _ENTRIES)

    return project.with_index(work)


class ViewDiff(PageArguments, frozen=True):
    ref: PageRef
    anchor: str = ""
    commit: str = ""


def view_diff(project: Project, given: ViewDiff) -> TextDiff:
    """What changed in the files of an anchor since someone looked, or what a commit did to the record."""
    anchor, commit = given.anchor, given.commit
    if bool(anchor) == bool(commit):
        raise InputError(
            "Name either an anchor or a commit.",
            hint="An anchor of the record, or a commit that its history lists.",
            details={"field": "anchor"},
        )

    def work(index: Index, record: Record) -> TextDiff:
        if commit:
            return commit_diff(project.git, record, commit)
        judged = [record] if anchor in record.anchors and project.git.available else []
        verdict = verify_for_page(project, index)(judged).get(record.ref)
        return anchor_diff(project.root, project.git, record, anchor, (verdict and verdict.since) or record.commit)

    return _viewed(project, given.ref, work)


# -- finding ----------------------------------------------------------------------------


def _viewed(project: Project, ref: str, work: Callable[[Index, Record], Result]) -> Result:
    """Do something with the record that a ref means; say what is wrong with the ref where it means none."""
    project.ready_to_ask()
    wanted = parse_ref(full_ref(ref))

    def attempt(index: Index) -> list[Result]:
        record = index.find(str(wanted))
        return [work(index, record)] if record is not None and record.layer == wanted.layer else []

    found = project.with_index(attempt)
    if not found:
        record = _meant(project, ref)
        found = project.with_index(lambda index: [work(index, record)])
    return found[0]


def _meant(project: Project, ref: str) -> Record:
    """A record as every other command finds it: by the beginning of its id, a section as a whole."""
    looked = inspect(project, Inspect(id=ref))
    found: Any = looked.found
    if looked.layer == "graph":
        return node_record(found.node)
    if looked.layer == "journal":
        return _section(parse_ref(full_ref(ref)).id, found)
    whole: str = found.ref if looked.layer == "facts" else found.entry.ref
    record = project.with_index(lambda index: index.find(whole))
    if record is None:
        raise Conflict(f"`{whole}` is being changed right now.", hint="Look again.")
    return record


def _section(name: str, found: WholeRecords) -> Record:
    """A section of the bundle whose items are records of their own, as one."""
    texts = [f"## {item.title}\n\n{item.text}" for item in found.items]
    created = found.items[0].created_at if found.items else ""
    return Record(
        ref=f"bundle:{name}",
        layer="journal",
        kind="bundle",
        title=name.replace("-", " ").capitalize(),
        text="\n\n".join(texts),
        status="active",
        path=STATE,
        section=name,
        created_at=created,
        updated_at=created,
    )
