"""Tell whether the working tree is on the branch that others merge into.

Nothing that every branch would write is written elsewhere. The answer comes from the repository's files, since every
save asks; git is started only where it keeps its references in another form.

The default branch is what the setting names; else what the remote's HEAD points to; else the remote's `main` or
`master`; else its only branch. Where nothing of this is known, and where there is no remote or no git, every branch
counts as the default one. A detached HEAD is on no branch, unless the CI system says which branch it builds.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Protocol

import msgspec

from quire.files.git import Git, keeps_refs_elsewhere
from quire.files.layout import CONFIG, MEMORY
from quire.files.paths import read_inside
from quire.files.world import World
from quire.model.config import Settings, settings_in

_HEADS = "refs/heads/"
_REMOTES = "refs/remotes/"
_USUAL = ("main", "master")
_ORIGIN = "origin"
_BUILT = ("CI_COMMIT_BRANCH", "GITHUB_REF")
"""Where a CI system names the branch that it builds: GitLab, GitHub."""
_BYTES = 4096
_CONFIG_BYTES = 1024 * 1024
_PACKED_BYTES = 16 * 1024 * 1024


class Checkout(Protocol):
    """A working tree with a memory."""

    root: str
    world: World
    git: Git


class PlainCheckout(msgspec.Struct):
    """A working tree for who holds nothing but its root."""

    root: str
    world: World
    git: Git


def checkout_at(root: str, world: World) -> PlainCheckout:
    return PlainCheckout(root, world, Git(root, world.env))


def branch_settings(root: str) -> Settings:
    """The settings in the memory's configuration; the usual ones where it cannot be read."""
    try:
        return settings_in(read_inside(root, f"{MEMORY}/{CONFIG}", _CONFIG_BYTES))
    except OSError:
        return Settings()


def writes_fragments(checkout: Checkout) -> bool:
    """Whether what is appended to a log here goes into a fragment of it."""
    settings = branch_settings(checkout.root)
    return settings.fragments == "branches" and not _is_on_default(checkout, settings)


def writes_map(checkout: Checkout) -> bool:
    """Whether a save writes the product map into the instruction files here."""
    settings = branch_settings(checkout.root)
    return settings.map == "always" or (settings.map == "default-branch" and _is_on_default(checkout, settings))


def _is_on_default(checkout: Checkout, settings: Settings) -> bool:
    return is_on_default_branch(checkout.git, checkout.world.env, settings.default_branch)


def is_on_default_branch(git: Git, env: Mapping[str, str], named: str = "") -> bool:
    """Whether what every branch would write may be written here; `named` is the setting."""
    if not git.available:
        return True
    default = named or default_branch_name(git)
    return not default or current_branch(git, env) == default


def current_branch(git: Git, env: Mapping[str, str]) -> str:
    """The branch by its short name, also before its first commit; empty where HEAD is detached."""
    head = _line(os.path.join(git.folder(), "HEAD"))
    if keeps_refs_elsewhere(head):
        return git.branch() or _built(env)
    return head.removeprefix(f"ref: {_HEADS}") if head.startswith(f"ref: {_HEADS}") else _built(env)


def default_branch_name(git: Git) -> str:
    """The short name of the remote's default branch; empty where no remote's branch is known."""
    if keeps_refs_elsewhere(_line(os.path.join(git.folder(), "HEAD"))):
        return _of_remote(_listed_by_git(git))
    common = git.common_folder()
    return _of_remote({**_packed(common), **_loose(common)})


def _of_remote(refs: Mapping[str, str]) -> str:
    """The default branch among a remote's references, which are named without `refs/remotes/`."""
    remotes = {name.partition("/")[0] for name in refs}
    remote = _ORIGIN if _ORIGIN in remotes else next(iter(remotes)) if len(remotes) == 1 else ""
    if not remote:
        return ""
    target = refs.get(f"{remote}/HEAD", "").removeprefix("ref: ").removeprefix(f"{_REMOTES}{remote}/")
    branches = {name.partition("/")[2] for name in refs if name.startswith(f"{remote}/")} - {"HEAD"}
    if target in branches:
        return target
    usual = next((name for name in _USUAL if name in branches), "")
    return usual or (branches.pop() if len(branches) == 1 else "")


def _packed(common: str) -> dict[str, str]:
    refs = (line.partition(" ")[2] for line in _line(os.path.join(common, "packed-refs"), _PACKED_BYTES).splitlines())
    return dict.fromkeys((ref.removeprefix(_REMOTES) for ref in refs if ref.startswith(_REMOTES)), "")


def _loose(common: str) -> dict[str, str]:
    top = os.path.join(common, _REMOTES)
    found = {}
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            ref = os.path.relpath(path, top).replace(os.sep, "/")
            # Only of a remote's HEAD it matters where it leads.
            found[ref] = _line(path) if name == "HEAD" else ""
    return found


def _listed_by_git(git: Git) -> dict[str, str]:
    """The same where references are kept in a form of git's own."""
    names = git.run("rev-parse", "--symbolic-full-name", "--remotes").decode("utf-8", "replace").split()
    found = dict.fromkeys((name.removeprefix(_REMOTES) for name in names), "")
    for remote in {name.partition("/")[0] for name in found}:
        target = git.run("symbolic-ref", "--quiet", f"{_REMOTES}{remote}/HEAD", allow=(0, 1, 128)).decode().strip()
        if target:
            found[f"{remote}/HEAD"] = target
    return found


def _built(env: Mapping[str, str]) -> str:
    named: Iterable[str] = (env.get(name, "") for name in _BUILT)
    return next((name.removeprefix(_HEADS) for name in named if name and not name.startswith("refs/pull/")), "")


def _line(path: str, most: int = _BYTES) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(most).strip()
    except OSError:
        return ""
