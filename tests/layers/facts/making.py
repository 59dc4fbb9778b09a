"""Short ways to make lines of facts, and to find the real files that are not part of this repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quire.layers.facts.lines import read_lines
from quire.layers.facts.resolve import Resolved, canonical, resolve_reading

REAL = Path(__file__).parents[4] / "shared" / "fixtures" / "facts"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="the real files of facts lie outside the repository")


def fact(name: str = "a", content: str | None = None, **fields: Any) -> dict[str, Any]:
    return {
        "_type": "fact",
        "id": name,
        "section": "Architecture",
        "content": f"Fact {name}." if content is None else content,
        "status": "active",
        "created_at": "2026-03-01T00:00:00.000Z",
        **fields,
    }


def edge(name: str, source: str, target: str, relation: str = "depends_on", **fields: Any) -> dict[str, Any]:
    return {"_type": "edge", "id": name, "source_id": source, "target_id": target, "relation": relation, **fields}


def episode(name: str = "e", **fields: Any) -> dict[str, Any]:
    return {"_type": "episode", "id": name, "title": "T", "narrative": "N", "date": "2026-03-01", **fields}


def data(*objects: dict[str, Any] | str | bytes) -> bytes:
    return b"".join((_raw(item)) + b"\n" for item in objects)


def _raw(item: dict[str, Any] | str | bytes) -> bytes:
    if isinstance(item, bytes):
        return item
    return item.encode() if isinstance(item, str) else json.dumps(item, ensure_ascii=False).encode()


def resolved(content: bytes) -> Resolved:
    return resolve_reading(read_lines(content))


def outcome(found: Resolved) -> Resolved:
    """Without the numbers of lines, which alone may depend on the order."""
    places = sorted({msgspec.json.encode(msgspec.structs.replace(problem, line=None)) for problem in found.problems})
    return msgspec.structs.replace(found, problems=tuple(places))


def settled(content: bytes) -> Resolved:
    """Resolved, and seen to be stable: the normal file says the same, and is its own normal file."""
    found = resolved(content)
    normal = canonical(found)
    again = resolved(normal)
    assert canonical(again) == normal
    assert msgspec.structs.replace(again, problems=()) == msgspec.structs.replace(found, problems=())
    return found


def active(found: Resolved) -> set[str]:
    return {name for name, held in found.facts.items() if held.is_active}
