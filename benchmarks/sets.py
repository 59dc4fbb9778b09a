"""The sets that retrieval is measured on. The outside ones lie beside the repository and may be absent."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.corpus import Corpus, Question, plain_record
from benchmarks.notes import notes_by_product, notes_pooled

DATA = Path(__file__).parents[1].parent / "shared" / "data"
_ADR_REPOSITORIES = ("cometbft", "cosmos-sdk", "edc-connector", "semantic-kernel")
_ADR_TASKS = ("T1-title", "T2-commit", "T3-cite")
_SMART_FIELD = re.compile(r"\.([A-Z])(?:\s+(\d+))?\s*$")

__all__ = ["SETS", "Absent", "EvaluationSet", "cosqa"]


class Absent(Exception):
    """The set's files are not on this machine; the text says which."""


class EvaluationSet(msgspec.Struct, frozen=True):
    name: str
    about: str
    load: Callable[[], list[Corpus]]


def cosqa(split: str = "test") -> list[Corpus]:
    """A web search, and the Python function that answers it. The dev split is the one to choose settings by."""
    codes: dict[str, int] = _json("cosqa/code_idx_map.txt")
    records = [plain_record(f"x{number}", code) for code, number in codes.items()]
    asked = _json(f"cosqa/cosqa-retrieval-{split}-500.json")
    questions = [_question(row["doc"], [f"x{row.get('retrieval_idx', codes.get(row['code']))}"]) for row in asked]
    return [Corpus("cosqa", records, questions)]


def _cacm() -> list[Corpus]:
    """Abstracts of computing papers; many answers for each question."""
    documents = dict(_smart("cacm/cacm.all", "TW"))
    questions = dict(_smart("cacm/query.text", "W"))
    relevant: dict[int, list[str]] = {}
    for line in _file("cacm/qrels.text").read_text().splitlines():
        question, document, *_ = line.split()
        relevant.setdefault(int(question), []).append(f"x{int(document)}")
    records = [plain_record(f"x{number}", text) for number, text in sorted(documents.items())]
    return [
        Corpus("cacm", records, [_question(questions[n], found) for n, found in sorted(relevant.items())]),
    ]


def _smart(name: str, wanted: str) -> Iterator[tuple[int, str]]:
    """Number and text of each entry of a file in the SMART layout, from the fields wanted."""
    number, field, lines = 0, "", list[str]()
    for line in _file(name).read_text(errors="replace").splitlines():
        marked = _SMART_FIELD.match(line)
        if marked is None:
            if field in wanted:
                lines.append(line.strip())
            continue
        field = marked[1]
        if field == "I":
            if number:
                yield number, "\n".join(lines).strip()
            number, lines = int(marked[2]), []
    yield number, "\n".join(lines).strip()


def _adrs() -> list[Corpus]:
    """Titles of decision records, commits and lines of code that cite them; an index for each repository."""
    return [_adr_repository(name) for name in _ADR_REPOSITORIES]


def _adr_repository(name: str) -> Corpus:
    held = _packed_json(f"adrbench/{name}.json.gz")
    refs = {adr["id"]: f"x{number}" for number, adr in enumerate(held["adrs"])}
    records = [plain_record(refs[adr["id"]], adr["body"]) for adr in held["adrs"]]
    asked = [row for row in held["queries"] if row["task"] in _ADR_TASKS]
    questions = [_question(row["q"], [refs[gold] for gold in row["gold"] if gold in refs]) for row in asked]
    return Corpus(name, records, [question for question in questions if question.relevant])


def _changelog() -> list[Corpus]:
    """A line of a changelog, and the commit that it is about, among all commits of the four repositories."""
    refs: dict[str, str] = {}
    records, questions = [], []
    for name in _ADR_REPOSITORIES:
        with gzip.open(_file(f"adrbench/{name}.commits.jsonl.gz"), "rt", encoding="utf-8") as lines:
            for line in lines:
                commit = json.loads(line)
                refs[commit["id"]] = f"x{len(refs)}"
                records.append(plain_record(refs[commit["id"]], commit["text"]))
    for name in _ADR_REPOSITORIES:
        for row in _packed_json(f"adrbench/{name}.json.gz")["queries"]:
            if row["task"] == "T4-changelog":
                questions.append(_question(row["q"], [refs[gold] for gold in row["gold"] if gold in refs]))
    return [Corpus("commits", records, [question for question in questions if question.relevant])]


def _locomo(by_turn: bool) -> list[Corpus]:
    """Questions about long conversations; what is to be found are the sessions or the turns that hold the evidence."""
    return [
        _conversation(f"conversation {number}", held, by_turn)
        for number, held in enumerate(_json("locomo/locomo7.json"))
    ]


def _conversation(name: str, held: dict[str, Any], by_turn: bool) -> Corpus:
    texts: dict[str, str] = {}
    holder: dict[str, str] = {}
    number = 1
    while session := held["conversation"].get(f"session_{number}"):
        for turn in session:
            ref = f"x{len(holder)}" if by_turn else f"x{number}"
            holder[turn["dia_id"]] = ref
            said = f"{turn['speaker']}: {turn['text']}"
            texts[ref] = f"{texts[ref]}\n{said}" if ref in texts else said
        number += 1
    questions = [
        _question(row["question"], [holder[turn] for turn in row["evidence"] if turn in holder]) for row in held["qa"]
    ]
    records = [plain_record(ref, text) for ref, text in texts.items()]
    return Corpus(name, records, [question for question in questions if question.relevant])


def _question(text: str, relevant: list[str]) -> Question:
    return Question(" ".join(text.split()), frozenset(relevant))


def _file(name: str) -> Path:
    path = DATA / name
    if not path.is_file():
        raise Absent(f"shared/data/{name} is not beside the repository")
    return path


def _json(name: str) -> Any:
    return json.loads(_file(name).read_bytes())


def _packed_json(name: str) -> Any:
    return json.loads(gzip.decompress(_file(name).read_bytes()))


SETS = (
    EvaluationSet("notes, near", "72 notes of three products, asked in their words", lambda: notes_by_product("near")),
    EvaluationSet("notes, paraphrase", "the same, asked in other words", lambda: notes_by_product("paraphrase")),
    EvaluationSet("notes, near, pooled", "all products in one index", lambda: notes_pooled("near")),
    EvaluationSet("notes, paraphrase, pooled", "all products in one index", lambda: notes_pooled("paraphrase")),
    EvaluationSet("cosqa", "web search to Python function, test split", cosqa),
    EvaluationSet("cacm", "question to abstracts of papers", _cacm),
    EvaluationSet("adrs", "title, commit or code line to decision record, four repositories", _adrs),
    EvaluationSet("changelog", "changelog line to commit, four repositories in one index", _changelog),
    EvaluationSet("locomo, sessions", "question to session of a conversation", lambda: _locomo(by_turn=False)),
    EvaluationSet("locomo, turns", "question to turn of a conversation", lambda: _locomo(by_turn=True)),
)
