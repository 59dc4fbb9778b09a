"""Read history from git: commits, their changes, renames, authors of lines.

Endpoints are compared with `diff-tree` and `diff-index --cached`, which look at stored trees only and run no program
that a repository names; commits are listed with `rev-list`, which checks no signature. What files held is read with
`cat-file`, as it is stored.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Literal, ParamSpec, TypeVar

import msgspec

from quire.files.git import Git
from quire.model.errors import GitRequired

Answer = TypeVar("Answer")
Asked = ParamSpec("Asked")

_COMMIT = re.compile(r"[0-9a-fA-F]{6,64}")
_FORMAT = "%H%x00%h%x00%cI%x00%an%x00%s"
_WITH_PARENTS = f"{_FORMAT}%x00%P"
RENAME_LIMIT = "2000"

_DEFAULT_BRANCHES = (
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
)


class Commit(msgspec.Struct, frozen=True):
    """A commit as people know it."""

    id: str
    short: str
    date: str
    author: str
    subject: str


class GitFileChange(msgspec.Struct, frozen=True):
    """What became of one file between two states."""

    how: str
    """A, D, M, T, or R where it was renamed."""
    old: str
    new: str
    old_id: str
    new_id: str


class CommitChanges(msgspec.Struct, frozen=True):
    """A commit, and what it did to the paths that were asked about."""

    commit: Commit
    changes: tuple[GitFileChange, ...]
    """One for each path; of a merge, one for each path and parent."""


class LineOrigin(msgspec.Struct, frozen=True):
    """Where a line of a commit's file comes from."""

    commit: str
    path: str
    line: int


def full_commit(git: Git, name: str) -> str | None:
    """The whole id of a commit that is in this clone; None where it is not, or is no commit's name."""
    if not _COMMIT.fullmatch(name):
        return None
    found = git.commit_named(name)
    # A branch may be called `decade`, which is hexadecimal too.
    return found if found and found.startswith(name.lower()) else None


def full_commits(git: Git, names: Collection[str]) -> dict[str, str | None]:
    """Resolve many names with one git process."""
    wanted = [name for name in dict.fromkeys(names) if _COMMIT.fullmatch(name)]
    found: dict[str, str | None] = dict.fromkeys(names)
    asked = "".join(f"{name}^{{commit}}\n" for name in wanted).encode()
    answers = git.run("cat-file", "--batch-check", stdin=asked).decode().splitlines() if wanted else []
    for name, answer in zip(wanted, answers, strict=False):
        commit, _, rest = answer.partition(" ")
        found[name] = commit if rest.startswith("commit ") and commit.startswith(name.lower()) else None
    return found


def resolve_commit(git: Git, name: str) -> str | None:
    """The commit that any name of git's means; None where it means none."""
    if not name or name.startswith("-") or any(char.isspace() or char in "\0:?*[\\" for char in name):
        return None
    return git.commit_named(name)


def default_branch(git: Git) -> str | None:
    """The branch that changes are merged into, as git's name of it: the remote's own, else `main` or `master`."""
    answers = git.run("cat-file", "--batch-check", stdin="".join(f"{name}\n" for name in _DEFAULT_BRANCHES).encode())
    for name, answer in zip(_DEFAULT_BRANCHES, answers.decode("utf-8", "replace").splitlines(), strict=False):
        if " commit " in answer:
            return name
    return None


def common_ancestor(git: Git, *commits: str) -> str | None:
    """The commit where histories parted."""
    return git.run("merge-base", "--octopus", *commits, allow=(0, 1)).decode().split("\n")[0] or None


def is_ancestor(git: Git, commit: str, of: str = "HEAD") -> bool:
    """Whether a commit lies in the past of another. Where the history between is cut off, it does not."""
    return _succeeds(git, "merge-base", "--is-ancestor", commit, of)


def is_on_a_branch(git: Git, commit: str) -> bool:
    """Whether a branch or a tag still leads to a commit; one that only this clone remembers was rewritten."""
    return not git.run("rev-list", "-1", commit, "--not", "--branches", "--remotes", "--tags", "--").strip()


def _succeeds(git: Git, *command: str) -> bool:
    try:
        git.run(*command)
        return True
    except GitRequired as error:
        if not error.details or "exit_code" not in error.details:
            raise
        return False


def is_shallow(git: Git) -> bool:
    return git.run("rev-parse", "--is-shallow-repository", allow=(0, 128)).strip() == b"true"


def changes_between(git: Git, old: str, new: str = "HEAD") -> list[GitFileChange]:
    """Every file that differs between two commits, renames found."""
    return _changes(git, "diff-tree", "-r", "--no-commit-id", ends=(old, new))


def changes_staged(git: Git) -> list[GitFileChange]:
    """Every file that the index has otherwise than the last commit."""
    return _changes(git, "diff-index", "--cached", ends=("HEAD",))


def _changes(git: Git, command: str, *options: str, ends: tuple[str, ...]) -> list[GitFileChange]:
    listing = ("-z", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv")
    options = (*options, *listing, "--no-rename-empty", "--ignore-submodules=all")
    try:
        found = git.run(command, *options, "-M", f"-l{RENAME_LIMIT}", *ends, "--")
    except GitRequired:
        # A partial clone may lack the contents that likeness is measured by; equal ids need none.
        found = git.run(command, *options, "-M100%", *ends, "--")
    return list(_parse_changes(os.fsdecode(found).split("\0")))


def _parse_changes(parts: list[str]) -> Iterable[GitFileChange]:
    words = iter(parts)
    for meta in words:
        if meta:
            yield parse_change(meta, words)


def parse_change(meta: str, words: Iterator[str]) -> GitFileChange:
    """Parse a change from its status letter and the paths after it."""
    _, _, old_id, new_id, how = meta.removeprefix(":").split(" ")
    old = next(words)
    new = next(words) if how[0] in "RC" else old
    return GitFileChange(how[0], old, new, old_id, new_id)


def last_commit(git: Git, paths: Iterable[str], since: str | None) -> str | None:
    """The newest commit after `since` that changed one of these paths."""
    past = [f"^{since}"] if since else []
    return git.run("rev-list", "-1", "HEAD", *past, "--", *paths).decode().strip() or None


def commits_between(git: Git, since: str | None, *, limit: int = 1000, paths: Iterable[str] = ()) -> list[str]:
    """The commits after `since`, newest first; only those that changed one of these paths, where some are given."""
    past = [f"^{since}"] if since else []
    return git.run("rev-list", f"--max-count={limit}", "HEAD", *past, "--", *paths).decode().split()


def describe_commits(git: Git, ids: Iterable[str]) -> dict[str, Commit]:
    """Dates, authors and subjects of commits."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return {}
    return {commit.id: commit for commit, _ in _described(git, "--no-walk=unsorted", *wanted, "--")}


def describe_known(git: Git, names: Iterable[str]) -> dict[str, Commit]:
    """The same by ids as records hold them: whole or cut short, some not in this clone, some no ids at all.

    Empty where git cannot tell.
    """
    wanted = [name for name in dict.fromkeys(names) if _COMMIT.fullmatch(name)]
    if not wanted:
        return {}
    try:
        listed = _described(git, "--no-walk=unsorted", "--ignore-missing", *wanted, "--")
        found = {commit.id: commit for commit, _ in listed}
    except GitRequired:
        return {}
    ids = sorted(found)
    near = {name: ids[bisect_left(ids, name.lower()) :][:1] for name in wanted}
    return {name: found[hit[0]] for name, hit in near.items() if hit and hit[0].startswith(name.lower())}


def newest_commits(git: Git, limit: int) -> list[Commit]:
    """The commits that led to where we are, newest first, at most so many."""
    return [commit for commit, _ in _described(git, f"--max-count={limit}", "HEAD", "--")]


def log_paths(git: Git, paths: Iterable[str], *, limit: int, since: str | None = None) -> list[CommitChanges]:
    """The commits that changed one of these paths, newest first, and what each did to them; renames count as two.

    With `since` only those that are not in the past of that commit.
    Of a merge only paths are reported that are as no parent has them, once for each parent: the rest was told by the
    commits that it joins.
    """
    where = list(paths)
    past = [f"^{since}"] if since else []
    return _with_changes(git, _described(git, f"--max-count={limit}", "HEAD", *past, "--", *where), where)


def changes_in(git: Git, commit: str, paths: Iterable[str]) -> CommitChanges | None:
    """What one commit did to these paths; None where there is no such commit."""
    full = full_commit(git, commit)
    described = _described(git, "--no-walk=unsorted", full, "--") if full else []
    if not described:
        return None
    found = _with_changes(git, described, list(paths))
    return found[0] if found else CommitChanges(described[0][0], ())


def _described(git: Git, *selection: str) -> list[tuple[Commit, int]]:
    """Commits as people know them, each with the number of its parents."""
    found = git.run("rev-list", "--encoding=UTF-8", f"--format={_WITH_PARENTS}", *selection)
    rows = (line.split("\0") for line in found.decode("utf-8", "replace").split("\n"))
    return [(Commit(*fields[:5]), len(fields[5].split())) for fields in rows if len(fields) == 6]


def _with_changes(git: Git, commits: list[tuple[Commit, int]], paths: list[str]) -> list[CommitChanges]:
    if not commits:
        return []
    listing = ("-z", "-r", "-m", "--root", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=all")
    asked = "\n".join(commit.id for commit, _ in commits).encode() + b"\n"
    answer = os.fsdecode(git.run("diff-tree", "--stdin", *listing, "--", *paths, stdin=asked))
    against: dict[str, dict[str, list[GitFileChange]]] = {}
    words = iter(answer.split("\0"))
    current = ""
    for word in words:
        if word.startswith(":"):
            change = parse_change(word, words)
            against.setdefault(current, {}).setdefault(change.new, []).append(change)
        elif word:
            current = word.strip()
    made = []
    for commit, parents in commits:
        found = against.get(commit.id, {})
        kept = tuple(change for changes in found.values() if len(changes) >= parents for change in changes)
        if kept:
            made.append(CommitChanges(commit, kept))
    return made


_SIZE = re.compile(r"^([0-9a-f]+) \w+ (\d+)$", re.MULTILINE)


def read_blobs(
    git: Git, ids: Iterable[str], *, each: int, together: int, kind: Literal["blob", "commit"] = "blob"
) -> dict[str, bytes]:
    """What blobs hold, or commits; one that is larger than `each`, or comes after so much `together`, is left out."""
    wanted = [name for name in dict.fromkeys(ids) if _COMMIT.fullmatch(name) and name.strip("0")]
    found: dict[str, bytes] = {}
    room = together
    while wanted:
        left = iter(wanted)
        with git.stream("cat-file", "--batch", "--buffer", stdin="\n".join(wanted).encode() + b"\n") as answer:
            for name in left:
                words = answer.readline().split()
                if not words:
                    raise GitRequired("git cat-file ended before it answered.")
                size = int(words[2]) if len(words) == 3 and words[2].isdigit() else -1
                if size > min(each, room):
                    break
                data = answer.read(size + 1)[:size]
                if size >= 0 and words[1] == kind.encode():
                    found[name] = data
                    room -= size
        wanted = _that_fit(git, list(left), each, room)
    return found


def _that_fit(git: Git, ids: list[str], each: int, room: int) -> list[str]:
    """Those that are small enough, together, too: what is too large is not read only to be thrown away."""
    sizes = git.run("cat-file", "--batch-check", "--buffer", stdin="\n".join(ids).encode() + b"\n") if ids else b""
    taken = []
    for name, size in _SIZE.findall(sizes.decode("ascii", "replace")):
        if int(size) <= min(each, room):
            taken.append(name)
            room -= int(size)
    return taken


def line_origins(git: Git, path: str, first: int, last: int) -> dict[int, LineOrigin]:
    """For lines of a committed file, the commit that wrote each; changes of white space do not count."""
    wanted = f"-L{first},{last}"
    found = git.run("blame", "--porcelain", "--no-textconv", "-w", wanted, "HEAD", "--", path)
    origins: dict[int, LineOrigin] = {}
    names: dict[str, str] = {}
    pending: list[tuple[int, str, int]] = []
    current = ""
    for line in found.decode("utf-8", "surrogateescape").split("\n"):
        head = re.match(r"([0-9a-f]{40,64}) (\d+) (\d+)", line)
        if head:
            current = head[1]
            pending.append((int(head[3]), current, int(head[2])))
        elif line.startswith("filename "):
            names[current] = _unquoted(line.removeprefix("filename "))
    for number, origin, original in pending:
        origins[number] = LineOrigin(origin, names.get(origin, path), original)
    return origins


def _unquoted(name: str) -> str:
    """A path as git writes it on a line: in quotes, with escapes, where it holds what a line cannot."""
    if not name.startswith('"'):
        return name
    escaped = os.fsencode(name[1:-1])
    return os.fsdecode(escaped.decode("latin-1").encode("latin-1").decode("unicode_escape").encode("latin-1"))


def attributes(git: Git, paths: Iterable[str], names: Iterable[str]) -> dict[str, dict[str, str]]:
    """What `.gitattributes` says of files; an attribute that is not set is left out."""
    listed = b"\0".join(map(os.fsencode, paths))
    if not listed:
        return {}
    words = os.fsdecode(git.run("check-attr", "-z", "--stdin", *names, stdin=listed + b"\0")).split("\0")
    found: dict[str, dict[str, str]] = {}
    for path, name, value in zip(words[::3], words[1::3], words[2::3], strict=False):
        if value not in ("unspecified", "unset", "false"):
            found.setdefault(path, {})[name] = value
    return found


def filtered_paths(git: Git, paths: Iterable[str]) -> list[str]:
    """Files that are stored otherwise than they lie on the disk, by a program that the repository names."""
    return sorted(or_else({}, attributes, git, paths, ["filter", "ident", "working-tree-encoding"]))


def unmerged_below(git: Git, *folders: str) -> list[str]:
    """What a merge left in conflict; nothing where git cannot tell."""
    return or_else([], git.unmerged, list(folders)) if git.available else []


def or_else(otherwise: Answer, ask: Callable[Asked, Answer], *args: Asked.args, **more: Asked.kwargs) -> Answer:
    """What git answers; where it cannot, something else."""
    try:
        return ask(*args, **more)
    except GitRequired:
        return otherwise
