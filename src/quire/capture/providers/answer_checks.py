"""What an answer must be beyond its shape: its paths stay in the project, its citations name what was shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from quire.layers.journal.shapes import bundle_faults, query_faults

# `.` is the project itself and `src/` a folder: both lead nowhere else.
_LEADS_OUT = re.compile(r"^[/\\~]|^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)|[\x00-\x1f]")


def bundle_problems(value: Any) -> list[str]:
    faults = bundle_faults(value)
    if faults:
        return faults
    return [
        f"{where} must be a path inside the repository." for where, path in _paths(value) if _LEADS_OUT.search(path)
    ]


def _paths(bundle: dict[str, Any]) -> Iterator[tuple[str, str]]:
    project, maps = bundle["project"], bundle["projectMap"]
    yield "bundle.project.recommendedEntryFile", project["recommendedEntryFile"]
    for number, path in enumerate(project["keyPaths"]):
        yield f"bundle.project.keyPaths[{number}]", path
    for name in ("modules", "entrypoints", "denseSourceAreas"):
        for number, item in enumerate(maps[name]):
            yield f"bundle.projectMap.{name}[{number}].path", item["path"]
    for number, path in enumerate(maps["firstFilesToRead"]):
        yield f"bundle.projectMap.firstFilesToRead[{number}]", path


def query_problems(value: Any, mode: str, shortlist: Any) -> list[str]:
    """`shortlist` is the whole one: what did not fit into the prompt may be cited, since it exists."""
    faults = query_faults(value)
    if faults:
        return faults
    if value["mode"] != mode:
        faults.append(f"query.mode must equal {mode}.")
    items = shortlist if isinstance(shortlist, list) else []
    shown = {(item.get("sourceType"), item.get("sourceId")) for item in items if isinstance(item, dict)}
    for number, citation in enumerate(value["citations"]):
        if (citation["sourceType"], citation["sourceId"]) not in shown:
            faults.append(f"query.citations[{number}] names nothing of the shortlist.")
    return faults
