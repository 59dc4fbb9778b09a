"""What differs from the last commit in a memory folder: staged, unstaged and untracked, as one diff.

Made here from git's blobs and the files themselves: `git diff` would run the filters and drivers
that a repository names, and says nothing of untracked files.
"""

from __future__ import annotations

import os

import msgspec

from quire.files.digests import is_blob
from quire.files.git import Blob, Git
from quire.files.json_files import decode_object
from quire.files.paths import read_bytes
from quire.layers.facts.layout import FILE, FILE_BYTES
from quire.layers.facts.normalize import changed_ids
from quire.layers.graph.layout import FOLDER, GENERATED, NODES, RELATIONS
from quire.layers.journal.changed import changed_parts
from quire.layers.journal.layout import FOLDER as JOURNAL_FOLDER
from quire.layers.journal.layout import IGNORED, PROJECTIONS
from quire.layers.profile.changed import changed_entries
from quire.layers.profile.layout import FILE as PROFILE_FILE
from quire.layers.profile.layout import FOLDER as PROFILE_FOLDER

_PROFILE = f"{PROFILE_FOLDER}/{PROFILE_FILE}"
_OURS = [FOLDER, _PROFILE, JOURNAL_FOLDER, PROJECTIONS]
_LEFT_OUT = tuple(IGNORED)


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
    changed_memory_ids: list[str]
    changed_relation_ids: list[str]
    changed_fact_ids: list[str]
    changed_profile_entries: list[str]
    changed_journal_refs: list[str]


def uncommitted_changes(git: Git) -> Changes:
    """Everything of the memory that is not as the last commit has it: all of `.memory/`, the profile, the journal."""
    committed, staged = git.committed(_OURS), git.staged(_OURS)
    untracked = set(git.untracked(_OURS))
    unmerged = set(git.unmerged(_OURS))
    files: list[ChangedFile] = []
    diffs: list[str] = []
    ids: dict[str, set[str]] = {NODES: set(), RELATIONS: set()}
    facts: list[str] = []
    entries: list[str] = []
    journal: list[str] = []
    for path in sorted({*committed, *staged, *untracked, *unmerged}):
        if (path.startswith(f"{FOLDER}/") and _top(path) in GENERATED) or path.startswith(_LEFT_OUT):
            continue
        found = _changed(git, path, committed.get(path), staged.get(path), path in untracked)
        if found is None:
            continue
        file, before, after = found
        files.append(file)
        diffs.append(_diff(path, before, after))
        if path == f"{FOLDER}/{FILE}":
            facts = changed_ids(before or b"", after or b"")
        elif path == _PROFILE:
            entries = changed_entries(before, after)
        elif path.startswith(f"{JOURNAL_FOLDER}/"):
            journal += changed_parts(path.removeprefix(f"{JOURNAL_FOLDER}/"), before, after)
        if path.startswith(f"{FOLDER}/"):
            _note_id(git.root, path, before if after is None else after, ids)
    return Changes(
        diff="".join(diffs),
        files=files,
        changed_files=[file.path for file in files if not file.untracked],
        untracked_files=[file.path for file in files if file.untracked],
        changed_memory_ids=sorted(ids[NODES]),
        changed_relation_ids=sorted(ids[RELATIONS]),
        changed_fact_ids=facts,
        changed_profile_entries=entries,
        changed_journal_refs=journal,
    )


def _top(path: str) -> str:
    """The first name below the memory folder; empty where the folder itself has become a file or a link."""
    return path.partition("/")[2].partition("/")[0]


def _changed(
    git: Git, path: str, committed: Blob | None, staged: Blob | None, untracked: bool
) -> tuple[ChangedFile, bytes | None, bytes | None] | None:
    working = _working(os.path.join(git.root, path))
    reference = staged or committed
    unstaged = _differs(working, staged) if not untracked else False
    is_staged = not untracked and (staged.id if staged else None) != (committed.id if committed else None)
    if not (untracked or unstaged or is_staged) or (reference is None and working is None):
        return None
    before = git.blob(committed.id) if committed else None
    after = working
    if before == after and staged is not None:
        after = git.blob(staged.id)  # staged one way and edited back: show what a commit would record
    change = "added" if before is None else "deleted" if after is None else "modified"
    return ChangedFile(path, change, is_staged, unstaged, untracked), before, after


def _differs(working: bytes | None, blob: Blob | None) -> bool:
    if working is None or blob is None:
        return (working is None) != (blob is None)
    return not is_blob(working, blob.id)


def _working(path: str) -> bytes | None:
    try:
        return read_bytes(path, FILE_BYTES)
    except OSError:
        return None


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


def _note_id(root: str, path: str, data: bytes | None, ids: dict[str, set[str]]) -> None:
    """The id that a changed file belongs to; a body's stands in the sidecar beside it."""
    folder = _top(path)
    if path.endswith(".md"):
        data = _working(os.path.join(root, path.removesuffix(".md") + ".json"))
    if data is None or folder not in ids:
        return
    try:
        found = decode_object(data).get("id")
    except ValueError:
        return
    if isinstance(found, str):
        ids[folder].add(found)
