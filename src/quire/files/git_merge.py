"""What git does where branches meet: merge texts, and settings of a clone that say which program merges ours."""

from __future__ import annotations

import os
import re

from quire.files.git import Git
from quire.files.paths import read_or_none
from quire.model.errors import GitRequired

_CONFIG_BYTES = 1024 * 1024
_SECTION = re.compile(rb'^\s*\[\s*merge\s+"quire"\s*\]', re.IGNORECASE | re.MULTILINE)
_MOST_CONFLICTS = 127
"""What git answers where there are as many or more."""


def merge_texts(
    git: Git, base: str, ours: str, theirs: str, *, union: bool = False, marker: int = 7
) -> tuple[bytes, bool] | None:
    """Three files made into one as git does it, and whether a conflict is left in it; None where they are no texts."""
    how = ["--stdout", f"--marker-size={marker}", *(["--union"] if union else [])]
    labels = ["-L", "ours", "-L", "base", "-L", "theirs"]
    started = git.start("merge-file", *how, *labels, ours, base, theirs)
    try:
        # Every exit code up to this one counts conflicts.
        merged = git.finish(started, allow=tuple(range(_MOST_CONFLICTS + 1)))
    except GitRequired:
        return None
    return merged, started.returncode != 0


def read_settings(git: Git, pattern: str) -> dict[str, str]:
    """The settings whose names match, as they hold here: a clone's own count more than a user's."""
    found = git.run("config", "--null", "--get-regexp", pattern, allow=(0, 1))
    pairs = (entry.partition("\n") for entry in os.fsdecode(found).split("\0") if entry)
    return {name: value for name, _, value in pairs}


def write_setting(git: Git, name: str, value: str) -> None:
    """Set one of our settings for this clone, in the file that all its working trees share."""
    git.run("config", "--local", name, value)


def remove_setting(git: Git, name: str) -> None:
    """Take one of our settings out of this clone; one that is not there stays away."""
    git.run("config", "--local", "--unset-all", name, allow=(0, 5))


def names_driver(git: Git, home: str, config_home: str) -> bool:
    """Whether git's files, of the clone or of the user, name our merge driver: looked up without starting git."""
    paths = [os.path.join(git.common_folder(), "config"), os.path.join(git.folder(), "config.worktree")]
    if home:
        paths += [os.path.join(home, ".gitconfig"), os.path.join(config_home or f"{home}/.config", "git/config")]
    return any(_SECTION.search(read_or_none(os.path.realpath(path), _CONFIG_BYTES) or b"") for path in paths)
