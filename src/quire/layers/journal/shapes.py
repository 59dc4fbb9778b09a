"""Shapes of stored journal values; unlisted keys are kept without complaint."""

from __future__ import annotations

from typing import Any

from quire.layers.journal.layout import (
    CITED,
    EVENT_KINDS,
    OUTPUTS,
    POLICIES,
    PREFERENCES,
    QUERY_MODES,
    RESULT_STATUSES,
    SCOPES,
    SECTIONS,
    SNAPSHOT_STATUSES,
    VALIDATION_COMMANDS,
)
from quire.layers.journal.value_shapes import (
    Each,
    Flag,
    Number,
    Object,
    OneOf,
    Text,
    Texts,
    find_faults,
    json_schema,
)

_TEXT, _TEXTS, _MAYBE, _NUMBER, _FLAG = Text(), Texts(), Text(nullable=True), Number(), Flag()
_NOT_NEGATIVE = Number(least=0)


def _optional(**fields: Any) -> Object:
    return Object(fields, frozenset(fields))


def _texts_of(*names: str) -> Object:
    return Object(dict.fromkeys(names, _TEXT))


_SNAPSHOT = Object(
    {
        "status": OneOf(SNAPSHOT_STATUSES),
        "validatedAt": _MAYBE,
        "summary": _TEXT,
        "results": Each(Object({"label": _TEXT, "command": _TEXT, "status": OneOf(RESULT_STATUSES), "summary": _TEXT})),
        "suggestedNextActions": _TEXTS,
    }
)
BUNDLE = Object(
    {
        "project": Object(
            {
                **_texts_of(
                    "name", "summary", "primaryEcosystem", "packageManager", "workspaceManager", "recommendedEntryFile"
                ).fields,
                "keyPaths": _TEXTS,
            }
        ),
        "projectMap": Object(
            {
                "modules": Each(_texts_of("name", "path", "responsibility")),
                "entrypoints": Each(_texts_of("path", "role")),
                "denseSourceAreas": Each(_texts_of("path", "note")),
                "architectureNotes": _TEXTS,
                "firstFilesToRead": _TEXTS,
            }
        ),
        "currentFocus": Object(
            {"summary": _TEXT, "currentState": _TEXTS, "knownRisks": _TEXTS, "validationSnapshot": _SNAPSHOT}
        ),
        "gotchas": Each(_texts_of("title", "symptom", "cause", "correctPath")),
        "nextSteps": Each(_texts_of("title", "why", "start", "done")),
        "validationCommands": Each(
            Object({"label": _TEXT, "command": Texts(least=1, counted="shell token"), "purpose": _TEXT}),
            most=VALIDATION_COMMANDS,
            counted="commands",
        ),
    }
)
SIGNALS = Object(dict.fromkeys(("decisions", "gotchas", "nextStepHints", "keyPaths", "validationObservations"), _TEXTS))
EVENT = Object(
    {
        "id": _TEXT,
        "kind": OneOf(EVENT_KINDS),
        "sourceId": _TEXT,
        "externalItemId": _MAYBE,
        "createdAt": _TEXT,
        "contentHash": _TEXT,
        "summary": _TEXT,
        "sourceRef": _TEXT,
        "signals": SIGNALS,
    }
)
CHECKPOINT = Object(
    {"id": _TEXT, "createdAt": _TEXT, "eventId": _MAYBE, "bundleHash": _TEXT, "summary": _TEXT, "bundle": BUNDLE}
)
CONFIG = Object(
    {
        "recall": Object(
            {
                "defaultSection": OneOf(SECTIONS),
                "defaultSource": OneOf(SCOPES),
                "policy": OneOf(POLICIES),
                "backlogWarnThreshold": _NOT_NEGATIVE,
                "preview": Object({"showDiffByDefault": _FLAG}),
            }
        ),
        "query": _optional(
            defaultOutput=OneOf(OUTPUTS),
            templates=_optional(**{mode: _optional(instructions=_TEXT) for mode in QUERY_MODES}),
        ),
        "automation": _optional(
            intervalMinutes=Number(above=0),
            provider=OneOf(PREFERENCES),
            importSyncBeforeRecall=_FLAG,
            autoRecall=_FLAG,
        ),
        "retention": _optional(
            enabled=_FLAG,
            history=_optional(maxAgeDays=_NOT_NEGATIVE),
            checkpoints=_optional(maxAgeDays=_NOT_NEGATIVE, keepRecent=_NOT_NEGATIVE),
            archive=_optional(expireAfterDays=_NOT_NEGATIVE),
        ),
    },
    optional=frozenset({"query", "automation", "retention"}),
)
SESSION = Object({"summary": _TEXT, "signals": SIGNALS})
"""What is made of an imported session."""
QUERY = Object(
    {
        "mode": OneOf(QUERY_MODES),
        "answer": _TEXT,
        "why": _TEXT,
        "citations": Each(
            Object(
                {
                    "sourceType": OneOf(CITED),
                    "sourceId": _TEXT,
                    "pathOrSection": _TEXT,
                    "summary": _TEXT,
                    "projectionPath": _MAYBE,
                }
            )
        ),
    }
)


def bundle_faults(value: Any, path: str = "bundle") -> list[str]:
    return find_faults(BUNDLE, value, path)


def session_faults(value: Any) -> list[str]:
    return find_faults(SESSION, value, "normalized")


def query_faults(value: Any) -> list[str]:
    return find_faults(QUERY, value, "query")


def output_schemas() -> dict[str, dict[str, Any]]:
    """The JSON Schemas for those who are asked to write a bundle, the answer to a query, or a session in short."""
    return {
        "bundle": json_schema(BUNDLE),
        "query": json_schema(QUERY),
        "importedSession": json_schema(SESSION),
    }
