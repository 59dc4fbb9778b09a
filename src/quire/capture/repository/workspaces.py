"""The packages of a workspace: the folders its patterns match, their names and likely purposes."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from quire.anchors.path_match import covers, is_glob
from quire.capture.repository.documents import DOCUMENT_BYTES
from quire.capture.repository.manifests import (
    GO,
    NODE,
    PNPM,
    PYTHON,
    RUST,
    PackageManifest,
    pnpm_members,
    read_manifest,
)
from quire.capture.repository.tree import Tree, folder_of, named, read_beginning
from quire.layers.journal.collation import collation_key

MODULES_MOST = 200
_PATTERNS_MOST = 100
_PATTERN_CHARS = 200
_FOLDERS_MOST = 5_000
_USUAL = ("packages", "apps", "services", "crates")
"""Where packages lie if no workspace says so."""
_ROLES = (
    (("demo", "example"), "example"),
    (("cli",), "command line"),
    (("app", "web"), "application"),
    (("doc", "site"), "documentation"),
    (("test", "bench"), "tests"),
    (("core", "shared", "lib"), "library"),
)
UNKNOWN = "unknown"


class Module(Struct, frozen=True):
    """A package of the project. The role is a guess from its path."""

    name: str
    path: str
    role: str = UNKNOWN
    description: str = ""


class Workspace(Struct, frozen=True):
    manager: str | None
    modules: tuple[Module, ...]


def find_workspace(tree: Tree, manifests: dict[str, PackageManifest]) -> Workspace:
    """The workspace whose manifests lie at the root, or the packages that lie where packages usually do."""
    found = _declared(tree, manifests)
    folders = {name: _folders(paths) for name, paths in named(tree, (NODE, RUST, GO, PYTHON)).items()}
    paths = {
        (folder, name) for _, name, patterns in found for folder in _matching(folders[name], patterns[:_PATTERNS_MOST])
    }
    if not paths:
        paths = {(folder, name) for name in (NODE, RUST) for folder in folders[name] if _is_usual(folder)}
    modules: dict[str, Module] = {}
    for folder, name in sorted(paths, key=lambda pair: (collation_key(pair[0]), pair[1] != NODE)):
        if folder not in modules and len(modules) < MODULES_MOST:
            modules[folder] = _module(tree, folder, name)
    return Workspace(found[0][0] if found else None, tuple(modules.values()))


def _declared(tree: Tree, manifests: dict[str, PackageManifest]) -> list[tuple[str, str, list[str]]]:
    """Each workspace that the root declares: its kind, the manifest of its packages, its patterns."""
    found: list[tuple[str, str, list[str]]] = []
    if PNPM in tree.names:
        found.append(("pnpm workspace", NODE, pnpm_members(read_beginning(tree, PNPM, DOCUMENT_BYTES))))
    for kind, manifest, holder in (
        ("package.json workspaces", NODE, NODE),
        ("cargo workspace", RUST, RUST),
        ("go workspace", GO, "go.work"),
        ("uv workspace", PYTHON, PYTHON),
    ):
        members = manifests[holder].members if holder in manifests else ()
        if members:
            found.append((kind, manifest, list(members)))
    return found


def _folders(paths: Iterable[str]) -> list[str]:
    return [folder for path in paths if (folder := folder_of(path))][:_FOLDERS_MOST]


def _matching(folders: list[str], patterns: list[str]) -> list[str]:
    """The folders that a pattern means and none refuses."""
    wanted = [normal for pattern in patterns if not pattern.startswith("!") and (normal := _normal(pattern))]
    refused = [normal for pattern in patterns if pattern.startswith("!") and (normal := _normal(pattern[1:]))]
    return [
        folder
        for folder in folders
        if any(_means(pattern, folder) for pattern in wanted)
        and not any(_means(pattern, folder) for pattern in refused)
    ]


def _normal(pattern: str) -> str:
    """A pattern without what surrounds it; empty for one that is too long. It is compared with folders of the project
    alone, so that none leads out of it."""
    pattern = pattern.strip()
    while pattern.startswith("./"):
        pattern = pattern[2:]
    pattern = pattern.rstrip("/")
    return pattern if len(pattern) <= _PATTERN_CHARS else ""


def _means(pattern: str, folder: str) -> bool:
    return folder == pattern or (is_glob(pattern) and covers(pattern, folder))


def _is_usual(folder: str) -> bool:
    return folder.count("/") == 1 and folder_of(folder) in _USUAL


def _module(tree: Tree, folder: str, manifest: str) -> Module:
    found = read_manifest(tree, f"{folder}/{manifest}")
    own = folder.rpartition("/")[2]
    return Module(
        (found.name if found else "") or own,
        folder,
        next((role for words, role in _ROLES if any(word in folder.lower() for word in words)), UNKNOWN),
        found.description if found else "",
    )
