"""One record as people look at it: all of it, what became of it, what changed in the code that it speaks of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from quire.layers.journal.layout import STATE
from quire.model import limits
from quire.model.errors import Conflict, InputError
from quire.model.records import Record
from quire.model.refs import parse_ref
from quire.project.inspecting import Inspecting, full_ref
from quire.project.judging import Judging

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.graph.store import StoredNode
    from quire.project.journal_results import InspectedJournal
    from quire.upkeep.views.comparing import Diff
    from quire.upkeep.views.kept import Kept
    from quire.upkeep.views.past import RecordHistory
    from quire.upkeep.views.record import RecordDetail

Result = TypeVar("Result")
_ENTRIES = 100
_ENTRIES_MOST = 1_000


class ViewingRecords(Judging, Inspecting):
    """Views of one record. They write nothing but the index."""

    def view_record(self, ref: str) -> RecordDetail:
        """One record of any layer in full."""
        from quire.upkeep.views.record import record_detail

        def work(index: Index, record: Record) -> RecordDetail:
            return record_detail(record, self._kept(record), index, self.git, self._verify(index))

        return self._viewed(ref, work)

    def view_details(self, refs: Iterable[str]) -> dict[str, RecordDetail]:
        """Many records in full; what is not there is left out."""
        from quire.upkeep.views.record import record_detail

        self._ready_to_ask()

        def work(index: Index) -> dict[str, RecordDetail]:
            verify = self._verify(index)
            records = [record for ref in refs if (record := index.find(ref)) is not None]
            return {
                record.ref: record_detail(record, self._kept(record), index, self.git, verify) for record in records
            }

        return self._with_index(work)

    def view_history(self, ref: str, limit: int = _ENTRIES) -> RecordHistory:
        """What became of a record: commits, what the memory noted, what is not committed."""
        from quire.upkeep.views.past import record_histories
        from quire.upkeep.views.told import graph_events, kept_dates

        most = limits.within(limit, "limit", 1, _ENTRIES_MOST)

        def work(_index: Index, record: Record) -> RecordHistory:
            is_node = record.layer == "graph"
            told = graph_events(self.graph, [record.ref]) if is_node else {record.ref: kept_dates(record)}
            return record_histories(self.root, self.git, [record], told, most)[record.ref]

        return self._viewed(ref, work)

    def view_histories(self, refs: Iterable[str]) -> dict[str, RecordHistory]:
        """The histories of many nodes of the graph at once; what is none, or is not there, is left out."""
        from quire.upkeep.views.past import record_histories
        from quire.upkeep.views.told import graph_events

        self._ready_to_ask()

        def work(index: Index) -> dict[str, RecordHistory]:
            wanted = set(refs)
            records = [record for record in index.records("graph") if record.ref in wanted]
            told = graph_events(self.graph, wanted)
            return record_histories(self.root, self.git, records, told, _ENTRIES)

        return self._with_index(work)

    def view_diff(self, ref: str, *, anchor: str = "", commit: str = "") -> Diff:
        """What changed in the files of an anchor since somebody looked, or what a commit did to the record."""
        from quire.upkeep.views.diffs import anchor_diff, commit_diff

        if bool(anchor) == bool(commit):
            raise InputError(
                "Name either an anchor or a commit.",
                hint="An anchor of the record, or a commit that its history lists.",
                details={"field": "anchor"},
            )

        def work(index: Index, record: Record) -> Diff:
            if commit:
                return commit_diff(self.git, record, commit)
            judged = [record] if anchor in record.anchors and self.git.available else []
            verdict = self._verify(index)(judged).get(record.ref)
            return anchor_diff(self.root, self.git, record, anchor, (verdict and verdict.since) or record.commit)

        return self._viewed(ref, work)

    # -- finding ----------------------------------------------------------------------------

    def _viewed(self, ref: str, work: Callable[[Index, Record], Result]) -> Result:
        """Do something with the record that a ref means; say what is wrong with the ref where it means none."""
        self._ready_to_ask()
        wanted = parse_ref(full_ref(ref))

        def attempt(index: Index) -> list[Result]:
            record = index.find(str(wanted))
            return [work(index, record)] if record is not None and record.layer == wanted.layer else []

        found = self._with_index(attempt)
        if not found:
            record = self._meant(ref)
            found = self._with_index(lambda index: [work(index, record)])
        return found[0]

    def _meant(self, ref: str) -> Record:
        """A record as every other command finds it: by the beginning of its id, a section as a whole."""
        from quire.layers.graph.source import node_record

        looked = self.inspect_any(ref)
        found: Any = looked.found
        if looked.layer == "graph":
            return node_record(found.node)
        if looked.layer == "journal":
            return self._section(parse_ref(full_ref(ref)).id, found)
        whole: str = found.ref if looked.layer == "facts" else found.entry.ref
        record = self._with_index(lambda index: index.find(whole))
        if record is None:
            raise Conflict(f"`{whole}` is being changed at this moment.", hint="Look again.")
        return record

    def _section(self, name: str, found: InspectedJournal) -> Record:
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

    def _kept(self, record: Record) -> Kept:
        from quire.upkeep.views.items import is_current
        from quire.upkeep.views.kept import kept_fact, kept_journal, kept_node, kept_profile

        if record.layer == "graph":
            return kept_node(self._stored_node(record), is_current=is_current(record))
        if record.layer == "facts":
            return kept_fact(record, weight=self._weigh()(record))
        if record.layer == "profile":
            return kept_profile(record, private_path=self._places().private_name)
        return kept_journal(record)

    def _stored_node(self, record: Record) -> StoredNode:
        from quire.layers.graph.inspect import inspect_node
        from quire.layers.graph.store import StoredNode

        stored = self.graph.read_node(record.path)
        # It was moved or damaged since the index looked: whoever finds it says what is wrong.
        return stored if isinstance(stored, StoredNode) else inspect_node(self.graph, record.ref).node
