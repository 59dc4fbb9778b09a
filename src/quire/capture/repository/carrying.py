"""What of an earlier bundle is carried into a new one, and how two that say the same become one.

An item from a file names it under `source`, one from a session names the event. What did not come from the files
themselves is carried on. Texts that were made from files are known by their form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from quire.capture.repository.wording import NONE, said, stated
from quire.layers.journal import (
    Bundle,
    Deduped,
    bundle_faults,
    dedupe_bundle,
    objects_at,
    ordinal_of,
    shown,
    texts_at,
)
from quire.model import trim

SOURCE = "source"
TICKED = "The item is ticked off or removed in {page}."
FIELDS = {
    "gotchas": ("title", "symptom", "cause", "correctPath"),
    "nextSteps": ("title", "why", "start", "done"),
}
_ASIDE = "\0"
"""The key of what is put aside while items are compared; nobody writes one."""

__all__ = [
    "FIELDS",
    "SOURCE",
    "TICKED",
    "carried_items",
    "carried_texts",
    "is_from_file",
    "is_whole_snapshot",
    "known_purposes",
    "said_once",
    "whole",
]


def said_once(bundle: Bundle, previous: Bundle) -> Deduped:
    """The bundle with each thing once. That nothing is known, or where to look, is no body that two have in common."""
    found = dedupe_bundle(_quiet(bundle), _quiet(previous))
    return msgspec.structs.replace(found, bundle=_spoken(found.bundle))


def _quiet(bundle: Bundle) -> Bundle:
    result = dict(bundle)
    for key, names in FIELDS.items():
        items = bundle.get(key)
        if isinstance(items, list):
            result[key] = [_quiet_item(item, names) if isinstance(item, dict) else item for item in items]
    return result


def _quiet_item(item: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    source = shown(item, SOURCE)
    empty = (NONE, TICKED.format(page=source))
    aside = {
        name: text
        for name in names[1:]
        if (text := shown(item, name)) in empty or (source and text.startswith(f"See {source}"))
    }
    return {**item, **dict.fromkeys(aside, ""), _ASIDE: aside} if aside else item


def _spoken(bundle: Bundle) -> Bundle:
    result = dict(bundle)
    for key in FIELDS:
        items = bundle.get(key)
        if isinstance(items, list):
            result[key] = [_spoken_item(item) if isinstance(item, dict) else item for item in items]
    return result


def _spoken_item(item: dict[str, Any]) -> dict[str, Any]:
    aside = item.get(_ASIDE)
    if not isinstance(aside, dict):
        return item
    back = {name: text for name, text in aside.items() if not shown(item, name).strip()}
    return {name: value for name, value in {**item, **back}.items() if name != _ASIDE}


def carried_items(before: Bundle, key: str) -> list[dict[str, Any]]:
    """The gotchas or steps that came from elsewhere; those of files were made anew."""
    found = [item for item in objects_at(before, key) if not is_from_file(item)]
    return [item for item in (whole(item, FIELDS[key]) for item in found) if item]


def carried_texts(before: Bundle, path: tuple[str, ...], is_made: Callable[[str], bool]) -> list[str]:
    return [text for text in texts_at(before, *path) if trim(text) and not is_made(text)]


def is_from_file(item: dict[str, Any]) -> bool:
    source = shown(item, SOURCE)
    return bool(source) and not ordinal_of(source)


def whole(item: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any] | None:
    """An item with all its fields, the word for none where one is missing; None for one without a title."""
    if not trim(shown(item, names[0])):
        return None
    return {**item, **{name: stated(shown(item, name)) for name in names}}


def known_purposes(before: Bundle) -> dict[str, str]:
    """What an earlier bundle said that parts are for."""
    pairs = (
        (shown(item, "path"), said(shown(item, "responsibility")))
        for item in objects_at(before, "projectMap", "modules")
    )
    return {path: words for path, words in pairs if words and words != NONE}


def is_whole_snapshot(value: dict[str, Any]) -> bool:
    """Whether this is a snapshot of a validation that was run."""
    if value.get("status") == "not-run":
        return False
    return not any(
        "validationSnapshot" in fault for fault in bundle_faults({"currentFocus": {"validationSnapshot": value}})
    )
