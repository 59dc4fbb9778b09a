"""What the tests of the journal share: a bundle, events, and the files of another program where they are at hand."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quire.layers.journal.documents import new_state
from quire.layers.journal.types import JournalEvent, Maintenance, Provider, Signals, State

DATA = Path(__file__).parents[2] / "data" / "journal"
REAL = Path(__file__).parents[4] / "shared" / "fixtures" / "journal"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="the files of the other program are not here")

BUNDLE: dict[str, Any] = {
    "project": {
        "name": "harbor",
        "summary": "Invoices for harbours.",
        "primaryEcosystem": "python",
        "packageManager": "uv",
        "workspaceManager": "none",
        "recommendedEntryFile": "AGENTS.md",
        "keyPaths": ["src/harbor.py", "README.md"],
    },
    "projectMap": {
        "modules": [{"name": "billing", "path": "src/billing", "responsibility": "Makes invoices."}],
        "entrypoints": [{"path": "src/harbor.py", "role": "The command."}],
        "denseSourceAreas": [{"path": "src", "note": "40 files"}],
        "architectureNotes": ["All money is in cents."],
        "firstFilesToRead": ["README.md", "docs/money.md"],
    },
    "currentFocus": {
        "summary": "Rounding.",
        "currentState": ["Rounding is half done."],
        "knownRisks": ["Old invoices differ by a cent."],
        "validationSnapshot": {
            "status": "mixed",
            "validatedAt": None,
            "summary": "One of two passed.",
            "results": [{"label": "tests", "command": "pytest -q", "status": "passed", "summary": "12 passed"}],
            "suggestedNextActions": ["Run the other one."],
        },
    },
    "gotchas": [
        {"title": "Cents drift", "symptom": "Off by one.", "cause": "Floats.", "correctPath": "Use integers."},
    ],
    "nextSteps": [
        {"title": "Round once", "why": "Twice is wrong.", "start": "Open src/billing.", "done": "The test passes."},
    ],
    "validationCommands": [{"label": "tests", "command": ["pytest", "-q"], "purpose": "Everything."}],
}


def bundle(**sections: Any) -> dict[str, Any]:
    """A bundle of the test's own, with other sections where given."""
    return {**copy.deepcopy(BUNDLE), **sections}


def state(held: dict[str, Any] | None = None) -> State:
    return new_state(
        held or bundle(),
        provider=Provider(name="codex", binary="codex"),
        generated_at="2026-03-02T11:19:00.000Z",
        maintenance=Maintenance(),
    )


def event(number: int, **fields: Any) -> JournalEvent:
    """An event; signals may be given by their names."""
    names = Signals.__struct_fields__
    signals = Signals(**{name: tuple(fields.pop(name)) for name in names if name in fields})
    known: dict[str, Any] = {
        "id": f"evt-{number:06d}",
        "kind": "imported_session",
        "source_id": "sessions",
        "external_item_id": f"s{number}",
        "created_at": f"2026-01-{number:02d}T00:00:00.000Z",
        "content_hash": "0" * 64,
        "summary": f"Session {number}",
        "signals": signals,
        "source_ref": f"../home/{number}.jsonl",
    }
    return JournalEvent(**{**known, **fields})


def vectors(name: str) -> Any:
    """What the modules of the other program answered."""
    return json.loads((REAL / "_vectors" / f"{name}.json").read_text(encoding="utf-8"))


def real_files(*names: str) -> Iterator[Path]:
    """Every file of these names in any memory of the other program; `chk-*` is every name that begins so."""
    for path in sorted(REAL.rglob("*")):
        if ".agent-memory" in path.parts and any(
            path.name == name or (name.endswith("*") and path.name.startswith(name[:-1])) for name in names
        ):
            yield path
