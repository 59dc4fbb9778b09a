"""Explain what changed behind an anchor: how many commits, which changed it most, and whether it is only imports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from quire.anchors.change_causes import SymbolTraces
from quire.anchors.commit_history import CommitHistory
from quire.anchors.minor_change import Minor, minor_change
from quire.anchors.symbols import LIMIT, symbol_text
from quire.files.git import Git
from quire.files.git_history import Commit, GitFileChange, commits_between, describe_commits, read_blobs
from quire.files.paths import read_inside
from quire.model.change_explained import ChangeExplained
from quire.model.errors import GitRequired
from quire.model.text import one_line
from quire.model.times import EPOCH, instant
from quire.upkeep.views.text_diff import line_counts

if TYPE_CHECKING:
    from quire.model.verdicts import AnchorVerdict, Verdict

_COMMITS = 20
"""Of more commits only the newest are measured."""
_TOGETHER = 32 * 1024 * 1024


def explain_changes(root: str, git: Git, verdict: Verdict) -> list[ChangeExplained]:
    """The changed anchors of a record, explained; those of many files by the files that the verdict names."""
    found = []
    for anchor in verdict.anchors:
        if anchor.verdict == "changed" and verdict.since and anchor.files:
            try:
                found.append(_explained(root, git, anchor, verdict.since))
            except (GitRequired, OSError):
                continue  # an explanation is an extra: the verdict stands without it
    return found


def _explained(root: str, git: Git, anchor: AnchorVerdict, since: str) -> ChangeExplained:
    history = CommitHistory(git)
    file, mark, name = anchor.anchor.rpartition("#")
    files = (file,) if mark and file in anchor.files else anchor.files
    name = name if mark and file in anchor.files else ""
    history.follow(files, (since,))
    steps = [(commit, changes) for path in files for commit, changes in history.steps(path, since)]
    if name:
        wanted = set(SymbolTraces(history).commits(file, name, since, "") or ())
        steps = [(commit, changes) for commit, changes in steps if commit in wanted]
    lines = _lines_changed(git, steps, name)
    about = describe_commits(git, lines)
    ordered = [commit for commit, _ in steps if commit in about]
    newest = max(ordered, key=lambda commit: instant(about[commit].date) or EPOCH, default="")
    most = max(ordered, key=lambda commit: lines[commit], default="")
    only: Minor = ""
    if anchor.files_count == 1:
        then = history.tree(since, (files[0],))
        before = _blob(git, then.content(files[0]) if then else None)
        after = read_inside(root, files[0], LIMIT)
        only = minor_change(files[0], before, after, name) if before is not None else ""
    return ChangeExplained(
        anchor=anchor.anchor,
        commits=len(dict.fromkeys(commit for commit, _ in steps)) if anchor.files_count == len(files) else 0,
        most=_short(about, most),
        most_subject=one_line(about[most].subject) if most else "",
        most_lines=lines.get(most, 0),
        last=_short(about, newest),
        last_subject=one_line(about[newest].subject) if newest else "",
        only=only,
    )


def _short(about: dict[str, Commit], commit: str) -> str:
    return about[commit].short if commit else ""


def _blob(git: Git, content: str | None) -> bytes | None:
    return read_blobs(git, [content], each=LIMIT, together=_TOGETHER).get(content) if content else None


def _lines_changed(git: Git, steps: Iterable[tuple[str, list[GitFileChange]]], name: str) -> dict[str, int]:
    """How many lines each commit changed: of the definition, or of the files."""
    measured = list(steps)[:_COMMITS]
    wanted = [content for _, changes in measured for one in changes[:1] for content in (one.old_id, one.new_id)]
    blobs = read_blobs(git, [content for content in wanted if content.strip("0")], each=LIMIT, together=_TOGETHER)
    found: dict[str, int] = {}
    for commit, changes in measured:
        for change in changes[:1]:
            old, new = (_text(change.new, blobs.get(content, b""), name) for content in (change.old_id, change.new_id))
            found[commit] = found.get(commit, 0) + max(line_counts(old, new))
    return found


def _text(path: str, data: bytes, name: str) -> str:
    part = symbol_text(path, data, name) if name else (0, data)
    return part[1].decode("utf-8", "replace") if part else ""


def is_changed_only_by(git: Git, verdict: Verdict, commit: str) -> bool:
    """Whether this commit alone made a record out of date: nothing else changed its code, committed or not."""
    changed = [anchor for anchor in verdict.anchors if anchor.verdict != "fresh"]
    if verdict.verdict != "changed" or not verdict.since or any(anchor.verdict != "changed" for anchor in changed):
        return False
    return all(not anchor.dirty and _commits_of(git, anchor, verdict.since) == [commit] for anchor in changed)


def _commits_of(git: Git, anchor: AnchorVerdict, since: str) -> list[str]:
    file, mark, _ = anchor.anchor.rpartition("#")
    if mark and file in anchor.files:
        return list(anchor.commits) or [anchor.commit]
    if anchor.files_count > len(anchor.files):
        return []
    return commits_between(git, since, limit=2, paths=anchor.files)
