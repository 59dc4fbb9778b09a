"""Train the weights with which capture finds decisions, gotchas and next steps in sessions.

    uv run --no-project --with numpy --with-editable . python tools/train_signals.py            # figures alone
    uv run --no-project --with numpy --with-editable . python tools/train_signals.py --write    # and the weights

A passage is as right as it is close to a label: a third each for what the benchmark asks of it, strictly and loosely,
and for less than that. The weights are those of a logistic regression with one weight for each feature and what the
user adds to it. Each folder is left out of training in turn; `least`, `rise` and `sure` come from what is found in
folders that were left out, and the figures of each folder are those with the best `least` and `rise` of the others.
`later-unseen/`, `wide-unseen/`, `set-d/` and `set-h/` are never read.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

# The tables are small: more threads only get into each other's way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from msgspec import Struct

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import signals as judge  # noqa: E402
from quire.capture.signals.cues import DATA  # noqa: E402
from quire.capture.signals.extraction import (  # noqa: E402
    KINDS,
    LONGEST,
    MOST,
    WORTH,
    Kind,
    Listener,
    is_refused,
    stated,
)
from quire.capture.signals.features import Excerpt, passages  # noqa: E402
from quire.capture.signals.speeches import Speech  # noqa: E402
from quire.capture.signals.words import capped  # noqa: E402

HALVES = ("development", "later", "unseen", "wide", "broad", "dense", "sparse")
STRENGTH = 0.01
"""The inverse of how strongly weights are drawn to zero."""
RARE = 0.1
"""A feature that is rarer than this spread is drawn to zero the more."""
NEAR = (judge.STRICT, judge.LOOSE, judge.Shares(0.35, 0.25))
"""How close a passage may be to a label; with each it is right by as much."""
STEPS = 8
LEAST = [step / 5 for step in range(-13, 11)]
BOUNDS = [(least, step / 10) for least in LEAST for step in range(6)]
SURE = 0.6
"""From where on so much of what is found is right, it may be proposed."""
Heard = tuple[judge.Labelled, list[Speech], list[Excerpt]]
Bounds = tuple[float, float]


def heard(session: judge.Labelled) -> Heard:
    listener = Listener()
    for turn in session.turns:
        if not turn.is_subagent:
            listener.hear(turn)
    return session, listener.talk.speeches, list(passages(listener.talk.speeches))


def wanted(kind: str, session: judge.Labelled) -> list[str]:
    return [label for label in session.expect[kind] if kind != "next_step_hints" or label.startswith("NEXT")]


def rightness(passage: Excerpt, labels: list[str]) -> float:
    text = capped(passage.text)
    return sum(any(judge._closeness("text", text, label, near) > 0 for label in labels) for near in NEAR) / len(NEAR)


class Table:
    """All passages as numbers: what each has, and what it has where the user says it."""

    def __init__(self, sessions: list[Heard]) -> None:
        rows = [passage for _, _, found in sessions for passage in found]
        self.names = sorted({name for row in rows for name in row.features})
        place = {name: at for at, name in enumerate(self.names)}
        plain = np.zeros((len(rows), len(self.names)))
        for at, row in enumerate(rows):
            for name, value in row.features.items():
                plain[at, place[name]] = value
        user = np.array([row.speech.by == "user" for row in rows], dtype=float)[:, None]
        self.values = np.hstack([plain, plain * user, user])
        self.mean, self.spread = self.values.mean(0), np.maximum(self.values.std(0), RARE)
        count = np.array([row.end - row.begin for row in rows])
        self.fits = {kind: count <= LONGEST[kind] for kind in KINDS}
        self.folder = np.array([told.folder for told, _, found in sessions for _ in found])
        self.right = {
            kind: np.array([rightness(row, wanted(kind, told)) for told, _, found in sessions for row in found])
            for kind in KINDS
        }


def fit(values: Any, right: Any, mean: Any, spread: Any) -> tuple[Any, float]:
    """Weights and bias of a regularised logistic regression, by Newton's method, in the units of the values."""
    scaled = np.hstack([(values - mean) / spread, np.ones((len(values), 1))]).astype(np.float32)
    weights = np.zeros(scaled.shape[1])
    drawn = np.r_[np.full(len(mean), 1 / STRENGTH), 1e-6]
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (likely - right) + drawn * weights
        sure = (likely * (1 - likely)).astype(np.float32)
        bend = ((scaled * sure[:, None]).T @ scaled).astype(float) + np.diag(drawn)
        weights -= np.linalg.solve(bend, slope)
    plain = weights[:-1] / spread
    return plain, float(weights[-1] - mean @ plain)


def trained(table: Table, kind: Kind, chosen: Any) -> tuple[Any, float]:
    """Weights and bias by some of the passages, of those that are no longer than one of the kind may be."""
    rows = chosen & table.fits[kind]
    return fit(table.values[rows], table.right[kind][rows], table.mean, table.spread)


def left_out(table: Table, kind: Kind) -> Any:
    """The log odds of each passage, by weights that were trained without its folder."""
    odds = np.zeros(len(table.values))
    for folder in np.unique(table.folder):
        out = table.folder == folder
        weights, bias = trained(table, kind, ~out)
        odds[out] = table.values[out] @ weights + bias
    return odds


class Case(Struct):
    """What may be kept of a session, the likeliest first, each thing once; it was left out of training."""

    session: judge.Labelled
    kind: Kind
    odds: list[float]
    texts: list[str]
    is_clear: bool
    """Whether the user clearly says what is decided."""
    known: dict[tuple[int, judge.Shares], judge.Score] = {}

    def score(self, bounds: Bounds, shares: judge.Shares) -> judge.Score:
        least, rise = bounds
        key = sum(one >= least + rise * place for place, one in enumerate(self.odds)), shares
        if key not in self.known:
            verdict = judge._matched(self.kind, self.texts[: key[0]], wanted(self.kind, self.session), shares)
            self.known[key] = verdict.score
        return self.known[key]


def case(kind: Kind, heard: Heard, odds: Any) -> Case:
    session, speeches, rows = heard
    kept: list[tuple[float, Excerpt]] = []
    judged = [
        (
            float(one) if (known := stated(kind, row)) is None else math.inf if known else -math.inf,
            row,
        )
        for one, row in zip(odds, rows, strict=True)
    ]
    for one, row in sorted(judged, key=lambda both: (-both[0], -both[1].speech.turn)):
        is_open = one >= LEAST[0] and len(kept) < MOST and not is_refused(kind, row, speeches)
        if is_open and not any(row.is_same(other) for _, other in kept):
            kept.append((one, row))
    lead = "NEXT: " if kind == "next_step_hints" else ""
    texts = [lead + capped(row.text) for _, row in kept]
    is_clear = kind == "decisions" and any(row.is_clear for _, row in kept)
    return Case(session, kind, [one for one, _ in kept], texts, is_clear)


def is_worth(cases: Sequence[Case]) -> bool:
    return (
        any(case.is_clear for case in cases)
        or math.prod(1 - 1 / (1 + math.exp(-case.odds[0])) for case in cases if case.odds) <= 1 - WORTH
    )


def total(scores: Iterable[judge.Score]) -> dict[str, float | int]:
    both = judge.Score()
    for one in scores:
        both.add(one)
    return both.figures()


def best(scores: dict[Bounds, list[judge.Score]], is_counted: list[bool]) -> Bounds:
    return max(scores, key=lambda bounds: total(itertools.compress(scores[bounds], is_counted))["F1"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="Write the weights.")
    is_written = parser.parse_args().write
    sessions = [heard(session) for half in HALVES for session in judge.sessions(half)]
    table = Table(sessions)
    ends = np.cumsum([len(found) for _, _, found in sessions])[:-1]
    cases = {
        kind: [case(kind, *both) for both in zip(sessions, np.split(left_out(table, kind), ends), strict=True)]
        for kind in KINDS
    }
    for together in zip(*cases.values(), strict=True):
        if not is_worth(together):
            for one in together:
                one.odds = []
    made: dict[str, Any] = {}
    for kind, tried in cases.items():
        scores = {bounds: [one.score(bounds, judge.STRICT) for one in tried] for bounds in BOUNDS}
        honest: list[tuple[judge.Score, judge.Score]] = []
        for folder in dict.fromkeys(one.session.folder for one in tried):
            bounds = best(scores, [one.session.folder != folder for one in tried])
            own = [one for one in tried if one.session.folder == folder]
            both = [tuple(one.score(bounds, shares) for shares in NEAR[:2]) for one in own]
            honest += both
            print("  ", folder, *(total(some) for some in zip(*both, strict=True)))
        print(kind, "left out, strict and loose", *(total(some) for some in zip(*honest, strict=True)))
        least, rise = best(scores, [True] * len(tried))
        sure = next(
            (one for one in LEAST if total(x.score((one, 0), judge.LOOSE) for x in tried)["precision"] >= SURE),
            LEAST[-1],
        )
        weights, bias = trained(table, kind, np.ones(len(table.values), dtype=bool))
        count = len(table.names)
        both = {"agent": weights[:count], "user": weights[:count] + weights[count:-1]}
        made[kind] = {
            "least": least,
            "rise": rise,
            "sure": round(1 / (1 + math.exp(-sure)), 2),
            "bias": {"agent": round(bias, 4), "user": round(bias + weights[-1], 4)},
            "features": {
                by: {
                    name: round(float(one), 4)
                    for name, one in zip(table.names, column, strict=True)
                    if abs(one) >= 5e-4
                }
                for by, column in both.items()
            },
        }
        print(kind, {name: made[kind][name] for name in ("least", "rise", "sure")})
    nothing = [not any(wanted(kind, session) for kind in KINDS) for session, *_ in sessions]
    found = [
        sum(one.score((made[one.kind]["least"], made[one.kind]["rise"]), judge.STRICT).found for one in together)
        for together in zip(*cases.values(), strict=True)
    ]
    print("sessions with nothing to keep", sum(nothing), "found in them", sum(itertools.compress(found, nothing)))
    if is_written:
        text = json.dumps(made, indent=0, ensure_ascii=False, sort_keys=True)
        Path(DATA, "weights.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
