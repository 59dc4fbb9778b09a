"""Which tests say that they prove what, read from their source: none of them has to be imported for it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).resolve().parents[1]
MARK, LEFT_OUT = "proves", "proof"

__all__ = ["TESTS", "Mark", "marks_of", "read_marks", "unmarked"]


class Mark(NamedTuple):
    """What one test says of itself."""

    file: str
    test: str
    clause: str
    cases: tuple[str, ...]
    over: tuple[str, ...]
    found: str
    everyday: bool
    """Whether each run of the tests tries it, and not `make proof` alone."""


def read_marks(top: Path = TESTS) -> list[Mark]:
    """All marks below a folder, in the order of files and lines."""
    found: list[Mark] = []
    for path in sorted(top.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if MARK in text:
            found += marks_of(text, path.relative_to(top).as_posix())
    return found


def marks_of(text: str, file: str) -> Iterator[Mark]:
    """The marks of one file; those of the module count for each of its tests."""
    tree = ast.parse(text)
    everywhere = list(_of_module(tree))
    rarely = any(_is_left_out(node) for value in _module_marks(tree) for node in ast.walk(value))
    for name, decorators in _tests(tree):
        everyday = not rarely and not any(map(_is_left_out, decorators))
        for call in [*everywhere, *_calls(decorators)]:
            words = [_text(argument) for argument in call.args]
            named = {keyword.arg: _text(keyword.value) for keyword in call.keywords}
            assert set(named) <= {"over", "found"}, f"{file}: {name}"
            over, said = named.get("over", ""), named.get("found", "")
            yield Mark(file, name, words[0], tuple(words[1:]), tuple(over.split()), said, everyday)


def unmarked(text: str) -> list[str]:
    """The tests of a file that prove nothing by their own word."""
    tree = ast.parse(text)
    return [] if list(_of_module(tree)) else [name for name, decorators in _tests(tree) if not _calls(decorators)]


def _tests(tree: ast.Module) -> Iterator[tuple[str, list[ast.AST]]]:
    for node in tree.body:
        inner = [(node.name, node)] if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []
        shared: list[ast.expr] = []
        if isinstance(node, ast.ClassDef):
            shared = node.decorator_list
            members = [each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
            inner = [(f"{node.name}.{each.name}", each) for each in members]
        for name, function in inner:
            if function.name.startswith("test"):
                yield name, [*shared, *function.decorator_list]
        # A state machine is a test by being assigned: `TestTour = Tour.TestCase`.
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and "Test" in node.targets[0].id[:4]:
            yield node.targets[0].id, list(ast.walk(node.value))


def _of_module(tree: ast.Module) -> Iterator[ast.Call]:
    for value in _module_marks(tree):
        yield from _calls(ast.walk(value))


def _module_marks(tree: ast.Module) -> Iterator[ast.expr]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(_named(target, "pytestmark") for target in node.targets):
            yield node.value


def _is_left_out(node: ast.AST) -> bool:
    """`pytest.mark.proof`."""
    return isinstance(node, ast.Attribute) and node.attr == LEFT_OUT


def _calls(nodes: Iterable[ast.AST]) -> list[ast.Call]:
    return [node for node in nodes if isinstance(node, ast.Call) and _named(node.func, MARK)]


def _named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _text(node: ast.expr) -> str:
    assert isinstance(node, ast.Constant), f"line {node.lineno}: a text, written out"
    assert isinstance(node.value, str), f"line {node.lineno}: a text, written out"
    return node.value
