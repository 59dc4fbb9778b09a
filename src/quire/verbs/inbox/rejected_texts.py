"""Leave rejected texts out of what is written as a whole: a file of facts, events of sessions, a bundle."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from quire.layers.facts.layout import ACTIVE, PENDING
from quire.model.records import Problem

if TYPE_CHECKING:
    from quire.inbox.rejections import Rejections
    from quire.layers.journal.bundle_diff import BundleDiff
    from quire.layers.journal.types import Bundle, JournalEvent

Change = Callable[[Any], Any]
_NONE = "none"
_SILENT = "The subject of this session was rejected."
_LISTS: tuple[tuple[str, ...], ...] = (
    ("projectMap", "architectureNotes"),
    ("currentFocus", "currentState"),
    ("currentFocus", "knownRisks"),
    ("currentFocus", "validationSnapshot", "suggestedNextActions"),
)
"""Texts: each goes that was rejected."""
_ITEMS = {"gotchas": ("title", "symptom", "cause", "correctPath"), "nextSteps": ("title", "start", "done")}
"""What an item says of itself; where any of it was rejected, the item goes."""
_WHY = "why"
_PARTS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("projectMap", "modules"), "responsibility"),
    (("projectMap", "entrypoints"), "role"),
    (("projectMap", "denseSourceAreas"), "note"),
    (("currentFocus", "validationSnapshot", "results"), "summary"),
    (("validationCommands",), "purpose"),
)
"""What is said of a file, a folder or a command, which is there all the same."""
_TEXTS: tuple[tuple[str, ...], ...] = (
    ("project", "summary"),
    ("currentFocus", "summary"),
    ("currentFocus", "validationSnapshot", "summary"),
)


def left_out(number: int) -> list[Problem]:
    """The warning that so many things were left out; none for none."""
    if not number:
        return []
    return [
        Problem(
            code="RejectedLeftOut",
            severity="warning",
            message=f"Left out because rejected: {number:,}.",
            hint="`memory inbox rejected` lists what was rejected; `memory inbox lift` allows it again.",
        )
    ]


def sift_lines(data: bytes, rejections: Rejections) -> tuple[bytes, int]:
    """A file of facts without the lines that say what was rejected, and how many these are.

    What was put away, there too, is no longer said by anybody.
    """
    from quire.layers.facts.lines import read_lines

    kept = []
    lines = data.split(b"\n")
    for line in lines:
        reading = read_lines(line)
        texts = [fact.content for fact in reading.facts if fact.status in (ACTIVE, PENDING)]
        texts += [edge.description for edge in reading.connections if edge.is_active]
        texts += [text for episode in reading.episodes for text in (episode.title, episode.narrative)]
        if not any(map(rejections.match, texts)):
            kept.append(line)
    return b"\n".join(kept), len(lines) - len(kept)


def sift_event(event: JournalEvent, rejections: Rejections) -> tuple[JournalEvent, int]:
    """An event without the signals and the sentences that were rejected, and how many these are."""
    signals = event.signals
    kept = {
        name: tuple(rejections.kept(getattr(signals, name)))
        for name in ("decisions", "gotchas", "next_step_hints", "validation_observations")
    }
    summary = rejections.without(event.summary) or _SILENT
    gone = sum(len(getattr(signals, name)) - len(texts) for name, texts in kept.items())
    gone += rejections.match(event.summary) is not None
    if not gone:
        return event, 0
    return msgspec.structs.replace(event, summary=summary, signals=msgspec.structs.replace(signals, **kept)), gone


def quiet_diff(diff: BundleDiff, rejections: Rejections) -> BundleDiff:
    """A diff that does not repeat the titles that went because they were rejected."""
    names = ("removed_gotchas", "removed_next_steps", "merged_gotchas", "merged_next_steps")
    return msgspec.structs.replace(diff, **{name: tuple(rejections.kept(getattr(diff, name))) for name in names})


def sift_bundle(bundle: Bundle, rejections: Rejections) -> tuple[Bundle, int]:
    """A bundle without what was rejected, and how many things these are. Nothing given is changed."""
    sifting = _Sifting(rejections)
    for path in _LISTS:
        bundle = _changed(bundle, path, sifting.texts)
    for key, names in _ITEMS.items():
        bundle = _changed(bundle, (key,), partial(sifting.items, names=names))
    for path, name in _PARTS:
        bundle = _changed(bundle, path, partial(sifting.parts, name=name))
    for path in _TEXTS:
        bundle = _changed(bundle, path, sifting.text)
    return bundle, sifting.gone


def _changed(value: Any, path: tuple[str, ...], change: Change) -> Any:
    """The value with what stands at a path changed; itself where nothing stands there or nothing changes."""
    if not path:
        return change(value)
    held = value.get(path[0]) if isinstance(value, dict) else None
    after = _changed(held, path[1:], change) if held is not None else None
    return value if after is held else {**value, path[0]: after}


class _Sifting:
    """Sieves for the parts of a bundle, which count what they hold back."""

    def __init__(self, rejections: Rejections) -> None:
        self._rejections = rejections
        self.gone = 0

    def texts(self, value: Any) -> Any:
        return self._kept(value, lambda item: isinstance(item, str) and self._is_rejected(item))

    def items(self, value: Any, names: tuple[str, ...]) -> Any:
        kept = self._kept(value, lambda item: isinstance(item, dict) and self._says_rejected(item, names))
        return self._each(kept, lambda item: _changed(item, (_WHY,), self._why))

    def parts(self, value: Any, name: str) -> Any:
        return self._each(value, lambda item: _changed(item, (name,), self.text))

    def text(self, value: Any) -> Any:
        if not isinstance(value, str) or not self._is_rejected(value):
            return value
        self.gone += 1
        return self._rejections.without(value) or _NONE

    def _why(self, value: Any) -> Any:
        """Why a step came up: in which event, and then what that was about."""
        where, colon, about = value.partition(": ") if isinstance(value, str) else ("", "", "")
        if self._is_rejected(about):
            self.gone += 1
            about = self._rejections.without(about)
            return f"{where}{colon}{about}" if about else f"{where}."
        return self.text(value)

    def _says_rejected(self, item: dict[str, Any], names: tuple[str, ...]) -> bool:
        texts = [text for name in names if isinstance(text := item.get(name), str) and text.strip() not in ("", _NONE)]
        # A signal such as `title: cause` is kept in two fields.
        pairs = (f"{texts[0]}\n{text}" for text in texts[1:])
        return any(map(self._is_rejected, (*texts, *pairs)))

    def _is_rejected(self, text: str) -> bool:
        return self._rejections.match(text) is not None

    def _kept(self, value: Any, is_gone: Callable[[Any], bool]) -> Any:
        if not isinstance(value, list):
            return value
        kept = [item for item in value if not is_gone(item)]
        self.gone += len(value) - len(kept)
        return kept if len(kept) < len(value) else value

    def _each(self, value: Any, change: Change) -> Any:
        if not isinstance(value, list):
            return value
        after = [change(item) for item in value]
        return value if all(new is old for new, old in zip(after, value, strict=True)) else after
