"""Rules for what comes at a bad moment: edits behind the index's back, git between a crash and the next command."""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random

from machine_git import committed, united
from machine_records import RULES, pick, rule
from machine_run import Deed, Run

__all__: list[str] = []

INTERRUPTED = (
    "save_new",
    "save_change",
    "save_supersede",
    "save_delete",
    "supersede",
    "archive",
    "remember",
    "journal_sync",
)


BETWEEN = ("commit", "reset", "switch")
"""What git is asked for between the crash and the next command."""


@rule()
def edit_body(run: Run, draw: Random) -> Deed | None:
    """Somebody edits the text of a node; perhaps with a tool that leaves its time and its length as they were."""
    name = pick(draw, run.model.kept.nodes)
    if name is None:
        return None
    after = run.model.copy()
    node = after.kept.nodes[name]
    is_sly = draw.random() < 0.5
    word = run.word()
    body = f"By hand {word}."
    path = run.root / ".memory" / "memory" / f"{name.partition('.')[2]}.md"
    if is_sly:
        body = f"By hand {word}.".ljust(len(node.body), "!")[: max(len(node.body), len(body))]
    after.kept.nodes[name] = replace(node, body=body)

    def work() -> None:
        before = path.stat()
        with path.open("r+b") as file:
            file.write(body.encode())
            file.truncate()
        if is_sly:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        run.edited.add(name)
        run.forget_checks()

    text = f"edit the body of {name}{', keeping its time' if is_sly else ''}: {body}"
    return Deed("", after, work=work, text=text, touches=(".memory/memory/",))


@rule(2)
def crash_then_git(run: Run, draw: Random) -> Deed | None:
    """A change dies, and before the next command somebody switches, resets or stashes: all of it, or nothing."""
    deed = RULES[draw.choice(INTERRUPTED)][0](run, draw)
    if deed is None or deed.after is None:
        return None
    how, number, way = draw.choice(BETWEEN), draw.randrange(24), draw.randrange(4)
    begun, done = run.model, deed.after
    there = begun.copy()
    there.kept = run.branches[run.branch].tip
    both = there.copy()
    both.kept = united(begun, done, there)
    both.here = done.here
    ends = {end for source, _, target in both.kept.relations for end in (source, target)}
    if how != "commit" and not ends | {node.by for node in both.kept.nodes.values()} <= {*both.kept.nodes, ""}:
        return None  # it rests on what git takes away: nobody could make it whole

    def work() -> None:
        run.crash(deed, number, way)
        if how == "commit":
            run.git("add", "--all")
            run.git("commit", "--quiet", "--allow-empty", "--message", "half")
            run.model = run.which(done, begun, *deed.between)
            committed(run)
        elif how == "reset":
            run.git("add", "--all")
            run.git("reset", "--quiet", "--hard")
            run.model = run.which(there, both)
        else:
            run.git("add", "--all")
            run.git("commit", "--quiet", "--allow-empty", "--message", "half")
            run.git("checkout", "--quiet", "HEAD~1")
            run.model = run.which(there, both)
            run.git("add", "--all")
            run.git("reset", "--quiet", "--hard")
            run.git("checkout", "--quiet", run.branch)
            run.git("reset", "--quiet", "--hard", "HEAD~1")
            run.model.kept = run.branches[run.branch].tip

    told = f"crash at call {number} of: {deed.told}\nthen before anything else: git {how}"
    return Deed("", None, work=work, text=told, touches=("*",), decides=True)
