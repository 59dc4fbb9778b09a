"""Random histories of up to five branches: whatever git does with them, nothing is lost and everything parses."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from branch_histories import Drivers, History, begin
from merge_branches import Yard

from installed import Git
from promised import proves
from quire.files.world import World
from quire.verbs.team.merge import MergeArguments, merge
from thorough import either

PARTS = 4
STATE = ".agent-memory/state.json"
HISTORIES = either(1, 250)
"""Of each part."""


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


@pytest.fixture
def ground(repo: Path, world: World, git: Git) -> Iterator[Ground]:
    with tempfile.TemporaryDirectory(prefix="qh-") as name:
        found = Ground(repo, world, git, Path(name))
        yield found
        found.drivers.close()


def merged(history: History, names: list[str]) -> dict[str, bytes]:
    """The branches merged in this order, and what is there then."""
    history.yard.git("checkout", "--quiet", "--force", "-B", "merged", "main")
    for name in names:
        assert history.git("merge", "--no-edit", "-m", name, name), (history.seed, name)
    return {path: counted_again(data) if path == STATE else data for path, data in history.files().items()}


def counted_again(state: bytes) -> bytes:
    """Without the number of events: of equal numbers git asks no driver; the next write counts them."""
    fields = json.loads(state)
    del fields["maintenance"]["historyEventCount"]
    return json.dumps(fields).encode()


def in_any_order(history: History, names: list[str]) -> None:
    orders = [names, names[::-1], history.chance.sample(names, len(names))]
    results = [merged(history, order) for order in orders]
    for other in results[1:]:
        assert {path for path in other if other[path] != results[0].get(path)} == set(), history.seed


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
        assert history.git("rebase", "merged"), history.seed
        history.yard.git("checkout", "--quiet", "-B", "merged", name)


def by_picking(history: History, names: list[str]) -> None:
    history.yard.git("checkout", "--quiet", "--force", "-B", "merged", "main")
    for name in names:
        commits = history.yard.git("rev-list", "--reverse", f"main..{name}").split()
        assert history.git("cherry-pick", "--keep-redundant-commits", "--allow-empty", *commits), history.seed


def by_criss_cross(history: History, names: list[str]) -> None:
    """Two branches that merge each other, go on, and are merged again."""
    first, second, *others = names
    tips = {name: history.yard.git("rev-parse", name).strip() for name in (first, second)}
    for name, other in ((first, second), (second, first)):
        history.yard.git("checkout", "--quiet", "--force", name)
        assert history.git("merge", "--no-edit", "-m", "cross", tips[other]), history.seed
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
    assert history.git("merge", "--no-edit", "-m", "merged", "merged"), history.seed
    assert not is_put_aside or history.git("stash", "pop"), history.seed
    history.yard.git.commit("taken out again")


def by_revert(history: History, names: list[str]) -> None:
    """What was merged is taken back, and the taking back as well."""
    merged(history, names[:-1])
    assert history.git("merge", "--no-ff", "--no-edit", "-m", "last", names[-1]), history.seed
    if not history.yard.git("diff", "--name-only", "HEAD^1", "HEAD"):
        return  # it said what others said; git reverts nothing
    before = history.files()
    assert history.git("revert", "--no-edit", "-m", "1", "HEAD"), history.seed
    assert history.git("revert", "--no-edit", "HEAD"), history.seed
    assert history.files() == before, history.seed


def by_command(history: History, names: list[str]) -> None:
    """`memory merge` makes the memory's files, and git records the merge."""
    git = history.yard.git
    git("checkout", "--quiet", "--force", "-B", "merged", "main")
    for name in names:
        merge(history.yard.project, MergeArguments(revision=name, apply=True))
        git("merge", "--quiet", "--strategy=ours", "--no-commit", "--no-ff", name)
        git.commit(name)


WAYS = (in_any_order, by_octopus, by_rebase, by_picking, by_criss_cross, by_stash, by_revert, by_command)


@proves("P6.4")
@pytest.mark.parametrize("part", range(PARTS))
def test_histories_lose_nothing_and_contest_only_what_people_disagree_on(ground: Ground, part: int) -> None:
    for seed in range(part, HISTORIES * PARTS, PARTS):
        history = ground.history(seed, has_remote=seed % 3 != 0)
        names = [f"b{number}" for number in range(history.chance.randint(2, 5))]
        for name in names:
            history.branch(name)
        history.chance.shuffle(names)
        history.chance.choice(WAYS)(history, names)
        history.fold()
        assert ground.drivers.problems == [], seed
        try:
            history.check()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
