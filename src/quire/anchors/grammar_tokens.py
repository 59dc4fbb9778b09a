"""Reduce a syntax tree to the tokens that count: no comments, no layout, no choices of formatters."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from quire.anchors.grammar_literals import jsx_children, literal, script_key
from quire.anchors.grammar_names import text_of
from quire.model.text import words

if TYPE_CHECKING:
    from tree_sitter import Node

    Kid = tuple[str, Node | str]

_PUNCTUATION = frozenset({"(", ")", "[", "]", "{", "}", ";", '"', "'", "`"})
_CLOSING = frozenset({")", "]", "}", ">", "|", ";"})
_PARENTHESES = frozenset({"parenthesized_expression", "parenthesized_type", "parenthesized_statements"})
_LEFT_OUT = frozenset({"empty_statement", "hash_bang_line"})
_SEPARATOR_FREE = frozenset({"interface_body", "object_type"})
_LOGICAL = frozenset({"&&", "||", "??"})
_CHAINS = frozenset({"intersection_type", "or_pattern", "union_type"})
_LEAVING = frozenset({"break_expression", "continue_expression", "return_expression"})
_LOOPS = frozenset({"for_expression", "loop_expression", "while_expression"})
_SORTED = frozenset({"use_declaration", "using_declaration"})
_CHAINED = frozenset({"call_expression", "member_expression", "subscript_expression"})
_NAME_LEAVES = frozenset({"constant", "name"})
_KEYED = words(
    "abstract_method_signature enum_assignment enum_body field_definition method_definition method_signature pair "
    "pair_pattern property_signature public_field_definition"
)


class Reader:
    """Reads nodes of one file: the parts of a node that count, and the tokens of a leaf."""

    def __init__(self, family: str, data: bytes, root: Node) -> None:
        self.family = family
        self.data = data
        self._cursor = root.walk()

    def leaf(self, node: Node) -> list[str] | None:
        """The tokens of a node that is not looked into; None for the others."""
        special = literal(self.family, node)
        if special is not None:
            return special
        if node.child_count:
            return None
        kind = node.type
        if not node.is_named:
            return ["'" + kind]
        if kind.endswith("identifier") or kind in _NAME_LEAVES:
            return ["i:" + text_of(node)]
        return [f"{kind}:{text_of(node)}"]

    def parts(self, node: Node) -> list[Kid]:
        """The children that count, each with its field, in an order that formatters do not change."""
        kids = self._kids(node)
        if rule := _RULES.get((self.family, node.type)):
            kids = rule(self, node, kids)
        if node.type in _CHAINS:
            kids = self._flattened(kids, lambda kid: kid.type == node.type)
            kids = [kid for kid in kids if not _is(kid, "|", "&")]
        return kids

    def _kids(self, node: Node) -> list[Kid]:
        kids = self._peeled(node, self._counting(node))
        return _with_runs_sorted(kids) if any(_is(kid, *_SORTED) for kid in kids) else kids

    def _counting(self, node: Node) -> list[Kid]:
        """The children without comments, brackets, quotes, terminators and trailing commas."""
        kids: list[Kid] = []
        raw = self._raw(node)
        in_macro = node.type == "token_tree"
        for place, (field, kid) in enumerate(raw):
            if isinstance(kid, str):
                kids.append((field, kid))
                continue
            kind = kid.type
            if kid.is_named:
                if not kind.endswith("comment") and kind not in _LEFT_OUT:
                    kids.append((field, kid))
            elif in_macro and kind in _PUNCTUATION:
                # A macro can distinguish these, but the outermost brackets are a matter of taste.
                if kind == ";" or (kind in "([{" and node.parent is not None and node.parent.type == "token_tree"):
                    kids.append((field, kid))
            elif kind == "," and (node.type in _SEPARATOR_FREE or _is_trailing(raw, place, node)):
                continue
            elif kind not in _PUNCTUATION and not kind.isspace() and kind:
                kids.append((field, kid))
        return kids

    def _raw(self, node: Node) -> list[Kid]:
        """All children with their fields, and as text what a grammar hides between them."""
        cursor = self._cursor
        cursor.reset(node)
        kids: list[Kid] = []
        if not cursor.goto_first_child():
            return kids
        end = node.start_byte
        while True:
            kid = cursor.node
            if kid is None:
                return kids
            if kid.start_byte > end:
                kids += self._hidden(end, kid.start_byte)
            kids.append((cursor.field_name or "", kid))
            end = kid.end_byte
            if not cursor.goto_next_sibling():
                break
        return kids + self._hidden(end, node.end_byte)

    def _hidden(self, start: int, end: int) -> list[Kid]:
        text = self.data[start:end].strip(b" \t\r\n\f\v\\")
        return [("", "hidden:" + text.decode("utf-8", "surrogateescape"))] if text else []

    def _peeled(self, node: Node, kids: list[Kid]) -> list[Kid]:
        """Without the shells around a single part: parentheses, and in Rust blocks and statements."""
        peeled: list[Kid] = []
        for field, kid in kids:
            inner: Node | str = kid
            while not isinstance(inner, str):
                deeper = self._inside(node, field, inner)
                if deeper is None:
                    break
                inner = deeper
            peeled.append((field, inner))
        return peeled

    def _inside(self, node: Node, field: str, kid: Node) -> Node | None:
        """The only part of a shell that means nothing by itself."""
        kind = kid.type
        if kind in _PARENTHESES:
            # `(a?.b).c` and `a?.b.c` differ when `a` is missing.
            kept = node.type in _CHAINED and field in ("object", "function") and b"?." in (kid.text or b"")
            return None if kept else self._only(kid)
        if kind == "for_clause" and self.family == "go":
            only = self._only(kid)
            return only if only is not None and only == kid.child_by_field_name("condition") else None
        if kind == "union_type":
            return self._only(kid)
        if self.family != "rust":
            return None
        if kind == "block" and node.type in ("closure_expression", "match_arm"):
            only = self._only(kid)
            return only if only is not None and _is_value(only) else None
        if kind == "expression_statement" and not _is_plain_statement(kid):
            return self._only(kid)
        return None

    def _only(self, node: Node) -> Node | None:
        kids = [kid for kid in self._counting(node) if not _is(kid, "|", "&")]
        return kids[0][1] if len(kids) == 1 and not isinstance(kids[0][1], str) else None

    def _flattened(self, kids: list[Kid], belongs: Callable[[Node], bool]) -> list[Kid]:
        """With the children of those that belong in their places, however deep they are."""
        flat: list[Kid] = []
        todo = kids[::-1]
        while todo:
            _, kid = todo.pop()
            if not isinstance(kid, str) and belongs(kid):
                todo += reversed(self._kids(kid))
            else:
                flat.append(("", kid))
        return flat

    def logical(self, node: Node, kids: list[Kid]) -> list[Kid]:
        """`a && (b && c)` is `a && b && c`: formatters write the one for the other."""
        operator = _operator(node)
        return self._flattened(kids, lambda kid: _operator(kid) == operator) if operator in _LOGICAL else kids

    def arrow(self, _: Node, kids: list[Kid]) -> list[Kid]:
        """`(x) => …` is `x => …`."""
        arranged: list[Kid] = []
        for field, kid in kids:
            only = self._only(kid) if field == "parameters" and not isinstance(kid, str) else None
            if only is not None and only.type == "required_parameter":
                only = self._only(only)
            if only is not None and only.type == "identifier":
                arranged.append(("parameter", only))
            else:
                arranged.append((field, kid))
        return arranged

    def new(self, _: Node, kids: list[Kid]) -> list[Kid]:
        """`new A()` is `new A`."""
        return [(field, kid) for field, kid in kids if field != "arguments" or isinstance(kid, str) or self._kids(kid)]

    def jsx(self, _: Node, kids: list[Kid]) -> list[Kid]:
        return jsx_children(self.data, kids)

    def keyed(self, _: Node, kids: list[Kid]) -> list[Kid]:
        """`{ 'a': 1 }` is `{ a: 1 }`."""
        return [(field, script_key(kid) if field in ("key", "name", "property") else kid) for field, kid in kids]

    def signature(self, _: Node, kids: list[Kid]) -> list[Kid]:
        """Rust: `-> ()` says what saying nothing says."""
        return [kid for kid in kids if not _is(kid, "->") and not (kid[0] == "return_type" and _is(kid, "unit_type"))]

    def modifiers(self, _: Node, kids: list[Kid]) -> list[Kid]:
        """Java: annotations stay in their order, keywords have none."""
        keywords = [kid for kid in kids if not isinstance(kid[1], str) and not kid[1].is_named]
        return [kid for kid in kids if kid not in keywords] + sorted(keywords, key=_type)

    def loop(self, _: Node, kids: list[Kid]) -> list[Kid]:
        """Go: `for ;; {` is `for {`."""
        return [kid for kid in kids if not (_is(kid, "for_clause") and not self._counting(kid[1]))]  # type: ignore[arg-type]


def _type(kid: Kid) -> str:
    return "" if isinstance(kid[1], str) else kid[1].type


def _is(kid: Kid, *types: str) -> bool:
    return not isinstance(kid[1], str) and kid[1].type in types


def _operator(node: Node) -> str:
    if node.type != "binary_expression":
        return ""
    operator = node.child_by_field_name("operator")
    return operator.type if operator is not None else ""


def _is_trailing(kids: list[Kid], place: int, node: Node) -> bool:
    """Whether a comma ends a list; one that holds a place open, as in `[,]`, does not, nor that of `(a,)`."""
    before = next((kid for _, kid in reversed(kids[:place]) if isinstance(kid, str) or not _is_comment(kid)), None)
    after = next((kid for _, kid in kids[place + 1 :] if isinstance(kid, str) or not _is_comment(kid)), None)
    if before is None or isinstance(before, str) or not before.is_named or isinstance(after, str):
        return False
    if node.type.startswith("tuple_") and node.named_child_count == 1:
        return False
    return after is None or after.type in _CLOSING


def _is_comment(node: Node) -> bool:
    return node.type.endswith("comment")


def _is_value(node: Node) -> bool:
    """Rust: whether the only thing in a block is what the block gives."""
    return not node.type.endswith(("_item", "_declaration", "_definition")) and not _is_plain_statement(node)


def _is_plain_statement(node: Node) -> bool:
    """Rust: whether a statement throws a value away by its semicolon."""
    last = node.child(node.child_count - 1) if node.type == "expression_statement" else None
    if last is None or last.type != ";":
        return False
    inner = node.named_child(0)
    return inner is None or inner.type not in _LEAVING | _LOOPS


def _with_runs_sorted(kids: list[Kid]) -> list[Kid]:
    """Neighbouring imports inside a definition have no order; the words of each decide, as they can be sorted too."""
    arranged: list[Kid] = []
    run: list[Kid] = []
    for kid in kids:
        if _is(kid, *_SORTED):
            run.append(kid)
            continue
        arranged += [*sorted(run, key=_words), kid]
        run = []
    return arranged + sorted(run, key=_words)


def _words(kid: Kid) -> list[str]:
    return sorted(re.findall(r"\w+", text_of(kid[1]))) if not isinstance(kid[1], str) else []


def _in_words(_: Reader, __: Node, kids: list[Kid]) -> list[Kid]:
    return sorted((kid for kid in kids if not _is(kid, ",")), key=_words)


_RULES: dict[tuple[str, str], Callable[[Reader, Node, list[Kid]], list[Kid]]] = {
    ("go", "for_statement"): Reader.loop,
    ("java", "modifiers"): Reader.modifiers,
    ("rust", "function_item"): Reader.signature,
    ("rust", "function_signature_item"): Reader.signature,
    ("rust", "use_list"): _in_words,
    ("script", "arrow_function"): Reader.arrow,
    ("script", "binary_expression"): Reader.logical,
    ("script", "jsx_element"): Reader.jsx,
    ("script", "jsx_fragment"): Reader.jsx,
    ("script", "new_expression"): Reader.new,
    **{("script", kind): Reader.keyed for kind in _KEYED},
}
