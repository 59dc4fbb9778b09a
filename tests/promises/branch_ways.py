"""Ways in which git puts branches together, and one random history from beginning to end."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
from branch_histories import BRANCHES, Broken, Drivers, History, begin
from merge_branches import Yard

from installed import Git
from quire.files.world import World
from quire.model.errors import InputError
from quire.verbs.team.merge import MergeArguments, merge
from quire.verbs.team.resolve import Resolve, as_given, contested_here, resolve

__all__ = ["WAYS", "Ground", "play"]

STATE = ".agent-memory/state.json"


class Ground:
    """A repository to begin with, at one place: the journal's source names where its sessions lie."""

    def __init__(self, repo: Path, world: World, git: Git, folder: Path) -> None:
        self.repo, self.world, self.git = repo, world, git
        self.drivers = Drivers(folder, world)
        self.template = folder / "template"
        begin(Yard(repo, world, git), self.drivers)
        shutil.copytree(repo.parent, self.template, symlinks=True)

    def history(self, seed: int, *, has_remote: bool) -> History:
        for name in (self.repo.name, "sessions"):
            shutil.rmtree(self.repo.parent / name, ignore_errors=True)
            shutil.copytree(self.template / name, self.repo.parent / name, symlinks=True)
        if has_remote:
            self.git("update-ref", "refs/remotes/origin/main", "main")
            self.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
        return History(Yard(self.repo, msgspec.structs.replace(self.world), self.git), seed)


def merged(history: History, names: list[str]) -> dict[str, bytes]:
    """The branches merged in this order, and what is there then."""
    history.yard.git("checkout", "--quiet", "--force", "-B", "merged", "main")
    for name in names:
        history.joined("merge", "--no-edit", "-m", name, name)
    return {path: counted_again(data) if path == STATE else data for path, data in history.files().items()}


def counted_again(state: bytes) -> bytes:
    """Without numbers of events and sources: of equal numbers git asks no driver; the next write counts them."""
    fields = json.loads(state)
    for name in ("historyEventCount", "importSourceCount"):
        del fields["maintenance"][name]
    return json.dumps(fields).encode()


def same(one: dict[str, bytes], other: dict[str, bytes]) -> None:
    """The same files with the same bytes, whatever the order of the merges was."""
    if found := {path for path in one.keys() | other.keys() if one.get(path) != other.get(path)}:
        raise Broken("order", found)


def in_any_order(history: History, names: list[str]) -> None:
    orders = [names, names[::-1], history.chance.sample(names, len(names))]
    results = [merged(history, order) for order in orders]
    for other in results[1:]:
        same(results[0], other)


def by_octopus(history: History, names: list[str]) -> None:
    """All at once, where git can do it without asking a driver; else one by one."""
    history.yard.git("checkout", "--quiet", "--force", "-B", "merged", "main")
    if not history.git("merge", "--no-edit", "-m", "octopus", *names):
        history.git("merge", "--abort")
        history.yard.git("reset", "--quiet", "--hard", "main")
        merged(history, names)


def by_rebase(history: History, names: list[str]) -> None:
    history.yard.git("checkout", "--quiet", "--force", "-B", "merged", "main")
    for name in names:
        history.yard.git("checkout", "--quiet", name)
        history.joined("rebase", "merged")
        history.yard.git("checkout", "--quiet", "-B", "merged", name)


def by_picking(history: History, names: list[str]) -> None:
    history.yard.git("checkout", "--quiet", "--force", "-B", "merged", "main")
    for name in names:
        commits = history.yard.git("rev-list", "--reverse", f"main..{name}").split()
        history.joined("cherry-pick", "--keep-redundant-commits", "--allow-empty", *commits)


def by_criss_cross(history: History, names: list[str]) -> None:
    """Two branches that merge each other, go on, and are merged again."""
    first, second, *others = names
    tips = {name: history.yard.git("rev-parse", name).strip() for name in (first, second)}
    for name, other in ((first, second), (second, first)):
        history.yard.git("checkout", "--quiet", "--force", name)
        history.joined("merge", "--no-edit", "-m", "cross", tips[other])
        history.act(name)
        history.yard.git.commit(name)
    merged(history, [first, second, *others])


def by_stash(history: History, names: list[str]) -> None:
    """Work that is put aside while others are merged."""
    merged(history, names[1:])
    history.yard.git("checkout", "--quiet", "-B", names[0], names[0])
    history.act(names[0])
    history.yard.git("add", "--all")
    is_put_aside = bool(history.yard.git("diff", "--cached", "--name-only")) and history.git("stash")
    history.joined("merge", "--no-edit", "-m", "merged", "merged")
    if is_put_aside:
        history.joined("stash", "pop")
    history.yard.git.commit("taken out again")


def by_revert(history: History, names: list[str]) -> None:
    """What was merged is taken back, and the taking back as well."""
    merged(history, names[:-1])
    history.joined("merge", "--no-ff", "--no-edit", "-m", "last", names[-1])
    if not history.yard.git("diff", "--name-only", "HEAD^1", "HEAD"):
        return  # it said what others said; git reverts nothing
    before = history.files()
    history.joined("revert", "--no-edit", "-m", "1", "HEAD")
    history.joined("revert", "--no-edit", "HEAD")
    same(before, history.files())


def by_command(history: History, names: list[str]) -> None:
    """`memory merge` makes the memory's files, and git records the merge."""
    git = history.yard.git
    git("checkout", "--quiet", "--force", "-B", "merged", "main")
    for name in names:
        merge(history.yard.project, MergeArguments(revision=name, apply=True))
        git("merge", "--quiet", "--strategy=ours", "--no-commit", "--no-ff", name)
        git.commit(name)


def by_settling(history: History, names: list[str]) -> None:
    """What is contested is settled after each merge; what was decided against comes back with no other branch."""
    git, project = history.yard.git, history.yard.project
    merged(history, names[::-1])
    git("branch", "--quiet", "unsettled")
    git("checkout", "--quiet", "--force", "-B", "merged", "main")
    for name in names:
        history.joined("merge", "--no-edit", "-m", name, name)
        for record, field in contested_here(project):
            way = history.chance.choice(("ours", "theirs"))
            try:
                resolve(project, Resolve(ref=record.ref, field=field.field, ours=way == "ours", theirs=way == "theirs"))
            except InputError:  # another branch said so too, and the history names no side
                value = as_given(field, history.chance.choice(field.values))
                resolve(project, Resolve(ref=record.ref, field=field.field, value=value))
        git.commit("settled")
    settled = history.contested()
    if settled:
        raise Broken("contested", settled)
    history.joined("merge", "--no-edit", "-m", "unsettled", "unsettled")
    if back := history.contested():
        raise Broken("contested", back)


WAYS = (
    in_any_order, by_octopus, by_rebase, by_picking, by_criss_cross, by_stash, by_revert, by_command, by_settling,
)  # fmt: skip


def play(ground: Ground, seed: int) -> History:
    """One history of its own seed; raises Broken where a promise is."""
    history = ground.history(seed, has_remote=seed % 3 != 0)
    names = [f"b{number}" for number in range(history.chance.randint(2, BRANCHES))]
    for name in names:
        history.branch(name)
    history.chance.shuffle(names)
    history.chance.choice(WAYS)(history, names)
    history.fold()
    if ground.drivers.problems:
        raise Broken("driver", ground.drivers.problems)
    history.check()
    return history
