"""What Entire's checkpoints learned: the summaries of sessions on its branch `entire/checkpoints/v1`.

Each checkpoint is a folder `ab/cdef012345/` with one numbered folder per session, whose `metadata.json` may hold a
summary: {"learnings": {"repo": [], "code": [{"path": "", "finding": ""}], "workflow": []}, "open_items": []}. The
transcripts beside it are not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from quire.capture.hosts.structured_proposals import StructuredCollector, sentence, text_of
from quire.capture.hosts.types import FILE_BYTES, HostRead, HostSource
from quire.files.git import Git
from quire.files.git_history import read_blobs
from quire.files.json_files import json_value
from quire.model.errors import QuireError
from quire.model.untyped import as_dict, as_list

_KIND = "entire"
SHOWN = "entire/checkpoints/v1"
_REFS = (f"refs/heads/{SHOWN}", f"refs/remotes/origin/{SHOWN}")
_METADATA = re.compile(r"[0-9a-f]{2}/[0-9a-f]{10}(?:/\d{1,3})?/metadata\.json")
_FILES_MOST = 300


def find_entire(root: str, home: str, env: Mapping[str, str]) -> list[HostSource]:  # noqa: ARG001
    """The branch, where the repository has it."""
    git = Git(root, env)
    if not git.available or not _ref(git):
        return []
    return [HostSource(kind=_KIND, path=os.path.join(root, ".git", SHOWN), shown=SHOWN, scope="project", size=0)]


def read_checkpoints(source: HostSource, git: Git, now: str) -> HostRead:
    """Facts of what was learned, and what was left open; each once."""
    found = StructuredCollector(source, now)
    for summary in _summaries(git):
        learned = as_dict(summary.get("learnings"))
        for name in ("repo", "workflow"):
            for text in _texts(learned.get(name)):
                _add(found, "Patterns & Conventions", text)
        for item in as_list(learned.get("code")):
            finding, path = text_of(as_dict(item).get("finding")), text_of(as_dict(item).get("path"))
            _add(found, "Architecture", f"{sentence(finding)} (`{path}`)" if finding and path else finding)
        for text in _texts(summary.get("open_items")):
            if found.may_pass(text, 1):
                found.note(text, 1)
    return found.read()


def _add(found: StructuredCollector, section: str, text: str) -> None:
    if text and found.may_pass(text, 1):
        found.fact(section, text, ["entire"], 1)


def _texts(value: Any) -> list[str]:
    return [text for item in as_list(value) if (text := text_of(item))]


def _ref(git: Git) -> str:
    for ref in _REFS:
        try:
            if git.run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", allow=(0, 1, 128)).strip():
                return ref
        except QuireError:
            continue
    return ""


def _summaries(git: Git) -> Iterator[dict[str, Any]]:
    ref = _ref(git)
    if not ref:
        return
    listed = git.run("ls-tree", "-r", "-z", "--full-tree", ref).decode("utf-8", "replace").split("\0")
    wanted = [row.partition("\t")[0].split()[2] for row in listed if _METADATA.fullmatch(row.partition("\t")[2])]
    try:
        blobs = read_blobs(git, wanted[:_FILES_MOST], each=FILE_BYTES, together=_FILES_MOST * FILE_BYTES)
    except QuireError:
        return  # a partial clone lacks them, and nothing is fetched
    for data in blobs.values():
        summary = as_dict(json_value(data)).get("summary")
        if isinstance(summary, dict):
            yield summary
