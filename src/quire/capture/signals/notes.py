"""What was noted on the way through a session: few texts, each said once, the later one holding."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, structs

from quire.capture.signals.wording import is_alike, share, stems

KEPT = 64
"""So many notes of one kind are kept while a session is read; the weakest go first."""
ALIKE = 0.6
_REPEATED = 0.75
_NEAR = 8


class Note(Struct, frozen=True, kw_only=True):
    text: str
    stems: frozenset[str]
    weight: int = 1
    turn: int = 0
    done: bool = False
    """Of a step: whether it is finished."""


class Notes:
    """Notes of one kind, in the order in which they were said."""

    def __init__(self, alike: float = ALIKE, *, heavier_stays: bool = False) -> None:
        self._alike = alike
        self._heavier_stays = heavier_stays
        self._held: list[Note] = []

    def __iter__(self) -> Iterator[Note]:
        return iter(tuple(self._held))

    def __len__(self) -> int:
        return len(self._held)

    def add(self, text: str, *, weight: int = 1, turn: int = 0, done: bool = False) -> None:
        """Note a text. Of two that say the same the later holds, unless it only repeats a part of the earlier."""
        note = Note(text=text, stems=stems(text), weight=weight, turn=turn, done=done)
        if not note.stems:
            return
        for index, held in enumerate(self._held):
            if not is_alike(held.stems, note.stems, self._alike) or _is_far(held, note):
                continue
            stays = self._heavier_stays and held.weight > weight
            if stays or (share(note.stems, held.stems) >= _REPEATED and len(held.stems) >= len(note.stems)):
                self._held[index] = structs.replace(held, weight=max(held.weight, weight), done=done or held.done)
                return
            del self._held[index]
            note = structs.replace(note, weight=max(held.weight, weight))
            break
        self._held.append(note)
        if len(self._held) > KEPT:
            self._held.remove(min(self._held, key=lambda item: (item.weight, item.turn)))

    def drop(self, note: Note) -> None:
        self._held.remove(note)

    def drop_text(self, text: str) -> None:
        """Drop the notes that say exactly this."""
        self._held = [note for note in self._held if note.text != text]

    def replace(self, note: Note, **changes: object) -> None:
        self._held[self._held.index(note)] = structs.replace(note, **changes)

    def best(self, most: int) -> list[Note]:
        """The weightiest and then the latest, in the order in which they were said."""
        ranked = sorted(self._held, key=lambda note: (-note.weight, -note.turn))[: max(0, most)]
        chosen = {id(note) for note in ranked}
        return [note for note in self._held if id(note) in chosen]


def _is_far(held: Note, note: Note) -> bool:
    """Whether two notes share a single word and stand far apart: then they are about different things."""
    return len(held.stems & note.stems) < 2 and abs(held.turn - note.turn) > _NEAR
