"""Explain a line of code: the commits that wrote it, and the records saved with them."""

from __future__ import annotations

import os
import re

import msgspec

from quire.anchors.commit_history import CommitHistory
from quire.anchors.reach import Reach, inner_path, reach_below
from quire.anchors.symbols import LIMIT, find_symbol, read_symbols
from quire.anchors.working_tree import read_working_tree
from quire.files.git import Git
from quire.files.git_history import Commit, GitFileChange, commits_between, describe_commits, line_origins
from quire.files.json_files import decode_object
from quire.files.paths import read_inside
from quire.index.catalog import Index
from quire.layers.graph.layout import FOLDER, NODES
from quire.model.errors import GitRequired, InputError
from quire.model.text import one_line
from quire.upkeep.views.text_diff import same_ends

_PLACE = re.compile(r"(?P<path>.+):(?P<line>[0-9]{1,9})", re.DOTALL)
_SOURCE_BYTES = 8_000_000
_COMMITS = 5
_EXACT = 4_000_000
"""How many pairs of lines may be compared; of more, lines that are everywhere do not count."""
_CHANGES = {"A": "created", "D": "deleted"}


class SaveInCommit(msgspec.Struct, frozen=True):
    """A node that a commit brought, changed or took away."""

    commit: str
    ref: str
    title: str
    change: str


class Background(msgspec.Struct, frozen=True, kw_only=True):
    """A file, or one line of it, with the commits behind it."""

    path: str
    line: int | None = None
    text: str | None = None
    committed: bool = True
    """False where the line, or the whole file, is in no commit yet."""
    origin: dict[str, object] | None = None
    """Where the line stood in the commit that wrote it."""
    commits: list[Commit] = []
    saves: list[SaveInCommit] = []
    note: str = ""
    """Why there is no history, where there is none."""


def place_of(root: str, cwd: str, text: str) -> tuple[str, int | None]:
    """The file and the line that `path:line` names. A file may have a colon in its name."""
    found = _PLACE.fullmatch(text)
    if found and not _exists(root, cwd, found["path"]) and _PLACE.fullmatch(found["path"]):
        found = _PLACE.fullmatch(found["path"])  # as compilers write it, with a column behind the line
    if found and not _exists(root, cwd, text):
        path, line = inner_path(root, cwd, found["path"]), int(found["line"])
        if line < 1:
            raise InputError("Lines are counted from 1.", details={"field": "place"})
    else:
        path, line = inner_path(root, cwd, text), None
    full = os.path.join(root, path)
    if not os.path.lexists(full):
        raise InputError(
            f"`{path}` does not exist.",
            hint="Name a file of this project, as path or path:line.",
            details={"field": "place"},
        )
    if line is not None and not os.path.isfile(full):
        raise InputError(f"`{path}` is not a file, so it has no lines.", details={"field": "place"})
    return path, line


def reach_of(root: str, path: str, line: int | None) -> Reach:
    """What finds the records about a place: of definitions those that span the line."""

    def spans(file: str, name: str) -> bool:
        try:
            symbols = read_symbols(file, read_inside(root, file, LIMIT), [name])
        except OSError:
            return True
        symbol = find_symbol(symbols, name) if isinstance(symbols, list) else None
        return symbol.first_line <= (line or 0) <= symbol.last_line if symbol else not isinstance(symbols, list)

    return reach_below(root, [path], spans if line is not None else None)


def _exists(root: str, cwd: str, path: str) -> bool:
    return os.path.lexists(os.path.join(cwd, path)) or os.path.lexists(os.path.join(root, path))


def background_of(root: str, git: Git, index: Index, path: str, line: int | None) -> Background:
    lines = _lines(root, path) if line is not None else []
    if line is not None and line > len(lines):
        raise InputError(
            f"`{path}` has {len(lines)} lines; there is no line {line}.",
            hint=f"Ask for the whole file: memory why {path}",
            details={"field": "place", "lines": len(lines)},
        )
    text = lines[line - 1].decode("utf-8", "replace") if line is not None else None
    try:
        return _from_history(git, index, path, line, lines, text)
    except GitRequired as error:
        return Background(path=path, line=line, text=text, committed=False, note=error.message)


def _from_history(
    git: Git, index: Index, path: str, line: int | None, lines: list[bytes], text: str | None
) -> Background:
    if git.head() is None:
        return Background(path=path, line=line, text=text, committed=False, note="there is no commit yet")
    origin: dict[str, object] | None = None
    if line is None:
        ids = commits_between(git, None, limit=_COMMITS, paths=[path])
    else:
        then = _line_in_commit(git, path, line, lines)
        found = line_origins(git, path, then, then).get(then) if then else None
        origin = {"commit": found.commit, "path": found.path, "line": found.line} if found else None
        ids = [found.commit] if found else []
    described = describe_commits(git, ids)
    commits = [described[commit] for commit in ids if commit in described]
    return Background(
        path=path,
        line=line,
        text=text,
        committed=bool(ids),
        origin=origin,
        commits=commits,
        saves=_saves(git, index, ids),
        note="" if ids else "not committed yet",
    )


def _lines(root: str, path: str) -> list[bytes]:
    try:
        data = read_inside(root, path, _SOURCE_BYTES)
    except OSError as error:
        reason = (error.strerror or "it cannot be read").lower()
        raise InputError(f"`{path}` cannot be read line by line: {reason}.", details={"field": "place"}) from None
    if b"\0" in data[:8000]:
        raise InputError(f"`{path}` is not text, so it has no lines.", details={"field": "place"})
    found = data.replace(b"\r\n", b"\n").split(b"\n")
    return found[:-1] if found[-1] == b"" else found


def _line_in_commit(git: Git, path: str, line: int, lines: list[bytes]) -> int | None:
    """The line's number in the last commit; None where it is not there. Edits above it have moved it."""
    held = git.committed([path]).get(path)
    if held is None:
        return None
    tree = read_working_tree(git.root, git, (path,))
    if tree.content(path) == held.id:
        return line
    before = git.blob(held.id).replace(b"\r\n", b"\n").split(b"\n")
    return _same_line(before[:-1] if before[-1] == b"" else before, lines, line)


def _same_line(before: list[bytes], after: list[bytes], line: int) -> int | None:
    """Where a line stood before; most of a file is the same from its beginning, or from its end."""
    top, end = same_ends(before, after)
    if line <= top:
        return line
    if line > len(after) - end:
        return line - len(after) + len(before)
    from difflib import SequenceMatcher

    old, new = before[top : len(before) - end], after[top : len(after) - end]
    exact = len(old) * len(new) <= _EXACT
    for block in SequenceMatcher(None, old, new, autojunk=not exact).get_matching_blocks():
        if block.b < line - top <= block.b + block.size:
            return block.a + line - block.b
    return None


def _saves(git: Git, index: Index, commits: list[str]) -> list[SaveInCommit]:
    """The nodes that these commits wrote."""
    past = CommitHistory(git)
    found: dict[tuple[str, str], SaveInCommit] = {}
    for commit in commits:
        for change in past.changes_in(commit):
            path = change.new if change.how != "D" else change.old
            if path.startswith(f"{FOLDER}/{NODES}/") and path.endswith((".json", ".md")):
                save = _save(git, index, commit, path, change)
                if save and ((commit, save.ref) not in found or path.endswith(".json")):
                    found[commit, save.ref] = save
    return sorted(found.values(), key=lambda save: (commits.index(save.commit), save.ref))


def _save(git: Git, index: Index, commit: str, path: str, change: GitFileChange) -> SaveInCommit | None:
    how = _CHANGES.get(change.how, "updated")
    record = index.find_path(path.removeprefix(f"{FOLDER}/"))
    if record is not None:
        return SaveInCommit(commit, record.ref, one_line(record.title), how)
    if not path.endswith(".json"):
        return None
    try:
        fields = decode_object(git.blob(change.old_id if change.how == "D" else change.new_id))
    except (ValueError, GitRequired):
        return None
    ref, title = fields.get("id"), fields.get("title")
    return SaveInCommit(commit, ref, one_line(str(title)), how) if isinstance(ref, str) else None
