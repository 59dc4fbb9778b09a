"""What a soak did: which words were told and acknowledged, how long everything took, what went wrong."""

from __future__ import annotations

import contextlib
import random
import re
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

WORD = re.compile(r"(?<![a-z])zq[a-z]{10}k(?![a-z])")
"""The form of a word that marks one write: no other text has it, and nothing is cut off its end as an inflection."""
_CONSONANTS, _VOWELS = "bdfglmnprtvz", "aeiou"
_SAID_MOST = 600
_WRONG_MOST = 60

__all__ = ["WORD", "Ledger", "Spent", "Told", "middle", "p95"]


class Told(msgspec.Struct, frozen=True):
    """One write that was acknowledged."""

    word: str
    layer: str
    by: str
    at: float


class Spent(msgspec.Struct, frozen=True):
    """One thing that was done, when it began and how long it took, in seconds."""

    what: str
    at: float
    seconds: float


class Ledger:
    """Shared by all who take part; every method may be called from any thread."""

    def __init__(self, seed: int) -> None:
        self._begin = time.monotonic()
        self._chance = random.Random(f"words {seed}")
        self._guard = threading.Lock()
        self.tried: dict[str, str] = {}
        """Every word that was handed out, and the layer that it was told to."""
        self.told: dict[str, Told] = {}
        self.replaced: set[str] = set()
        """Words in whose place somebody put another."""
        self.spent: list[Spent] = []
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []

    @property
    def now(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._begin

    def begin(self) -> None:
        """Everything is up: the time counts from here."""
        self._begin = time.monotonic()

    def word(self, layer: str) -> str:
        """A word that nobody has used before, for one write to a layer."""
        with self._guard:
            while True:
                pairs = (self._chance.choice(_CONSONANTS) + self._chance.choice(_VOWELS) for _ in range(5))
                word = f"zq{''.join(pairs)}k"
                if word not in self.tried:
                    self.tried[word] = layer
                    return word

    def keep(self, word: str, by: str) -> None:
        """The write of this word was acknowledged."""
        with self._guard:
            self.told[word] = Told(word, self.tried[word], by, self.now)
            self.counts[f"acknowledged, {self.tried[word]}"] += 1

    def give_up(self, word: str) -> None:
        """Somebody is about to put another word in the place of this one."""
        with self._guard:
            self.replaced.add(word)

    def so_far(self) -> dict[str, Told]:
        """All that was acknowledged until now."""
        with self._guard:
            return dict(self.told)

    def count(self, what: str, number: int = 1) -> None:
        with self._guard:
            self.counts[what] += number

    def fail(self, what: str) -> None:
        """Something happened that must not."""
        with self._guard:
            self.counts["went wrong"] += 1
            if len(self.wrong) < _WRONG_MOST:
                self.wrong.append(f"{self.now:.1f} s: {what[:_SAID_MOST]}")

    @contextlib.contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Note how long this takes; what fails is noted as wrong by whoever does it."""
        begin = self.now
        yield
        with self._guard:
            self.spent.append(Spent(what, begin, self.now - begin))

    def last(self, number: int, layers: Sequence[str]) -> list[Told]:
        """What was acknowledged last."""
        with self._guard:
            return [told for told in self.told.values() if told.layer in layers][-number:]

    def latencies(self, minute: float = 60.0) -> dict[str, dict[str, float]]:
        """Milliseconds by what was done: of all, of the first minute and of the last."""
        found: dict[str, list[Spent]] = {}
        for one in self.spent:
            found.setdefault(one.what, []).append(one)
        end = max((one.at for one in self.spent), default=0.0)
        share = min(minute, end / 3)
        return {
            name: {
                "number": len(some),
                "median, ms": _ms(middle([one.seconds for one in some])),
                "p95, ms": _ms(p95([one.seconds for one in some])),
                "first, median, ms": _ms(middle([one.seconds for one in some if one.at <= share])),
                "last, median, ms": _ms(middle([one.seconds for one in some if one.at >= end - share])),
            }
            for name, some in sorted(found.items())
        }


def middle(values: Sequence[float]) -> float:
    return statistics.median(values) if values else 0.0


def p95(values: Sequence[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)] if values else 0.0


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
