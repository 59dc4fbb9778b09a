"""Whether what `memory import git` proposes is worth keeping, and what it costs: `python -m benchmarks.history_import`.

The arguments are folders that hold clones of the public repositories named in `data/history_verdicts.json`, each called
`owner+name`. The first thirty proposals of each were judged by hand: *keep*, *wrong* (not so, or no longer so) or
*pointless* (true, and nobody would record it). Only ids and verdicts are kept, no texts. A proposal that nobody judged
is counted apart. A repository without a clone keeps the figures that it had. Two made histories of 10,000 and 200,000
commits show what the length of one costs; the peak is that of this run.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quire.capture.history.findings import Wish
from quire.capture.history.propose import HistoryRead, read_history
from quire.files.git import Git

VERDICTS = Path(__file__).parent / "data" / "history_verdicts.json"
RESULT = Path(__file__).parent / "results" / "history_import.json"
LENGTHS = (10_000, 200_000)
_WORDS = ("queue", "cache", "retry", "pool", "worker", "index", "parser", "token", "session", "hook", "merge", "driver")
_NOW = "2026-03-02T11:19:00+00:00"

__all__ = ["judged", "made_history", "main", "name_of"]


def name_of(origin: str) -> str:
    """The commit of a proposal, or a digest of where it comes from."""
    place = origin.removeprefix("git:")
    return place[:12] if ":" not in place and place != "people" else hashlib.sha256(origin.encode()).hexdigest()[:12]


def judged(folder: Path, verdicts: dict[str, str], head: str) -> dict[str, Any]:
    """What is proposed of a repository at a commit, by verdict."""
    with tempfile.TemporaryDirectory() as place:
        clone = Path(place) / "clone"
        _git(None, "clone", "--quiet", str(folder), str(clone))
        _git(clone, "checkout", "--quiet", head)
        found, cost = _measured(clone)
        known = tuple(item.origin for item in found.proposals)
        again, _ = _measured(clone, known)
    counts = Counter(verdicts.get(name_of(item.origin), "unjudged") for item in found.proposals)
    told = counts.total() - counts["unjudged"]
    return {
        "head": head,
        "commits": found.commits,
        "proposals": len(found.proposals),
        **{name: counts[name] for name in ("keep", "wrong", "pointless", "unjudged")},
        "precision": round(counts["keep"] / told, 2) if told else None,
        "proposed_again": len(again.proposals),
        **cost,
    }


def made_history(folder: Path, commits: int) -> None:
    """A repository of so many commits, each twentieth of which gives a reason."""
    _git(None, "init", "--quiet", "--initial-branch=main", str(folder))
    with subprocess.Popen(["git", "fast-import", "--quiet"], cwd=folder, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        for part in _stream(commits):
            process.stdin.write(part)
    _git(folder, "checkout", "--quiet", "main")


def _stream(commits: int) -> Iterator[bytes]:
    chance = random.Random(7)
    for number in range(commits):
        first, second = chance.choice(_WORDS), chance.choice(_WORDS)
        subject = f"work on the {first} and {second} {number}"
        reason = (
            f"\n\nThe {first} silently shares {second} {number}, because {chance.choice(_WORDS)} is opened before.\n"
        )
        message = (f"fix({first}): keep {second} apart (#{number}){reason}" if number % 20 == 0 else subject).encode()
        body = "".join(f"VALUE_{number}_{line} = {line}\n" for line in range(6)).encode()
        who = f"P{number % 17} <p{number % 17}@example.com> {1_500_000_000 + number * 300} +0000"
        path = f"src/{_WORDS[number % 12]}/{_WORDS[number * 7 % 12]}_{number % 900}.py"
        yield f"commit refs/heads/main\nmark :{number + 1}\nauthor {who}\ncommitter {who}\n".encode()
        yield b"data %d\n%b\n" % (len(message), message)
        yield f"from :{number}\n".encode() if number else b""
        yield b"M 100644 inline %b\ndata %d\n%b\n" % (path.encode(), len(body), body)


def _measured(root: Path, known: tuple[str, ...] = ()) -> tuple[HistoryRead, dict[str, float]]:
    before, began = _cpu(), time.monotonic()
    found = read_history(Git(str(root), dict(os.environ)), Wish(), _NOW, known)
    return found, {"cpu_s": round(_cpu() - before, 2), "seconds": round(time.monotonic() - began, 2)}


def _cpu() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def _git(cwd: Path | None, *words: str) -> None:
    subprocess.run(["git", *words], cwd=cwd, check=True)


def main(folders: list[str]) -> None:
    found: dict[str, Any] = {"repositories": {}, "made": {}}
    before = json.loads(RESULT.read_text())["repositories"] if RESULT.exists() else {}
    for name, known in json.loads(VERDICTS.read_text()).items():
        place = next((Path(folder) / name for folder in folders if (Path(folder) / name).is_dir()), None)
        found["repositories"][name] = (
            judged(place, known["verdicts"], known["head"]) | {"set": known["set"]}
            if place
            else before.get(name, {"skipped": "no clone"})
        )
    for commits in LENGTHS:
        with tempfile.TemporaryDirectory() as folder:
            made_history(Path(folder) / "made", commits)
            read, cost = _measured(Path(folder) / "made")
        found["made"][str(commits)] = {"read": read.commits, "proposals": len(read.proposals), **cost}
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    found["command"] = "python -m benchmarks.history_import FOLDER"
    found["python"] = platform.python_version()
    RESULT.write_text(json.dumps(found, indent=2) + "\n")
    print(RESULT.read_text())


if __name__ == "__main__":
    main(sys.argv[1:])
