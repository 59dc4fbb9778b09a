"""Tell whether a code change touches only formatting, comments, imports or type annotations."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from quire.anchors.grammar_symbols import parse_tree
from quire.anchors.languages import GRAMMARS
from quire.anchors.symbols import LIMIT, Unparsed, extension_of, is_python, symbol_text
from quire.model.text import words

if TYPE_CHECKING:
    from tree_sitter import Node

Minor = Literal["", "formatting or comments", "imports", "annotations", "imports and annotations"]

_KINDS: tuple[Minor, ...] = ("formatting or comments", "imports", "annotations", "imports and annotations")
_IMPORTS = words(
    "import_declaration import_spec_list import_statement namespace_use_declaration preproc_include use_declaration "
    "using_directive"
)
_ANNOTATIONS = frozenset({"type_annotation", "type_predicate_annotation", "asserts_annotation"})


def minor_change(path: str, before: bytes, after: bytes, name: str = "") -> Minor:
    """What alone differs between two versions of a file, or of a definition in it; empty where more does."""
    if max(len(before), len(after)) > LIMIT:
        return ""
    read = _python_tokens if is_python(path) else _grammar_tokens if extension_of(path) in GRAMMARS else None
    if read is None:
        return ""

    def is_all(kind: Minor) -> bool:
        old = read(path, before, name, kind)
        return old is not None and old == read(path, after, name, kind)

    # What differs without both differs without one of them, too: for most changes one comparison is enough.
    return next(filter(is_all, _KINDS)) if is_all(_KINDS[-1]) else ""


def _python_tokens(path: str, data: bytes, name: str, without: str) -> object:
    part = symbol_text(path, data, name) if name else (0, data)
    if part is None:
        return None
    try:
        tree = ast.parse(textwrap.dedent(part[1].decode()))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return ast.dump(_Without(without).visit(tree))


class _Without(ast.NodeTransformer):
    """Takes imports, annotations or both out of a module."""

    def __init__(self, what: str) -> None:
        self._imports = "imports" in what
        self._annotations = "annotations" in what

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> ast.AST | None:
        return None if self._imports else node

    visit_ImportFrom = visit_Import  # noqa: N815

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        if self._annotations:
            node.returns = None
        return self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_arg(self, node: ast.arg) -> ast.AST:
        if self._annotations:
            node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if not self._annotations:
            return node
        return ast.Assign(targets=[node.target], value=node.value) if node.value else None


def _grammar_tokens(path: str, data: bytes, name: str, without: str) -> list[bytes] | None:
    tree = parse_tree(GRAMMARS[extension_of(path)], data)
    part = symbol_text(path, data, name) if name else (0, data)
    if isinstance(tree, Unparsed) or part is None or tree.root_node.has_error:
        return None
    left_out = (_IMPORTS if "imports" in without else frozenset()) | (
        _ANNOTATIONS if "annotations" in without else frozenset()
    )
    first = sum(map(len, data.split(b"\n")[: part[0]])) + part[0]
    return list(_leaves(tree.root_node, left_out, first, first + len(part[1])))


def _leaves(root: Node, left_out: frozenset[str], first: int, last: int) -> Iterator[bytes]:
    """The texts of the leaves between two offsets, without comments."""
    todo = [root]
    while todo:
        node = todo.pop()
        if node.end_byte <= first or node.start_byte >= last or node.type in left_out or node.type.endswith("comment"):
            continue
        if node.child_count:
            todo += reversed(node.children)
        elif node.text:
            yield node.text
