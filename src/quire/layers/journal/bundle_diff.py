"""Compare two bundles: changed sections, added and removed titles, changed items."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from msgspec import Struct, to_builtins

from quire.layers.journal.bundles import objects_at, shown
from quire.layers.journal.canonical import is_same
from quire.layers.journal.documents import parse_document, read_state
from quire.layers.journal.events import read_history
from quire.layers.journal.layout import ALL, CHECKPOINTS, EVENTS, SECTION_KEYS, STATE
from quire.layers.journal.types import Bundle, Fields
from quire.model.errors import QuireError
from quire.model.untyped import at_path

_NOTHING = "no changes"


class BundleDiff(Struct, frozen=True, kw_only=True, rename="camel"):
    """Sections are named as outside, in their order; items by their titles."""

    changed_sections: tuple[str, ...] = ()
    added_gotchas: tuple[str, ...] = ()
    removed_gotchas: tuple[str, ...] = ()
    added_next_steps: tuple[str, ...] = ()
    removed_next_steps: tuple[str, ...] = ()
    merged_gotchas: tuple[str, ...] = ()
    merged_next_steps: tuple[str, ...] = ()
    current_focus_changed: bool = False
    validation_changed: bool = False
    """The snapshot of the validation, which is a part of the current focus."""
    selected_section: str = ALL
    protected_sections: tuple[str, ...] = ()
    changed_gotchas: tuple[str, ...] = ()
    """The title stayed, what it says did not."""
    changed_next_steps: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.changed_sections or self.merged_gotchas or self.merged_next_steps)


def diff_bundles(
    before: Bundle,
    after: Bundle,
    *,
    merged_gotchas: Iterable[str] = (),
    merged_next_steps: Iterable[str] = (),
    section: str = ALL,
    protected: Iterable[str] = (),
) -> BundleDiff:
    """A section has changed when anything in it has, be it the order of its items."""
    gotchas = _titles(before, after, "gotchas")
    steps = _titles(before, after, "nextSteps")
    merged_gotchas, merged_next_steps = tuple(merged_gotchas), tuple(merged_next_steps)
    changed = {name for name, key in SECTION_KEYS.items() if not is_same(before.get(key), after.get(key))}
    changed |= {"gotchas"} if merged_gotchas else set()
    changed |= {"next-steps"} if merged_next_steps else set()
    snapshots = [at_path(bundle, "currentFocus", "validationSnapshot") for bundle in (before, after)]
    return BundleDiff(
        changed_sections=tuple(name for name in SECTION_KEYS if name in changed),
        added_gotchas=gotchas[0],
        removed_gotchas=gotchas[1],
        changed_gotchas=gotchas[2],
        added_next_steps=steps[0],
        removed_next_steps=steps[1],
        changed_next_steps=steps[2],
        merged_gotchas=merged_gotchas,
        merged_next_steps=merged_next_steps,
        current_focus_changed="current-focus" in changed,
        validation_changed=not is_same(*snapshots),
        selected_section=section,
        protected_sections=tuple(protected),
    )


def diff_value(diff: BundleDiff) -> Fields:
    """The form that is hashed into an event. Other programs know no changed items: those keys are left out if empty."""
    value: Fields = to_builtins(diff)
    return {name: item for name, item in value.items() if item or name not in ("changedGotchas", "changedNextSteps")}


def diff_text(value: Fields) -> str:
    """What changed, in one line, from the form of `diff_value`: every section that changed is named."""
    said: list[str] = []
    told: set[str] = set()
    for section, items in (("gotchas", "Gotchas"), ("next-steps", "NextSteps")):
        for verb in ("added", "removed", "changed", "merged"):
            titles = value.get(verb + items)
            if titles:
                said.append(f"{verb} {_words(section)}: {', '.join(titles)}")
                told.add(section)
    for section in value.get("changedSections", ()):
        if section not in told and section != "current-focus":
            said.append(f"updated {_words(section)}")
    if value.get("currentFocusChanged"):
        said.append("updated current focus")
    if value.get("validationChanged"):
        said.append("updated validation snapshot")
    return "; ".join(said) or _NOTHING


def _words(section: str) -> str:
    return section.replace("-", " ")


def _titles(before: Bundle, after: Bundle, key: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Titles that came, that went, and that stand for something else now."""
    old, new = _by_title(before, key), _by_title(after, key)
    changed = (title for title in new if title in old and not is_same(old[title], new[title]))
    return tuple(t for t in new if t not in old), tuple(t for t in old if t not in new), tuple(changed)


def _by_title(bundle: Bundle, key: str) -> dict[str, list[Fields]]:
    found: dict[str, list[Fields]] = {}
    for item in objects_at(bundle, key):
        found.setdefault(shown(item, "title"), []).append(item)
    return found


def changed_parts(path: str, before: bytes | None, after: bytes | None) -> list[str]:
    """Refs of sections, events and checkpoints that a changed file is about; `path` is below the journal."""
    if path == STATE:
        old, new = _bundle(before), _bundle(after)
        changed = diff_bundles(old, new).changed_sections if old and new else tuple(SECTION_KEYS)
        return [f"bundle:{name}" for name in changed]
    if path == EVENTS:
        lines = [{line.raw: line.event for line in read_history(data or b"").lines} for data in (before, after)]
        differing = [event for old, new in (lines, lines[::-1]) for raw, event in new.items() if raw not in old]
        return list(dict.fromkeys(f"event:{event.id}" for event in differing if event is not None))
    if path.startswith(f"{CHECKPOINTS}/") and path.endswith(".json"):
        return [f"checkpoint:{path.rpartition('/')[2].removesuffix('.json')}"]
    return []


def _bundle(data: bytes | None) -> Bundle:
    with contextlib.suppress(QuireError):
        return read_state(parse_document(data or b"", STATE)).bundle
    return {}
