"""Whether questions find the facts of a real project, beside two full-text baselines of the same run.

The file of facts and the questions lie beside the repository; half of the questions are kept back elsewhere. A
question is for one known fact: what else may answer it counts as a miss. The clock is pinned, since facts wear.
"""

from __future__ import annotations

import json
import math
import random
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import apsw
import msgspec

from benchmarks.metrics import DEPTH
from benchmarks.notes import note_set
from quire.files.world import real_world
from quire.index.text_analysis import match_any, question_words
from quire.model.records import Record
from quire.project import Project
from quire.retrieval.answer import Answer
from quire.retrieval.query import Ask
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.facts.recall import Recall, find_facts

FACTS = Path(__file__).parents[1].parent / "shared" / "fixtures" / "facts"
SOON = "2026-03-18T23:00:00+00:00"
"""Hours after the last fact was stored."""
WEEKS = "2026-05-01T00:00:00+00:00"
"""Six weeks in which nobody confirmed anything: about when a fact that was said once fades."""
LATE = "2026-11-15T00:00:00+00:00"
"""Everything has faded, except the specs, which do not wear."""
TARGETS = {"MRR": 0.598, "hit@5": 0.76}
"""The second is the best of the baselines: a recall shows answers and three more, so that its tenth place is empty."""
PLAIN, STEMMED = "FTS5 OR, unicode61", "FTS5 OR, porter, without stop words"
OURS = "recall"
_SHARPNESSES = (1.0, 2.0, 4.0, 8.0)
_DRAWS = 10_000

__all__ = ["Asked", "Found", "figures", "load", "run"]


class Asked(msgspec.Struct, frozen=True):
    """A question and the ids that answer it; none, where nothing in the store does."""

    kind: str
    query: str
    relevant: tuple[str, ...]


class Found(msgspec.Struct, frozen=True):
    """What came back for a question, best first."""

    ids: list[str]
    weak: bool = False
    reason: str = ""

    def rank(self, relevant: tuple[str, ...]) -> int | None:
        """The place of the first that answers; None where it is not among the first ten."""
        return next((place for place, name in enumerate(self.ids[:DEPTH], start=1) if name in relevant), None)


Way = Callable[[str], Found]


class Equal(Project):
    """A project whose facts all count the same, however old they are."""

    def _weigh(self) -> Callable[[Record], float]:
        return lambda _: 1.0


def run() -> dict[str, Any]:
    loaded = load()
    if isinstance(loaded, str):
        return {"skipped": loaded}
    lines, asked = loaded
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        root = Path(folder) / "project"
        _make_store(root, lines)
        ways = {**_recalls(str(root)), **_baselines(lines)}
        found = {name: [way(one.query) for one in asked] for name, way in ways.items()}
        changed = {name: _with_constants(str(root), asked, name) for name in _constants()}
        strangers = _strangers(ways[OURS])
    return {
        "facts": len(lines),
        "questions": sum(bool(one.relevant) for one in asked),
        "questions without an answer": sum(not one.relevant for one in asked),
        "ways": {name: figures(asked, answers) for name, answers in found.items()},
        "targets": {
            name: {"more than": least, "reached": figures(asked, found[OURS])["all"][name] > least}
            for name, least in TARGETS.items()
        },
        "recall against the plain baseline": _compared(asked, found[OURS], found[PLAIN]),
        "recall against the stemmed baseline": _compared(asked, found[OURS], found[STEMMED]),
        "recall with other constants": changed,
        "questions without an answer, what came back": _unanswerable(asked, found),
        "questions about other products": strangers,
        "ranks": {
            one.query: {name: answers[at].rank(one.relevant) for name, answers in found.items()}
            for at, one in enumerate(asked)
            if one.relevant
        },
    }


def load() -> tuple[list[bytes], list[Asked]] | str:
    """The lines of the facts and the questions; or what is missing."""
    questions = FACTS / "golden" / "recall-eval.json"
    if not questions.is_file():
        return "the real facts and the questions to them are not beside the repository"
    held = json.loads(questions.read_bytes())
    corpus = FACTS / held["corpus"].split()[0]
    if not corpus.is_file():
        return "the real facts that the questions are about are not beside the repository"
    lines = [line for line in corpus.read_bytes().splitlines() if json.loads(line)["_type"] == "fact"]
    asked = [Asked(row["kind"], row["query"], tuple(row["relevant"])) for row in held["queries"]]
    return lines, asked


def _make_store(root: Path, lines: list[bytes]) -> None:
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    init_memory(_project(Project, str(root), SOON), guidance=False, layers=("facts",))
    (root / ".memory" / "facts.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))


def _project(kind: type[Project], root: str, now: str) -> Project:
    moment = datetime.fromisoformat(now)
    world = msgspec.structs.replace(real_world(root), env={}, now=lambda: moment)
    return kind(root, world)


# -- ways to answer ---------------------------------------------------------------------------


def _recalls(root: str) -> dict[str, Way]:
    return {
        OURS: _recall(_project(Project, root, SOON)),
        "recall, all weights equal": _recall(_project(Equal, root, SOON)),
        "recall, six weeks later": _recall(_project(Project, root, WEEKS)),
        "recall, eight months later": _recall(_project(Project, root, LATE)),
        "recall, eight months later, faded too": _recall(_project(Project, root, LATE), faded=True),
    }


def _recall(project: Project, *, faded: bool = False) -> Way:
    def way(query: str) -> Found:
        # Reading resets the timer of a fact: the questions must not change each other's answers.
        done = find_facts(project, Recall(query=query, k=DEPTH, faded=faded), note=False)
        return Found([view.id for view in done.results], done.weak, done.reason)

    return way


def _baselines(lines: list[bytes]) -> dict[str, Way]:
    facts = [json.loads(line) for line in lines]
    return {
        PLAIN: _full_text(facts, "unicode61", lambda query: query.split()),
        STEMMED: _full_text(facts, "porter unicode61", question_words),
    }


def _full_text(facts: list[dict[str, Any]], tokenizer: str, words_of: Callable[[str], list[str]]) -> Way:
    table = apsw.Connection(":memory:")
    table.execute(f"CREATE VIRTUAL TABLE texts USING fts5 (body, tokenize = '{tokenizer}')")
    with table:
        table.executemany("INSERT INTO texts (body) VALUES (?)", ((fact["content"],) for fact in facts))

    def way(query: str) -> Found:
        words = [word.replace('"', "") for word in words_of(query)]
        rows = table.execute(
            "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank, rowid LIMIT ?", (match_any(words), DEPTH)
        )
        return Found([facts[row - 1]["id"] for (row,) in rows])

    return way


# -- figures ----------------------------------------------------------------------------------


def figures(asked: list[Asked], found: list[Found]) -> dict[str, dict[str, float]]:
    """Over all questions that have an answer, and over those of each kind."""
    ranks = [(one.kind, answer.rank(one.relevant)) for one, answer in zip(asked, found, strict=True) if one.relevant]
    kinds = ["all", *sorted({kind for kind, _ in ranks})]
    return {name: _over([rank for kind, rank in ranks if name in ("all", kind)]) for name in kinds}


def _over(ranks: list[int | None]) -> dict[str, float]:
    number = len(ranks)
    hits = {f"hit@{most}": round(sum(r is not None and r <= most for r in ranks) / number, 4) for most in (1, 5, 10)}
    return {"questions": number, "MRR": round(math.fsum(map(_gain, ranks)) / number, 4), **hits}


def _gain(rank: int | None) -> float:
    return 0.0 if rank is None else 1 / rank


def _compared(asked: list[Asked], ours: list[Found], theirs: list[Found]) -> dict[str, Any]:
    """Question by question; how far the mean difference could be chance, by drawing the questions again."""
    gains = [
        _gain(mine.rank(one.relevant)) - _gain(other.rank(one.relevant))
        for one, mine, other in zip(asked, ours, theirs, strict=True)
        if one.relevant
    ]
    chance = random.Random(7)
    means = sorted(math.fsum(chance.choices(gains, k=len(gains))) / len(gains) for _ in range(_DRAWS))
    return {
        "better": sum(gain > 0 for gain in gains),
        "the same": sum(gain == 0 for gain in gains),
        "worse": sum(gain < 0 for gain in gains),
        "MRR more": round(math.fsum(gains) / len(gains), 4),
        "90 % interval": [round(means[_DRAWS // 20], 4), round(means[-_DRAWS // 20], 4)],
    }


def _unanswerable(asked: list[Asked], found: dict[str, list[Found]]) -> dict[str, Any]:
    negative = [at for at, one in enumerate(asked) if not one.relevant]
    return {
        name: {
            "returned": [len(answers[at].ids) for at in negative],
            "said to be weak": sum(answers[at].weak for at in negative),
            "answerable said to be weak": sum(answer.weak for at, answer in enumerate(answers) if at not in negative),
            "said that all had faded": sum(answer.reason == "all faded" for answer in answers),
        }
        for name, answers in found.items()
        if name.startswith(OURS)
    }


def _strangers(way: Way) -> dict[str, int]:
    """One question without an answer tells nothing of the flag; those to our own notes have none here either."""
    answers = [way(text) for note in note_set().notes for text in (note.near, note.paraphrase)]
    return {
        "asked": len(answers),
        "said to be weak": sum(answer.weak for answer in answers),
        "nothing returned": sum(not answer.ids for answer in answers),
    }


# -- what hangs on the constants --------------------------------------------------------------


def _constants() -> Iterator[str]:
    """They were chosen with these questions in view: how much hangs on them must be seen."""
    yield from (f"sharpness {power:g}" for power in _SHARPNESSES)
    yield "no rule for names from code"


def _with_constants(root: str, asked: list[Asked], name: str) -> dict[str, float]:
    power = float(name.removeprefix("sharpness ")) if name.startswith("sharpness ") else None

    class Changed(Project):
        def _ask(self, ask: Ask) -> Answer:
            return super()._ask(ask if power is None else msgspec.structs.replace(ask, sharpness=power))

    way = _recall(_project(Changed, root, SOON))
    with ExitStack() as patched:
        if power is None:
            patched.enter_context(patch("quire.retrieval.relevance.code_names", lambda _: []))
        return figures(asked, [way(one.query) for one in asked])["all"]
