"""The evaluation set of our own: notes of three invented products, questions that have an answer and that have none."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from benchmarks.corpus import Corpus, Question
from quire.model.records import Record

PRODUCTS = ("harbor", "orbit", "clinic")
_FILE = Path(__file__).parent / "data" / "notes.json"

__all__ = ["PRODUCTS", "Asked", "Note", "NoteSet", "note_set", "notes_by_product", "notes_pooled"]


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A note as an agent would save it, and two questions for it: in its own words and in others."""

    id: str
    product: str
    title: str
    body: str
    near: str
    paraphrase: str
    tags: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    stage: str | None = None

    @property
    def kind(self) -> str:
        return self.id.partition(".")[0]

    def record(self) -> Record:
        return Record(
            ref=self.id,
            layer="graph",
            kind=self.kind,
            title=self.title,
            text=self.body,
            status="open" if self.kind == "question" else "active",
            stage=self.stage,
            path=f"memory/{self.id}.json",
            tags=self.tags,
            anchors=self.anchors,
        )


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A question put to one product; `id` names the note that answers it, where one does."""

    product: str
    question: str
    id: str = ""


class NoteSet(msgspec.Struct, frozen=True, kw_only=True):
    description: str
    notes: tuple[Note, ...]
    unanswerable: tuple[Asked, ...]
    foreign: tuple[Asked, ...]

    def of(self, product: str) -> list[Note]:
        return [note for note in self.notes if note.product == product]


@cache
def note_set() -> NoteSet:
    return msgspec.json.decode(_FILE.read_bytes(), type=NoteSet)


def notes_by_product(form: str) -> list[Corpus]:
    """Each product is a project with an index of its own; `form` is `near` or `paraphrase`."""
    return [_corpus(product, note_set().of(product), form) for product in PRODUCTS]


def notes_pooled(form: str) -> list[Corpus]:
    """All notes in one index, where the other products' notes are in the way."""
    return [_corpus("all products", list(note_set().notes), form)]


def _corpus(name: str, notes: list[Note], form: str) -> Corpus:
    questions = [Question(getattr(note, form), frozenset({note.id})) for note in notes]
    return Corpus(name, [note.record() for note in notes], questions)
