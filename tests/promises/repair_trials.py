"""A repair, or the undo of one, killed at calls of the seam. Run as a script: which, a folder, how many calls.

Judged is what is left: each layer as it was or as it is repaired, never between; the next repair ends at the same; and
taking back all that is kept gives the broken files back.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "project"))

from breaking import REPAIRED, State, built, leftover, opened, state_of

from quire.files import disk
from quire.model.errors import NotFound
from quire.verbs.admin.check import check_files
from quire.verbs.admin.repair import repair, undo_repair
from quire.verbs.admin.repair import repair as repair_of

KILLED = re.compile(r"(^|/)\.quire-(?!99999999-)")
LAYERS = (".memory/", ".ai-state/", ".agent-memory/")
FAULTS = ("a tag twice", "a node copied", "blank lines in the log", "facts twice", "a schema is missing", "an old map")
WITH_JOURNAL = (*FAULTS, "the bundle edited", "a line of the inbox")


def broken(root: Path, *, journal: bool) -> None:
    built(root)
    if not journal:
        shutil.rmtree(root / ".agent-memory")
        shutil.rmtree(root / "docs")
    for name in WITH_JOURNAL if journal else FAULTS:
        REPAIRED[name].do(root)
    leftover(root, ".ai-state", 2)


def files_of(root: Path) -> State:
    """But for temporary files of who was killed: nobody reads them."""
    return {path: data for path, data in state_of(root).items() if not KILLED.search(path)}


def copied(template: Path, space: Path) -> Path:
    shutil.rmtree(space, ignore_errors=True)
    shutil.copytree(template, space, symlinks=True)
    return space / "harbor"


def run_apart(root: Path, work: str, at: int) -> int:
    """Do it in a process that dies at this call; how it ended."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = [at]

    def before(operation: str, path: str) -> None:
        left[0] -= 1
        if left[0] < 0:
            os._exit(9)

    try:
        disk.before = before
        act(root, work, 1)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def act(root: Path, work: str, tick: int) -> None:
    project = opened(root, tick=tick)
    if work == "repair":
        repair(project)
    else:
        undo_repair(project)


def calls_of(root: Path, work: str) -> int:
    count = [0]

    def before(operation: str, path: str) -> None:
        count[0] += 1

    disk.before = before
    act(root, work, 1)
    disk.before = lambda operation, path: None
    return count[0]


def judged(root: Path, first: State, repaired: State) -> list[str]:
    """What is wrong with what a killed process left."""
    check_files(opened(root, tick=5))  # whoever comes next completes what was decided
    found = files_of(root)
    wrong = []
    for layer in LAYERS:
        parts = [
            {path: item for path, item in state.items() if path.startswith(layer)} for state in (found, first, repaired)
        ]
        if parts[0] not in parts[1:]:
            changed = [path for path in {*parts[0], *parts[1]} if parts[0].get(path) != parts[1].get(path)]
            wrong.append(f"{layer} is neither as it was nor as it is repaired: {sorted(changed)}")
    for path in {*found, *first, *repaired}:
        # Two parts of a repair write to AGENTS.md, one after the other.
        is_alone = path != "AGENTS.md" and not path.startswith(LAYERS)
        if is_alone and found.get(path) not in (first.get(path), repaired.get(path)):
            wrong.append(f"{path} is neither as it was nor as it is repaired")
    repair_of(opened(root, tick=6))
    # Leftovers that an undo has put back are new files, and count again in an hour.
    again = {path: item for path, item in files_of(root).items() if "-99999999-" not in path}
    if again != repaired:
        changed = [path for path in {*again, *repaired} if again.get(path) != repaired.get(path)]
        wrong.append(f"the next repair ends elsewhere: {sorted(changed)}")
    for tick in range(7, 15):
        try:
            undo_repair(opened(root, tick=tick))
        except NotFound:
            break
    if files_of(root) != first:
        changed = [path for path in {*files_of(root), *first} if files_of(root).get(path) != first.get(path)]
        wrong.append(f"taken back, it is not as it was: {sorted(changed)}")
    return wrong


def trial(work: str, folder: Path, most: int, *, journal: bool) -> dict[str, object]:
    template = folder / "template"
    broken(template / "harbor", journal=journal)
    check_files(opened(template / "harbor"))
    first = files_of(template / "harbor")
    space = folder / "space"
    root = copied(template, space)
    repair_of(opened(root))
    repaired = files_of(root)
    if work == "undo":
        template = folder / "repaired"
        shutil.copytree(space, template, symlinks=True)
    total = calls_of(copied(template, space), work)
    numbers = (
        range(total)
        if not most or total <= most
        else sorted({round(n * (total - 1) / (most - 1)) for n in range(most)})
    )
    violations: list[str] = []
    for number in numbers:
        root = copied(template, space)
        code = run_apart(root, work, number)
        if code != 9:
            violations.append(f"call {number}: it should have died: {code}")
        violations += [f"call {number}: {text}" for text in judged(root, first, repaired)]
    return {"calls": total, "tried": len(numbers), "violations": violations}


if __name__ == "__main__":
    found = trial(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), journal=sys.argv[4] == "journal")
    sys.stdout.write(json.dumps(found) + "\n")
