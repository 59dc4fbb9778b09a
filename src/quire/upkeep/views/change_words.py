"""Describe the difference between two versions of a record in words, such as "stage: idea → building"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quire.files.json_files import decode_object
from quire.model.contested import CONTESTED, SETTLED
from quire.model.seals import is_seal
from quire.model.text import cut, one_line, words
from quire.upkeep.views.text_diff import line_counts

_SHOWN = 20
_CHARS = 200
_SHORT = 80
_SILENT = words("updated_at content_hash body_path version access_count last_accessed decay_rate captured_at") | {
    SETTLED
}
"""What changes along with something else, and says nothing by itself."""


def changes_in_words(before: bytes | None, after: bytes | None) -> tuple[str, ...]:
    """The changes of a JSON object field by field, of any other text by its lines."""
    if before is None or after is None:
        return ("added",) if after is not None else ("removed",) if before is not None else ()
    if before == after:
        return ()
    old, new = _fields(before), _fields(after)
    if old is None or new is None:
        return (_lines("text", before.decode("utf-8", "replace"), after.decode("utf-8", "replace")),)
    said = list(_changed(old, new, ""))
    more = [f"{len(said) - _SHOWN} more"] if len(said) > _SHOWN else []
    return tuple(cut(one_line(text), _CHARS) for text in (*said[:_SHOWN], *more))


def _fields(data: bytes) -> dict[str, Any] | None:
    try:
        return decode_object(data)
    except ValueError:
        return None


def _changed(old: dict[str, Any], new: dict[str, Any], of: str) -> Iterator[str]:
    for name in dict.fromkeys((*new, *old)):
        before, after = old.get(name), new.get(name)
        if before == after or name in _SILENT:
            continue
        label = f"{of}{name.replace('_', ' ')}"
        if name == CONTESTED:
            yield f"branches disagree on {', '.join(after)}" if after else "branches agree again"
        elif name == "evidence":
            yield from _evidence(before, after)
        elif isinstance(before, dict) and isinstance(after, dict) and not of:
            yield from _changed(before, after, f"{label} ")
        elif isinstance(before, list | None) and isinstance(after, list | None):
            yield _listed(label, before or [], after or [])
        else:
            yield _value(label, before, after)


def _evidence(before: Any, after: Any) -> Iterator[str]:
    """Evidence that was given; seals only say that someone held the record against the code."""
    (given, seals), (now_given, now_seals) = _parted(before), _parted(after)
    if given != now_given:
        yield _listed("evidence", given, now_given)
    if seals != now_seals:
        yield "compared with the code again" if now_seals else "no longer compared with the code"


def _parted(evidence: Any) -> tuple[list[Any], list[Any]]:
    given: list[Any] = []
    seals: list[Any] = []
    for item in evidence if isinstance(evidence, list) else []:
        is_dict = isinstance(item, dict)
        kind, name = (item.get("kind"), item.get("id")) if is_dict else ("", item)
        (seals if is_seal(kind, name) else given).append(f"{kind} {name}" if is_dict else name)
    return given, seals


def _listed(label: str, before: list[Any], after: list[Any]) -> str:
    came = [_plain(item) for item in after if item not in before]
    went = [_plain(item) for item in before if item not in after]
    if not came and not went:
        return f"{label}: in another order"
    return f"{label}: " + " ".join([*(f"+{item}" for item in came), *(f"−{item}" for item in went)])


def _value(label: str, before: Any, after: Any) -> str:
    old, new = _plain(before), _plain(after)
    if any(isinstance(value, str) and (len(value) > _SHORT or "\n" in value) for value in (before, after)):
        return _lines(label, str(before or ""), str(after or ""))
    if before in (None, ""):
        return f"{label}: {new}"
    return f"{label}: {old} → {new or 'none'}"


def _lines(label: str, before: str, after: str) -> str:
    came, went = line_counts(before, after)
    return f"{label} changed (+{came} −{went} lines)"


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return cut(str(value.get("title") or value.get("id") or "an object"), _SHORT)
    return cut(str(value), _SHORT) if not isinstance(value, list) else f"{len(value)} items"
