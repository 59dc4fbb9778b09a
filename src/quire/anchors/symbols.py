"""List the symbols of a source file, each with a digest that formatting and comments do not change."""

import re
from collections.abc import Collection, Iterable, Sequence

import msgspec

from quire.anchors.languages import GRAMMARS, PYTHON
from quire.files.digests import hex_digest

LIMIT = 1_000_000
_WORD = re.compile(r"[0-9A-Za-z_]+")


class Symbol(msgspec.Struct, frozen=True):
    """One definition; `name` is qualified with dots, lines count from 1 and include decorators and modifiers."""

    name: str
    digest: str
    first_line: int
    last_line: int


class Symbols(list[Symbol]):
    """What a file defines. Where it is broken in places, only what is whole is here."""

    broken_line: int = 0
    """The first line that could not be understood; 0 where all of it could."""
    doubtful: bool = False
    """Whether such a line casts doubt on the rest. Macros make sound C unreadable in places."""


class Unparsed(msgspec.Struct, frozen=True):
    """Why a file has no symbols; the reason continues a sentence that begins with the file's path."""

    reason: str


class WantedSymbols:
    """The wanted names, and the places in a source where they may be defined."""

    def __init__(self, names: Iterable[str]) -> None:
        self._asked = frozenset(filter(None, map(_plain_name, names)))
        self._endings = tuple(f".{asked}" for asked in self._asked)
        self._words = [max(_WORD.findall(asked.rpartition(".")[2]), key=len, default="") for asked in self._asked]

    def means(self, name: str) -> bool:
        """Whether a symbol of this name is wanted."""
        return name in self._asked or name.endswith(self._endings)

    def places(self, data: bytes) -> list[int] | None:
        """The offsets at which names may stand, in their order; None where they may stand anywhere."""
        pattern = self._pattern(data)
        return [found.start() for found in re.finditer(pattern, data)] if pattern is not None else None

    def may_be_in(self, data: bytes) -> bool:
        """Whether names may stand in a source at all."""
        pattern = self._pattern(data)
        return pattern is None or re.search(pattern, data) is not None

    def _pattern(self, data: bytes) -> bytes | None:
        """What is no ASCII, or written with an escape, may spell any name."""
        if not all(self._words):
            return None
        patterns = [re.escape(word.encode()) for word in self._words] or [rb"(?!)"]
        patterns += [rb"[\x80-\xff]"] if not data.isascii() else []
        patterns += [rb"\\u"] if b"\\u" in data else []
        return b"|".join(patterns)


def read_symbols(path: str, data: bytes, names: Collection[str] | None = None) -> Symbols | Unparsed:
    """Everything that the file defines, in its order, each name once; or what of it these names may mean.

    To be asked for a few names costs much less: only those definitions are looked into.
    """
    wanted = WantedSymbols(names) if names is not None else None
    extension = extension_of(path)
    if not has_grammar(path):
        return Unparsed(f"is in a language without a grammar here ({'.' + extension if extension else 'no extension'})")
    limit = LIMIT if extension in PYTHON else GRAMMARS[extension].limit
    if len(data) > limit:
        return Unparsed(f"is larger than {limit // 1_000_000} MB")
    if b"\0" in data:
        return Unparsed("is not text")
    if extension in PYTHON:
        from quire.anchors.python_symbols import read_python

        found: Symbols | Unparsed = read_python(data, wanted)
    else:
        from quire.anchors.grammar_symbols import read_grammar

        found = read_grammar(extension, data, wanted)
    if isinstance(found, Unparsed):
        return found
    symbols = Symbols(_each_name_once(found))
    symbols.broken_line, symbols.doubtful = found.broken_line, found.doubtful
    return symbols


def find_symbol(symbols: list[Symbol], name: str) -> Symbol | None:
    """The symbol of this name; failing that, all whose last parts are this name, as one."""
    asked = _plain_name(name)
    if not asked:
        return None
    matching = [symbol for symbol in symbols if symbol.name == asked]
    matching = matching or [symbol for symbol in symbols if symbol.name.endswith("." + asked)]
    return combined(matching) if matching else None


def symbol_text(path: str, data: bytes, name: str) -> tuple[int, bytes] | None:
    """The lines that define a symbol, and how many lines stand above them; None where the file does not define it."""
    symbols = read_symbols(path, data, [name])
    symbol = None if isinstance(symbols, Unparsed) else find_symbol(symbols, name)
    if symbol is None:
        return None
    lines = data.split(b"\n")[symbol.first_line - 1 : symbol.last_line]
    return symbol.first_line - 1, b"\n".join(lines) + b"\n"


def has_grammar(path: str) -> bool:
    """Whether symbols can be read from a file of this name."""
    extension = extension_of(path)
    return extension in PYTHON or extension in GRAMMARS


def is_python(path: str) -> bool:
    return extension_of(path) in PYTHON


def combined(symbols: Sequence[Symbol]) -> Symbol:
    """Several definitions as one: a change in any of them is a change."""
    first = symbols[0]
    if len(symbols) == 1:
        return first
    names = {symbol.name for symbol in symbols}
    return Symbol(
        name=first.name if len(names) == 1 else _common_ending(names),
        digest=hex_digest("\n".join(symbol.digest for symbol in symbols))[:32],
        first_line=min(symbol.first_line for symbol in symbols),
        last_line=max(symbol.last_line for symbol in symbols),
    )


def digest_of(tokens: Sequence[str], parts: tuple[str, ...]) -> str:
    """The digest of a definition from its tokens, with the parts of its own name replaced by their places.

    So a renamed definition keeps its digest, also where it calls itself. Identifiers are the tokens that begin with
    `i:`. No token holds a NUL, so the joined text has one reading.
    """
    places = {f"i:{part}": f"\1{place}" for place, part in reversed(list(enumerate(reversed(parts))))}
    replaced = [places.get(token, token) for token in tokens]
    # Most definitions hold no such text: looked for at once, before each token is looked at.
    if parts and "doc:" in (joined := "\0".join(replaced)) and parts[-1] in joined:
        # What a definition says of itself by its name, it says under a new one too.
        own = re.compile(rf"(?<!\w){re.escape(parts[-1])}(?!\w)")
        replaced = [own.sub("\1", token) if token.startswith("doc:") else token for token in replaced]
    if not any(token[:1] not in ("(", ")", ".", "\x01") for token in replaced):
        # A bare name, as of an enumeration's member: without it all of them would be equal.
        replaced = list(tokens)
    return hex_digest("\0".join(replaced))[:32]


def _plain_name(name: str) -> str:
    return ".".join(part for part in name.replace("::", ".").replace("#", ".").split(".") if part)


def _each_name_once(found: Iterable[Symbol]) -> list[Symbol]:
    # In the order they were found: lines do not tell two definitions apart that stand on one.
    named: dict[str, list[Symbol]] = {}
    for symbol in found:
        named.setdefault(symbol.name, []).append(symbol)
    symbols = [combined(group) for group in named.values()]
    return sorted(symbols, key=lambda symbol: (symbol.first_line, -symbol.last_line, symbol.name.count(".")))


def _common_ending(names: set[str]) -> str:
    ending: list[str] = []
    for level in zip(*(reversed(name.split(".")) for name in names), strict=False):
        if len(set(level)) > 1:
            break
        ending.insert(0, level[0])
    return ".".join(ending)


def extension_of(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name[1:] else ""
