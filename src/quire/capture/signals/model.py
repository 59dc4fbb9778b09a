"""How likely a passage is worth keeping as a decision, a gotcha or a next step: a weighted sum for each kind.

`weights.json` holds one weight for each feature and speaker. `tools/train_signals.py` makes it from labelled sessions.
"""

from __future__ import annotations

import functools
import math
import os
from typing import Literal

import msgspec
from msgspec import Struct

from quire.capture.signals.cues import DATA
from quire.capture.signals.features import Excerpt

Kind = Literal["decisions", "gotchas", "next_step_hints"]
KINDS: tuple[Kind, ...] = ("decisions", "gotchas", "next_step_hints")
_LABELS: dict[Kind, str] = {
    "decisions": "says_decision",
    "gotchas": "says_gotcha",
    "next_step_hints": "says_next",
}


class Weights(Struct, frozen=True):
    """The weights of one kind."""

    least: float
    """From this probability on a passage is kept,"""
    sure: float
    """and from this one on it may be proposed."""
    bias: dict[str, float]
    features: dict[str, dict[str, float]]


@functools.cache
def weights() -> dict[Kind, Weights]:
    with open(os.path.join(DATA, "weights.json"), "rb") as file:
        return msgspec.json.decode(file.read(), type=dict[Kind, Weights])


def probability(kind: Kind, passage: Excerpt) -> float:
    """How likely a passage is what somebody would keep; what is labelled so is certain."""
    if _LABELS[kind] in passage.speech.sentences[passage.begin].label:
        return 1.0 if passage.end - passage.begin == 1 else 0.0
    by, table = passage.speech.by, weights()[kind]
    own = table.features[by]
    total = table.bias[by] + sum(own.get(name, 0.0) * value for name, value in passage.features.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
