"""Find folders with code that no feature covers."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from quire.anchors.path_match import Files
from quire.anchors.working_tree import WorkingTree
from quire.files.digests import hex_digest, is_empty_blob
from quire.files.git import Git
from quire.files.git_history import attributes, or_else
from quire.index.catalog import Index
from quire.model.text import words

# What people write by hand to make a product work. Data, prose, styles of a document and locks are none of it.
_CODE = words(
    """
    asm astro bash bat c cc cjs clj cljs cls coffee cpp cr cs css cts cu cxx d dart elm erl ex exs f90 fs fsx gd go
    graphql groovy h hbs hh hpp hrl hs html hx hxx inc ino java jl js jsx kt kts less lua m mjs ml mli mm mts nim nix
    pas php pl pm prisma proto ps1 pug py pyi pyx r rb rs sass scala scss sh sol sql svelte swift tcl tf ts tsx v vb
    vhd vue wgsl xaml zig zsh
    """
)
# Made by machines, or by someone else; the folders of agents hold their settings, our own plugin among them.
_FOREIGN = words(
    """
    .agents .claude .cline .clinerules .codex .cursor .gemini .opencode
    .cache .next .nuxt .output .parcel-cache .svelte-kit .terraform .tox .turbo .venv .vite .yarn __generated__
    __pycache__ bower_components build coverage dist dist-types external generated gen node_modules obj out
    site-packages target temp third-party third_party thirdparty tmp vendor vendored venv
    """
)
_TESTS = frozenset(
    ["__mocks__", "__tests__", "__snapshots__", "e2e", "fixtures", "spec", "specs", "test", "testdata", "tests"]
)
# Names of files that machines make, and of tests.
_NO_CODE = re.compile(
    r"\.min\.(js|css)$|\.(pb|g|gen|[Gg]enerated|[Dd]esigner|freezed)\.\w+$|_pb2(_grpc)?\.pyi?$|\.d\.[cm]?ts$|[-.]bundle\.js$"
    r"|_generated\.\w+$|^zz_generated\.|(^|[._-])(test|tests|spec)\.\w+$|^test_|Tests?\.(java|kt|cs|swift)$"
    r"|^conftest\.py$",
)
_EXAMPLES = 3
_MEMO = "coverage"


class Gap(msgspec.Struct, frozen=True):
    """A folder with code that no feature covers."""

    dir: str
    files_count: int
    examples: list[str]
    new: bool = False
    """Some of that code is new or changed since the last sync."""


def coverage_gaps(tree: WorkingTree, git: Git, index: Index, wanted: Iterable[str]) -> list[Gap]:
    """Folders whose code none of these anchors reaches, the largest first; folders without a covered part as a whole.

    Worked out anew where files or anchors came or went.
    """
    anchors = sorted(set(wanted))
    state = _state(tree, anchors)
    known = index.memos([_MEMO]).get(_MEMO)
    if known is not None:
        with contextlib.suppress(msgspec.MsgspecError):
            memo = msgspec.msgpack.decode(known, type=_Memo)
            if memo.state == state:
                return memo.gaps
    gaps = _gaps(tree, git, anchors)
    with contextlib.suppress(UnicodeEncodeError):  # a name that is no text cannot be kept
        index.note({_MEMO: msgspec.msgpack.encode(_Memo(state, gaps))})
    return gaps


def with_news(tree: WorkingTree, git: Git, gaps: list[Gap], anchors: Iterable[str], changed: set[str]) -> list[Gap]:
    """The gaps, those marked that hold some of the files which changed."""
    touched = [path for path in code_files(sorted(changed)) if tree.has(path)]
    files = Files(touched)
    covered = {place for anchor in set(anchors) for place in files.at(_plain(tree, anchor))}
    bare = own_code(tree, git, [path for place, path in enumerate(touched) if place not in covered])
    dirs = {gap.dir for gap in gaps}
    new = {next(filter(dirs.__contains__, _folders_above(path)), "") for path in bare}
    return [msgspec.structs.replace(gap, new=True) if gap.dir in new else gap for gap in gaps]


def _folders_above(path: str) -> Iterator[str]:
    """The folders that hold a file, its own first; the root is a dot."""
    while path := path.rpartition("/")[0]:
        yield path
    yield "."


class _Memo(msgspec.Struct, frozen=True):
    """Gaps, and the digest of everything that decides on them."""

    state: str
    gaps: list[Gap]


def _state(tree: WorkingTree, anchors: list[str]) -> str:
    rules = [path for path in tree.paths if path.endswith(".gitattributes")]
    contents = [f"{path} {tree.content(path)}" for path in rules]
    empty = [path for path, content in tree.staged.items() if is_empty_blob(content)]
    return hex_digest("\0\0".join(map("\0".join, (tree.paths, anchors, contents, empty))))


def _gaps(tree: WorkingTree, git: Git, anchors: list[str]) -> list[Gap]:
    code, reached = code_reached(tree, anchors)
    covered = {place for places in reached.values() for place in places}
    bare = own_code(tree, git, [path for place, path in enumerate(code) if place not in covered])
    gaps = _group(bare, {code[place].rpartition("/")[0] for place in covered})
    return sorted(gaps, key=lambda gap: (-gap.files_count, gap.dir))


def code_reached(tree: WorkingTree, anchors: Iterable[str]) -> tuple[list[str], dict[str, Sequence[int]]]:
    """The code in a working tree, and for each anchor the places in that list which it covers."""
    code = code_files(tree.paths)
    files = Files(code)
    reached: dict[str, Sequence[int]] = {}
    for anchor in anchors:
        reached[anchor] = files.at(_plain(tree, anchor))
    return code, reached


def _plain(tree: WorkingTree, anchor: str) -> str:
    """The file of an anchor that names a symbol in it."""
    return anchor if tree.has(anchor.rstrip("/")) else anchor.rpartition("#")[0] or anchor


def own_code(tree: WorkingTree, git: Git, paths: list[str]) -> list[str]:
    """Of code that nothing covers, what someone could miss: it is not empty, generated or vendored."""
    foreign = _marked_foreign(git, paths)
    # An `__init__.py` with nothing in it is no code.
    return [path for path in paths if path not in foreign and not is_empty_blob(tree.staged.get(path, ""))]


def code_files(paths: Iterable[str]) -> list[str]:
    """Files that are code of this product: not generated, not vendored, not a test, not ours."""
    kept = []
    foreign: dict[str, bool] = {}
    for path in paths:
        if path[path.rfind(".") + 1 :].lower() not in _CODE:
            continue
        folder, _, name = path.rpartition("/")
        if folder not in foreign:
            parts = folder.split("/")
            ours = parts[0] in (".memory", ".git")
            foreign[folder] = ours or any(part in _FOREIGN or part in _TESTS for part in parts)
        if not foreign[folder] and not _NO_CODE.search(name):
            kept.append(path)
    return kept


def _marked_foreign(git: Git, paths: list[str]) -> set[str]:
    """What `.gitattributes` calls generated or vendored."""
    if not paths:
        return set()
    return set(or_else({}, attributes, git, paths, ["linguist-generated", "linguist-vendored"]))


def _group(bare: list[str], covered: set[str]) -> Iterable[Gap]:
    """Each file under the widest folder that holds no covered file; a chain of only children is followed down."""
    touched = {""}
    for folder in covered:
        while folder not in touched:
            touched.add(folder)
            folder = folder.rpartition("/")[0]
    folders: dict[str, list[str]] = {}
    for path in bare:
        folders.setdefault(path.rpartition("/")[0], []).append(path)
    groups: dict[str, list[str]] = {}
    for folder in folders:
        groups.setdefault(_widest(folder, touched), []).append(folder)
    for outer, inner in groups.items():
        paths = [path for folder in inner for path in folders[folder]]
        yield Gap(os.path.commonpath(inner) if outer else ".", len(paths), sorted(paths)[:_EXAMPLES])


def _widest(folder: str, touched: set[str]) -> str:
    """The outermost untouched folder above a file; the file's own where all are touched."""
    parts = folder.split("/") if folder else []
    for length in range(1, len(parts) + 1):
        outer = "/".join(parts[:length])
        if outer not in touched:
            return outer
    return folder
