"""Find symbols in Python source; their digests are equal on every supported Python version."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from quire.anchors.symbols import Symbol, Symbols, Unparsed, WantedSymbols, digest_of

# Positions are no fields; these fields say nothing about behaviour, or do not exist in every version.
_SKIPPED = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
_FUNCTIONS = frozenset({"FunctionDef", "AsyncFunctionDef", "Lambda"})
_NAMED = frozenset({"FunctionDef", "AsyncFunctionDef", "ClassDef"})
_DEEPEST = 20

# A node of `ast`, whose module is loaded only when a Python file is read.
_Node = Any
_Scope = tuple[str, ...]


def read_python(data: bytes, wanted: WantedSymbols | None = None) -> Symbols | Unparsed:
    """Functions, classes, methods, and the variables of modules and classes; all, or those that are wanted."""
    tree = _parsed(data)
    if isinstance(tree, Unparsed):
        return tree
    return Symbols(_walk(tree) if wanted is None else _search(tree, data, wanted))


def digest_alone(data: bytes, parts: _Scope) -> str | None:
    """The digest of a definition of this name that is all a source holds, but for a block around it."""
    tree = _parsed(data)
    held = [] if isinstance(tree, Unparsed) else tree.body
    if len(held) == 1 and type(held[0]).__name__ == "If":
        held = held[0].body
    if len(held) != 1 or type(held[0]).__name__ not in _NAMED or held[0].name != parts[-1]:
        return None
    return _walk(held[0], parts[:-1], alone=True)[0].digest


def _parsed(data: bytes) -> _Node | Unparsed:
    import ast
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except SyntaxError as error:
        return Unparsed(f"has a syntax error on line {error.lineno}" if error.lineno else "has a syntax error")
    except (RecursionError, MemoryError):
        return Unparsed("is nested too deeply to be read")
    except ValueError:
        return Unparsed("is not text in the encoding it declares")


def _search(tree: _Node, data: bytes, wanted: WantedSymbols) -> list[Symbol]:
    """The definitions that are wanted; what cannot hold one of them is passed over."""
    lines = _lines(data, wanted)
    found: list[Symbol] = []
    todo: list[tuple[_Node, _Scope, bool, bool]] = [(tree, (), False, False)]
    while todo:
        node, scope, local, is_found = todo.pop()
        if is_found:
            symbols = _walk(node, scope, local, alone=True)
            found += [symbol for symbol in symbols if wanted.means(symbol.name)]
            continue
        kind = type(node).__name__
        names = _names(node, kind, local) if len(scope) < _DEEPEST else []
        if any(wanted.means(".".join((*scope, name))) for name in names):
            todo.append((node, scope, local, True))
        if kind in _NAMED and names:
            scope = (*scope, names[0])
        local = local or kind in _FUNCTIONS
        todo += [(part, scope, local, False) for part in reversed(_statements(node)) if _reaches(part, lines)]
    return found


def _lines(data: bytes, wanted: WantedSymbols) -> list[int] | None:
    """The lines on which the names may stand, counted as the parser counts them."""
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    places = wanted.places(data)
    if places is None:
        return None
    lines: list[int] = []
    line, end = 1, 0
    for place in places:
        line += data.count(b"\n", end, place)
        end = place
        lines.append(line)
    return lines


def _statements(node: _Node) -> list[_Node]:
    """The statements inside of a statement, and what holds some, in the order of its fields."""
    from ast import ExceptHandler, match_case, stmt

    values = [getattr(node, field, None) for field in node._fields]
    parts = [part for value in values if isinstance(value, list) for part in value]
    return [part for part in parts if isinstance(part, (stmt, ExceptHandler, match_case))]


def _reaches(node: _Node, lines: list[int] | None) -> bool:
    """Whether a node holds one of these lines; a case of `match` does not say where it stands."""
    first = getattr(node, "lineno", None)
    if lines is None or first is None:
        return True
    place = bisect_left(lines, first)
    return place < len(lines) and lines[place] <= node.end_lineno


def _walk(tree: _Node, scope: _Scope = (), local: bool = False, *, alone: bool = False) -> list[Symbol]:
    """One pass: a flat list of tokens, and from where to where in it each definition reaches; `alone` only the first.

    What is still to do is a list, last first, because a tree can be deeper than the stack of calls: a token to write,
    a node to enter, or a definition that ends, each with its scope and whether that is inside a function.
    """
    tokens: list[str] = []
    found: list[Symbol] = []
    todo: list[tuple[object, _Scope, bool]] = [(tree, scope, local)]
    while todo:
        item, scope, local = todo.pop()
        if isinstance(item, str):
            tokens.append(item)
            continue
        if isinstance(item, _Definition):
            found.append(item.symbol(tokens))
            continue
        kind = type(item).__name__
        names = _names(item, kind, local) if len(scope) < _DEEPEST else []
        for name in reversed(names) if item is tree or not alone else ():
            todo.append((_Definition(item, (*scope, name), len(tokens)), scope, local))
        if kind in _NAMED and names:
            scope = (*scope, names[0])
        local = local or kind in _FUNCTIONS
        tokens.append("(" + kind)
        parts = [*_parts(item, kind), ")"]
        for place, part in enumerate(parts):
            if not isinstance(part, str):
                todo += [(later, scope, local) for later in reversed(parts[place:])]
                break
            tokens.append(part)
    return found


class _Definition:
    """A statement that defines a name, and where its tokens begin."""

    def __init__(self, node: _Node, parts: _Scope, start: int) -> None:
        self.node, self.parts, self.start = node, parts, start

    def symbol(self, tokens: list[str]) -> Symbol:
        decorators = getattr(self.node, "decorator_list", [])
        return Symbol(
            name=".".join(self.parts),
            digest=digest_of(tokens[self.start :], self.parts),
            first_line=min([self.node.lineno, *(decorator.lineno for decorator in decorators)]),
            last_line=self.node.end_lineno,
        )


def _names(node: _Node, kind: str, local: bool) -> list[str]:
    """What a statement defines. A function's own variables are nobody else's business."""
    if kind in _NAMED:
        return [node.name]
    if local:
        return []
    if kind == "Assign":
        targets = node.targets
    elif kind in ("AnnAssign", "AugAssign"):
        targets = [node.target]
    elif kind == "TypeAlias":
        targets = [node.name]
    else:
        return []
    plain = [target.value if type(target).__name__ == "Starred" else target for target in _flat(targets)]
    return list(dict.fromkeys(target.id for target in plain if type(target).__name__ == "Name"))


def _flat(targets: list[_Node]) -> Iterator[_Node]:
    todo = targets[::-1]
    while todo:
        target = todo.pop()
        if type(target).__name__ in ("Tuple", "List"):
            todo += reversed(target.elts)
        else:
            yield target


def _parts(node: _Node, kind: str) -> Iterator[object]:
    """The fields that count as tokens and nodes, without what differs between versions and formatters."""
    if kind == "Constant":
        yield _constant(node.value)
        return
    if kind == "JoinedStr":
        yield from _pieces(node.values)
        return
    for field in node._fields:
        value = getattr(node, field, None)
        if field in _SKIPPED or value is None or value == []:
            continue
        if kind == "Expr" and type(value).__name__ == "Constant" and isinstance(value.value, str):
            # A docstring, of whatever it is: formatters indent it anew.
            yield "doc:" + _escaped(" ".join(value.value.split()))
            continue
        if field == "format_spec" and not _pieces(value.values):
            continue
        yield "." + field
        for one in (_flat(value) if kind == "Delete" else value) if isinstance(value, list) else [value]:
            yield _plain(one) if one is None or isinstance(one, (str, int)) else one


def _plain(value: str | int | None) -> str:
    """Names, the numbers of flags, and the empty places in a list (`**` in a dict, no default)."""
    return "i:" + value if isinstance(value, str) else f"={value}"


def _pieces(values: list[_Node]) -> list[object]:
    """The parts of an f-string: neighbouring texts are one, and empty ones are none."""
    pieces: list[object] = []
    for value in values:
        if type(value).__name__ != "Constant":
            pieces.append(value)
        elif value.value and pieces and isinstance(pieces[-1], str):
            pieces[-1] += _escaped(value.value)
        elif value.value:
            pieces.append("str:" + _escaped(value.value))
    return pieces


def _escaped(text: str) -> str:
    """Without NUL, which separates tokens."""
    return text.replace("\\", "\\\\").replace("\0", "\\0")


def _constant(value: object) -> str:
    if isinstance(value, str):
        return "str:" + _escaped(value)
    if isinstance(value, bytes):
        return "bytes:" + value.hex()
    if isinstance(value, int) and not isinstance(value, bool):
        # In hexadecimal, because Python refuses to write very long numbers in decimal.
        return f"int:{value:x}"
    return f"{type(value).__name__}:{value!r}"
