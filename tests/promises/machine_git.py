"""Rules for git: what a user does with branches and commits, and what the memory must say after it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random

from machine_model import Branch, Here, Kept, Model
from machine_records import RULES, rule
from machine_run import Deed, Disagreement, Run, Step

__all__ = ["committed", "merging", "united"]

ANYTHING = ("*",)
ADDING = ("save_new", "store")
ALONE = ("save_change", "save_stale", "save_delete", "supersede", "archive", "remember", "save_new", "store")


def gitting(after: Model, work: Callable[[], None], text: str) -> Deed:
    return Deed("", after, work=work, text=text, touches=ANYTHING)


def committed(run: Run) -> None:
    run.git("add", "--all")
    run.git("commit", "--quiet", "--allow-empty", "--message", "work")
    run.branches[run.branch].push(run.model.kept)


@rule(2)
def git_commit(run: Run, draw: Random) -> Deed:
    return gitting(run.model, lambda: committed(run), "git add --all; git commit")


@rule(2)
def git_switch(run: Run, draw: Random) -> Deed:
    """To another branch, or to a new one; what was done here is committed first."""
    others = sorted(set(run.branches) - {run.branch})
    name = draw.choice([*others, f"branch-{len(run.branches)}"])
    after = run.model.copy()
    if name in run.branches:
        after.kept = run.branches[name].tip

    def work() -> None:
        committed(run)
        if name not in run.branches:
            run.git("checkout", "--quiet", "-b", name)
            run.branches[name] = Branch(copy.deepcopy(run.branches[run.branch].commits))
        else:
            run.git("checkout", "--quiet", "--force", name)
        run.branch = name

    return gitting(after, work, f"git commit; git checkout {name}")


@rule(1)
def git_reset(run: Run, draw: Random) -> Deed:
    after = run.model.copy()
    after.kept = run.branches[run.branch].tip

    def work() -> None:
        run.git("add", "--all")
        run.git("reset", "--quiet", "--hard")

    return gitting(after, work, "git add --all; git reset --hard")


@rule(1)
def git_revert(run: Run, draw: Random) -> Deed | None:
    """The last commit is taken back by another one."""
    commits = run.branches[run.branch].commits
    if len(commits) < 2:
        return None
    after = run.model.copy()
    after.kept = copy.deepcopy(commits[-1])

    def work() -> None:
        committed(run)
        if run.git("diff", "--name-only", "HEAD~1", "HEAD"):
            run.git("revert", "--no-edit", "HEAD")
        run.branches[run.branch].push(after.kept)

    return gitting(after, work, "git commit; git revert HEAD")


@rule(1)
def git_stash(run: Run, draw: Random) -> Deed:
    def work() -> None:
        from machine_seeing import look

        run.git("add", "--all")
        if not run.git("status", "--porcelain"):
            return
        run.git("stash", "--quiet")
        stashed = run.model.copy()
        stashed.kept = run.branches[run.branch].tip
        if look(run) != stashed.told():
            raise Disagreement("what is stashed is still answered from")
        run.git("stash", "pop", "--quiet")

    return gitting(run.model, work, "git add --all; git stash; look; git stash pop")


@rule(1)
def git_clean(run: Run, draw: Random) -> Deed:
    """What git ignores is this machine's alone, and goes."""
    after = run.model.copy()
    after.here = Here()
    return gitting(after, lambda: void(run.git("clean", "-fdXq")), "git clean -fdX")


def void(_given: object) -> None:
    """A value that nobody needs."""


@rule(2)
def git_merge(run: Run, draw: Random) -> Deed | None:
    """Two branches that went on from here become one again: nothing of either is lost."""
    if run.guided:
        return None
    theirs = [(draw.choice(ALONE), draw.randrange(10**6)) for _ in range(2)]
    ours = [(draw.choice(ADDING), draw.randrange(10**6)) for _ in range(2)]
    return merging(run, draw.choice(("merge", "rebase", "squash", "cherry-pick")), theirs, ours)


def merging(run: Run, way: str, theirs: list[Step], ours: list[Step]) -> Deed:
    after = run.model.copy()

    def work() -> None:
        committed(run)
        home, begin = run.branch, run.model.copy()
        run.git("checkout", "--quiet", "-b", "side")
        there = without_trouble(run, theirs)
        run.git("add", "--all")
        run.git("commit", "--quiet", "--allow-empty", "--message", "theirs")
        run.git("checkout", "--quiet", home)
        run.model.kept = copy.deepcopy(begin.kept)
        here = without_trouble(run, ours)
        run.git("add", "--all")
        run.git("commit", "--quiet", "--allow-empty", "--message", "ours")
        if way == "merge":
            run.git("merge", "--quiet", "--no-edit", "side")
        elif way == "squash":
            run.git("merge", "--quiet", "--squash", "side")
            run.git("commit", "--quiet", "--allow-empty", "--message", "both")
        elif way == "cherry-pick":
            run.git("cherry-pick", "--allow-empty", "--keep-redundant-commits", "side")
        else:
            run.git("checkout", "--quiet", "side")
            run.git("rebase", "--quiet", home)
            run.git("checkout", "--quiet", home)
            run.git("merge", "--quiet", "--ff-only", "side")
        run.git("branch", "--quiet", "-D", "side")
        after.kept = united(begin, there, here)
        after.here = run.model.here
        run.branches[home].push(after.kept)

    return gitting(after, work, f"two branches, then git {way}")


def without_trouble(run: Run, steps: list[Step]) -> Model:
    """A few changes with nothing in their way."""
    from machine_seeing import look

    where = run.git("branch", "--show-current").strip()
    for name, seed in steps:
        draw = Random(seed)
        deed = RULES[name][0](run, draw)
        if deed is not None and deed.after is not None:
            run.script.append(f"  on {where}: {deed.told}")
            run.do(deed, draw.randrange(4))
            run.model = deed.after
            look(run)
    return run.model.copy()


def united(begin: Model, theirs: Model, ours: Model) -> Kept:
    """What both branches hold: what one of them changed, and else what was there."""
    made = copy.deepcopy(ours.kept)
    for part in ("nodes", "relations", "facts", "entries"):
        old, new, held = (getattr(model.kept, part) for model in (begin, theirs, ours))
        merged = dict(held)
        for key in {*old, *new}:
            if old.get(key) != new.get(key):
                merged.pop(key, None)
                if key in new:
                    merged[key] = new[key]
        setattr(made, part, merged)
    for part in ("sources", "imported", "checkpoints"):
        if getattr(theirs.kept, part) != getattr(begin.kept, part):
            setattr(made, part, copy.deepcopy(getattr(theirs.kept, part)))
    return made
