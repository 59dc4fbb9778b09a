"""Small projects to look at, for the tests that look at them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from quire.capture.repository.bundle import build_bundle
from quire.capture.repository.consolidation import consolidated
from quire.capture.repository.scan import ProjectScan, scan_repository
from quire.files.git import Git
from quire.layers.journal.canonical import canonical_text
from quire.layers.journal.evidence_groups import GroupedEvidence
from quire.layers.journal.shapes import bundle_faults
from quire.layers.journal.types import JournalEvent, Signals

REAL = Path(__file__).parents[3] / "shared" / "fixtures" / "journal"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="the projects of the other program are not here")


def put(root: Path, files: Mapping[str, str | bytes | dict[str, Any]]) -> Path:
    """Write files: texts, bytes, or values as JSON."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict):
            content = json.dumps(content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def scan(root: Path, environment: Mapping[str, str]) -> ProjectScan:
    return scan_repository(str(root), Git(str(root), environment))


def build(root: Path, environment: Mapping[str, str], **options: Any) -> dict[str, Any]:
    """The bundle of a project; it is whole and repeats itself, whatever a test is about."""
    git = Git(str(root), environment)
    bundle = build_bundle(scan_repository(str(root), git), git, **options)
    assert bundle_faults(bundle) == []
    again = build_bundle(scan_repository(str(root), git), git, **options)
    assert canonical_text(again) == canonical_text(bundle)
    return bundle


def consolidate(bundle: dict[str, Any], evidence: GroupedEvidence, **options: Any) -> dict[str, Any]:
    return consolidated(bundle, evidence, **options).bundle


def session(number: int, **fields: Any) -> JournalEvent:
    """An event of a session; signals may be given by their names."""
    names = Signals.__struct_fields__
    signals = Signals(**{name: tuple(fields.pop(name)) for name in names if name in fields})
    known: dict[str, Any] = {
        "id": f"evt-{number:06d}",
        "kind": "imported_session",
        "source_id": "sessions",
        "external_item_id": f"s{number}",
        "created_at": f"2026-01-{number % 28 + 1:02d}T00:00:00.000Z",
        "content_hash": "0" * 64,
        "summary": f"Session {number}",
        "signals": signals,
        "source_ref": f"../home/{number}.jsonl",
    }
    return JournalEvent(**{**known, **fields})


def titles(bundle: dict[str, Any], key: str) -> list[str]:
    return [item["title"] for item in bundle[key]]
