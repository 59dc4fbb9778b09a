"""Resolve an anchor in a tree: a seal of its content, nothing, or the reason why it cannot be read."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import msgspec

from quire.anchors.commit_tree import FileTree, may_be_a_path
from quire.anchors.path_match import is_glob, pattern_fault
from quire.anchors.symbols import LIMIT, has_grammar
from quire.anchors.working_tree import WorkingTree
from quire.model.errors import GitRequired
from quire.model.seals import Seal

_NAME = re.compile(r"[^\W\d][\w$]*[?!=]?(?:(?:\.|::|#)[^\W\d][\w$]*[?!=]?)*")


class ResolvedAnchor(msgspec.Struct, frozen=True, kw_only=True):
    """One anchor in one tree. Without seal and fault, the anchor matches nothing."""

    anchor: str
    seal: Seal | None = None
    fault: str = ""
    """Why it cannot be known: a clause."""
    files: Sequence[int] = ()
    """The files it matches, by their positions in the tree."""
    symbol_missing: bool = False
    """The file is there, the symbol in it is not."""
    doubt: str = ""
    """Why the seal may be of less than there is: where it is the one that is looked for, it is right all the same."""


def split_symbol(tree: FileTree, anchor: str) -> tuple[str, str] | None:
    """The file and the symbol that an anchor names; None where `#` is a part of a file's name, or there is none."""
    path = anchor.rstrip("/")
    file, mark, name = path.rpartition("#")
    if not mark or not file or not name or tree.has(path) or tree.is_file(path):
        return None
    if tree.has(file) or not is_glob(file):
        return file, name
    # A folder may be called `[slug]`: whether the file is there or not, this names a symbol.
    return (file, name) if has_grammar(file) and _NAME.fullmatch(name) else None


def resolve_anchor(tree: FileTree, anchor: str) -> ResolvedAnchor:
    """What is there."""
    if anchor not in tree.sights:
        tree.sights[anchor] = _see(tree, anchor)
    found: ResolvedAnchor = tree.sights[anchor]
    return found


def _see(tree: FileTree, anchor: str) -> ResolvedAnchor:
    if not may_be_a_path(anchor):
        return ResolvedAnchor(anchor=anchor)
    path = anchor.rstrip("/")
    inner = tree.within(path) if isinstance(tree, WorkingTree) else None
    if inner is not None:
        module, rest = inner
        if module.missing:
            return ResolvedAnchor(anchor=anchor, fault=f"`{anchor}` is in a submodule that is not checked out")
        found = resolve_anchor(module, rest)
        seal = Seal(anchor, found.seal.how, found.seal.digest) if found.seal else None
        return ResolvedAnchor(anchor=anchor, seal=seal, fault=found.fault, symbol_missing=found.symbol_missing)
    named = split_symbol(tree, anchor)
    if named:
        return _see_symbol(tree, anchor, *named)
    if tree.has(path) or (not is_glob(anchor) and tree.is_file(path)):
        return _see_file(tree, anchor, path)
    return _see_files(tree, anchor)


def _see_file(tree: FileTree, anchor: str, path: str) -> ResolvedAnchor:
    files = tree.files.at(path)
    content = tree.content(path)
    if isinstance(tree, WorkingTree) and tree.is_link(path):
        behind = tree.behind(path)
        if behind is None and os.path.isdir(os.path.join(tree.root, path)):
            return ResolvedAnchor(
                anchor=anchor, fault=f"`{path}` is a link to a folder; anchor the folder itself", files=files
            )
        if behind is None:
            return ResolvedAnchor(
                anchor=anchor, fault=f"`{path}` is a link, and not to a file of the project", files=files
            )
        content = tree.content(behind)
    if content is None:
        return ResolvedAnchor(anchor=anchor, fault=f"`{path}` {_unreadable(tree, path)}", files=files)
    return ResolvedAnchor(anchor=anchor, seal=Seal(anchor, "blob", content), files=files)


def _see_files(tree: FileTree, anchor: str) -> ResolvedAnchor:
    fault = pattern_fault(anchor)
    if fault:
        return ResolvedAnchor(anchor=anchor, fault=f"the pattern {fault}")
    files = tree.files.at(anchor)
    if not files:
        return ResolvedAnchor(anchor=anchor, fault=_why_nothing(tree, anchor))
    digest = tree.digest(files)
    if digest is None:
        unread = next(path for path, content in tree.contents(files) if content is None)
        return ResolvedAnchor(anchor=anchor, fault=f"`{unread}` {_unreadable(tree, unread)}", files=files)
    return ResolvedAnchor(anchor=anchor, seal=Seal(anchor, "tree", digest), files=files)


def _see_symbol(tree: FileTree, anchor: str, file: str, name: str) -> ResolvedAnchor:
    if not tree.has(file) and not tree.is_file(file):
        return ResolvedAnchor(anchor=anchor, fault=tree.missing and _why_nothing(tree, file))
    files = tree.files.at(file)
    # A link has an id of its own; what it leads to can change without it.
    is_link = isinstance(tree, WorkingTree) and tree.is_link(file)
    content = tree.content(file) if tree.has(file) and not is_link else None
    try:
        found = tree.definitions.find(file, name, content, lambda: tree.read(file, LIMIT + 1))
    except (OSError, GitRequired):
        return ResolvedAnchor(
            anchor=anchor, fault=f"`{file}` cannot be read, or is too large to be parsed", files=files
        )
    fault = f"`{file}` {found.fault}" if found.fault else ""
    if not found.digest:
        return ResolvedAnchor(anchor=anchor, fault=fault, files=files, symbol_missing=not found.unparsed)
    doubt = f"`{file}` {found.doubt}" if found.doubt else ""
    return ResolvedAnchor(anchor=anchor, seal=Seal(anchor, "symbol", found.digest), files=files, doubt=doubt)


def _unreadable(tree: FileTree, path: str) -> str:
    if isinstance(tree, WorkingTree):
        if path in tree.modules:
            return "is a submodule that is not checked out"
        if tree.is_too_large(path):
            return "is too large to be read, and differs from what git holds"
        if path in tree.staged and os.path.isfile(os.path.join(tree.root, path)):
            return "passes through a filter of the repository, which is not run"
    return "cannot be read"


def _why_nothing(tree: FileTree, anchor: str) -> str:
    """Why an anchor matches nothing: empty if it certainly does not, else why that is unknown."""
    folder = ""
    if isinstance(tree, WorkingTree) and not is_glob(anchor):
        folder = os.path.join(tree.root, anchor.rstrip("/"))
    if tree.missing:
        if folder and not os.path.lexists(folder):
            return ""
        return f"{tree.missing[0].lower()}{tree.missing[1:]}, and folders and patterns are looked up in it"
    if folder:
        if os.path.islink(folder):
            return f"`{anchor}` is a link to a folder; anchor the folder itself"
        if any(files for _, _, files in os.walk(folder)):
            return f"`{anchor}` holds only files that git ignores"
    return ""
