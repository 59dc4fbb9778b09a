"""The current focus of a project, from its commits, its changelog and its recently changed files."""

from __future__ import annotations

import re
from collections.abc import Iterable

from quire.capture.repository.clean_text import said
from quire.capture.repository.git_activity import GitActivity
from quire.capture.repository.manifests import PackageManifest
from quire.capture.repository.scan import ProjectScan, is_source
from quire.capture.repository.tree import read_beginning
from quire.layers.journal.layout import NONE

_FOLDERS_SAID = 3
_FOLDERS_LISTED = 5
_SUBJECTS = 3
_STATE_CHARS = 400
_FIXMES_MOST = 4
_FIXME_FILES = 100
_FIXME_BYTES = 64 * 1024
_BESIDE = frozenset(["__tests__", "fixtures", "spec", "test", "testdata", "tests"])
_MARKS = "FIXME|XXX|HACK"
_FIXME = re.compile(
    rf"^[ \t]*(?:#|//|/\*|\*|--|;|<!--)[ \t]*({_MARKS})\b(?:\([^()\n]{{0,60}}\))?[ \t]*[:–-]?[ \t]*(\S[^\n]{{2,300}})",
    re.M,
)
_BUILT_SUMMARY = re.compile(r"On branch `[^`]+`,|On no branch,")
_BUILT = re.compile(rf"{_BUILT_SUMMARY.pattern}|Commits in `|Version \S[^()]* \([^()]+\)\.\Z|Unreleased\b")
_BUILT_RISK = re.compile(rf"(?:{_MARKS}) in `")


def focus_summary(story: GitActivity) -> str:
    """One sentence on the branch and the last commits; the word for none where there is no repository."""
    if not story.is_repository:
        return NONE
    where = f"On branch `{story.branch}`" if story.branch else "On no branch"
    if not story.count:
        return f"{where}, nothing is committed yet."
    days = story.last_day if story.first_day == story.last_day else f"{story.first_day} to {story.last_day}"
    counted = "the last commit" if story.count == 1 else f"the last {story.count} commits"
    changed = [f"`{line.folder}` ({len(line.subjects)})" for line in story.lines[:_FOLDERS_SAID]]
    about = f" changed mostly {', '.join(changed)}" if changed else ""
    latest = f"the latest is “{story.latest}”" if story.latest else ""
    told = f"{about}; {latest}" if about and latest else about or (f": {latest}" if latest else "")
    return f"{where}, {counted} ({days}){told}."


def current_state(scan: ProjectScan, story: GitActivity, unreleased: tuple[str, ...]) -> list[str]:
    """Lines that each begin in a way by which `is_built_state` knows them again."""
    found = [
        said(f"Commits in `{line.folder}`: {'; '.join(line.subjects[:_SUBJECTS])}", _STATE_CHARS)
        for line in story.lines[:_FOLDERS_LISTED]
    ]
    found += unreleased
    return [*found, *_version(scan.manifests.values())]


def _version(manifests: Iterable[PackageManifest]) -> list[str]:
    found = ((said(manifest.version, 60), manifest.path) for manifest in manifests)
    return [f"Version {version} ({path})." for version, path in found if version][:1]


def is_built_state(text: str) -> bool:
    """Whether a line of state was made from the files: a newer look at the files replaces it."""
    return _BUILT.match(text) is not None


def is_built_summary(text: str) -> bool:
    """Whether this is the sentence on the branch and its commits."""
    return _BUILT_SUMMARY.match(text) is not None


def is_built_risk(text: str) -> bool:
    return _BUILT_RISK.match(text) is not None


def marked_risks(scan: ProjectScan, story: GitActivity) -> list[str]:
    """What the sources that were changed last mark as broken, in the words of the mark."""
    found: list[str] = []
    sources = [path for path in story.touched if is_source(path) and _BESIDE.isdisjoint(path.split("/"))]
    for path in sources[:_FIXME_FILES]:
        for mark in _FIXME.finditer(read_beginning(scan.tree, path, _FIXME_BYTES)):
            words = said(mark[2].removesuffix("*/").removesuffix("-->"))
            if words:
                found.append(f"{mark[1]} in `{path}`: {words}")
            if len(found) == _FIXMES_MOST:
                return found
    return found
