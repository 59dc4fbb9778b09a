"""The log, the mark of a sync, settings, rejections and records of wiring, of two branches."""

from __future__ import annotations

import json
from typing import Any

from quire.layers.graph.merge_beside import merge_beside


def merged(path: str, base: Any, ours: Any, theirs: Any) -> Any:
    sides = [None if side is None else json.dumps(side).encode() for side in (base, ours, theirs)]
    one, other = (merge_beside(path, sides[0], *order) for order in (sides[1:], sides[:0:-1]))
    assert one is not None
    assert one == other
    return json.loads(one.data or b"null")


def test_the_log_has_the_lines_of_both_by_time() -> None:
    def line(at: int) -> bytes:
        return b'{"event":"e","timestamp":"2026-02-0%dT00:00:00Z"}\n' % at

    base = line(1)
    for sides in ([base + line(3), base + line(2) + line(4)], [base + line(2) + line(4), base + line(3)]):
        found = merge_beside(".memory/events.jsonl", base, *sides)
        assert found is not None
        assert found.data == b"".join(map(line, (1, 2, 3, 4)))


def test_documents_beside_the_records() -> None:
    early, late = ({"version": 1, "last_sync_commit": "ab" * 20, "last_sync_at": f"2026-02-0{day}"} for day in (1, 2))
    assert merged(".memory/sync-state.json", None, early, late) == late
    base = {"version": 5, "memory": {"autoIndex": True, "defaultTokenBudget": 2000}}
    ours = {"version": 5, "memory": {"autoIndex": False, "defaultTokenBudget": 2000}}
    theirs = {"version": 5, "memory": {"autoIndex": True, "defaultTokenBudget": 3000}, "review": {"M203": "block"}}
    assert merged(".memory/config.json", base, ours, theirs) == {
        "version": 5,
        "memory": {"autoIndex": False, "defaultTokenBudget": 3000},
        "review": {"M203": "block"},
    }
    wired = [{"version": 1, "path": ".mcp.json", "clients": [name], "after": name} for name in ("claude", "cursor")]
    assert merged(".memory/integrations/mcp.json", None, *wired)["clients"] == ["claude", "cursor"]
    assert merge_beside(".memory/other.json", b"a", b"b", b"c") is None


def test_a_rejection_holds_unless_both_lifted_it() -> None:
    path = ".memory/rejected/0.json"
    rejected = {"value": "x", "rejected_at": "2026-02-02", "version": 1}
    lifted = {**rejected, "rejected_at": "2026-02-01", "lifted_at": "2026-02-03"}
    assert merged(path, None, rejected, lifted) == {**rejected, "rejected_at": "2026-02-01"}
    assert merged(path, rejected, rejected, lifted) == lifted
    assert merged(path, rejected, {**rejected, "reason": "no"}, lifted)["lifted_at"] == "2026-02-03"
