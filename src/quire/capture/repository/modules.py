"""The modules of a project and the purpose of each, from a manifest, a page, or the module's first file."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from quire.capture.repository.clean_text import SENTENCE_CHARS, said, sentence_of
from quire.capture.repository.manifests import MANIFESTS, read_manifest
from quire.capture.repository.pages import DocumentPage, described_paths, find_readme, read_page
from quire.capture.repository.readme import first_paragraph
from quire.capture.repository.scan import Dense, ProjectScan, is_source
from quire.capture.repository.top_comments import introduction
from quire.capture.repository.tree import Tree, below, folder_of
from quire.layers.journal.collation import collation_key

MODULES_MOST = 32
AREAS_MOST = 6
_ROOT_NAMES = (
    "app apps client cmd components crates internal lib libs modules packages pkg plugins server services source src"
)
_SOURCE_ROOTS = frozenset(_ROOT_NAMES.split())
_BESIDE = frozenset(["__tests__", "doc", "docs", "e2e", "example", "examples", "spec", "specs", "test", "tests"])
"""Folders beside the product; they are named only if someone says what they are for."""
_SILENT_LEAST = 5
"""So many source files make a part worth naming that nobody describes."""
_TRUNK = 0.9
_TRUNK_FILES = 3
_FIRST_FILES = (
    *("__init__.py", "mod.rs", "lib.rs", "main.rs", "src/lib.rs", "src/main.rs", "doc.go", "index.ts", "index.tsx"),
    *("index.js", "index.mjs", "src/index.ts", "src/index.tsx", "src/index.js", "main.py", "main.ts", "main.go"),
)
_GO_FILES = 5
_AREA_LEAST = 16
_BIG_AREA = 8
"""An area with more source files than these, and more than one in so many of all, is looked into."""


class ProjectPart(Struct, frozen=True):
    """A part of the project; the purpose is empty where nobody says it."""

    name: str
    path: str
    purpose: str


def count_sources(tree: Tree) -> Counter[str]:
    """How many source files lie in each folder and below it; the root is the empty name."""
    direct = Counter(folder_of(path) for path in tree.files if is_source(path))
    total: Counter[str] = Counter()
    for folder, count in direct.items():
        while folder:
            total[folder] += count
            folder = folder_of(folder)
        total[""] += count
    return total


def find_parts(scan: ProjectScan, pages: tuple[DocumentPage, ...], counts: Counter[str]) -> list[ProjectPart]:
    tree = scan.tree
    described = described_paths(tree, pages)
    packages = {module.path: module for module in scan.workspace_modules}
    inner = _inner(counts)
    parts: list[ProjectPart] = []
    for folder in dict.fromkeys((*packages, *_candidates(tree, counts, inner, set(packages)))):
        purpose = said(packages[folder].description, SENTENCE_CHARS) if folder in packages else ""
        purpose = purpose or _purpose(tree, folder, described)
        is_silent = not purpose and folder not in packages
        if not is_silent or (counts[folder] >= _SILENT_LEAST and _BESIDE.isdisjoint(folder.lower().split("/"))):
            name = said(packages[folder].name) if folder in packages else ""
            parts.append(ProjectPart(name or folder.rpartition("/")[2], folder, purpose))
    parts.sort(key=lambda part: (part.path not in packages, not part.purpose, -counts[part.path], part.path))
    return sorted(parts[:MODULES_MOST], key=lambda part: collation_key(part.path))


def _inner(counts: Counter[str]) -> dict[str, list[str]]:
    """The folders with source files directly in each folder."""
    found: dict[str, list[str]] = {}
    for folder in sorted(counts):
        if folder:
            found.setdefault(folder_of(folder), []).append(folder)
    return found


def _candidates(tree: Tree, counts: Counter[str], inner: dict[str, list[str]], packages: set[str]) -> list[str]:
    """The folders that may be parts: those at the top, and instead of a folder of sources those in it."""
    found: list[str] = []
    for top in inner.get("", []):
        if any(path == top or path.startswith(f"{top}/") for path in packages):
            continue
        if top.lower() in _SOURCE_ROOTS or f"{top}/__init__.py" in tree.names:
            trunk = _trunk(top, counts, inner)
            children = inner.get(trunk, [])
            found += children if len(children) > 1 else [trunk]
        else:
            found.append(top)
    return found


def _trunk(folder: str, counts: Counter[str], inner: dict[str, list[str]]) -> str:
    """The folder where a tree of folders begins to branch: `src` leads to `src/product`."""
    while True:
        children = inner.get(folder, [])
        direct = counts[folder] - sum(counts[child] for child in children)
        largest = max(children, key=lambda child: counts[child], default="")
        if not largest or direct >= _TRUNK_FILES or counts[largest] < _TRUNK * counts[folder]:
            return folder
        folder = largest


def _purpose(tree: Tree, folder: str, described: dict[str, str]) -> str:
    for name in MANIFESTS:
        manifest = read_manifest(tree, f"{folder}/{name}")
        if manifest and (words := said(manifest.description)):
            return words
    readme = find_readme(tree, folder)
    words = sentence_of(first_paragraph(read_page(tree, readme).sections)) if readme else ""
    return words or described.get(folder, "") or _own_words(tree, folder)


def _own_words(tree: Tree, folder: str) -> str:
    """What the file that stands for a folder says at its top."""
    for name in _FIRST_FILES:
        if f"{folder}/{name}" in tree.names and (words := introduction(tree, f"{folder}/{name}")):
            return words
    sources = [path for path in below(tree, folder) if path.endswith(".go") and folder_of(path) == folder]
    return next((words for path in sources[:_GO_FILES] if (words := introduction(tree, path))), "")


def dense_areas(counts: Counter[str]) -> list[Dense]:
    """Where most of the source lies: large folders are replaced by those in them, as long as these are few."""
    inner = _inner(counts)
    areas = list(inner.get("", []))
    while areas:
        largest = max(areas, key=lambda folder: (counts[folder], folder))
        children = inner.get(largest, [])
        if counts[largest] < _AREA_LEAST or counts[largest] * _BIG_AREA <= counts[""] or not children:
            break
        own = counts[largest] - sum(counts[child] for child in children)
        if own * 2 > counts[largest]:
            break
        areas.remove(largest)
        areas += children
    found = sorted(
        (Dense(folder, counts[folder]) for folder in areas), key=lambda area: (-area.count, collation_key(area.path))
    )
    return found[:AREAS_MOST]
