"""Carry parts of an earlier bundle into a new one, and merge items that say the same.

An item from a file names it under `source`, one from a session names the event, and a part of the map that a model
described names the model. What did not come from the files themselves is carried on. Texts that were made from files
are known by their form.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from quire.capture.repository.clean_text import stated
from quire.files.paths import escaping_part, is_text
from quire.layers.journal import layout
from quire.layers.journal.bundles import objects_at, shown, texts_at
from quire.layers.journal.dedupe import Deduped, dedupe_bundle
from quire.layers.journal.layout import NONE
from quire.layers.journal.numbered_ids import ordinal_of
from quire.layers.journal.shapes import bundle_faults
from quire.layers.journal.types import Bundle
from quire.model.text import trim

SOURCE = "source"
TICKED = "The item is ticked off or removed in {page}."
FIELDS = {
    "gotchas": ("title", "symptom", "cause", "correctPath"),
    "nextSteps": ("title", "why", "start", "done"),
}
_ASIDE = "\0"
"""The key of what is put aside while items are compared; nobody writes one."""


def said_once(bundle: Bundle, previous: Bundle) -> Deduped:
    """The bundle with each thing once. That nothing is known, or where to look, is no body that two have in common."""
    found = dedupe_bundle(_changed(bundle, _quiet), _changed(previous, _quiet))
    return msgspec.structs.replace(found, bundle=_changed(found.bundle, _spoken))


def _changed(bundle: Bundle, change: Callable[[dict[str, Any], tuple[str, ...]], dict[str, Any]]) -> Bundle:
    result = dict(bundle)
    for key, names in FIELDS.items():
        items = bundle.get(key)
        if isinstance(items, list):
            result[key] = [change(item, names) if isinstance(item, dict) else item for item in items]
    return result


def _quiet(item: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    source = shown(item, SOURCE)
    empty = (NONE, TICKED.format(page=source))
    aside = {
        name: text
        for name in names[1:]
        if (text := shown(item, name)) in empty or (source and text.startswith(f"See {source}"))
    }
    return {**item, **dict.fromkeys(aside, ""), _ASIDE: aside} if aside else item


def _spoken(item: dict[str, Any], _names: tuple[str, ...]) -> dict[str, Any]:
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


def beside(made: Sequence[Any], carried: Sequence[Any], most: int) -> list[Any]:
    """What was made now and what is carried on. Where there is no room for both, the files can say theirs again."""
    return [*made[: max(0, most - len(carried))], *carried][:most]


def told_by_model(item: Any, teller: str) -> str:
    """The model in whose words this is; empty where it was made from the files. `teller` wrote the earlier bundle."""
    source = shown(item, SOURCE)
    return source if source in layout.PROVIDERS else "" if source else teller


def carried_places(
    root: str, made: Sequence[dict[str, str]], before: Bundle, key: str, words: str, teller: str
) -> list[dict[str, Any]]:
    """Parts of the map as the files show them, and as they were described: a model's words are not replaced.

    Of what the files do not show, the places stay that a model described; where they show nothing, all that are known.
    """
    held = {_tidy(shown(item, "path")): item for item in objects_at(before, "projectMap", key)}
    known = {path: item for path, item in held.items() if _is_there(root, path)}
    found = [_described(item, known.pop(item["path"], {}), words, teller) for item in made]
    for path, item in known.items():
        model = told_by_model(item, teller)
        if model or not made:
            blank = {"name": path.rpartition("/")[2]} if key == "modules" else {}
            kept = whole({**blank, **item}, (*("path", words), *blank))
            found += [_marked(kept, model)] if kept else []
    return found


def _described(item: dict[str, str], earlier: dict[str, Any], words: str, teller: str) -> dict[str, Any]:
    """A place that was found, in the words that were known of it if those count for more."""
    text = shown(earlier, words)
    model = told_by_model(earlier, teller)
    if not trim(text) or text == NONE or (not model and item[words] != NONE):
        return item
    return _marked({**earlier, **item, words: text}, model)


def _marked(item: dict[str, Any], model: str) -> dict[str, Any]:
    return {**item, SOURCE: model} if model else item


def carried_paths(root: str, made: list[str], before: Bundle, path: tuple[str, ...]) -> list[str]:
    """The paths that were found; where there are none, those that were known and are still there."""
    return made or [name for name in texts_at(before, *path) if _is_there(root, _tidy(name))]


def _tidy(path: str) -> str:
    return path.removeprefix("./").rstrip("/")


def _is_there(root: str, path: str) -> bool:
    is_inner = path == "." or (is_text(path) and not escaping_part(path))
    return is_inner and os.path.lexists(os.path.join(root, path))


def is_whole_snapshot(value: dict[str, Any]) -> bool:
    """Whether this is a snapshot of a validation that was run."""
    if value.get("status") == "not-run":
        return False
    return not any(
        "validationSnapshot" in fault for fault in bundle_faults({"currentFocus": {"validationSnapshot": value}})
    )
