"""Signals of sessions: how much of what a person would keep is found, and how much of what is found they would keep.

The sessions in `data/sessions/` are made up, and labelled with what a person would keep; its README says how. The
weights are trained with all of them but those in `later-unseen/` and `wide-unseen/`, so only the figures of these
folders say what to expect of other sessions. `tools/train_signals.py` prints those of sessions, and of folders, that
were left out in turn. Of what was found by rules before, the figures are recorded.

A text matches a label when at least 0.6 of the label's stems are in the text and at least 0.4 of the text's stems are
in the label. Under `loose` the shares are 0.5 and 0.3: many a right text is worded more briefly than its label, or with
a word more. A stem is a word in lower case cut after six letters, stop words left out; Chinese and Japanese are read as
pairs of signs. A text matches one label and a label one text, the best pairs first. A step must have the right mark
(`NEXT` or `DONE`), a check the right verdict and every number of the label; a path must be the same.

The baseline takes every sentence that has one of ten words of its kind, every path that is named, and every command
that has the name of a check in it, with how it ended but without counts. Its words are English, so both are also told
for the English sessions alone.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from quire.capture.signals.extraction import extract
from quire.capture.transcripts.discovery import discover
from quire.capture.transcripts.read_session import read
from quire.capture.transcripts.types import Turn
from quire.layers.journal.types import Signals

SESSIONS = Path(__file__).parent / "data" / "sessions"
JOURNAL = Path(__file__).parents[1].parent / "shared" / "fixtures" / "journal"
HALVES = {
    "development": ("development", "fresh"),
    "later": ("later",),
    "unseen": ("unseen",),
    "held-out": ("later-unseen",),
    "wide": ("wide",),
    "broad": ("broad",),
    "wide-unseen": ("wide-unseen",),
    "dense": ("set-a", "set-b", "set-c", "set-e", "set-f"),
    "sparse": ("set-g", "set-i", "set-j"),
    "dense-unseen": ("set-d",),
    "sparse-unseen": ("set-h",),
}
"""Which folders hold the sessions of which part; each is measured alone."""
LATEST = "fresh"
"""The development sessions that came last."""
RULES = {
    "unseen": {"decisions": 0.495, "gotchas": 0.467, "next_step_hints": 0.441, "paths": 0.971, "checks": 0.734},
    "held-out": {"decisions": 0.173, "gotchas": 0.28, "next_step_hints": 0.442, "paths": 0.96, "checks": 0.81},
}
"""F1 of the rules that the model took the place of. They were made with neither set."""
KINDS = ("decisions", "gotchas", "next_step_hints", "key_paths", "validation_observations")
_STEM = 6
_WORD = re.compile(r"[^\W_]+")
_SIGNS = re.compile("[\u3040-\u30ff\u3400-\u9fff]+")
_STOP_WORDS = (
    "a an and are as at be been but by do does for from has have i if in is it its of on or so that the their them then"
    " there they this to was we were which will with you your der die das den dem des ein eine und ist mit von zu im"
    " auf für es wir ich el la los las un una y de del en por para con que se lo le les du et est une dans sur pour"
    " avec qui"
)
_STOP = frozenset(_STOP_WORDS.split())
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_PATH = re.compile(r"(?:[\w.@-]+/)+[\w.@-]+\.\w+")
_CHECK = re.compile(r"\b(?:tests?|pytest|lint|check|build|mypy|tsc|eslint|ruff|vet)\b")
_CUES = {
    kind: re.compile(rf"\b(?:{words})\b", re.I)
    for kind, words in {
        "decisions": "decided|decision|decide|let's|use|instead|choose|chose|agreed|prefer",
        "gotchas": "fails|failed|error|because|bug|problem|issue|cause|careful|otherwise",
        "next_step_hints": "next|todo|remaining|still|later|tomorrow|follow-up|left|missing|open",
    }.items()
}
Way = Callable[[Iterable[Turn]], Signals]

__all__ = [
    "LOOSE",
    "STRICT",
    "Labelled",
    "Score",
    "Shares",
    "baseline",
    "extracted",
    "judge",
    "measure",
    "other_sessions",
    "run",
    "sessions",
    "stems",
]


class Shares(Struct, frozen=True):
    """How much of a label must be in a text, and how much of a text in its label."""

    of_label: float
    of_text: float


STRICT, LOOSE = Shares(0.6, 0.4), Shares(0.5, 0.3)


class Labelled(Struct, frozen=True, kw_only=True):
    """One session with what a person found in it."""

    name: str
    folder: str
    client: str
    language: str
    turns: tuple[Turn, ...]
    expect: dict[str, list[str]]


class Score(Struct):
    """Counts of one kind: what was found rightly, what was found, what there was to find."""

    right: int = 0
    found: int = 0
    wanted: int = 0

    def add(self, other: Score) -> None:
        self.right += other.right
        self.found += other.found
        self.wanted += other.wanted

    def figures(self) -> dict[str, float | int]:
        precision = self.right / self.found if self.found else 1.0
        recall = self.right / self.wanted if self.wanted else 1.0
        both = precision + recall
        return {
            "precision": round(precision, 3),
            "recall": round(recall, 3),
            "F1": round(2 * precision * recall / both, 3) if both else 0.0,
            "right": self.right,
            "found": self.found,
            "wanted": self.wanted,
        }


def run() -> dict[str, Any]:
    labelled = {half: list(sessions(half)) for half in HALVES}
    latest = [session for session in labelled["development"] if session.folder == LATEST]
    return {
        "sessions": sum(map(len, labelled.values())),
        "turns": sum(len(session.turns) for chosen in labelled.values() for session in chosen),
        **{half: measure(chosen) for half, chosen in labelled.items() if chosen},
        f"development, {LATEST} alone": measure(latest),
        "rules before, F1": RULES,
        "other sessions": other_sessions(),
    }


def measure(chosen: list[Labelled]) -> dict[str, Any]:
    """The figures of some sessions: of what is found, and of the baseline."""
    english = [session for session in chosen if session.language == "en"]
    verdicts = [(session, judge(session)) for session in chosen]
    return {
        "sessions": len(chosen),
        "by kind": _by_kind(chosen, extracted),
        "loose, by kind": _by_kind(chosen, extracted, LOOSE),
        "baseline, by kind": _by_kind(chosen, baseline),
        "loose, baseline, by kind": _by_kind(chosen, baseline, LOOSE),
        "English sessions": len(english),
        "English, by kind": _by_kind(english, extracted),
        "English, baseline, by kind": _by_kind(english, baseline),
        "sessions without labels": _unlabelled(verdicts),
        "by language": {
            language: _sum(
                _total([pair for pair in verdicts if pair[0].language == language], kind) for kind in KINDS
            ).figures()
            for language in sorted({session.language for session in chosen})
        },
    }


def _unlabelled(verdicts: list[tuple[Labelled, dict[str, Verdict]]]) -> dict[str, int]:
    """How much of the first three kinds is found where there is nothing to keep."""
    empty = [found for session, found in verdicts if not any(session.expect[kind] for kind in KINDS[:3])]
    return {"sessions": len(empty), "found": sum(found[kind].score.found for found in empty for kind in KINDS[:3])}


def _by_kind(chosen: list[Labelled], way: Way, shares: Shares = STRICT) -> dict[str, dict[str, float | int]]:
    verdicts = [(session, judge(session, way, shares)) for session in chosen]
    figures = {kind: _total(verdicts, kind).figures() for kind in KINDS}
    return {**figures, "all": _sum(_total(verdicts, kind) for kind in KINDS).figures()}


def sessions(half: str = "development") -> Iterator[Labelled]:
    """The sessions of one part; the others are not opened."""
    for folder in HALVES[half]:
        for path in sorted((SESSIONS / folder).glob("*.jsonl")):
            about, *rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
            yield Labelled(
                name=about["session"],
                folder=folder,
                client=about["client"],
                language=about["language"],
                turns=tuple(Turn(**{**row, "paths": tuple(row.get("paths", ()))}) for row in rows),
                expect=about["expect"],
            )


class Verdict(Struct, frozen=True):
    score: Score
    missed: list[str]
    wrong: list[str]


def extracted(turns: Iterable[Turn]) -> Signals:
    return extract(turns).signals


def baseline(turns: Iterable[Turn]) -> Signals:
    """Every sentence with a word of its kind, in the order of the session."""
    found: dict[str, dict[str, None]] = {kind: {} for kind in KINDS}
    command = ""
    for turn in turns:
        found["key_paths"].update(dict.fromkeys(turn.paths))
        if turn.role == "tool":
            if _CHECK.search(command):
                found["validation_observations"][f"{command}: {'failed' if turn.is_error else 'passed'}"] = None
            command = ""
        elif turn.tool:
            command = turn.text
        elif turn.role in ("user", "assistant"):
            found["key_paths"].update(dict.fromkeys(_PATH.findall(turn.text)))
            for sentence in filter(None, map(str.strip, _SENTENCE.split(turn.text))):
                for kind, words in _CUES.items():
                    if words.search(sentence):
                        found[kind][f"NEXT: {sentence}" if kind == "next_step_hints" else sentence] = None
    return Signals(**{kind: tuple(texts) for kind, texts in found.items()})


def judge(session: Labelled, way: Way = extracted, shares: Shares = STRICT) -> dict[str, Verdict]:
    """What is found in a session, kind by kind."""
    found = way(session.turns)
    return {kind: _matched(kind, list(getattr(found, kind)), session.expect[kind], shares) for kind in KINDS}


def _matched(kind: str, found: list[str], wanted: list[str], shares: Shares = STRICT) -> Verdict:
    scores = [
        (closeness, index, place)
        for index, text in enumerate(found)
        for place, label in enumerate(wanted)
        if (closeness := _closeness(kind, text, label, shares)) > 0
    ]
    texts, labels = set(range(len(found))), set(range(len(wanted)))
    for _, index, place in sorted(scores, key=lambda item: (-item[0], item[1], item[2])):
        if index in texts and place in labels:
            texts.discard(index)
            labels.discard(place)
    score = Score(right=len(found) - len(texts), found=len(found), wanted=len(wanted))
    return Verdict(score, [wanted[place] for place in sorted(labels)], [found[index] for index in sorted(texts)])


def _closeness(kind: str, text: str, label: str, shares: Shares) -> float:
    """How well a text matches a label; 0 where it does not."""
    if kind == "key_paths":
        return float(text == label)
    if kind == "next_step_hints" and text[:5] != label[:5]:
        return 0.0
    if kind == "validation_observations":
        verdict = re.compile(r": (passed|failed)\b")
        said, wanted = verdict.search(text), verdict.search(label)
        if (said and said[1]) != (wanted and wanted[1]):
            return 0.0
        ends = (found.end() if found else 0 for found in (said, wanted))
        numbers = [set(re.findall(r"\d+", whole[end:])) for whole, end in zip((text, label), ends, strict=True)]
        if not numbers[1] <= numbers[0]:
            return 0.0
        text, label = (verdict.split(whole)[0] for whole in (text, label))
    mine, theirs = stems(text), stems(label)
    common = len(mine & theirs)
    if not mine or not theirs or common / len(theirs) < shares.of_label or common / len(mine) < shares.of_text:
        return 0.0
    return common / len(theirs) + common / len(mine)


@functools.lru_cache(maxsize=65_536)
def stems(text: str) -> frozenset[str]:
    found: set[str] = set()
    for word in _WORD.findall(text.lower()):
        for part in _SIGNS.findall(word):
            found.update(part[index : index + 2] for index in range(max(1, len(part) - 1)))
        rest = _SIGNS.sub("", word)
        if rest and rest not in _STOP and rest not in ("next", "done"):
            found.add(rest[:_STEM])
    return frozenset(found)


def _total(verdicts: list[tuple[Labelled, dict[str, Verdict]]], kind: str) -> Score:
    return _sum(verdict[kind].score for _, verdict in verdicts)


def _sum(scores: Iterator[Score]) -> Score:
    total = Score()
    for score in scores:
        total.add(score)
    return total


def other_sessions() -> dict[str, Any]:
    """How much comes out of transcripts that have no labels."""
    if not JOURNAL.is_dir():
        return {"skipped": "shared/fixtures/journal is not beside the repository"}
    counts = dict.fromkeys(KINDS, 0)
    number = turns = silent = 0
    for folder in sorted(JOURNAL.glob("*/claude-*/")) + sorted(JOURNAL.glob("*/codex-*/")):
        source = "codex-local" if folder.name.startswith("codex") else "claude-local"
        for session in discover(source, str(folder)):
            heard = list(read(session))
            found = extracted(heard)
            number, turns = number + 1, turns + len(heard)
            for kind in KINDS:
                counts[kind] += len(getattr(found, kind))
            silent += not any(getattr(found, kind) for kind in KINDS)
    return {"sessions": number, "turns": turns, "signals": counts, "sessions without any": silent}


if __name__ == "__main__":
    print(json.dumps(measure(list(sessions())), indent=2))
