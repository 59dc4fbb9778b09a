"""Find credentials in stored files. Scans what people wrote, not ids, paths and digests."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from quire.guard.admission import stored_secrets
from quire.model.records import Problem
from quire.model.untyped import as_list


def secrets_in_fields(path: str, fields: dict[str, Any]) -> Iterator[Problem]:
    """Scan what people write; ids, paths and digests are not prose."""
    source, origin = fields.get("source"), fields.get("origin")
    texts = [fields.get("title"), *as_list(fields.get("tags")), *as_list(fields.get("anchors"))]
    texts += [source.get("task")] if isinstance(source, dict) else []
    texts += [origin.get("locator")] if isinstance(origin, dict) else []
    texts += [item.get("id") for item in as_list(fields.get("evidence")) if isinstance(item, dict)]
    for text in texts:
        if isinstance(text, str) and not _is_clean(text):
            yield from stored_secrets(path, text)


@lru_cache(maxsize=1 << 14)
def _is_clean(text: str) -> bool:
    """Tags, anchors and tasks are the same in many files."""
    return not stored_secrets("", text)
