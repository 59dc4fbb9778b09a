"""What processes that live long hold, second by second, and how large the files beside the memory become."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.soak_ledger import middle

SECOND = 1.0
WARM_UP = 0.2
"""The share of the time that is not judged: modules are loaded, caches filled."""
BOUNDS = {
    ".memory/local/receipts.jsonl": 3 * 1024 * 1024,
    ".memory/local/receipts-old.jsonl": 3 * 1024 * 1024,
    ".memory/local/hooks.log": 512 * 1024,
    ".memory/local/hooks-old.log": 512 * 1024,
    ".memory/local/ended.jsonl": 2 * 1024 * 1024,
}
"""Files that are kept short by whoever writes them, and how long they may become."""
COUNTED = (".memory/recovery", ".ai-state/recovery", ".agent-memory/recovery", ".memory/.backup")
SETS_MOST = 40
_FOLDERS = (".memory/local", ".memory/index", ".ai-state/local", ".agent-memory/local", *COUNTED)

__all__ = ["BOUNDS", "Held", "Limits", "Watch", "judge", "sizes"]


class Held(msgspec.Struct, frozen=True):
    """What a process holds at a moment."""

    kilobytes: int
    files: int
    threads: int
    children: int


class Limits(msgspec.Struct, frozen=True):
    """How much more the last third of the samples may hold than the first."""

    ratio: float = 1.05
    each: float = 6.0
    """Kilobytes for each write in between: there are more records to know, and new words, of which many are kept."""
    kilobytes: int = 8192
    """Below this a difference is no growth: some blocks of the allocator, a cache that is being filled."""
    files: int = 2
    threads: int = 1
    children: int = 0


class Watch(threading.Thread):
    """Looks at some processes each second, where the system tells; elsewhere there are no samples."""

    def __init__(self, pids: Mapping[str, int]) -> None:
        super().__init__(daemon=True)
        self._pids = dict(pids)
        self._over = threading.Event()
        self.samples: dict[str, list[Held]] = {name: [] for name in pids}
        self.gone: set[str] = set()

    def run(self) -> None:
        while not self._over.wait(SECOND):
            for name, pid in self._pids.items():
                try:
                    self.samples[name].append(_held(pid))
                except OSError:
                    if os.path.isdir("/proc/self"):
                        self.gone.add(name)

    def stop(self) -> None:
        self._over.set()
        self.join()


def _held(pid: int) -> Held:
    place = Path("/proc", str(pid))
    told = dict(line.split(":", 1) for line in (place / "status").read_text().splitlines())
    children = 0
    for task in os.listdir(place / "task"):
        try:
            children += len((place / "task" / task / "children").read_text().split())
        except OSError:
            continue
    return Held(int(told["VmRSS"].split()[0]), len(os.listdir(place / "fd")), int(told["Threads"]), children)


def judge(samples: list[Held], limits: Limits, writes: int = 0) -> tuple[dict[str, Any], list[str]]:
    """Figures of one process, and in what it grew while so many writes were acknowledged."""
    kept = samples[int(len(samples) * WARM_UP) :]
    third = len(kept) // 3
    if third < 2:
        return {"samples": len(samples)}, []
    first, last = kept[:third], kept[-third:]
    found: dict[str, Any] = {"samples": len(samples)}
    grown = []
    for name in Held.__struct_fields__:
        # Files, threads and children come and go with each call: what is left between calls must not grow.
        level = middle if name == "kilobytes" else min
        before, after = (level([getattr(one, name) for one in some]) for some in (first, last))
        found[name] = {"first third": before, "last third": after, "most": max(getattr(one, name) for one in samples)}
        if name == "kilobytes":
            found[name]["ratio"] = round(after / max(before, 1), 3)
            # From the middle of the first third of what is judged to the middle of the last.
            room = before * (limits.ratio - 1) + limits.each * writes * (1 - WARM_UP) * 2 / 3
            is_more = after - before > max(room, limits.kilobytes)
        else:
            is_more = after - before > getattr(limits, name)
        if is_more:
            grown.append(f"{name} went from {before:g} to {after:g}")
    return found, grown


def sizes(root: Path) -> tuple[dict[str, Any], list[str]]:
    """Bytes of the folders beside the memory, how many sets are kept aside, and what is over its bound."""
    bytes_of = {name: _bytes(root / name) for name in _FOLDERS}
    sets = {name: len(list((root / name).iterdir())) for name in COUNTED if (root / name).is_dir()}
    files = {name: (root / name).stat().st_size for name in BOUNDS if (root / name).exists()}
    over = [f"{name} has {size:,} bytes" for name, size in files.items() if size > BOUNDS[name]]
    over += [f"{name} holds {number} sets" for name, number in sets.items() if number > SETS_MOST]
    return {"folders, bytes": bytes_of, "files, bytes": files, "sets kept aside": sets}, over


def _bytes(folder: Path) -> int:
    found = 0
    for path in folder.rglob("*"):
        try:
            found += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return found
