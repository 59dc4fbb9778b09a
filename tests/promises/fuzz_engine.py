"""Try a parser with inputs that nobody should send, and say what it did that it must not do.

A target is a parser with its seeds and its rules. Every run is drawn from a seed, and so can be repeated. In a long run
inputs that reach code which none reached before join the corpus.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import random
import re
import signal
import sys
import time
import traceback
import tracemalloc
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

from fuzz_mutating import mutated

import quire

__all__ = ["Finding", "Reach", "Run", "Target", "beat", "fuzz", "minimised", "name_of", "tried"]

HARD_SECONDS = 20.0
"""Where a parser does not come back at all, it is stopped."""
MEMORY_BASE, MEMORY_TIMES = 48 * 1024 * 1024, 400
_ROOM = os.path.dirname(quire.__file__) + os.sep
"""The folder of the package: a clone may be called the same."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class Target(NamedTuple):
    """A parser: what it is given, what it may refuse with, which modules it reads through."""

    name: str
    run: Callable[[bytes], object]
    """Parses, and checks what must hold of what comes out. What it gives back must be the same each time."""
    seeds: Callable[[], list[bytes]]
    modules: str
    """Modules of the package that take the input apart, without `quire.`, with blanks between."""
    refuses: tuple[type[BaseException], ...] = ()
    """The errors by which it says that an input is none of its own."""
    most: int = 6000
    cost: int = 1
    """How many times dearer an input is than of most targets; fewer are tried."""


class Finding(NamedTuple):
    target: str
    data: bytes
    said: str
    """The error, or the rule that was broken."""
    where: str
    """The last place in the package that it went through."""

    @property
    def key(self) -> tuple[str, str, str]:
        return self.target, self.said.partition(":")[0], self.where


class Run(NamedTuple):
    """What came of one target."""

    target: str
    inputs: int
    seconds: float
    corpus: int
    slowest: float
    """The longest time that one input took, in milliseconds."""
    findings: list[Finding]


class TooSlowError(BaseException):
    """The clock ran out. No `except Exception` may swallow it."""


class Reach:
    """Which lines of the package were run: by `sys.monitoring` where there is one, else by tracing."""

    def __init__(self) -> None:
        self.seen: set[tuple[CodeType, int]] = set()
        self._fruitless: dict[CodeType, int] = {}

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        if sys.version_info >= (3, 12):
            yield from self._monitoring()
            return
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)

    def _monitoring(self) -> Iterator[None]:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        monitoring.use_tool_id(monitoring.COVERAGE_ID, "fuzz")
        monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, self._line)
        monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)
        try:
            yield
        finally:
            monitoring.set_events(monitoring.COVERAGE_ID, 0)
            monitoring.free_tool_id(monitoring.COVERAGE_ID)

    def _line(self, code: CodeType, line: int) -> object:
        if _ROOM in code.co_filename:
            self.seen.add((code, line))
        return sys.monitoring.DISABLE  # type: ignore[attr-defined,unused-ignore]

    def _called(self, frame: FrameType, _event: str, _argument: object) -> Any:
        code = frame.f_code
        if _ROOM not in code.co_filename:
            return None
        # A function that showed nothing new for long is looked at now and then only: tracing is dear.
        count = self._fruitless[code] = self._fruitless.get(code, 0) + 1
        return self._traced if count < 150 or count % 32 == 0 else None

    def _traced(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            place = (frame.f_code, frame.f_lineno)
            if place not in self.seen:
                self.seen.add(place)
                self._fruitless[frame.f_code] = 0
        return self._traced


@functools.cache
def beat() -> float:
    """How long this machine takes for a piece of work, so that bounds are no absolute times."""
    best = 1.0
    for _ in range(5):
        begun = time.process_time()
        sum(number * number for number in range(20_000))
        best = min(best, time.process_time() - begun)
    return max(best, 0.0002)


def _allowed_seconds(size: int) -> float:
    """Far more than any input should take, and in proportion to its size: 1.5 s and 0.6 ms a byte, about."""
    return beat() * (1_000 + 0.4 * size)


def tried(target: Target, data: bytes, *, twice: bool = False, measured: bool = False) -> tuple[Finding | None, float]:
    """Give a target one input; what was wrong, and the seconds of work it took."""
    begun = time.process_time()
    outcome, found = _once(target, data, measured=measured)
    seconds = time.process_time() - begun
    if found is None and seconds > _allowed_seconds(len(data)) and not sys.gettrace():
        begun = time.process_time()
        _once(target, data)
        seconds = min(seconds, time.process_time() - begun)
        if seconds > _allowed_seconds(len(data)):
            found = Finding(target.name, data, f"TooSlow: {seconds:.1f} s for {len(data):,} bytes", "")
    if found is None and twice:
        again, found = _once(target, data)
        if found is None and again != outcome:
            found = Finding(target.name, data, f"NotTheSame: {outcome[:200]} then {again[:200]}", "")
    return found, seconds


def _once(target: Target, data: bytes, *, measured: bool = False) -> tuple[str, Finding | None]:
    if measured:
        tracemalloc.start()
    try:
        with _clock():
            return _ADDRESS.sub("", repr(target.run(data))), None
    except target.refuses as error:
        said = f"{type(error).__name__}: {error}"
        return said, None
    except TooSlowError as error:
        return "", Finding(target.name, data, f"TooSlow: stopped after {HARD_SECONDS:.0f} s", _where(error))
    except Exception as error:
        return "", Finding(target.name, data, f"{type(error).__name__}: {error}"[:400], _where(error))
    finally:
        if measured:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            if peak > MEMORY_BASE + MEMORY_TIMES * len(data):
                said = f"TooMuchMemory: {peak:,} bytes for {len(data):,}"
                return "", Finding(target.name, data, said, "")


@contextlib.contextmanager
def _clock() -> Iterator[None]:
    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, HARD_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _where(error: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _ROOM in frame.filename]
    if not frames:
        return ""
    last = frames[-1]
    return f"quire/{last.filename.rpartition(_ROOM)[2]}:{last.lineno} {last.name}"


def fuzz(
    target: Target,
    *,
    seed: int,
    inputs: int = 0,
    seconds: float = 0.0,
    reach: Reach | None = None,
    most_findings: int = 20,
) -> Run:
    """Try the seeds, then so many inputs made from them, or as many as fit into `seconds`."""
    rng = random.Random(f"{seed} {target.name}")
    corpus = target.seeds()
    assert corpus, f"{target.name} has no seeds"
    found: dict[tuple[str, str, str], Finding] = {}
    slowest, count, begun = 0.0, 0, time.perf_counter()
    waiting = list(corpus)
    while (waiting or count < inputs or seconds) and len(found) < most_findings:
        if seconds and time.perf_counter() - begun > seconds:
            break
        is_seed = bool(waiting)
        data = waiting.pop() if waiting else mutated(rng, rng.choice(corpus), corpus, target.most)
        before = len(reach.seen) if reach else 0
        with reach.watching() if reach and count % 4 else contextlib.nullcontext():
            finding, took = tried(target, data, twice=count % 4 == 0, measured=count % 256 == 255)
        count += 1
        slowest = max(slowest, took if count % 4 == 1 or not reach else 0.0)
        if finding is not None:
            found.setdefault(finding.key, finding)
        elif reach and not is_seed and len(reach.seen) > before:
            corpus.append(data)
    took_all = time.perf_counter() - begun
    return Run(target.name, count, took_all, len(corpus), slowest * 1000, list(found.values()))


def minimised(target: Target, finding: Finding, *, tries: int = 1500, seconds: float = 60.0) -> Finding:
    """The same finding with less input: halves, then smaller parts are taken out as long as it stays the same."""
    best, left, begun = finding, tries, time.perf_counter()
    size = max(1, len(best.data) // 2)
    while size and left > 0 and time.perf_counter() - begun < seconds:
        place, is_smaller = 0, False
        while place < len(best.data) and left > 0 and time.perf_counter() - begun < seconds:
            left -= 1
            shorter = best.data[:place] + best.data[place + size :]
            again, _ = tried(target, shorter, twice=best.said.startswith("NotTheSame"))
            if again is not None and again.key == best.key:
                best, is_smaller = again, True
            else:
                place += size
        if not is_smaller or size > len(best.data):
            size //= 2
    return best


def name_of(finding: Finding) -> str:
    """The file that a finding is written to."""
    return f"{finding.target}-{hashlib.sha256(finding.data).hexdigest()[:10]}"
