"""Verdicts shared by several views, computed once for each state of the disk."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from quire.model.records import Record
from quire.model.verdicts import Verdict
from quire.upkeep.views.record_list import Verify

_FEW = 200
"""So many are worked out at once, instead of waiting for someone who works out very many."""
_About = tuple[tuple[str, ...], tuple[str, ...], str, str]


class KnownVerdicts:
    """For a process that stays alive and knows when something changed: then it begins with another one of these."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[_About, Verdict]] = {}
        self._one_at_a_time = threading.Lock()
        self.asked = 0
        """How many verdicts were asked for that were not known."""

    def sharing(self, verify: Verify) -> Verify:
        """The same verdicts as these, of which only those are asked for that are not known yet."""

        def shared(records: Sequence[Record]) -> dict[str, Verdict]:
            missing = self._missing(records)
            if 0 < len(missing) <= _FEW:
                self._take(missing, verify)
            elif missing:
                with self._one_at_a_time:
                    # Whoever was here before may have worked out the same.
                    self._take(self._missing(missing), verify)
            known = self._known
            return {record.ref: known[record.ref][1] for record in records if record.ref in known}

        return shared

    def _missing(self, records: Sequence[Record]) -> list[Record]:
        known = self._known
        return [record for record in records if (held := known.get(record.ref)) is None or held[0] != _about(record)]

    def _take(self, records: Sequence[Record], verify: Verify) -> None:
        if not records:
            return
        found = verify(records)
        for record in records:
            if record.ref in found:
                self._known[record.ref] = _about(record), found[record.ref]
            else:
                self._known.pop(record.ref, None)
        self.asked += len(records)


def _about(record: Record) -> _About:
    """What of a record its verdict depends on."""
    return record.anchors, record.seen, record.commit, record.path
