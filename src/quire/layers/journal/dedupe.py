"""Remove duplicates from a bundle: of two equal items the newer text stays.

Items are the same if their titles are, or if their titles and one of their bodies are nearly so. A text that merely
holds another is not the same. The bundle that was given is not changed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection
from typing import Any

from msgspec import Struct

from quire.layers.journal.bundles import shown
from quire.layers.journal.canonical import canonical_text
from quire.layers.journal.text_match import ALIKE, are_alike, normal_text, words_of
from quire.layers.journal.types import Bundle, Fields
from quire.model.untyped import as_list, at_path

_BODIES = {"gotchas": ("cause", "correctPath"), "nextSteps": ("start", "done")}
"""By which bodies items with nearly the same title are reported to be one."""
_LISTS = (
    ("currentFocus", "currentState"),
    ("currentFocus", "knownRisks"),
    ("currentFocus", "validationSnapshot", "suggestedNextActions"),
)

_LOOKED_AT = 50
"""Of more items with the same word only the last are compared; a memory of that size is no memory."""


class Deduped(Struct, frozen=True, kw_only=True):
    """The bundle, and the titles of the items that went into another one."""

    bundle: Bundle
    merged_gotchas: tuple[str, ...] = ()
    merged_next_steps: tuple[str, ...] = ()


class _Lookup:
    """Word sets that were kept, found by their rarer words: most texts of a project share the common ones."""

    def __init__(self) -> None:
        self.holders: dict[str, list[int]] = {}
        self.words: list[frozenset[str]] = []

    def add(self, words: frozenset[str]) -> None:
        for word in words:
            self.holders.setdefault(word, []).append(len(self.words))
        self.words.append(words)

    def alike(self, words: frozenset[str]) -> list[int]:
        """All that are nearly the same, first kept first."""
        # Whoever shares so many words misses only a few: of one more than these, whichever they are, one is there.
        some = sorted(words, key=lambda word: (len(self.holders.get(word, ())), word))
        missed = len(words) - math.ceil(round(len(words) * ALIKE, 6))
        near = {number for word in some[: missed + 1] for number in self.holders.get(word, ())[-_LOOKED_AT:]}
        return [number for number in sorted(near) if are_alike(words, self.words[number])]


def dedupe_bundle(bundle: Bundle, previous: Bundle | None = None) -> Deduped:
    """The bundle with each thing once. What `previous` said already is older than the rest; within each, what stands
    later is newer."""
    result = dict(bundle)
    merged: dict[str, list[str]] = {key: [] for key in _BODIES}
    for key in _BODIES:
        if isinstance(bundle.get(key), list):
            result[key], merged[key] = dedupe_items(bundle[key], _BODIES[key], as_list(at_path(previous, key)))
    for path in _LISTS:
        texts = at_path(result, *path)
        if isinstance(texts, list):
            result = _replaced(result, path, dedupe_texts(texts, as_list(at_path(previous, *path))))
    return Deduped(bundle=result, merged_gotchas=tuple(merged["gotchas"]), merged_next_steps=tuple(merged["nextSteps"]))


def dedupe_items(
    items: list[Any], bodies: tuple[str, ...], previous: Collection[Any] = ()
) -> tuple[list[Any], list[str]]:
    """The items that remain and the titles that went into them. An item keeps its place and its title; what it says
    comes from the newer of the two, and from the older where that one is silent."""
    known = {canonical_text(item) for item in previous}
    kept: list[Any] = []
    is_known: list[bool] = []
    merged: list[str] = []
    by_title: dict[str, int] = {}
    lookup = _Lookup()
    for item in items:
        title = shown(item, "title").strip()
        normal = normal_text(title)
        words = words_of(normal)
        # A title without letters is compared as it stands; none at all is nobody's title.
        key = normal or (f"\0{title}" if title else None)
        same = by_title.get(key) if key else None
        if same is None:
            same = next((at for at in lookup.alike(words) if _has_like_body(kept[at], item, bodies)), None)
        is_old = bool(known) and canonical_text(item) in known
        if same is None:
            same = len(kept)
            kept.append(item)
            is_known.append(is_old)
            lookup.add(words)
        else:
            merged.append(shown(item, "title"))
            older, newer = (item, kept[same]) if is_old and not is_known[same] else (kept[same], item)
            kept[same] = {**_united(older, newer), "title": kept[same]["title"]}
            is_known[same] = is_known[same] and is_old
        if key:
            by_title.setdefault(key, same)
    return kept, merged


def dedupe_texts(texts: list[Any], previous: Collection[Any] = ()) -> list[Any]:
    """Texts that say something, each once, in the words of the newer one, where the first stood."""
    known = {text for text in previous if isinstance(text, str)}
    kept: list[Any] = []
    by_text: dict[str, int] = {}
    lookup = _Lookup()
    for text in texts:
        if not isinstance(text, str):
            kept.append(text)
            lookup.add(frozenset())
            continue
        normal = normal_text(text)
        if not normal:
            continue
        words = words_of(normal)
        same = by_text.get(normal)
        if same is None:
            same = next(iter(lookup.alike(words)), None)
        if same is None:
            same = len(kept)
            kept.append(text)
            lookup.add(words)
        elif text not in known or kept[same] in known:
            kept[same] = text
        by_text.setdefault(normal, same)
    return kept


def _has_like_body(first: Fields, second: Fields, bodies: tuple[str, ...]) -> bool:
    return any(are_alike(_words(shown(first, body)), _words(shown(second, body))) for body in bodies)


@functools.lru_cache(maxsize=1024)
def _words(text: str) -> frozenset[str]:
    return words_of(normal_text(text))


def _united(older: Fields, newer: Fields) -> Fields:
    said = {name: value for name, value in newer.items() if not (isinstance(value, str) and not value.strip())}
    return {**older, **said}


def _replaced(value: Fields, path: tuple[str, ...], item: Any) -> Fields:
    """A copy with something else at a path; what lies beside it is shared."""
    name, rest = path[0], path[1:]
    return {**value, name: _replaced(value[name], rest, item) if rest else item}
