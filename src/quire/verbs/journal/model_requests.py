"""Assemble the tasks for a model: the project, the memory, the evidence, a session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from quire.files.paths import read_inside
from quire.layers.journal.documents import value_of
from quire.layers.journal.layout import ENTRY_FILES
from quire.layers.journal.types import Bundle, Checkpoint, State
from quire.model.text import cut

if TYPE_CHECKING:
    from quire.capture.providers.requests import Task
    from quire.capture.repository.scan import ProjectScan
    from quire.capture.signals.extraction import SessionSignals
    from quire.capture.transcripts.types import SessionFile, Turn
    from quire.layers.journal.evidence_groups import GroupedEvidence

_FILES = 8
_FILE_CHARS = 6000
_FIRST = ("package.json", "README.md", "AGENTS.md", "CLAUDE.md")
_SESSION_CHARS = 60_000


def bundle_request(
    root: str, scan: ProjectScan, local: Bundle, previous: Bundle | None, validations: list[dict[str, Any]]
) -> Task:
    from quire.capture.providers.requests import bundle_task

    return bundle_task(
        context=_context(root, scan, "init" if previous is None else "update", previous),
        local_bundle=local,
        validation_results=validations,
    )


def recall_request(
    root: str, scan: ProjectScan, state: State, evidence: GroupedEvidence, scope: str, base: Checkpoint | None
) -> Task:
    from quire.capture.providers.requests import recall_task

    return recall_task(
        context=_context(root, scan, "recall", None),
        state=value_of(state),
        evidence=msgspec.to_builtins(evidence.groups),
        scope=scope,
        base_checkpoint=value_of(base) if base is not None else None,
    )


def session_request(session: SessionFile, turns: Iterable[Turn], local: SessionSignals) -> Task:
    """A session as its talk: who said what; of a long one the end. Secrets were left out when it was read."""
    from quire.capture.providers.requests import session_task

    said: list[str] = []
    length = 0
    for turn in turns:
        line = f"{turn.role}{f' ({turn.tool})' if turn.tool else ''}: {cut(turn.text, 2000)}"
        said.append(line)
        length += len(line)
        while length > _SESSION_CHARS and len(said) > 1:
            length -= len(said.pop(0))
    return session_task(
        source={"type": session.source_type},
        item={
            "externalItemId": session.external_id,
            "createdAt": session.started_at,
            "sourceRef": session.title or session.external_id,
            "payload": "\n".join(said),
            "contentHash": "",
            "foundByRules": {"summary": local.summary, "signals": msgspec.to_builtins(local.signals)},
        },
    )


def _context(root: str, scan: ProjectScan, mode: str, previous: Bundle | None) -> dict[str, Any]:
    from quire.capture.repository.scan import scan_value

    present = [name for name in ENTRY_FILES if name in scan.top_level_files]
    return {
        "mode": mode,
        "selectedEntryFile": (present or list(ENTRY_FILES))[0],
        "entryFileCandidates": list(ENTRY_FILES),
        "staticScan": scan_value(scan),
        "contextFiles": list(_context_files(root, scan)),
        "previousBundle": previous,
    }


def _context_files(root: str, scan: ProjectScan) -> Iterable[dict[str, Any]]:
    """The beginnings of the files that say most; none that lies outside, is a link, or holds a secret."""
    from quire.guard.secrets import find_secrets

    found = 0
    for path in dict.fromkeys((*_FIRST, *scan.key_entry_files)):
        try:
            text = read_inside(root, path).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if any(finding.certain for finding in find_secrets(text)):
            continue
        yield {"path": path, "content": text[:_FILE_CHARS], "truncated": len(text) > _FILE_CHARS}
        found += 1
        if found == _FILES:
            return
