"""Diff the memory folders against the last commit: staged, unstaged and untracked files as one diff.

Made here from git's blobs and the files themselves: `git diff` would run the filters and drivers
that a repository names, and says nothing of untracked files.
"""

from __future__ import annotations

import os

import msgspec

from quire.files.git import Git
from quire.files.git_snapshot import Blob, differs
from quire.files.paths import read_or_none
from quire.layers.protocol import Site
from quire.layers.table import HOMES, LAYERS, layer_of_file, tracked_paths

_FILE_BYTES = 512 * 1024 * 1024
"""A larger file is not read."""


class ChangedFile(msgspec.Struct, frozen=True):
    """One file that differs, and in which way."""

    path: str
    change: str
    """added, modified or deleted, against the last commit"""
    staged: bool
    unstaged: bool
    untracked: bool


class Changes(msgspec.Struct, kw_only=True):
    diff: str
    files: list[ChangedFile]
    changed_files: list[str]
    untracked_files: list[str]
    records: dict[str, list[str]]
    """Which records changed, by the lists of the layers; of one that did not, an empty list."""


def uncommitted_changes(site: Site) -> Changes:
    """Everything of the memory that is not as the last commit has it, with the pages that are made of it."""
    git = site.git
    ours = [*tracked_paths(), *(layer.page_folder for layer in LAYERS if layer.page_folder)]
    committed, staged = git.committed(ours), git.staged(ours)
    untracked = set(git.untracked(ours))
    files: list[ChangedFile] = []
    diffs: list[str] = []
    records: dict[str, dict[str, None]] = {name: {} for layer in LAYERS for name in layer.changed_lists}
    generated = {f"{home.folder}/{name}" for home in HOMES for name in home.generated}
    for path in sorted({*committed, *staged, *untracked, *git.unmerged(ours)}):
        if "/".join(path.split("/")[:2]) in generated:
            continue
        found = _changed(git, path, committed.get(path), staged.get(path), path in untracked)
        if found is None:
            continue
        file, before, after = found
        files.append(file)
        diffs.append(_diff(path, before, after))
        layer = layer_of_file(path)
        for name, changed in layer.changed(site, path, before, after).items() if layer is not None else ():
            # Each record once, though two of its files may have changed.
            records[name].update(dict.fromkeys(changed))
    return Changes(
        diff="".join(diffs),
        files=files,
        changed_files=[file.path for file in files if not file.untracked],
        untracked_files=[file.path for file in files if file.untracked],
        records={name: sorted(changed) for name, changed in records.items()},
    )


def _changed(
    git: Git, path: str, committed: Blob | None, staged: Blob | None, untracked: bool
) -> tuple[ChangedFile, bytes | None, bytes | None] | None:
    working = read_or_none(os.path.join(git.root, path), _FILE_BYTES)
    reference = staged or committed
    unstaged = differs(working, staged) if not untracked else False
    is_staged = not untracked and (staged.id if staged else None) != (committed.id if committed else None)
    if not (untracked or unstaged or is_staged) or (reference is None and working is None):
        return None
    before = git.blob(committed.id) if committed else None
    after = working
    if before == after and staged is not None:
        after = git.blob(staged.id)  # staged one way and edited back: show what a commit would record
    change = "added" if before is None else "deleted" if after is None else "modified"
    return ChangedFile(path, change, is_staged, unstaged, untracked), before, after


def _diff(path: str, before: bytes | None, after: bytes | None) -> str:
    from difflib import unified_diff

    old, new = (_lines(data) for data in (before, after))
    header = f"diff --git a/{path} b/{path}\n"
    header += "new file\n" if before is None else "deleted file\n" if after is None else ""
    source = "/dev/null" if before is None else f"a/{path}"
    target = "/dev/null" if after is None else f"b/{path}"
    body = [
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in unified_diff(old, new, source, target)
    ]
    return header + "".join(body)


def _lines(data: bytes | None) -> list[str]:
    if not data:
        return []
    # Only line feeds end a line here: str.splitlines would also split at characters that prose may hold.
    parts = data.decode("utf-8", "replace").split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
