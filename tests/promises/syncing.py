"""sync and confirm stopped at every call. Run as a script, as `crashing.py` is: scenario, way, folder, how many."""

from __future__ import annotations

import json
import os
import sys

import crashing

__all__ = ["SCENARIOS"]


def changed(space: str) -> None:
    """A memory whose code changed since; a body that was edited by hand makes the map outdated, too."""
    crashing.filled(space)
    write(space, "src/a.py", "2\n")
    crashing.git(space, "add", "src")
    crashing.git(space, "commit", "--quiet", "--message", "code")


def synced(space: str) -> None:
    """The same, with a marker of an earlier sync."""
    crashing.filled(space)
    crashing.open_project(space).sync()
    write(space, ".memory/memory/worker.md", "Edited by hand once more.")
    write(space, "src/a.py", "2\n")
    crashing.git(space, "add", "src")
    crashing.git(space, "commit", "--quiet", "--message", "code")


def write(space: str, name: str, text: str) -> None:
    with open(os.path.join(space, "harbor", name), "w", encoding="utf-8") as file:
        file.write(text)


SCENARIOS = {
    "first sync": crashing.Scenario(changed, lambda project: project.sync()),
    "sync": crashing.Scenario(synced, lambda project: project.sync()),
    "confirm": crashing.Scenario(
        changed, lambda project: project.confirm(["feature.worker"], reason="read it after the change")
    ),
}


if __name__ == "__main__":
    crashing.SCENARIOS.update(SCENARIOS)
    print(json.dumps(crashing.explore(*sys.argv[1:])))
