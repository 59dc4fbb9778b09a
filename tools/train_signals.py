"""Train the weights with which capture finds decisions, gotchas and next steps in sessions.

    uv run --no-project --with numpy --with-editable . python tools/train_signals.py            # figures alone
    uv run --no-project --with numpy --with-editable . python tools/train_signals.py --write    # and the weights

A passage counts as right where the benchmark would match it with a label. The weights are those of a logistic
regression with one weight for each feature and what the user adds to it. The figures are those of sessions that were
left out while it was trained, once by folder and once by session; `least` and `sure` come from the latter.
`later-unseen/` and `wide-unseen/` are never read.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

# The tables are small: more threads only get into each other's way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import signals as judge  # noqa: E402
from quire.capture.signals.cues import DATA  # noqa: E402
from quire.capture.signals.extraction import KINDS, Listener  # noqa: E402
from quire.capture.signals.features import Excerpt, passages  # noqa: E402

HALVES = ("development", "later", "unseen", "wide")
STRENGTH = 0.01
"""The inverse of how strongly weights are drawn to zero."""
RARE = 0.1
"""A feature that is rarer than this spread is drawn to zero the more."""
PARTS = 8
"""Sessions are left out in so many parts."""
STEPS = 12
SURE = 0.6
"""From where on so much of what is found is right, it may be proposed."""
Session = tuple[judge.Labelled, list[Excerpt]]


def heard(session: judge.Labelled) -> list[Excerpt]:
    listener = Listener()
    for turn in session.turns:
        if not turn.is_subagent:
            listener.hear(turn)
    return list(passages(listener.talk.speeches))


def wanted(kind: str, session: judge.Labelled) -> list[str]:
    return [label for label in session.expect[kind] if kind != "next_step_hints" or label.startswith("NEXT")]


def is_right(passage: Excerpt, labels: list[str]) -> bool:
    return any(judge._closeness("text", passage.text, label, judge.STRICT) > 0 for label in labels)


class Table:
    """All passages as numbers: what each has, and what it has where the user says it."""

    def __init__(self, sessions: list[Session]) -> None:
        rows = [passage for _, found in sessions for passage in found]
        self.names = sorted({name for row in rows for name in row.features})
        place = {name: at for at, name in enumerate(self.names)}
        plain = np.zeros((len(rows), len(self.names)))
        for at, row in enumerate(rows):
            for name, value in row.features.items():
                plain[at, place[name]] = value
        user = np.array([row.speech.by == "user" for row in rows], dtype=float)[:, None]
        self.values = np.hstack([plain, plain * user, user])
        self.session = np.array([number for number, (_, found) in enumerate(sessions) for _ in found])
        self.right = {
            kind: np.array([is_right(row, wanted(kind, told)) for told, found in sessions for row in found])
            for kind in KINDS
        }


def fit(values: Any, right: Any) -> tuple[Any, float]:
    """Weights and bias of a regularised logistic regression, by Newton's method, in the units of the values."""
    mean, spread = values.mean(0), np.maximum(values.std(0), RARE)
    scaled = (values - mean) / spread
    scaled = np.hstack([scaled, np.ones((len(scaled), 1))])
    weights = np.zeros(scaled.shape[1])
    drawn = np.r_[np.full(len(mean), 1 / STRENGTH), 1e-6]
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (likely - right) + drawn * weights
        bend = (scaled * (likely * (1 - likely))[:, None]).T @ scaled + np.diag(drawn)
        weights -= np.linalg.solve(bend, slope)
    plain = weights[:-1] / spread
    return plain, float(weights[-1] - mean @ plain)


def left_out(table: Table, part_of: Any, kind: str) -> Any:
    """The probability of each passage, by weights that were trained without its part."""
    likely = np.zeros(len(table.values))
    for part in np.unique(part_of):
        out = part_of == part
        weights, bias = fit(table.values[~out], table.right[kind][~out])
        likely[out] = 1 / (1 + np.exp(-(table.values[out] @ weights + bias)))
    return likely


def score(kind: Any, sessions: list[Session], likely: Any, least: float, shares: judge.Shares) -> judge.Score:
    total, at = judge.Score(), 0
    for session, found in sessions:
        rows = [(likely[at + number], row) for number, row in enumerate(found)]
        at += len(found)
        chosen: list[Excerpt] = []
        for probability, row in sorted(rows, key=lambda one: -one[0]):
            if probability >= least and not any(row.is_same(other) for other in chosen):
                chosen.append(row)
        told = [("NEXT: " if kind == "next_step_hints" else "") + row.text for row in chosen]
        total.add(judge._matched(kind, told, wanted(kind, session), shares).score)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="Write the weights.")
    is_written = parser.parse_args().write
    sessions = [(session, heard(session)) for half in HALVES for session in judge.sessions(half)]
    table = Table(sessions)
    folders = sorted({session.folder for session, _ in sessions})
    by_folder = np.array([folders.index(sessions[number][0].folder) for number in table.session])
    by_session = np.random.default_rng(0).permutation(len(sessions))[table.session] % PARTS
    made: dict[str, Any] = {}
    for kind in KINDS:
        grid = [step / 50 for step in range(2, 46)]
        likely = left_out(table, by_session, kind)
        figures = {least: score(kind, sessions, likely, least, judge.STRICT).figures() for least in grid}
        least = max(grid, key=lambda one: figures[one]["F1"])
        loose = {one: score(kind, sessions, likely, one, judge.LOOSE).figures() for one in grid}
        sure = next((one for one in grid if one >= least and loose[one]["precision"] >= SURE), grid[-1])
        print(kind, f"least {least} sure {sure}", "by session", figures[least], "sure, loose", loose[sure])
        apart = left_out(table, by_folder, kind)
        for number, folder in enumerate(folders):
            rows = by_folder == number
            of_folder = [one for one in sessions if one[0].folder == folder]
            print("  ", folder, "left out", score(kind, of_folder, apart[rows], least, judge.STRICT).figures())
            print("  ", folder, "by session", score(kind, of_folder, likely[rows], least, judge.STRICT).figures())
        weights, bias = fit(table.values, table.right[kind])
        count = len(table.names)
        both = {"agent": weights[:count], "user": weights[:count] + weights[count:-1]}
        made[kind] = {
            "least": least,
            "sure": sure,
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
    if is_written:
        text = json.dumps(made, indent=0, ensure_ascii=False, sort_keys=True)
        Path(DATA, "weights.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
