"""Find which files always change together, and who knows which folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
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
_HALF_LIFE = 365
"""In days: a commit of a year ago counts half."""
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


def find_pairs(commits: Sequence[PastCommit], changed: Mapping[str, Sequence[GitFileChange]], now: Now) -> list[Pair]:
    """The pairs where most changes of the one were changes of the other, the surest first."""
    single: Counter[str] = Counter()
    both: Counter[tuple[str, str]] = Counter()
    for commit in commits:
        changes = changed.get(commit.id, ())
        if len(changes) <= _WIDE:
            places = {now.place(change.new) for change in changes} - {""}
            paths = sorted(place for place in places if not place.rpartition("/")[2].startswith("."))
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
) -> dict[str, tuple[tuple[str, float], ...]]:
    """By folder of the sources who made its commits, each with a share, recent ones counting more.

    The busiest folders come first.
    """
    made: Counter[str] = Counter()
    work: dict[str, dict[str, float]] = {}
    newest = _days(max((commit.day for commit in commits), default=""))
    for commit in commits:
        if commit.is_merge or is_agent(commit.author, commit.email):
            continue
        places = {now.place(change.new) for change in changed.get(commit.id, ())[:100]}
        for folder in {_folder(place) for place in places if place and not is_beside(place)} - {""}:
            made[folder] += 1
            people = work.setdefault(folder, {})
            people[commit.author] = people.get(commit.author, 0.0) + 0.5 ** ((newest - _days(commit.day)) / _HALF_LIFE)
    busy = (folder for folder, count in made.most_common() if count >= _FOLDER_LEAST)
    found = {folder: knowing for folder in busy if (knowing := _knowing(work[folder]))}
    known = {name for knowing in found.values() for name, _ in knowing}
    return dict(list(found.items())[:_FOLDERS_MOST]) if len(known) > 1 and len(found) > 1 else {}


def _knowing(work: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """Who did most of it, each with the share."""
    whole = sum(work.values())
    shares = sorted(((name, much / whole) for name, much in work.items()), key=lambda one: (-one[1], one[0]))
    return tuple((name, share) for name, share in shares[:_PEOPLE_MOST] if share >= _KNOWS)


def _days(day: str) -> int:
    return date.fromisoformat(day).toordinal() if day else 0


def _are_kin(first: str, second: str) -> bool:
    """Whether everybody expects two files to change together: a test and its source, a header, a lock, a changelog."""
    stems = [
        path.rpartition("/")[2].partition(".")[0].lower().replace("test", "").strip("_-") for path in (first, second)
    ]
    return stems[0] in stems[1] or stems[1] in stems[0] or is_beside(first) or is_beside(second)


def _folder(path: str) -> str:
    """The first two folders of a path."""
    return "/".join(path.split("/")[:-1][:2])
