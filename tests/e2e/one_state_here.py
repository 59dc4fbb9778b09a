"""Run as a program: saves in a row in one memory, or looks at it until a file is gone; what was wrong goes out as JSON.

Every save replaces a pair of related features by the next pair and says the same number in two traps. So in each state
of the memory a relation has both its ends, the traps say one number, and there are as many nodes as ever.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator

from quire.files.world import real_world
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.export import Export, export
from quire.verbs.admin.rebuild import Rebuild, rebuild
from quire.verbs.graph.diff import Diff, diff
from quire.verbs.graph.save import save_nodes

NODES, RELATIONS = 4, 1
"""What each writer has in the memory at any time."""
SIDES = ("left", "right")
ALIKE = "SaysNearlyTheSame"
"""The traps do, and it is told each time."""
_PAUSE_SECONDS = 0.1
_ROUND = re.compile(r"Round (\d+) of (\w+)\.")


def write(project: Project, name: str, times: int) -> None:
    for number in range(times):
        save_nodes(project, intent(name, number))


def intent(name: str, number: int) -> dict[str, object]:
    front, back = (f"feature.{side}-{name}-{number}" for side in ("front", "back"))
    nodes = [
        {"id": front, "title": front, "body": "A part.", "related": [{"predicate": "depends_on", "to": back}]},
        {"id": back, "title": back, "body": "Another part."},
        *({"id": f"gotcha.{s}-{name}", "title": f"{s} {name}", "body": f"Round {number} of {name}."} for s in SIDES),
    ]
    gone = [{"id": f"feature.{side}-{name}-{number - 1}", "reason": "replaced"} for side in ("front", "back")]
    return {"task": "one after another", "nodes": nodes, "delete": gone if number else []}


def look(project: Project, what: str) -> Iterator[str]:
    """What does not fit together."""
    if what == "check":
        found = check_files(project)
        problems = [problem for problem in (*found.errors, *found.warnings) if problem.code != ALIKE]
        yield from (f"{problem.code} {problem.path}" for problem in problems)
    elif what == "rebuild":
        done = rebuild(project, Rebuild()).found
        yield f"{done.records} records, {done.edges} edges"
    elif what == "diff":
        yield from _torn(diff(project, Diff()).found.diff)
    else:
        text = export(project, Export(output_format="json")).text
        held = json.loads(text)
        refs = {record["ref"] for record in held["records"]}
        yield from (edge["ref"] for edge in held["edges"] if not {edge["source"], edge["target"]} <= refs)
        yield from _torn(text)


def _torn(text: str) -> Iterator[str]:
    said: dict[str, list[str]] = {}
    for number, name in _ROUND.findall(text):
        said.setdefault(name, []).append(number)
    yield from (f"{name}: {numbers}" for name, numbers in said.items() if len(set(numbers)) > 1)


def main(what: str, root: str, *rest: str) -> None:
    opened: Callable[[], Project] = lambda: Project.open(root, real_world(root))  # noqa: E731
    if what == "write":
        write(opened(), rest[0], int(rest[1]))
        return
    wrong: Counter[str] = Counter()
    looks = 0
    while os.path.exists(rest[0]) or not looks:
        wrong.update(look(opened(), what))
        looks += 1
        time.sleep(_PAUSE_SECONDS)
    print(json.dumps({"looks": looks, "wrong": wrong}))


if __name__ == "__main__":
    main(*sys.argv[1:])
