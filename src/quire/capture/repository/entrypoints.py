"""The entry points of a project: those its manifests name, and files with conventional names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from quire.capture.repository.clean_text import SENTENCE_CHARS, said
from quire.capture.repository.manifests import GO, MANIFESTS, RUST, ManifestTarget, PackageManifest, read_manifest
from quire.capture.repository.scan import ProjectScan, is_source, resolved
from quire.capture.repository.top_comments import introduction
from quire.capture.repository.tree import Tree, below, folder_of, is_file

ENTRIES_MOST = 16
_MODULES_MOST = 40
_MODULE = re.compile(r"[A-Za-z_][\w.]{0,200}")
_ROLES = {
    "bin": "Command",
    "command": "Command",
    "binary": "Binary",
    "main": "Main module",
    "module": "ES module",
    "exports": "Export",
    "library": "Library",
}
_ORDER = ("bin", "command", "binary", "program", "run", "main", "module", "library", "exports")
_BESIDE = frozenset(["__tests__", "example", "examples", "fixtures", "test", "testdata", "tests"])


class Entrypoint(Struct, frozen=True):
    path: str
    role: str


class _Found(Struct, frozen=True):
    path: str
    kind: str
    label: str
    """What is said before the name: `Command`, `Library`."""
    name: str
    source: str
    """The manifest that names it; empty where its own name does."""


def find_entrypoints(scan: ProjectScan) -> list[Entrypoint]:
    """The entrypoints, commands before libraries, each file once, with what it says of itself."""
    found: dict[str, list[_Found]] = {}
    for entry in sorted(_all(scan), key=lambda entry: _ORDER.index(entry.kind)):
        found.setdefault(entry.path, []).append(entry)
    paths = list(found)[:ENTRIES_MOST]
    return [Entrypoint(path, _role(scan.tree, path, found[path])) for path in paths]


def _role(tree: Tree, path: str, entries: list[_Found]) -> str:
    first = entries[0]
    names = list(dict.fromkeys(entry.name for entry in entries if entry.kind == first.kind and entry.name))
    label = first.label + ("s" if len(names) > 1 else "")
    shown = ", ".join(f"`{name}`" for name in names)
    source = f" ({first.source})" if first.source else ""
    role = said(f"{label} {shown}".strip() + source, SENTENCE_CHARS) or label
    words = introduction(tree, path)
    return f"{role.rstrip('.')}. {words}" if words else role


def _all(scan: ProjectScan) -> Iterator[_Found]:
    tree = scan.tree
    manifests = list(scan.manifests.values())
    for module in scan.workspace_modules[:_MODULES_MOST]:
        inner = (read_manifest(tree, f"{module.path}/{name}") for name in MANIFESTS)
        manifests += [manifest for manifest in inner if manifest]
    for manifest in manifests:
        for target in manifest.targets:
            path = _resolve(tree, manifest, target)
            if path and (is_source(path) or target.kind in ("bin", "binary")):
                name = target.name if target.kind not in ("main", "module", "exports") else _package_name(manifest)
                yield _Found(path, target.kind, _ROLES[target.kind], name, manifest.path)
    yield from _by_name(tree, {manifest.path: manifest for manifest in manifests})


def _package_name(manifest: PackageManifest) -> str:
    return manifest.name if manifest.folder else ""


def _resolve(tree: Tree, manifest: PackageManifest, target: ManifestTarget) -> str:
    if target.kind == "command":
        return _module_file(tree, manifest.folder, target.value.partition(":")[0].strip())
    return resolved(tree, manifest.folder, target.value)


def _module_file(tree: Tree, folder: str, module: str) -> str:
    """The file of a Python module, in the folder of its manifest or in `src` or `lib` below it."""
    if not _MODULE.fullmatch(module):
        return ""
    inner = module.strip(".").replace(".", "/")
    for top in ("src/", "", "lib/"):
        base = f"{folder}/{top}{inner}" if folder else f"{top}{inner}"
        for path in (f"{base}.py", f"{base}/__main__.py", f"{base}/__init__.py"):
            if is_file(tree, path):
                return path
    return ""


def _by_name(tree: Tree, manifests: dict[str, PackageManifest]) -> Iterator[_Found]:
    """Files that a language enters by their names alone."""
    for path in tree.files:
        folder, _, name = path.rpartition("/")
        if name == "__main__.py" and _BESIDE.isdisjoint(folder.split("/")) and is_file(tree, path):
            inner = folder.split("/")
            module = ".".join(inner[1:] if inner[0] in ("src", "lib") else inner)
            yield _Found(path, "run", "Run as", f"python -m {module}" if module else "python .", "")
        elif (
            name == "main.go" and (not folder or folder_of(folder).rpartition("/")[2] == "cmd") and is_file(tree, path)
        ):
            go = manifests.get(GO)
            yield _Found(path, "program", "Program", folder.rpartition("/")[2] or (go.name if go else ""), "")
        elif name == "manage.py" and not folder and is_file(tree, path):
            yield _Found(path, "run", "Run as", "python manage.py", "")
    for manifest in list(manifests.values()):
        if manifest.path.rpartition("/")[2] == RUST and manifest.name:
            yield from _crate(tree, manifest)


def _crate(tree: Tree, manifest: PackageManifest) -> Iterator[_Found]:
    source = f"{manifest.folder}/src" if manifest.folder else "src"
    for name, kind, label in (("main.rs", "program", "Program"), ("lib.rs", "library", "Library")):
        if is_file(tree, f"{source}/{name}"):
            yield _Found(f"{source}/{name}", kind, label, manifest.name, manifest.path)
    for path in below(tree, f"{source}/bin")[:ENTRIES_MOST]:
        if path.endswith(".rs") and folder_of(path) == f"{source}/bin" and is_file(tree, path):
            yield _Found(path, "program", "Program", path.rpartition("/")[2].removesuffix(".rs"), manifest.path)
