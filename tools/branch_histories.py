"""Play random histories of branches, and count what was merged and what went wrong.

`python tools/branch_histories.py --histories 10000 --results FILE` writes the counts as it goes, and adds them to those
that the file has. A history is known by its seed: `--first 4711 --histories 1` plays one again. Git is the real one,
with the real driver; the verbs run in this process. Ends with 1 where a promise was broken.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tests", "promises"), os.path.join(ROOT, "tests")]

from branch_histories import Broken  # noqa: E402
from branch_ways import Ground, play  # noqa: E402

from installed import Git, empty_repository, make_environment  # noqa: E402
from quire.files.world import World  # noqa: E402

KINDS = ("lost", "unparsed", "order", "contested", "conflict", "driver", "check", "crash")
TRIED = ("histories", "branches", "merges", "histories with something contested", "files merged by the driver")
EVERY = 25
FAST = "/dev/shm"


def main(arguments: list[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    given = _parser().parse_args(words)
    counts, broken, commands = _held(given.results)
    commands.append(shlex.join(["python", "tools/branch_histories.py", *words]))
    last = given.first + given.histories - 1
    with tempfile.TemporaryDirectory(prefix="qh-", dir=FAST if os.path.isdir(FAST) else None) as name:
        ground = _ground(Path(name))
        for seed in range(given.first, last + 1):
            counts["histories"] += 1
            try:
                history = play(ground, seed)
                counts["merges"] += history.merges
                counts["branches"] += history.branches
                counts["histories with something contested"] += bool(history.contested())
            except Exception as error:
                kind = error.kind if isinstance(error, Broken) else "crash"
                counts[kind] += 1
                broken.append({"seed": seed, "kind": kind, "what": repr(error)[:400]})
                ground.drivers.problems.clear()
            counts["files merged by the driver"] += ground.drivers.files
            ground.drivers.files = 0
            if given.results and (counts["histories"] % EVERY == 0 or seed == last):
                _write(given.results, counts, broken, commands)
        ground.drivers.close()
    for one in broken:
        print(one)
    print(dict(counts))
    return 1 if broken else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--histories", type=int, default=100, help="how many; 100 by default")
    parser.add_argument("--results", metavar="FILE", help="write the counts as JSON")
    return parser


def _ground(folder: Path) -> Ground:
    for part in ("project", "drivers"):
        (folder / part).mkdir()
    env, repo = make_environment(folder / "project"), folder / "project" / "harbor"
    empty_repository(repo)
    tokens = iter(range(10**12))
    world = World(
        cwd=str(repo),
        env=env,
        now=lambda: datetime(2026, 3, 2, 11, 19, tzinfo=UTC),
        token=lambda: f"{next(tokens):016x}",
        sleep=lambda _seconds: None,
        pid=os.getpid(),
    )
    return Ground(repo, world, Git(repo, env), folder / "drivers")


def _held(path: str | None) -> tuple[Counter[str], list[dict[str, object]], list[str]]:
    """What earlier runs wrote into the file."""
    held = json.loads(Path(path).read_text(encoding="utf-8")) if path and os.path.exists(path) else {}
    counts = Counter({name: held.get(name.replace(" ", "_"), 0) for name in TRIED})
    return counts + Counter(held.get("broken", {})), held.get("which", []), held.get("commands", [])


def _write(path: str, counts: Counter[str], broken: list[dict[str, object]], commands: list[str]) -> None:
    found = {
        **{name.replace(" ", "_"): counts[name] for name in TRIED},
        "broken": {kind: counts[kind] for kind in KINDS},
        "which": broken,
        "commands": commands,
        "python": platform.python_version(),
    }
    temporary = f"{path}.new"
    Path(temporary).write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(temporary, path)


if __name__ == "__main__":
    sys.exit(main())
