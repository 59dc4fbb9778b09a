"""The law of presence: a live record that holds the words of a question is found.

Whatever the size of the store, the length of the record, or how many records share the topic: a word of a record, two
to four of its words, or a phrase of it, asked as a question, bring at least one record that holds them.
"""

import random
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from benchmarks.corpus import searchable

from quire.files.world import real_world
from quire.index.catalog import Index
from quire.index.search import Filter
from quire.index.text_analysis import question_words
from quire.model.records import Record
from quire.model.vocabulary import LIVE_STATUSES
from quire.project import Project
from quire.retrieval.query import Ask, ask
from quire.verbs.ask.answers import answer_question
from thorough import LONG, either

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "fixtures"
RECORDS = either(15, 400)
"""How many records of a store are asked for."""
COMMON = ["retry", "queue", "drains", "slowly", "the", "worker", "restarts", "after", "deploy", "billing", "service"]
RARE = [
    f"{first}{middle}{last}" for first in "bdfgkl" for middle in ("an", "or", "ust", "ilm") for last in ("ka", "po")
]

Answer = Callable[[str], Iterable[Record]]


def questions(record: Record, chance: random.Random) -> Iterator[str]:
    """One of its words, two to four of them, and a phrase of it."""
    # A title that only repeats how the text begins may end in the middle of a word.
    title = "" if record.text.startswith(record.title.rstrip("…")) else record.title
    words = question_words(f"{title} {record.text}", 10_000)
    if not words:
        return
    yield chance.choice(words)
    for number in (2, 3, 4):
        if len(words) >= number:
            yield " ".join(chance.sample(words, number))
    said = re.findall(r"\S+", record.text)
    for length in (3, 6):
        if len(said) >= length:
            at = chance.randrange(len(said) - length + 1)
            yield " ".join(said[at : at + length])


def denied(index: Index, records: Iterable[Record], answer: Answer, seed: int) -> list[tuple[str, str]]:
    """Questions of words that a live record holds, and that brought none which holds them."""
    chance = random.Random(seed)
    live = [record for record in records if record.status in LIVE_STATUSES and record.stage != "dead"]
    searcher = index.searcher()

    def stems(record: Record) -> set[str]:
        names = " ".join([record.ref, *record.tags, *record.anchors])
        return set(searcher.stems(f"{record.title} {names} {record.text}"))

    failed = []
    for record in chance.sample(live, min(RECORDS, len(live))):
        for question in questions(record, chance):
            wanted = {stem for word in question_words(question) for stem in searcher.stems(word)}
            if wanted and wanted <= stems(record) and not any(wanted <= stems(found) for found in answer(question)):
                failed.append((record.ref, question))
    return failed


def made(number: int, words: int, share: float, seed: int) -> list[Record]:
    """Records of so many words each; a share of them is about one topic."""
    chance = random.Random(seed)
    records = []
    for at in range(number):
        topic = COMMON if chance.random() < share else RARE
        said = [chance.choice(topic if chance.random() < 0.7 else RARE) for _ in range(words)]
        ref = f"gotcha.n{at}"
        records.append(
            Record(
                ref=ref,
                layer="graph",
                kind="gotcha",
                title=" ".join(said[:4]).capitalize(),
                text=" ".join(said) + ".",
                status="active",
                path=f"memory/{ref}.json",
            )
        )
    return records


SIZES = [
    (1, 5, 1.0),
    (1, 5000, 1.0),
    (3, 40, 0.5),
    (50, 20, 0.5),
    (50, 200, 1.0),
    (300, 5, 0.01),
    (300, 60, 1.0),
    (1000, 20, 0.5),
    *([(5000, 20, 0.01), (5000, 20, 1.0), (1000, 200, 0.5), (200, 5000, 0.5)] if LONG else []),
]


@pytest.mark.proof(keep=3)
@pytest.mark.parametrize(("number", "words", "share"), SIZES)
def test_words_of_a_record_are_never_denied_in_a_store_of_any_size(number: int, words: int, share: float) -> None:
    records = made(number, words, share, seed=number + words)
    with searchable(records) as index:
        hits = lambda text: [hit.record for hit in ask(index, Ask(question=text, budget=2000, limit=10)).hits]  # noqa: E731
        assert denied(index, records, hits, seed=1) == []


def test_records_that_are_all_the_same_are_found() -> None:
    records = [
        Record(
            ref=f"gotcha.n{n}",
            layer="graph",
            kind="gotcha",
            title="Same",
            text="The very same text in every record.",
            status="active",
            path=f"memory/n{n}.json",
        )
        for n in range(200)
    ]
    with searchable(records) as index:
        for question in ("text", "same record", "very same text in every", "record " * 1000):
            assert ask(index, Ask(question=question, budget=2000, limit=10)).hits


def test_retired_records_do_not_take_the_place_of_one_in_force() -> None:
    records = made(1, 6, 0.0, seed=3)
    retired = [
        Record(
            ref=f"decision.old{n}",
            layer="graph",
            kind="decision",
            title=records[0].title,
            text=records[0].text,
            status="stale",
            path=f"memory/old{n}.json",
        )
        for n in range(120)
    ]
    with searchable([*retired, *records]) as index:
        found = ask(index, Ask(question=" ".join(records[0].text.split()[:3]), budget=2000, limit=10))
        assert [hit.record.ref for hit in found.hits] == ["gotcha.n0"]


@contextmanager
def opened(root: Path) -> Iterator[Project]:
    yield Project.open(str(root), real_world(str(root)))


def stores() -> list[Any]:
    """Our own memory, and every store of another program that lies beside the repository."""
    found = [pytest.param(ROOT, id="own")]
    for layer in ("graph", "facts", "profile", "journal"):
        for marker in (".memory", ".ai-state", ".agent-memory"):
            for folder in sorted((SHARED / layer).rglob(marker)) if SHARED.is_dir() else []:
                if "snapshots" in folder.parts and not LONG:
                    continue  # every state of the others
                found.append(pytest.param(folder.parent, id=str(folder.parent.relative_to(SHARED))))
    return list({item.values[0]: item for item in found}.values())


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("root", stores())
def test_words_of_a_record_are_never_denied_in_a_real_store(root: Path, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "store"
    copy.mkdir()
    for name in (".memory", ".ai-state", ".agent-memory"):
        if (root / name).is_dir():
            shutil.copytree(root / name, copy / name, symlinks=True, ignore=shutil.ignore_patterns("index"))
    with opened(copy) as project:
        records = project.with_index(lambda index: index.page(Filter()))
        hits = lambda text: [hit.record for hit in answer_question(project, text).hits]  # noqa: E731
        assert project.with_index(lambda index: denied(index, records, hits, seed=7)) == []
