"""Measure how well records answer a question, and sort them into tiers; holds every constant of the measure.

Relevance says in which order records are shown. It is the sum of four parts, none of which depends on the other
records that were found, so that two questions can be compared:

- nearness: the cosine of the question and the nearest passage of the record;
- evidence: the word score of the full-text table, against what the question's rarest words could give;
- coverage: which share of the question's rarest words the record holds, by their rarity;
- kinship: how near the record comes, word by word, to the rare words that it does not hold.

Clearness says whether a record is an answer at all. Words prove less there than in the order: a question about another
product shares words, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import msgspec

from quire.index.catalog import Index
from quire.index.search import Filter, Question, Searcher
from quire.index.text_analysis import all_words, index_text
from quire.model.records import Record

Tier = Literal["answer", "possible"]


class Constant(NamedTuple):
    """A number of the measure, why it is as it is, and what it was fitted on."""

    value: float
    why: str
    fitted: str


_ORDER = "order of results: fitting halves of notes, stores, own memory, ADRs, cosqa, cacm, LoCoMo, changelog, facts"
_TIERS = "answered or not: fitting halves of notes, stores and own memory, with questions that have no answer there"
_PROMPTS = "fitting halves of the prompts to the stores and to Quire's own memory"

TABLE = {
    "evidence": Constant(0.5, "what the word score adds to nearness", _ORDER),
    "evidence power": Constant(1.5, "a few common words in common prove less than their share of the score", _ORDER),
    "evidence words": Constant(5, "so many of the rarest words are what a full match is worth", _ORDER),
    "coverage": Constant(0.2, "what holding the rarest words adds to nearness", _ORDER),
    "rarest words": Constant(4, "so many words of a question tell what it is about", _ORDER),
    "kinship": Constant(0.4, "what words of near meaning add for rare words that are missing", _ORDER),
    "kinship floor": Constant(0.3, "two words below this cosine have nothing to do with each other", _ORDER),
    "kinship length": Constant(0.05, "how much higher that floor is for each doubling of a text over 40 words", _ORDER),
    "kinship limit": Constant(0.6, "where a record holds so much of the rarest words, others need not be near", _ORDER),
    "all keywords": Constant(0.3, "what holding every word adds where a question is a few of them", _ORDER),
    "most keywords": Constant(0.5, "what else answers must hold where a record holds all of a few words", _TIERS),
    "passages": Constant(0.02, "what nearness loses by chance: the best of many passages is always near", _ORDER),
    "clear coverage": Constant(0.15, "what holding the rarest words adds to nearness in clearness", _TIERS),
    "clear": Constant(0.39, "from this clearness on a record is an answer", _TIERS),
    "certain": Constant(0.55, "from this clearness on it is an answer, however far ahead the best one is", _TIERS),
    "near": Constant(0.25, "from this clearness on it is possible", _TIERS),
    "near beside an answer": Constant(0.32, "the same where something answers: it is less needed then", _TIERS),
    "background": Constant(20, "the record at this place is what the store says to any question", _TIERS),
    "beside the best": Constant(0.7, "which share of the best one's lead over the background an answer needs", _TIERS),
    "named": Constant(0.04, "a tag that more than this share of the records hold names none of them", _TIERS),
    "prompt words": Constant(
        0.15, "what shared words add to nearness in a prompt, by the log of their part in it", _PROMPTS
    ),
    "prompt": Constant(0.44, "from this sum on a prompt concerns a record", _PROMPTS),
    "prompt length": Constant(
        3, "a prompt of fewer words is an order, and concerns what it names or nothing", _PROMPTS
    ),
}
_CONSTANTS = {name: constant.value for name, constant in TABLE.items()}
NEAR = _CONSTANTS["near"]
CHANCE = _CONSTANTS["passages"]

_CANDIDATES = 50
_LOOKED = 30
"""So many of the best are read for what the question names."""
_KIN = 12
"""And so many of them word by word."""
_KEYWORDS = 4
"""A question of so few words is a list of keywords, not a sentence."""
_USUAL_WORDS = 40
_LITERAL = 2.0
"""More than any relevance: for what is asked for by its name, and for what holds a few words as they stand."""
_NAME_MISSED, _FORM_MISSED = 0.8, 0.8
_NAME = re.compile(r"\w[_./:#()+-]+\w|\w\(|[a-z0-9][A-Z]|^[A-Z]{2,}$")
_WORD = re.compile(r"[^\W_]+")
_TAG = "tag "
_FILE = re.compile(r"(?<![\w./-])(?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z]\w{0,7}(?![\w/])")
_FILES = 5


class Scored(msgspec.Struct, kw_only=True):
    """A record with its relevance, its clearness, and what they are made of."""

    id: int
    relevance: float
    nearness: float
    evidence: float = 0.0
    coverage: float = 0.0
    kinship: float = 0.0
    words: float = 0.0
    """The word score as the full-text table gives it."""
    holds_all: bool = False
    """Whether it holds every word of the question."""
    named: str = ""
    """What of it the question names: its title, a tag, a file."""
    tier: Tier | None = None
    left_out: str = ""
    """Which rule left it out of the answers."""

    @property
    def clearness(self) -> float:
        return self.nearness + _CONSTANTS["clear coverage"] * self.coverage


def measure(index: Index, question: Question, allowed: Filter, *, literal: bool = False) -> list[Scored]:
    """Score every record that may answer, the most relevant first.

    With `literal`, what holds every one of a few words comes first.
    """
    literal = literal and len(keywords(question.text)) > 1
    every = keywords(question.text) if literal else [word for word, _ in question.rarest]
    rarest = question.rarest[: int(_CONSTANTS["rarest words"])]
    searcher = index.searcher()
    by_words = {item.id: item.words for item in searcher.by_words(question, allowed, _CANDIDATES)}
    covering = searcher.covering(question, every, allowed, _CANDIDATES) if every else {}
    files = _FILE.findall(question.text)[:_FILES]
    governing = [number for file in files for number in searcher.naming(file, allowed, _CANDIDATES)]
    near = _nearness(searcher, question, allowed, (*by_words, *covering, *governing))
    holding = [searcher.holding(word, list(near)) for word, _ in rarest]
    full = sum(rarity for _, rarity in question.rarest[: int(_CONSTANTS["evidence words"])]) or 1.0
    whole = sum(rarity for _, rarity in rarest) or 1.0
    found = []
    for number, nearness in near.items():
        held = sum(rarity for (_, rarity), several in zip(rarest, holding, strict=True) if number in several)
        item = Scored(
            id=number,
            relevance=0.0,
            nearness=nearness,
            evidence=by_words.get(number, 0.0) / full,
            words=by_words.get(number, 0.0),
            coverage=held / whole,
            holds_all=number in covering,
        )
        item.relevance = _relevance(item)
        found.append(item)
    found.sort(key=_order)
    first = list({item.id: item for item in (*found[:_LOOKED], *(i for i in found if i.id in governing))}.values())
    records = index.by_ids([item.id for item in first])
    _add_kinship(index, first[:_KIN], records, rarest, holding)
    _add_names(index, question, first, records)
    _lower_what_lacks_a_name(question.text, first, records)
    if keywords(question.text):
        for item in found:
            item.relevance += _CONSTANTS["all keywords"] * item.holds_all
    if literal:
        _put_literal_matches_first(found, every, covering, index.by_ids(list(covering)))
    return sorted(found, key=_order)


def _nearness(searcher: Searcher, question: Question, allowed: Filter, others: Iterable[int]) -> dict[int, float]:
    """How near the nearest records are, and those found otherwise, less what the best of many passages gains."""
    near = {item.id: item.meaning or 0.0 for item in searcher.by_meaning(question, allowed, _CANDIDATES)}
    missing = [number for number in dict.fromkeys(others) if number not in near]
    near |= {**dict.fromkeys(missing, 0.0), **(searcher.meaning_of(question, missing) if missing else {})}
    passages = searcher.passages_of(near)
    return {number: cosine - CHANCE * math.log(passages.get(number, 1)) for number, cosine in near.items()}


def _relevance(item: Scored) -> float:
    evidence: float = item.evidence ** _CONSTANTS["evidence power"]
    return (
        item.nearness
        + _CONSTANTS["evidence"] * evidence
        + _CONSTANTS["coverage"] * item.coverage
        + _CONSTANTS["kinship"] * item.kinship
    )


def _order(item: Scored) -> tuple[float, int]:
    return -item.relevance, item.id


def _add_kinship(
    index: Index,
    first: Sequence[Scored],
    records: dict[int, Record],
    rarest: Sequence[tuple[str, float]],
    holding: Sequence[set[int]],
) -> None:
    """Add kinship: credit words near in meaning to rare words that a record lacks."""
    lacked = [at for at, held in enumerate(holding) if any(item.id not in held for item in first)]
    if not lacked or any(item.coverage >= _CONSTANTS["kinship limit"] for item in first):
        return
    texts = {n: f"{records[n].title}\n{records[n].text}" for item in first if (n := item.id) in records}
    near = index.searcher().nearest_words([rarest[at][0] for at in lacked], texts)
    whole = sum(rarity for _, rarity in rarest)
    for item in first:
        if item.id not in near:
            continue
        doublings = math.log2(max(1.0, texts[item.id].count(" ") / _USUAL_WORDS))
        floor = _CONSTANTS["kinship floor"] + _CONSTANTS["kinship length"] * doublings
        kin = sum(
            rarest[at][1] * cosine
            for at, cosine in zip(lacked, near[item.id], strict=True)
            if cosine >= floor and item.id not in holding[at]
        )
        item.kinship = kin / whole
        item.relevance = _relevance(item)


def _add_names(index: Index, question: Question, first: Iterable[Scored], records: dict[int, Record]) -> None:
    """Note what of a record the question names word for word, and put a named record first."""
    said, files = spoken(question.text), _FILE.findall(question.text)
    told = {said, " ".join(question.words)} - {""}
    for item in first:
        record = records.get(item.id)
        if record is None:
            continue
        if spoken(record.ref.rpartition(":")[2].partition(".")[2]) in told:
            item.named, item.relevance = "name", item.relevance + _LITERAL
        else:
            item.named = _named_in(record, f" {said} ", files, index.searcher())


def _named_in(record: Record, said: str, files: Sequence[str], searcher: Searcher) -> str:
    """A file that a record is anchored to, its title, or a tag of its own; empty where none of them was said."""
    for file in files:
        if any(_leads_to(anchor, file) for anchor in record.anchors):
            return f"file {file}"
    title = spoken(record.title)
    if " " in title and f" {title} " in said:
        return "title"
    for tag in record.tags:
        name = spoken(tag)
        if name and f" {name} " in said and searcher.is_rare(name, _CONSTANTS["named"]):
            return f"{_TAG}{tag}"
    return ""


def spoken(text: str) -> str:
    """The words of a text with a blank between them, in small letters."""
    return " ".join(_WORD.findall(text.casefold()))


def _leads_to(anchor: str, file: str) -> bool:
    """Whether an anchor is this very file, given by its path or by its name; a folder names nothing that lies in it."""
    path = anchor.partition("#")[0]
    return path == file or path.endswith(f"/{file}")


def _put_literal_matches_first(
    found: Iterable[Scored], words: Sequence[str], covering: dict[int, float], records: dict[int, Record]
) -> None:
    """Put records that hold all of a few literal words first, exact word forms before inflected ones."""
    forms = [re.compile(rf"\b{re.escape(word)}\b", re.I) for word in words]
    best = max(covering.values(), default=1.0)
    for item in found:
        record = records.get(item.id)
        if record is None or item.id not in covering:
            continue
        text = index_text(f"{record.title}\n{record.text}\n{record.ref}\n{' '.join(record.tags)}")
        bent = _FORM_MISSED if not all(form.search(text) for form in forms) else 1.0
        match = covering[item.id] / best * bent
        item.relevance = _LITERAL + match


def _lower_what_lacks_a_name(text: str, first: Sequence[Scored], records: dict[int, Record]) -> None:
    """Lower records without the code names of the question, if other records have them."""
    names = [name.lower() for name in code_names(text)]
    if not names:
        return
    lacking = []
    for item in first:
        record = records.get(item.id)
        if record is not None:
            said = f"{record.title}\n{record.text}\n{record.ref}\n{' '.join(record.anchors)}".lower()
            lacking += [item] if any(name not in said for name in names) else []
    if len(lacking) < len(first):
        for item in lacking:
            item.relevance *= _NAME_MISSED


def sort_into_tiers(found: Sequence[Scored], question: Question) -> None:
    """Set the tier of each record (answer, possible or none) and the rule. `found` is sorted by relevance."""
    if not found:
        return
    place = int(_CONSTANTS["background"])
    background = found[place].relevance if len(found) > place else 0.0
    lead = _CONSTANTS["beside the best"] * (found[0].relevance - background)
    few = bool(keywords(question.text)) and not question.is_plain
    held = few and any(item.holds_all for item in found)
    for item in found:
        if item.named:
            item.tier = "answer"
        elif held and item.coverage < _CONSTANTS["most keywords"]:
            item.tier, item.left_out = "possible", "another record holds all of these words"
        elif (item.clearness >= _CONSTANTS["clear"] and not question.is_plain) or (held and item.holds_all):
            behind = item.relevance - background < lead and item.clearness < _CONSTANTS["certain"]
            item.tier = "possible" if behind else "answer"
            item.left_out = f"far behind the best ({item.relevance:.2f} of {found[0].relevance:.2f})" if behind else ""
        else:
            item.left_out = f"not clear enough ({item.clearness:.2f} of {_CONSTANTS['clear']:g})"
            item.tier = "possible"
    near = _CONSTANTS["near beside an answer" if any(item.tier == "answer" for item in found) else "near"]
    for item in found:
        # Stop words have a meaning like any other word, but nobody means them.
        if item.tier == "possible" and not item.holds_all and (item.clearness < near or question.is_plain):
            item.tier, item.left_out = None, f"not near ({item.clearness:.2f} of {near:g})"


def sort_for_a_prompt(found: Sequence[Scored], question: Question) -> None:
    """The same for a prompt, of which only what clearly concerns a record counts.

    A share of its words would mean nothing, since a prompt may be of any length: the word score for each of them does.
    """
    sort_into_tiers(found, question)
    number = sum(not word.isdigit() for word, _ in question.rarest)
    for item in found:
        share = math.log((1 + item.words) / (1 + number))
        bearing = item.nearness + _CONSTANTS["prompt words"] * share
        if item.tier != "answer" or (item.named and not item.named.startswith(_TAG)):
            continue  # whoever says a common word may mean something else than its tag
        if number < _CONSTANTS["prompt length"]:
            item.tier, item.left_out = None, "the prompt is too short to be about the product"
        elif bearing < _CONSTANTS["prompt"]:
            item.tier = None
            item.left_out = f"the prompt does not clearly concern it ({bearing:.2f} of {_CONSTANTS['prompt']:g})"


def code_names(text: str) -> list[str]:
    """The words of a question that look like they were copied from code: `retry_queue`, `maxRetries`, `a/b.ts`."""
    return [word.strip("`'\"()[]{}<>,;:.?!") for word in text.split() if _NAME.search(word)]


def keywords(text: str) -> list[str]:
    """The words of a question that is nothing but a few of them; none where it is a sentence."""
    words = all_words(text)
    return words if len(words) <= _KEYWORDS else []
