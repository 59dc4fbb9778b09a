"""The shapes of what the automation leaves behind: the process, its lock, and how its last run went."""

from __future__ import annotations

from quire.layers.journal.layout import PREFERENCES, RUN_STATUSES
from quire.layers.journal.value_shapes import Each, Flag, Number, Object, OneOf, Text, Texts

_TEXT, _TEXTS, _MAYBE, _NUMBER, _FLAG = Text(), Texts(), Text(nullable=True), Number(), Flag()

DAEMON = Object(
    {
        "pid": _NUMBER,
        "startedAt": _TEXT,
        "lastHeartbeatAt": _TEXT,
        "intervalMinutes": _NUMBER,
        "provider": OneOf(PREFERENCES),
    }
)
DAEMON_LOCK = Object({"pid": _NUMBER, "createdAt": _TEXT})
RUN = Object(
    {
        "startedAt": _TEXT,
        "finishedAt": _TEXT,
        "status": OneOf(RUN_STATUSES),
        "provider": OneOf(PREFERENCES),
        "importSync": Object(
            {
                "attempted": _FLAG,
                "results": Each(
                    Object(
                        {
                            "sourceId": _TEXT,
                            "importedCount": _NUMBER,
                            "skippedCount": _NUMBER,
                            "failedCount": _NUMBER,
                            "failures": Each(Object({"sourceRef": _TEXT, "message": _TEXT})),
                        }
                    )
                ),
            }
        ),
        "recall": Object(
            {
                "attempted": _FLAG,
                "applied": _FLAG,
                "rawEventCount": _NUMBER,
                "groupedItemCount": _NUMBER,
                "noopReason": _MAYBE,
            }
        ),
        "prune": Object(
            {
                "attempted": _FLAG,
                "archivedEventCount": _NUMBER,
                "archivedCheckpointCount": _NUMBER,
                "expiredArchiveBatchCount": _NUMBER,
                "archiveBatchPath": _MAYBE,
                "skippedReason": _MAYBE,
            }
        ),
        "errors": _TEXTS,
        "warnings": _TEXTS,
    }
)
