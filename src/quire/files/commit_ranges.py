"""Read ranges of commits with one git process each: one per commit would take seconds."""

from __future__ import annotations

import os
from collections.abc import Iterable

from quire.files.git import Git
from quire.files.git_history import RENAME_LIMIT, GitFileChange, parse_change


def parents_after(git: Git, base: str | None, tips: Iterable[str], limit: int) -> dict[str, list[str]]:
    """The parents of every commit that led to these and is not in the past of `base`; of at most so many commits."""
    past = [f"^{base}"] if base else []
    rows = git.run("rev-list", "--parents", f"--max-count={limit}", *tips, *past, "--").decode().splitlines()
    return {commit: parents for commit, *parents in map(str.split, rows)}


def changes_since(git: Git, commits: Iterable[str]) -> dict[str, list[GitFileChange]]:
    """For each of these commits every file that differs in the last one, renames found; asked at once.

    One whose tree is not here, or cannot be compared, is left out.
    """
    wanted = list(dict.fromkeys(commits))
    asked = "".join(f"{name}^{{tree}}\n" for name in (*wanted, "HEAD")).encode()
    rows = [row.split(" ") for row in git.run("cat-file", "--batch-check", stdin=asked).decode().splitlines()]
    trees = [row[0] if row[1:2] == ["tree"] else "" for row in rows]
    if len(trees) != len(wanted) + 1 or not trees[-1]:
        return {}
    pairs = "".join(f"{tree} {trees[-1]}\n" for tree in dict.fromkeys(trees[:-1]) if tree)
    listing = ("-z", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--no-rename-empty")
    options = ("-r", *listing, "--ignore-submodules=all", "-M", f"-l{RENAME_LIMIT}", "--stdin")
    words = iter(os.fsdecode(git.run("diff-tree", *options, stdin=pairs.encode())).split("\0"))
    found: dict[str, list[GitFileChange]] = {}
    current: list[GitFileChange] = []
    for word in words:
        *heads, meta = word.split("\n")
        # Before the changes of each pair, its two trees are reported, on a line of their own.
        for head in heads:
            current = found.setdefault(head.partition(" ")[0], [])
        if meta:
            current.append(parse_change(meta, words))
    return {name: found[tree] for name, tree in zip(wanted, trees, strict=False) if tree in found}


def touched_since(git: Git, since: str | None, limit: int) -> dict[str, str]:
    """For every path that a commit after `since` changed, the newest such commit; of at most so many commits."""
    commits = git.run(
        "rev-list", f"--max-count={limit}", "--no-merges", "HEAD", *([f"^{since}"] if since else []), "--"
    )
    listing = ("-r", "-z", "--raw", "--root", "--no-renames", "--ignore-submodules=all")
    words = iter(os.fsdecode(git.run("diff-tree", "--stdin", *listing, stdin=commits)).split("\0"))
    newest: dict[str, str] = {}
    commit = ""
    for word in words:
        if word.startswith(":"):
            newest.setdefault(next(words), commit)
        elif word:
            commit = word.strip()
    return newest


def messages_between(git: Git, old: str, new: str, limit: int) -> list[tuple[str, str]]:
    """The messages of the commits that led to `new` and are not in the past of `old`: ids and texts, newest first."""
    form = ("--encoding=UTF-8", "--format=%H%x00%B%x00")
    found = git.run("rev-list", f"--max-count={limit}", *form, new, f"^{old}", "--")
    words = found.decode("utf-8", "replace").split("\0")
    return [(head.strip().rpartition("\n")[2], text) for head, text in zip(words[::2], words[1::2], strict=False)]
