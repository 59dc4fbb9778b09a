"""Try every parser with inputs that nobody should send, for as long as you like.

`python tools/fuzz.py --minutes 20` shares the time out among all targets; `--target NAME` tries one (repeat it for
more), `--list` names them. Inputs that reach new code join the corpus. A finding is made small and written to a folder;
`--replay FILE` tries it again. Ends with 1 where something was found.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tempfile
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tests", "promises"), os.path.join(ROOT, "tests")]

from fuzz_engine import Finding, Reach, Run, Target, fuzz, minimised, name_of, tried  # noqa: E402
from fuzz_targets import TARGETS  # noqa: E402


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    if given.list:
        print("\n".join(TARGETS))
        return 0
    if given.replay:
        return _replay(given.replay, given.target)
    names = given.target or list(TARGETS)
    unknown = [name for name in names if name not in TARGETS]
    if unknown:
        print(f"No target is called {', '.join(unknown)}; --list names them.", file=sys.stderr)
        return 2
    folder = given.findings or os.path.join(tempfile.gettempdir(), "quire-fuzz-findings")
    share = given.minutes * 60 / len(names)
    runs: list[Run] = []
    for number, name in enumerate(names, start=1):
        print(f"[{number}/{len(names)}] {name}: {share:.0f} s …", end="", flush=True)
        run = fuzz(TARGETS[name], seed=given.seed, seconds=share, reach=Reach())
        runs.append(run)
        print(f" {run.inputs:,} inputs, {run.corpus:,} kept, {len(run.findings)} found", flush=True)
        for finding in run.findings:
            _keep(folder, minimised(TARGETS[name], finding))
    _summary(runs)
    if given.results:
        _write_results(given.results, runs, arguments if arguments is not None else sys.argv[1:])
    return 1 if any(run.findings for run in runs) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0, help="for all targets together; 10 by default")
    parser.add_argument("--target", action="append", metavar="NAME", help="try this one; may be repeated")
    parser.add_argument("--seed", type=int, default=0, help="another seed draws other inputs")
    parser.add_argument("--findings", metavar="FOLDER", help="where findings are written; below the temporary folder")
    parser.add_argument("--results", metavar="FILE", help="write what was tried as JSON")
    parser.add_argument("--replay", metavar="FILE", help="try one input again; its name begins with the target's")
    parser.add_argument("--list", action="store_true", help="name the targets")
    return parser


def _keep(folder: str, finding: Finding) -> None:
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name_of(finding))
    with open(path, "wb") as file:
        file.write(finding.data)
    print(f"  {finding.said[:300]}\n    {finding.where}\n    {len(finding.data):,} bytes: {path}", flush=True)


def _replay(path: str, names: list[str] | None) -> int:
    name = names[0] if names else os.path.basename(path).rpartition("-")[0]
    target: Target | None = TARGETS.get(name)
    if target is None:
        print(f"{path}: no target is called {name!r}; name it with --target.", file=sys.stderr)
        return 2
    with open(path, "rb") as file:
        finding, seconds = tried(target, file.read(), twice=True)
    print(f"{name}: {'nothing wrong' if finding is None else finding.said}, {seconds * 1000:.0f} ms")
    if finding is not None and finding.where:
        print(f"  {finding.where}")
    return 1 if finding else 0


def _summary(runs: list[Run]) -> None:
    print(f"\n{'target':32} {'inputs':>9} {'seconds':>8} {'corpus':>7} {'slowest':>9} {'found':>6}")
    for run in runs:
        print(
            f"{run.target:32} {run.inputs:9,} {run.seconds:8.1f} {run.corpus:7,} {run.slowest:6.0f} ms "
            f"{len(run.findings):6}"
        )
    print(f"{'all':32} {sum(run.inputs for run in runs):9,} {sum(run.seconds for run in runs):8.1f}")


def _write_results(path: str, runs: list[Run], arguments: list[str]) -> None:
    """What was tried. A file that is there is brought up to date: targets that were tried again are replaced."""
    # Where things were written to says nothing of what was tried.
    places = {place + 1 for place, word in enumerate(arguments) if word in ("--findings", "--results")}
    said = [word for place, word in enumerate(arguments) if place not in places and place + 1 not in places]
    value: dict[str, Any] = {"commands": [], "targets": {}}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    commands = [*value["commands"], shlex.join(["python", "tools/fuzz.py", *said])]
    targets = {**value["targets"], **{run.target: _told(run) for run in runs}}
    value = {
        "commands": commands,
        "python": ".".join(map(str, sys.version_info[:2])),
        "inputs": sum(target["inputs"] for target in targets.values()),
        "seconds": round(sum(target["seconds"] for target in targets.values())),
        "findings": sum(len(target["findings"]) for target in targets.values()),
        "targets": targets,
    }
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(value, indent=2) + "\n")


def _told(run: Run) -> dict[str, Any]:
    return {
        "inputs": run.inputs,
        "seconds": round(run.seconds, 1),
        "corpus": run.corpus,
        "slowest_ms": round(run.slowest),
        "findings": [finding.said[:120] for finding in run.findings],
    }


if __name__ == "__main__":
    sys.exit(main())
