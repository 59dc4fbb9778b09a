"""Whether a search finds the entries of a real profile, beside plain full-text baselines of the same run.

Three kinds of questions: words taken from a known entry, questions in other words than the entry's, and questions that
no entry answers. The documents and the known items lie beside the repository; the questions in other words are ours,
written from reading the entries before anything was measured (`data/profile_paraphrases.json`).
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec

from benchmarks.facts_recall import STEMMED, Asked, Found, Way, _compared, _full_text, figures
from benchmarks.metrics import DEPTH
from benchmarks.notes import note_set
from quire.files.world import real_world
from quire.index.text_analysis import question_words
from quire.layers.profile.layout import ACTIVE, FILE, FOLDER
from quire.project import Project
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.profile.search import SearchEntries, search_entries

PROFILE = Path(__file__).parents[1].parent / "shared" / "fixtures" / "profile"
DOCUMENTS = {"real": "real-2.0-a85646b.json", "example": "seed-example-1.2.json"}
KNOWN_ITEMS = "known_item_queries.json"
PARAPHRASES = Path(__file__).parent / "data" / "profile_paraphrases.json"
OURS, BM25, SUBSTRING = "search", "BM25", "substring, as the original program's 1.2"
WITHOUT_KEYWORDS = "search, without the rule for keywords"
OWN = "in other words"
_K1, _B = 1.2, 0.75
_WORD = re.compile(r"\w+")

__all__ = ["Entry", "bm25", "load", "run", "substring"]


class Entry(msgspec.Struct, frozen=True):
    """What the baselines know of an entry."""

    name: str
    key: str
    value: str
    tags: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join((self.key, self.value, *self.tags))


class Loaded(msgspec.Struct, frozen=True):
    documents: dict[str, bytes]
    known: list[Asked]
    paraphrases: dict[str, list[Asked]]
    unanswerable: list[str]


def run() -> dict[str, Any]:
    loaded = load()
    if isinstance(loaded, str):
        return {"skipped": loaded}
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        made = {name: _make_project(Path(folder) / name, data) for name, data in loaded.documents.items()}
        ways = {name: _ways(project, loaded.documents[name]) for name, project in made.items()}
        return {
            "entries": {name: len(_active(data)) for name, data in loaded.documents.items()},
            "known items": _measured(loaded.known, ways["real"]),
            "in other words": _measured(loaded.paraphrases["real"], ways["real"]),
            "in other words, a store of eight entries": _measured(loaded.paraphrases["example"], ways["example"]),
            "questions without an answer": _refusals(loaded, ways["real"][OURS]),
        }


def load() -> Loaded | str:
    """The documents and what is asked of them; or what is missing."""
    wanted = [PROFILE / KNOWN_ITEMS, *(PROFILE / "docs" / name for name in DOCUMENTS.values())]
    if not all(path.is_file() for path in wanted):
        return "the real profile and the questions to it are not beside the repository"
    known = json.loads(wanted[0].read_bytes())
    ours = json.loads(PARAPHRASES.read_bytes())
    return Loaded(
        documents={name: (PROFILE / "docs" / file).read_bytes() for name, file in DOCUMENTS.items()},
        known=[Asked("known item", row["query"], (f"{row['category']}.{row['key']}",)) for row in known],
        paraphrases={
            store: [Asked(OWN, row["text"], tuple(row["sought"])) for row in ours["questions"] if row["store"] == store]
            for store in DOCUMENTS
        },
        unanswerable=ours["unanswerable"],
    )


def _make_project(root: Path, document: bytes) -> Project:
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    world = msgspec.structs.replace(real_world(str(root)), env={"MEMORY_HOME": str(root.parent / "home")})
    project = Project(str(root), world)
    init_memory(project, guidance=False, layers=("profile",))
    (root / FOLDER / FILE).write_bytes(document)
    return project


def _active(document: bytes) -> list[Entry]:
    """The entries that a search is for; those of older versions have no status."""
    return [
        Entry(f"{category}.{key}", key, held["value"], tuple(held["tags"]))
        for category, entries in json.loads(document)["memories"].items()
        for key, held in entries.items()
        if held.get("status", ACTIVE) == ACTIVE
    ]


# -- ways to answer ---------------------------------------------------------------------------


def _ways(project: Project, document: bytes) -> dict[str, Way]:
    entries = _active(document)
    texts = [{"id": entry.name, "content": entry.text} for entry in entries]
    return {
        OURS: _search(project),
        WITHOUT_KEYWORDS: _without_keywords(_search(project)),
        BM25: bm25(entries),
        STEMMED: _full_text(texts, "porter unicode61", question_words),
        SUBSTRING: substring(entries),
    }


def _search(project: Project) -> Way:
    def way(query: str) -> Found:
        # Searching counts as reading, which would change the document between two questions.
        done = search_entries(project, SearchEntries(query=query, limit=DEPTH), note=False)
        return Found([view.id for view in done.results], done.weak)

    return way


def _without_keywords(way: Way) -> Way:
    def asked(query: str) -> Found:
        with patch("quire.retrieval.relevance.keywords", lambda _: []):
            return way(query)

    return asked


def bm25(entries: list[Entry]) -> Way:
    """Okapi BM25 over key, value and tags: every word as it stands, no stems, no stop words."""
    held = [Counter(_words(entry.text)) for entry in entries]
    spread = Counter(word for words in held for word in words)
    usual = sum(map(Counter.total, held)) / max(1, len(held))

    def score(words: Counter[str], query: list[str]) -> float:
        length = _K1 * (1 - _B + _B * words.total() / usual)
        return math.fsum(
            math.log(1 + (len(held) - spread[word] + 0.5) / (spread[word] + 0.5))
            * words[word]
            * (_K1 + 1)
            / (words[word] + length)
            for word in query
            if words[word]
        )

    def way(query: str) -> Found:
        asked = list(dict.fromkeys(_words(query)))
        scores = [(score(words, asked), entry.name) for words, entry in zip(held, entries, strict=True)]
        best = sorted((pair for pair in scores if pair[0] > 0), key=lambda pair: (-pair[0], pair[1]))
        return Found([name for _, name in best[:DEPTH]])

    return way


def substring(entries: list[Entry]) -> Way:
    """The whole question somewhere in the key, the value or a tag, in the order of the document."""

    def way(query: str) -> Found:
        wanted = query.lower()
        found = [
            entry.name
            for entry in entries
            if any(wanted in text.lower() for text in (entry.key, entry.value, *entry.tags))
        ]
        return Found(found[:DEPTH])

    return way


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


# -- figures ----------------------------------------------------------------------------------


def _measured(asked: list[Asked], ways: dict[str, Way]) -> dict[str, Any]:
    found = {name: [way(one.query) for one in asked] for name, way in ways.items()}
    return {
        "ways": {name: figures(asked, answers)["all"] for name, answers in found.items()},
        "search against BM25": _compared(asked, found[OURS], found[BM25]),
        "said to be weak though answerable": sum(answer.weak for answer in found[OURS]),
        "of those, the entry came first all the same": sum(
            answer.weak and answer.rank(one.relevant) == 1 for one, answer in zip(asked, found[OURS], strict=True)
        ),
        # By what was asked only where the questions are ours.
        "ranks of those that did not come first": {
            one.query if one.kind == OWN else f"number {at + 1}": {
                name: answers[at].rank(one.relevant) for name, answers in found.items()
            }
            for at, one in enumerate(asked)
            if found[OURS][at].rank(one.relevant) != 1
        },
    }


def _refusals(loaded: Loaded, way: Way) -> dict[str, Any]:
    """Questions about what is not in the store: of a person's or a team's life, and of three other products."""
    strangers = [text for note in note_set().notes for text in (note.near, note.paraphrase)]
    return {
        "about what is not there": _refused(loaded.unanswerable, way),
        "about other products": _refused(strangers, way),
        "known items, a mistake": _refused([one.query for one in loaded.known], way),
        "in other words, a mistake": _refused([one.query for one in loaded.paraphrases["real"]], way),
    }


def _refused(questions: list[str], way: Way) -> dict[str, Any]:
    answers = [way(question) for question in questions]
    weak, empty = sum(answer.weak for answer in answers), sum(not answer.ids for answer in answers)
    return {
        "asked": len(questions),
        "said to be weak": weak,
        "nothing returned": empty,
        "weak or empty": round((weak + empty) / len(questions), 4),
    }
