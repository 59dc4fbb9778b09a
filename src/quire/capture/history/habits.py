"""Find which files always change together, and who knows which folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from msgspec import Struct

from quire.capture.history.changes import Now, is_beside
from quire.capture.history.commits import PastCommit
from quire.capture.history.cues import is_agent
from quire.files.git_history import GitFileChange

_WIDE = 15
"""A commit of more files says nothing of two of them."""
_TIMES_LEAST = 6
_SHARE_LEAST = 0.6
_FOLDER_LEAST = 20
_FOLDERS_MOST, _PEOPLE_MOST = 8, 3
_KNOWS = 0.15
"""Who made less of a folder's commits is not named."""


class Pair(Struct, frozen=True, kw_only=True):
    """Two files of different folders or names, and how often they changed together."""

    files: tuple[str, str]
    together: int
    commits: int
    """How many commits changed the one or the other."""

    @property
    def share(self) -> float:
        return self.together / self.commits


class FolderPeople(Struct, frozen=True, kw_only=True):
    """The people of a folder, each with a share of its commits."""

    folder: str
    commits: int
    people: tuple[tuple[str, float], ...]


def find_pairs(commits: Sequence[PastCommit], changed: Mapping[str, Sequence[GitFileChange]], now: Now) -> list[Pair]:
    """The pairs where most changes of the one were changes of the other, the surest first."""
    single: Counter[str] = Counter()
    both: Counter[tuple[str, str]] = Counter()
    for commit in commits:
        changes = changed.get(commit.id, ())
        if len(changes) <= _WIDE:
            paths = sorted({place for change in changes if (place := now.place(change.new)) and _counts(place)})
            single.update(paths)
            both.update(combinations(paths, 2))
    found = [
        Pair(files=pair, together=times, commits=single[pair[0]] + single[pair[1]] - times)
        for pair, times in both.items()
        if times >= _TIMES_LEAST and not _are_kin(*pair)
    ]
    sure = [pair for pair in found if pair.share >= _SHARE_LEAST]
    return sorted(sure, key=lambda one: (-one.share * min(1.0, one.together / 20), one.files))


def find_people(
    commits: Sequence[PastCommit], changed: Mapping[str, Sequence[GitFileChange]], now: Now
) -> list[FolderPeople]:
    """Who made the commits of each folder of the sources, the folders with most commits first."""
    folders: dict[str, Counter[str]] = {}
    for commit in commits:
        if commit.is_merge or is_agent(commit.author, commit.email):
            continue
        places = {now.place(change.new) for change in changed.get(commit.id, ())[:100]}
        for folder in {_folder(place) for place in places if place and not is_beside(place)} - {""}:
            folders.setdefault(folder, Counter())[commit.author] += 1
    found = []
    for folder, people in folders.items():
        total = people.total()
        named = tuple(
            (name, times / total) for name, times in people.most_common(_PEOPLE_MOST) if times / total >= _KNOWS
        )
        if total >= _FOLDER_LEAST and named:
            found.append(FolderPeople(folder=folder, commits=total, people=named))
    found.sort(key=lambda one: (-one.commits, one.folder))
    known = {name for one in found for name, _ in one.people}
    return found[:_FOLDERS_MOST] if len(known) > 1 and len(found) > 1 else []


def _counts(path: str) -> bool:
    return not path.rpartition("/")[2].startswith(".")


def _are_kin(first: str, second: str) -> bool:
    """Whether everybody expects two files to change together: a test and its source, a header, a lock, a changelog."""
    stems = [
        path.rpartition("/")[2].partition(".")[0].lower().replace("test", "").strip("_-") for path in (first, second)
    ]
    return stems[0] in stems[1] or stems[1] in stems[0] or is_beside(first) or is_beside(second)


def _folder(path: str) -> str:
    """The first two folders of a path."""
    return "/".join(path.split("/")[:-1][:2])
