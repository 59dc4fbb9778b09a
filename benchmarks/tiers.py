"""What is said to be clear: is it right, is it enough, and is nothing said where nothing was asked?

Six invented stores (`data/stores/`) and Quire's own memory (`data/own_questions.json`, `data/own_prompts.json`), each
with questions and prompts that were written and judged by somebody who did not know the engine. Every question and
prompt belongs by its hash to the half that constants may be fitted on or to the half that is only tested.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.corpus import searchable
from benchmarks.metrics import is_testing
from quire.files.world import real_world
from quire.index.catalog import Index
from quire.model.records import Record
from quire.project import Project
from quire.retrieval.query import Ask, ask
from quire.verbs.agents.prompt_brief import hook_prompt
from quire.verbs.ask.answers import answer_question

_ROOT = Path(__file__).parents[1]
_DATA = Path(__file__).parent / "data"
_LIMIT, _SENT = 10, 3
_STRANGE = ("near", "paraphrase", "symptom")
"""Of the questions of another store, those that are whole questions."""

Answered = Callable[[str], list[tuple[str, str]]]
"""Refs and tiers of what answers a question, best first."""
Sent = Callable[[str], list[str]]
"""Refs of what is sent with a prompt."""

__all__ = ["Asked", "Store", "questions_of", "run", "stores"]


class Asked(msgspec.Struct, frozen=True):
    """A question or a prompt, the refs that answer it, and those that do no harm beside them."""

    text: str
    relevant: tuple[str, ...]
    partly: tuple[str, ...] = ()
    form: str = ""


class _Note(msgspec.Struct, frozen=True):
    id: str
    title: str
    body: str
    updated_at: str
    tags: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    stage: str | None = None

    def record(self) -> Record:
        kind = self.id.partition(".")[0]
        return Record(
            ref=self.id,
            layer="graph",
            kind=kind,
            title=self.title,
            text=self.body,
            status="open" if kind == "question" else "active",
            stage=self.stage,
            path=f"memory/{self.id}.json",
            tags=self.tags,
            anchors=self.anchors,
            updated_at=self.updated_at,
        )


class Amended(msgspec.Struct, frozen=True):
    question: str
    later: str
    earlier: str


class Store(msgspec.Struct, frozen=True):
    name: str
    records: tuple[_Note, ...]
    questions: tuple[Asked, ...]
    prompts: tuple[Asked, ...]
    amended: tuple[Amended, ...] = ()


class _Questions(msgspec.Struct, frozen=True):
    questions: tuple[Asked, ...] = ()
    prompts: tuple[Asked, ...] = ()


@cache
def stores() -> tuple[Store, ...]:
    files = sorted((_DATA / "stores").glob("*.json"))
    return tuple(msgspec.json.decode(file.read_bytes(), type=Store) for file in files)


def questions_of(name: str) -> _Questions:
    return msgspec.json.decode((_DATA / f"{name}.json").read_bytes(), type=_Questions)


def run() -> dict[str, Any]:
    with contextlib.ExitStack() as opened:
        invented = [(store, opened.enter_context(_open(store))) for store in stores()]
        own = Project.open(str(_ROOT), real_world(str(_ROOT)))
        asked = [(_answers(index), item) for store, index in invented for item in store.questions]
        strange = [
            (_answers(index), item)
            for store, index in invented
            for other in stores()
            if other is not store
            for item in other.questions
            if item.form in _STRANGE
        ]
        prompted = [(_sends(index), item) for store, index in invented for item in store.prompts]
        ours = [(_own_answers(own), item) for item in questions_of("own_questions").questions]
        our_prompts = [(_own_sends(own), item) for item in questions_of("own_prompts").prompts]
        every = [(_own_answers(own), item) for store in stores() for item in store.questions if item.form in _STRANGE]
        return {
            "own memory": _halves(ours, _questions),
            "stores": _halves(asked, _questions),
            "questions of other stores": _halves(strange, _refusals),
            "questions of the stores put to our own memory": _halves(every, _refusals),
            "prompts to our own memory": _halves(our_prompts, _prompts),
            "prompts to the stores": _halves(prompted, _prompts),
            "amended records": _amendments(invented),
        }


@contextlib.contextmanager
def _open(store: Store) -> Iterator[Index]:
    with searchable(note.record() for note in store.records) as index:
        yield index


def _answers(index: Index) -> Answered:
    def way(text: str) -> list[tuple[str, str]]:
        found = ask(index, Ask(question=text, budget=2_000, limit=_LIMIT))
        return [(hit.record.ref, hit.tier) for hit in found.hits]

    return way


def _own_answers(project: Project) -> Answered:
    return lambda text: [(hit.record.ref, hit.tier) for hit in answer_question(project, text, limit=_LIMIT).hits]


def _sends(index: Index) -> Sent:
    def way(text: str) -> list[str]:
        found = ask(index, Ask(question=text, budget=400, limit=_SENT, prompt=True, rendered=False))
        return [hit.record.ref for hit in found.hits]

    return way


def _own_sends(project: Project) -> Sent:
    def way(text: str) -> list[str]:
        handed = hook_prompt(project, text, tokens=400, chars=1_500)
        return [fate.ref for fate in handed.fates if fate.outcome == "included"]

    return way


def _halves(asked: list[tuple[Any, Asked]], judge: Callable[[list[tuple[Any, Asked]]], dict[str, Any]]) -> Any:
    return {
        "testing half": judge([pair for pair in asked if is_testing(pair[1].text)]),
        "fitting half": judge([pair for pair in asked if not is_testing(pair[1].text)]),
        "all": judge(asked),
    }


def _questions(asked: list[tuple[Answered, Asked]]) -> dict[str, Any]:
    """The clear tier: how much of it matters, how much of what matters is in it; and with what is possible."""
    right = shown = tolerable = 0
    per_question: list[tuple[float, float, float]] = []
    answerable = [(way(item.text), item) for way, item in asked if item.relevant]
    for found, item in answerable:
        clear = [ref for ref, tier in found if tier == "answer"]
        matter = [ref for ref in clear if ref in item.relevant]
        right, shown = right + len(matter), shown + len(clear)
        tolerable += sum(ref in item.partly for ref in clear)
        every = sum(ref in item.relevant for ref, _ in found) / len(item.relevant)
        share = len(matter) / len(clear) if clear else -1.0
        per_question.append((share, len(matter) / len(item.relevant), every))
    precise = [share for share, _, _ in per_question if share >= 0]
    refused = _refusals([(way, item) for way, item in asked if not item.relevant])
    return {
        "questions": len(per_question),
        "records in the clear tier": shown,
        "of them matter": right,
        "precision": _round(right / max(1, shown)),
        "precision, tolerable ones left aside": _round(right / max(1, shown - tolerable)),
        "precision, mean of questions": _round(_mean(precise)),
        "recall, mean of questions": _round(_mean(recall for _, recall, _ in per_question)),
        "questions with something right in the clear tier": _round(_mean(r > 0 for _, r, _ in per_question)),
        "recall with what is possible": _round(_mean(every for _, _, every in per_question)),
        "without an answer": refused,
    }


def _refusals(asked: list[tuple[Answered, Asked]]) -> dict[str, int]:
    given = [any(tier == "answer" for _, tier in way(item.text)) for way, item in asked]
    return {"questions": len(given), "given a clear answer": sum(given)}


def _prompts(asked: list[tuple[Sent, Asked]]) -> dict[str, Any]:
    sent = [(way(item.text), item) for way, item in asked]
    idle = {item.text: bool(refs) for refs, item in sent if not item.relevant}
    busy = [(refs, item) for refs, item in sent if item.relevant]
    right = sum(ref in item.relevant for refs, item in busy for ref in refs)
    number = sum(len(refs) for refs, _ in busy)
    return {
        "prompts that concern nothing": len(idle),
        "of them given something": sum(idle.values()),
        "prompts that concern something": len(busy),
        "of them given something right": sum(any(ref in item.relevant for ref in refs) for refs, item in busy),
        "records sent with them": number,
        "precision": _round(right / max(1, number)),
    }


def _amendments(invented: Iterable[tuple[Store, Index]]) -> dict[str, int]:
    """Pairs of records of which the later says that it changes the earlier: which of them comes first?"""
    first = marked = both = wrong = 0
    pairs = [(index, pair) for store, index in invented for pair in store.amended]
    known = {(pair.later, pair.earlier) for _, pair in pairs}
    for index, pair in pairs:
        hits = ask(index, Ask(question=pair.question, budget=2_000, limit=_LIMIT)).hits
        places = {hit.record.ref: at for at, hit in enumerate(hits)}
        both += {pair.later, pair.earlier} <= places.keys()
        first += places.get(pair.later, _LIMIT) < places.get(pair.earlier, _LIMIT)
        marked += any(hit.amended_by == pair.later for hit in hits if hit.record.ref == pair.earlier)
    for store, index in invented:
        for item in store.questions:
            hits = ask(index, Ask(question=item.text, budget=2_000, limit=_LIMIT)).hits
            wrong += sum(bool(hit.amended_by) and (hit.amended_by, hit.record.ref) not in known for hit in hits)
    return {
        "pairs": len(pairs),
        "both shown": both,
        "the later first": first,
        "the earlier marked": marked,
        "marked in all other questions, and not one of the pairs": wrong,
    }


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / max(1, len(found))


def _round(value: float) -> float:
    return round(value, 3)
