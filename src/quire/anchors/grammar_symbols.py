"""Find and digest symbols in languages whose tree-sitter grammars are installed packages."""

from __future__ import annotations

import re
from bisect import bisect_left
from importlib import import_module
from typing import TYPE_CHECKING

from quire.anchors.grammar_names import defined_names
from quire.anchors.grammar_tokens import Reader
from quire.anchors.languages import GRAMMARS, Grammar
from quire.anchors.symbols import Symbol, Symbols, Unparsed, WantedSymbols, digest_of

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

_DEEPEST = 20
# A bound that depends on the file alone, so that every machine decides alike.
_MOST_NODES = 700_000
# Bytes of the first look at a file, seconds that are worth a judgement, and bytes a second that are too few.
_FIRST_PROBE = 8_000
_LONG = 0.25
_SLOWEST = 600_000
_TOO_MUCH = Unparsed("is too large to be read")

_Scope = tuple[str, ...]


def read_grammar(extension: str, data: bytes, wanted: WantedSymbols | None = None) -> Symbols | Unparsed:
    """All definitions of a file, or those that are wanted, in no particular order; of a broken one what is whole."""
    # A file that git checked out with other line ends is the same file.
    data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    grammar = GRAMMARS[extension]
    tree = parse_tree(grammar, data)
    if extension == "h" and not isinstance(tree, Unparsed) and tree.root_node.has_error:
        grammar = GRAMMARS["hpp"]
        tree = parse_tree(grammar, data)
    if isinstance(tree, Unparsed):
        return tree
    root = tree.root_node
    if root.descendant_count > _MOST_NODES:
        return _TOO_MUCH
    symbols = Symbols(_search(grammar, data, root, wanted) if wanted else _Walk(grammar, data, root).run())
    symbols.broken_line = _line(data, _error_at(root)) if root.has_error else 0
    symbols.doubtful = root.has_error and grammar.family != "c"
    return symbols


def parse_tree(grammar: Grammar, data: bytes) -> Tree | Unparsed:
    try:
        from tree_sitter import Language
        from tree_sitter import Parser as Engine

        language = Language(getattr(import_module(grammar.package.replace("-", "_")), grammar.entry)())
    except ImportError:
        return Unparsed(f"cannot be parsed here, because the package {grammar.package} is not installed")
    parser = Engine(language)
    if _is_slow(parser, data):
        return Unparsed("takes too long to be parsed")
    return parser.parse(data)


def _is_slow(parser: Parser, data: bytes) -> bool:
    """Whether beginnings of the file, each twice as long as the last, show that the whole would take too long.

    Hardly readable input can take a parser time that grows with the square of its length. A parse cannot be stopped:
    the binding's callback for progress crashes. Sound code is parsed at least six times faster than the bound.
    """
    from time import process_time

    length = _FIRST_PROBE
    while length < len(data):
        start = process_time()
        parser.parse(data[:length])
        spent = process_time() - start
        if spent > _LONG and length / spent < _SLOWEST:
            return True
        length *= 2
    return False


def _error_at(root: Node) -> int:
    node = root
    while not node.is_error and not node.is_missing:
        inner = next((kid for kid in node.children if kid.has_error or kid.is_missing), None)
        if inner is None:
            break
        node = inner
    return node.start_byte


def _line(data: bytes, offset: int) -> int:
    """Counted here: reading a node's own `start_point` crashes version 0.26.0 of the binding."""
    return data.count(b"\n", 0, offset) + 1


class _Holder:
    """A stretch of tokens, the definitions it turns out to be, and where it stands in the file."""

    def __init__(self, node: Node, first: Node | None = None) -> None:
        self.start = -1
        self.node = node
        self.first = first or node
        self.names: list[_Scope] = []
        self.begin: tuple[Node, _Scope, bool, tuple[Node, ...]] = (node, (), False, ())
        """From where its tokens can be read again: a node, where that stands, and what leads it."""


if TYPE_CHECKING:
    # A token, a holder that begins or ends, or a node with its scope, whether it is inside of a function, and the
    # holder of what it defines, if that is not the node alone.
    _Item = str | _Holder | tuple[Node, _Scope, bool, _Holder | None]


def _search(grammar: Grammar, data: bytes, root: Node, wanted: WantedSymbols) -> list[Symbol]:
    """The definitions that are wanted: found without looking into what cannot hold one, and each read by itself."""
    search = _Walk(grammar, data, root, wanted)
    search.run()
    found: list[Symbol] = []
    for holder in search.held:
        node, scope, local, leads = holder.begin
        again = _Walk(grammar, data, root)
        group = _Holder(node, leads[0]) if leads else None
        around: list[_Item] = [group] if group is not None else []
        planned: list[_Item] = [*around, *((lead, scope, local, None) for lead in leads)]
        again.todo = [*around, (node, scope, local, group), *reversed(planned)]
        again.alone = True
        found += [symbol for symbol in again.run() if wanted.means(symbol.name)]
    return found


class _Walk:
    """One pass over a tree, with a list of what is still to do instead of calls: trees can be very deep."""

    def __init__(self, grammar: Grammar, data: bytes, root: Node, wanted: WantedSymbols | None = None) -> None:
        self.grammar = grammar
        self.data = data
        self.reader = Reader(grammar.family, data, root)
        self.line_ends: list[int] | None = None
        self.wanted = wanted
        """With it nothing is read, only found: where what is wanted is held."""
        self.held: list[_Holder] = []
        self.alone = False
        """Only what ends last is of interest, not what it holds."""
        self.places = wanted.places(data) if wanted else None
        self.tokens: list[str] = []
        self.found: list[Symbol] = []
        self.todo: list[_Item] = [(root, (), False, None)]

    def run(self) -> list[Symbol]:
        while self.todo:
            item = self.todo.pop()
            if isinstance(item, str):
                self.tokens.append(item)
            elif isinstance(item, tuple):
                self._enter(*item)
            elif item.start < 0:
                item.start = len(self.tokens)
            else:
                self._close(item)
        return self.found

    def _close(self, holder: _Holder) -> None:
        if not holder.names or holder.node.has_error or (self.alone and self.todo):
            return
        if self.wanted is not None:
            if any(self.wanted.means(".".join(parts)) for parts in holder.names):
                self.held.append(holder)
            return
        first_line = self._line(holder.first.start_byte)
        # The last byte, because some nodes, as macros of C, end with their line.
        last_line = self._line(max(holder.node.end_byte - 1, holder.first.start_byte))
        tokens = self.tokens[holder.start :]
        for parts in holder.names:
            self.found.append(Symbol(".".join(parts), digest_of(tokens, parts), first_line, last_line))

    def _line(self, offset: int) -> int:
        """As the other of this name, for many offsets."""
        if self.line_ends is None:
            self.line_ends = [found.start() for found in re.finditer(b"\n", self.data)]
        return bisect_left(self.line_ends, offset) + 1

    def _may_hold(self, node: Node) -> bool:
        """Whether something of the names that are wanted may stand in a node."""
        if self.places is None:
            return True
        place = bisect_left(self.places, node.start_byte)
        return place < len(self.places) and self.places[place] < node.end_byte

    def _enter(self, node: Node, scope: _Scope, local: bool, holder: _Holder | None) -> None:
        leaf = self.reader.leaf(node)
        if leaf is not None and node.type not in self.grammar.defines:
            self.tokens += leaf
            return
        own = holder or _Holder(node)
        names = [(*scope, *name) for name in defined_names(self.grammar, node, local)] if len(scope) < _DEEPEST else []
        own.names += names
        if holder is None:
            own.begin = (node, scope, local, ())
            own.start = len(self.tokens)
            self.todo.append(own)
        if len(names) == 1 and self._is_container(node):
            scope = names[0]
        local = local or node.type in self.grammar.bodies
        self.tokens.append("(" + node.type)
        self._plan(node, scope, local, own if self._is_wrapper(node) else None)

    def _plan(self, node: Node, scope: _Scope, local: bool, holder: _Holder | None) -> None:
        """The parts of a node onto the list, with what leads a definition held together with it."""
        planned: list[_Item] = []
        leads: list[Node] = []
        for field, kid in self.reader.parts(node):
            if field:
                planned.append("." + field)
            if isinstance(kid, str):
                planned.append(kid)
                continue
            if kid.type in self.grammar.leads:
                leads.append(kid)
                continue
            if not self._may_hold(kid):
                leads = []
                continue
            # What a wrapper holds is held already.
            group = _Holder(kid, leads[0]) if leads and holder is None else None
            if group is not None:
                group.begin = (kid, scope, local, tuple(leads))
            around: list[_Item] = [group] if group is not None else []
            planned += [*around, *((lead, scope, local, None) for lead in leads)]
            planned += [(kid, scope, local, group or holder), *around]
            leads = []
        planned += [(lead, scope, local, None) for lead in leads]
        self.todo += reversed([*planned, ")"])

    def _is_wrapper(self, node: Node) -> bool:
        if node.type == "const_declaration" and self.grammar.family == "go":
            # With iota, a constant's value depends on its neighbours.
            return b"iota" in (node.text or b"")
        return node.type in self.grammar.wrappers

    def _is_container(self, node: Node) -> bool:
        """A declaration of C holds the members of its type only if that has no name of its own."""
        if self.grammar.defines[node.type] != "declarator" or node.type == "function_definition":
            return True
        kind = node.child_by_field_name("type")
        return kind is not None and kind.type.endswith("_specifier") and kind.child_by_field_name("name") is None
