"""Find files that a sparse checkout keeps out of the working tree."""

from __future__ import annotations

import os
from collections.abc import Iterable

from quire.files.git import Git
from quire.model.errors import NotReady, QuireError

_RULES = os.path.join("info", "sparse-checkout")


def hidden_files(git: Git, folders: Iterable[str]) -> list[str]:
    """The files in these folders that a sparse checkout leaves out; cheap where there is no sparse checkout."""
    if not git.available or not os.path.exists(os.path.join(git.folder(), _RULES)):
        return []
    try:
        listed = git.run("ls-files", "-t", "-z", "--", *folders)
    except QuireError:
        return []  # a repository that cannot be asked is for whoever needs it to tell of
    names = (os.fsdecode(entry[2:]) for entry in listed.split(b"\0") if entry.startswith(b"S "))
    return sorted(name for name in names if not os.path.lexists(os.path.join(git.root, name)))


def refuse_hidden(git: Git, folders: Iterable[str]) -> None:
    """Nothing is answered or written as if files were not there that are only hidden."""
    hidden = hidden_files(git, folders)
    if not hidden:
        return
    from shlex import quote

    rest = f" and {len(hidden) - 1:,} more" if len(hidden) > 1 else ""
    raise NotReady(
        f"A sparse checkout hides files of the memory: `{hidden[0]}`{rest}.",
        hint=f"`git sparse-checkout add {' '.join(map(quote, _rules_for(git, hidden)))}` restores them.",
        details={"hidden": len(hidden)},
    )


def _rules_for(git: Git, hidden: list[str]) -> list[str]:
    """What to add so that these files come back: whole folders, or where the rules are patterns, all files of some."""
    tops = {name.split("/")[0] for name in hidden}
    kept = set() if _has_cones(git) else {top for top in tops if os.path.isdir(os.path.join(git.root, top))}
    within = {os.path.dirname(name) for name in hidden if name.split("/")[0] in kept}
    return sorted([*(tops - kept), *(f"/{folder}/*" for folder in within)])


def _has_cones(git: Git) -> bool:
    found = git.run("config", "--get-regexp", r"^core\.sparsecheckoutcone$", allow=(0, 1))
    return found.strip().lower().endswith(b"true")
