"""Turn Markdown into a tree of elements that the page builds itself, so that no text is read as HTML."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_MOST_CHARS = 200_000
_DEPTH = 40
_MOST_BRACKETS = 4_000
"""Each opening bracket may begin a link that ends anywhere: nothing costs more to read, and nobody writes so many."""
_KEPT = {"href", "start", "class"}

Tree = list[Any]
"""Strings, and elements as [tag, attributes, children]."""


def prose_of(text: str) -> Tree:
    """The tree of a text. One that is too long, too deep or too tangled to be read as Markdown is shown as it is."""
    if len(text) > _MOST_CHARS:
        return [["pre", {}, [text[:_MOST_CHARS], "…"]]]
    if text.count("[") > _MOST_BRACKETS:
        return [["pre", {}, [text]]]
    try:
        tree = _built(_reader().parse(text))
    except (RecursionError, ValueError):
        return [["pre", {}, [text]]]
    return tree if _depth(tree) <= _DEPTH else [["pre", {}, [text]]]


@cache
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # HTML is shown as it is written.
    reader = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": _DEPTH})
    return reader.enable(["table", "strikethrough"]).disable(["html_block", "html_inline"])


def _built(tokens: list[Token]) -> Tree:
    top: Tree = []
    open_parts = [top]
    for token in tokens:
        inner = open_parts[-1]
        if token.type == "inline":
            inner += _built(token.children or [])
        elif token.type in ("fence", "code_block"):
            inner.append(["pre", {}, [["code", _language(token), [token.content]]]])
        elif token.type == "code_inline":
            inner.append(["code", {}, [token.content]])
        elif token.type == "softbreak":
            inner.append("\n")
        elif token.type == "image":
            # A picture would be fetched from somewhere: a link leaves that to the reader.
            inner.append(["a", {"href": str(token.attrs.get("src", ""))}, [token.content or "picture"]])
        elif token.nesting == 1:
            made: Tree = []
            if token.hidden:
                open_parts.append(inner)  # the paragraph of a tight list: its text stands in the item itself
                continue
            inner.append([token.tag, {name: str(value) for name, value in token.attrs.items() if name in _KEPT}, made])
            open_parts.append(made)
        elif token.nesting == -1:
            open_parts.pop()
        elif token.tag and not token.content:
            inner.append([token.tag, {}, []])
        elif token.content:
            inner.append(token.content)
    return top


def _language(token: Token) -> dict[str, str]:
    name = token.info.strip().partition(" ")[0]
    return {"class": name[:40]} if name else {}


def _depth(tree: Tree) -> int:
    deepest, left = 0, [(tree, 1)]
    while left:
        parts, depth = left.pop()
        deepest = max(deepest, depth)
        left += [(part[2], depth + 1) for part in parts if isinstance(part, list)]
    return deepest
