"""List the files of forges and of pre-commit, and our parts of each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from quire.clients.integration.types import Part
from quire.clients.integration.whole_files import WholeFile
from quire.clients.integration.yaml_items import YamlItems
from quire.clients.texts.forges import (
    QuireSource,
    comment_workflow,
    fold_workflow,
    gitlab_include,
    gitlab_jobs,
    pre_commit_entry,
    read_source,
    review_workflow,
    source_in,
)
from quire.files.paths import read_bytes

if TYPE_CHECKING:
    from quire.clients.integration.catalogue import PartsOfClient

_NOWHERE = QuireSource("https://-/-/-", "-")
_REVIEW = ".github/workflows/memory-review.yml"
_JOBS = ".gitlab/memory.gitlab-ci.yml"
_HOOKS = ".pre-commit-config.yaml"
_SAYS = {"github": _REVIEW, "gitlab": _JOBS, "pre-commit": _HOOKS}


def forge_parts(one: PartsOfClient) -> Iterator[Part]:
    """What a forge or pre-commit needs, from the source that was named or that the written files name."""
    source = read_source(one.around.source) or written_source(one.around.root, one.client) or _NOWHERE
    if one.client == "github":
        yield one.part("review", _REVIEW, WholeFile(review_workflow(source)))
        yield one.part("comment", ".github/workflows/memory-comment.yml", WholeFile(comment_workflow(source)))
        yield one.part("fold", ".github/workflows/memory-fold.yml", WholeFile(fold_workflow(source)))
    elif one.client == "gitlab":
        yield one.part("jobs", _JOBS, WholeFile(gitlab_jobs(source)))
        yield one.part("include", ".gitlab-ci.yml", YamlItems("include", gitlab_include()))
    else:
        yield one.part("hooks", _HOOKS, YamlItems("repos", pre_commit_entry(source)))


def written_source(root: str, client: str) -> QuireSource | None:
    """Where Quire comes from, as the file that is written for a forge says."""
    try:
        return source_in(read_bytes(os.path.join(root, _SAYS[client])).decode("utf-8", "replace"))
    except OSError:
        return None
