"""Cache digests of named definitions by file content; each content is parsed once for all names.

A content never changes, so what was found in it may be kept. Where the very text of a definition stands in another
version of its file, too, that version holds the same definition, and is not parsed at all. Elsewhere a definition may
be cut out and parsed alone. What is known in these ways says which commit changed something; a verdict is given on
what was parsed as a whole.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterable
from typing import Protocol

import msgspec

from quire.anchors.symbols import Symbol, Unparsed, WantedSymbols, find_symbol, is_python, read_symbols
from quire.files.digests import is_blob

_RULES = 1
"""Another number where digests are made otherwise."""
_MEMO = "code "
_STEP = 8
"""So many files are parsed before what was found in them is written down."""
_KEPT = 400
"""Of more versions than these only those are kept that were asked for this time."""
_TEXTS = 8
_MARK = "~"
_CONTENT = 20
"""So much of a content's id distinguishes it from the other versions of its file."""


class Keep(Protocol):
    """A cache of derived values; a lost value is computed again."""

    def memos(self, names: Iterable[str]) -> dict[str, bytes]: ...

    def note_at_once(self, memos: dict[str, bytes]) -> None: ...


class Definition(msgspec.Struct, frozen=True):
    """The digest of a named definition in a content, empty if there is none; `fault` says why it is unknown."""

    digest: str = ""
    fault: str = ""
    """The reason continues a sentence that begins with the file's path."""
    doubt: str = ""
    """Why there may be more of it than the digest is of."""
    unparsed: bool = False
    """Nothing of the file can be known."""


_Memo = tuple[int, dict[str, str]]


class Definitions:
    """Asked for a name in a file's content, answers with what is defined there."""

    def __init__(self, keep: Keep | None = None) -> None:
        self._keep = keep
        self._known: dict[tuple[str, str], dict[str, str]] = {}
        """By file and name: by content, the digest; empty where the content defines no such thing.

        It begins with a mark where the content was not parsed as a whole.
        """
        self._used: dict[tuple[str, str], set[str]] = {}
        self._texts: dict[tuple[str, str], list[tuple[bytes, tuple[object, ...], str]]] = {}
        """By file and name: texts of it that were parsed, the place of each, its digest."""
        self._cut: dict[tuple[str, str], str] = {}
        """By file and name: the whole name of what can be cut out of a version, and be read alone."""
        self._faulty: dict[tuple[str, str, str], Definition] = {}
        """What is not kept, because another day it may be told."""
        self._wanted: dict[str, dict[str, None]] = {}
        self._new: set[tuple[str, str]] = set()
        self._parses = 0

    def want(self, anchors: Iterable[str]) -> None:
        """Announce names that will be needed, so that cached ones are read at once and a file is parsed once."""
        pairs = {(file, name) for file, mark, name in (anchor.rpartition("#") for anchor in anchors) if mark and file}
        new = sorted(pair for pair in pairs if pair not in self._known)
        for file, name in new:
            self._wanted.setdefault(file, {})[name] = None
            self._known[file, name] = {}
        memos = {f"{_MEMO}{file}#{name}": (file, name) for file, name in new} if self._keep else {}
        with contextlib.suppress(UnicodeEncodeError):  # a name that is no text is never kept
            for memo, value in self._keep.memos(memos).items() if self._keep and memos else ():
                with contextlib.suppress(msgspec.MsgspecError):
                    rules, digests = msgspec.msgpack.decode(value, type=_Memo)
                    self._known[memos[memo]] = digests if rules == _RULES else {}

    def find(self, file: str, name: str, content: str | None, read: Callable[[], bytes]) -> Definition:
        """Find a definition in a file. Results for contents with an id are cached."""
        self.want([f"{file}#{name}"])
        if not content:
            return self._parse(file, None, read(), (name,))[name]
        if not self._is_known(file, name, content, whole=True):
            names = [other for other in self._wanted[file] if not self._is_known(file, other, content, whole=True)]
            return self._parse(file, content, read(), names)[name]
        return self._faulty.get((file, name, content)) or Definition(self.digest(file, name, content) or "")

    def compare(self, file: str, content: str, read: Callable[[str], bytes | None], names: Collection[str]) -> None:
        """Load the digests of these names in a version, as far as possible."""
        missing = [name for name in names if not self._is_known(file, name, content)]
        data = read(content) if missing else None
        if data is not None:
            missing = [name for name in missing if not self._is_same(file, name, content, data)]
            if missing:
                self._parse(file, content, data, missing)

    def digest(self, file: str, name: str, content: str) -> str | None:
        """The loaded digest; empty if the content does not define the name."""
        self._used.setdefault((file, name), set()).add(content[:_CONTENT])
        known = self._known.get((file, name), {}).get(content[:_CONTENT])
        return known.removeprefix(_MARK) if known is not None else None

    def write_down(self) -> None:
        """Keep what was found. What a run that is cut short has found until then is not lost."""
        if self._keep is None or not self._new:
            return
        memos = {}
        for pair in self._new:
            digests = self._known[pair]
            if len(digests) > _KEPT:
                digests = {content: digests[content] for content in digests if content in self._used[pair]}
            with contextlib.suppress(UnicodeEncodeError):
                memos[f"{_MEMO}{pair[0]}#{pair[1]}"] = msgspec.msgpack.encode((_RULES, digests))
        self._new.clear()
        self._keep.note_at_once(memos)

    def _is_known(self, file: str, name: str, content: str, *, whole: bool = False) -> bool:
        if (file, name, content) in self._faulty:
            return True
        known = self._known.get((file, name), {}).get(content[:_CONTENT])
        return known is not None and not (whole and known.startswith(_MARK))

    def _note(self, file: str, name: str, content: str, digest: str) -> None:
        self._known.setdefault((file, name), {})[content[:_CONTENT]] = digest
        self._used.setdefault((file, name), set()).add(content[:_CONTENT])
        self._new.add((file, name))

    def _is_same(self, file: str, name: str, content: str, data: bytes) -> bool:
        """Whether this version has the definition with a text that was parsed already, at a place like that one."""
        for text, place, digest in reversed(self._texts.get((file, name), [])):
            if place and _place(data, text, name) == place:
                self._note(file, name, content, _MARK + digest)
                return True
        cut = self._cut_out(file, name, data) if WantedSymbols([name]).may_be_in(data) else ""
        if cut is not None:
            self._note(file, name, content, _MARK + cut)
        return cut is not None

    def _cut_out(self, file: str, name: str, data: bytes) -> str | None:
        whole = self._cut.get((file, name))
        if not whole:
            return None
        from quire.anchors.python_slices import cut_out

        found = cut_out(data, whole)
        if found is None:
            return None
        self._note_text(file, name, data, *found)
        self._count()
        return found[1]

    def _parse(self, file: str, content: str | None, data: bytes, names: Collection[str]) -> dict[str, Definition]:
        symbols = read_symbols(file, data, names)
        if isinstance(symbols, Unparsed):
            found = dict.fromkeys(names, Definition(fault=symbols.reason, unparsed=True))
        else:
            broken = f"has a syntax error on line {symbols.broken_line}" if symbols.broken_line else ""
            defined = {name: find_symbol(symbols, name) for name in names}
            doubt = broken if symbols.doubtful else ""
            found = {
                name: Definition(symbol.digest, doubt=doubt) if symbol else Definition(fault=broken)
                for name, symbol in defined.items()
            }
            if content and is_blob(data, content):
                for name, symbol in defined.items():
                    if found[name] == Definition(found[name].digest):
                        self._note(file, name, content, found[name].digest)
                    if symbol is not None and not doubt:
                        self._learn(file, name, data, symbol)
        if content:
            unsure = {name: it for name, it in found.items() if self.digest(file, name, content) is None}
            self._faulty.update({(file, name, content): it for name, it in unsure.items()})
        self._count()
        return found

    def _count(self) -> None:
        self._parses += 1
        if self._parses % _STEP == 0:
            self.write_down()

    def _learn(self, file: str, name: str, data: bytes, symbol: Symbol) -> None:
        """How to know this definition in other versions without parsing them: by its text, or by cutting it out."""
        if (file, name) not in self._cut and is_python(file):
            from quire.anchors.python_slices import cut_out

            # Tried once where it is known what has to come out.
            found = cut_out(data, symbol.name)
            self._cut[file, name] = symbol.name if found and found[1] == symbol.digest else ""
        if data.count(b"\r") != data.count(b"\r\n"):
            return  # not everybody counts such lines alike
        text = b"\n".join(data.split(b"\n")[symbol.first_line - 1 : symbol.last_line])
        self._note_text(file, name, data, text, symbol.digest)

    def _note_text(self, file: str, name: str, data: bytes, text: bytes, digest: str) -> None:
        texts = self._texts.setdefault((file, name), [])
        texts[:] = [*texts[1 - _TEXTS :], (text, _place(data, text, name), digest)]


def _place(data: bytes, text: bytes, name: str) -> tuple[object, ...]:
    """What tells a definition with this text from others: the lines around it, and how often its beginning is there.

    A line added behind the text may belong to the definition; another such beginning may define the name once more.
    Nothing where the file does not have these lines, lacks a part of the name, or that cannot be known.
    """
    outer, _, last = name.encode("utf-8", "surrogatepass").rpartition(b".")
    whole = b"\n" + data + b"\n"
    at = whole.find(b"\n" + text + b"\n")
    if at < 0 or not all(
        re.search(rb"\b%b(?![\w\x80-\xff])" % re.escape(part), data) for part in outer.split(b".") if part
    ):
        return ()
    before = whole[:at].rstrip().rpartition(b"\n")[2]
    if any(before.count(closing) > before.count(opening) for opening, closing in ((b"(", b")"), (b"[", b"]"))):
        return ()  # what began further up may be a decorator
    end = at + len(text) + 1
    after = whole[end:].lstrip(b"\n").partition(b"\n")[0]
    head = re.search(rb"(?:\w+[ \t]+)?%b" % re.escape(last), text)
    return before, after, whole.count(b"\n" + text + b"\n"), data.count(head[0] if head else last)
