"""Check a file of facts; each problem has its line and a hint."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from quire.files.fragments import fragments_of
from quire.files.json_files import lines
from quire.files.paths import read_inside
from quire.guard.admission import stored_secrets
from quire.layers.facts.layout import FILE_BYTES, PATH
from quire.layers.facts.lines import FactLines, doubled_lines, read_lines
from quire.layers.facts.resolve import Resolved, resolve_reading
from quire.layers.facts.types import name_of
from quire.model.records import Problem, warning_at
from quire.model.text import cut


def check_facts(root: str) -> list[Problem]:
    """The problems of a project's facts; none where it has no such file."""
    found: list[Problem] = []
    readings = []
    for path in [*([PATH] if os.path.lexists(os.path.join(root, PATH)) else []), *fragments_of(root, PATH)]:
        try:
            data = read_inside(root, path, FILE_BYTES)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            said = f"It cannot be read: {reason}."
            found.append(
                Problem(code="CanonicalFileUnsafe", path=path, message=said, hint="Replace it with a regular file.")
            )
            continue
        reading = read_lines(data, path)
        readings.append(reading)
        secrets = _secrets(data, path) if any(stored_secrets(path, text) for text in told_texts(reading)) else []
        found += [*reading.problems, *_doubled(data, path), *secrets]
    return [*found, *_disagreements(resolve_reading(_together(readings)))] if readings else found


def _together(readings: list[FactLines]) -> FactLines:
    return FactLines(
        facts=[fact for reading in readings for fact in reading.facts],
        connections=[connection for reading in readings for connection in reading.connections],
        episodes=[episode for reading in readings for episode in reading.episodes],
        minds=[mind for reading in readings for mind in reading.minds],
    )


def _doubled(data: bytes, path: str) -> list[Problem]:
    found = doubled_lines(data.split(b"\n"))
    if not found:
        return []
    said = f"Duplicate lines: {len(found):,}."
    hint = "`memory check --repair` or `memory facts normalize --write` removes them."
    return [warning_at("LineTwice", path, said, hint, line=found[0])]


def _secrets(data: bytes, path: str) -> list[Problem]:
    """Credentials in what people wrote, line by line. Ids and digests look like them and are none."""
    found = []
    for number, line in lines(data):
        for text in told_texts(read_lines(line)):
            found += stored_secrets(path, text, number)
    return found


def told_texts(reading: FactLines) -> list[str]:
    """What someone wrote in these lines, as against what names and counts it."""
    texts = [text for fact in reading.facts for text in (fact.content, fact.reason or "", *fact.tags)]
    texts += [text for edge in reading.connections for text in (edge.description, edge.reason or "")]
    texts += [text for episode in reading.episodes for text in (episode.title, episode.narrative)]
    others = [record.extra for records in (reading.facts, reading.connections, reading.episodes) for record in records]
    return [*texts, *_strings(others)]


def _strings(value: Any) -> Iterator[str]:
    """Every text in what other writers keep there."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _disagreements(resolved: Resolved) -> list[Problem]:
    found = []
    for conflict in resolved.conflicts:
        if conflict.is_tie:
            said = (
                f"Several lines speak of `{cut(name_of(conflict.winner), 40)}` and none is newer; one of them is read."
            )
            found.append(warning_at("FactConflict", PATH, said, "Keep one of the lines."))
    for item in resolved.contradictions:
        said = f"Where `{cut(item.fact, 40)}` was replaced, several facts are live: {', '.join(item.live)}."
        found.append(warning_at("FactContradiction", PATH, said, "Archive all but the correct one."))
    for parked in resolved.parked:
        ends = " and ".join(f"`{cut(end, 40)}`, which is not here" for end in parked.missing) or "itself"
        said = f"The connection `{cut(parked.connection.id, 40)}` leads to {ends}."
        hint = "Remove the line, or merge the branch that holds the other end."
        found.append(warning_at("ConnectionParked", PATH, said, hint))
    return found
