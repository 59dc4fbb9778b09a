"""List the names that a node of a syntax tree defines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from quire.anchors.languages import Grammar

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTION_VALUES = frozenset({"arrow_function", "class", "function_expression", "generator_function"})
_PATTERN_NAMES = frozenset({"identifier", "shorthand_property_identifier_pattern"})
_NO_NAMES = frozenset({"computed_property_name", "ERROR"})
# A declarator is a shell around a name: `*name`, `name[3]`, `(*name)(int)`.
_LONGEST_SHELL = 50

_Parts = tuple[str, ...]


def text_of(node: Node | None) -> str:
    """The source of a node; bytes that are no UTF-8 stay distinguishable."""
    return (node.text or b"").decode("utf-8", "surrogateescape") if node is not None else ""


def defined_names(grammar: Grammar, node: Node, local: bool) -> list[_Parts]:
    """What the node defines, each as the parts that its name adds to the scope around it."""
    way = grammar.defines.get(node.type)
    if way is None or not node.is_named:
        return []
    if local and node.type in grammar.variables and not _holds_function(node):
        return []
    names = _WAYS[way](node) if way in _WAYS else [_parts(node.child_by_field_name(way))]
    return [name for name in names if name]


def _holds_function(node: Node) -> bool:
    value = node.child_by_field_name("value")
    return value is not None and value.type in _FUNCTION_VALUES


def _parts(name: Node | None) -> _Parts:
    """`A::b`, `A.b` and `A<T>::b` are two parts each; sigils and quotes are no part of a name."""
    if name is None or name.type in _NO_NAMES or name.is_missing:
        return ()
    text = text_of(name)
    if name.type in ("destructor_name", "operator_name"):
        return ("".join(text.split()),)
    if name.type == "operator_cast":
        return (" ".join(text.partition("(")[0].replace("*", " * ").replace("&", " & ").split()),)
    if name.type == "setter":
        text = text.rstrip("=")
    text = _without_arguments(text).strip("\"'`#$ ")
    pieces = [piece.strip() for piece in text.replace("::", ".").replace("->", ".").split(".")]
    return tuple(piece for piece in pieces if piece)


def _without_arguments(text: str) -> str:
    kept, depth = [], 0
    for character in text:
        depth += character == "<"
        if depth <= 0:
            kept.append(character)
        depth -= character == ">" and depth > 0
    return "".join(kept)


def _several(node: Node) -> list[_Parts]:
    return [_parts(name) for name in node.children_by_field_name("name") if name.type != ","]


def _first(node: Node) -> list[_Parts]:
    return [_parts(node.named_child(0))]


def _pattern(node: Node) -> list[_Parts]:
    """`const a = 1`, and every name of `const { a, b: [c] } = d`."""
    name = node.child_by_field_name("name")
    if name is None or not name.type.endswith("_pattern"):
        return [_parts(name)]
    found: list[_Parts] = []
    todo = [name]
    while todo:
        inner = todo.pop()
        if inner.type in _PATTERN_NAMES:
            found.append(_parts(inner))
        elif inner.type in ("assignment_pattern", "object_assignment_pattern"):
            left = inner.child_by_field_name("left")
            todo += [left] if left is not None else []
        elif inner.type == "pair_pattern":
            value = inner.child_by_field_name("value")
            todo += [value] if value is not None else []
        else:
            todo += reversed(inner.named_children)
    return found


def _member(node: Node) -> list[_Parts]:
    """`exports.name = function () {…}` and `Name.prototype.method = function () {…}`."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or left.type != "member_expression" or right.type not in _FUNCTION_VALUES:
        return []
    text = text_of(left)
    if not text.replace(".", "").replace("$", "").isidentifier():
        return []
    return [tuple(part for part in text.split(".") if part not in ("exports", "module", "prototype", "this"))]


def _receiver(node: Node) -> list[_Parts]:
    """Go: `func (q *Queue[T]) Push()` is `Queue.Push`."""
    receiver = text_of(node.child_by_field_name("receiver")).strip("() ").partition("[")[0]
    owner = receiver.replace("*", " ").split()[-1:]
    return [(*owner, *_parts(node.child_by_field_name("name")))]


def _implemented(node: Node) -> list[_Parts]:
    """Rust: `impl Trait for &mut path::Type<T>` adds to `Type`."""
    kind = node.child_by_field_name("type")
    while kind is not None and kind.type in ("generic_type", "reference_type", "pointer_type"):
        kind = kind.child_by_field_name("type")
    return [_parts(kind)[-1:]]


def _declared(node: Node) -> list[_Parts]:
    """C and C++: the names inside the declarators, and none for a function's own type."""
    found = []
    for shell in node.children_by_field_name("declarator"):
        inner: Node | None = shell
        for _ in range(_LONGEST_SHELL):
            if inner is None or inner.type in ("operator_cast", "qualified_identifier", "template_function"):
                break
            deeper = inner.child_by_field_name("declarator")
            if deeper is None and inner.type.endswith("_declarator"):
                deeper = next((kid for kid in inner.named_children if _may_hold_name(kid)), None)
            if deeper is None:
                break
            inner = deeper
        found.append(_parts(inner) if inner is not None and not inner.type.endswith("_declarator") else ())
    return found


def _may_hold_name(node: Node) -> bool:
    return node.type.endswith(("_declarator", "identifier", "_name", "operator_cast"))


def _bodied(node: Node) -> list[_Parts]:
    """A struct, class or enum where it is defined, not where it is mentioned."""
    return [_parts(node.child_by_field_name("name"))] if node.child_by_field_name("body") is not None else []


def _constant(node: Node) -> list[_Parts]:
    left = node.child_by_field_name("left")
    return [_parts(left)] if left is not None and left.type in ("constant", "scope_resolution") else []


_WAYS: dict[str, Callable[[Node], list[_Parts]]] = {
    "bodied": _bodied,
    "constant": _constant,
    "declarator": _declared,
    "first": _first,
    "member": _member,
    "names": _several,
    "pattern": _pattern,
    "receiver": _receiver,
    "type": _implemented,
}
