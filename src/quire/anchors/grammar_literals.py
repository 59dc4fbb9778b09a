"""Normalise literals: strings without quotes, numbers without spelling, texts without layout."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from quire.anchors.grammar_names import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from quire.anchors.grammar_tokens import Kid

_DECIMAL = re.compile(r"(\d[\d_]*)?\.?\d[\d_]*\.?(e[+-]?\d+)?", re.ASCII)
_SIMPLE_KEY = re.compile(r"[A-Za-z_$][\w$]*|\d+(\.\d+)?", re.ASCII)
_PREPROCESSOR_TOKEN = re.compile(
    r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^\W\d]\w*|\.?\d[\w.]*|\\\r?\n|\s+|.""", re.DOTALL
)
_PIECES = frozenset({"html_character_reference", "jsx_text"})


def literal(family: str, node: Node) -> list[str] | None:
    """The tokens of a literal that can be written in several ways; None for everything else."""
    rule = _LITERALS.get((family, node.type))
    return rule(node) if rule is not None else None


def script_key(key: Node | str) -> Node | str:
    """The name of a property: with or without quotes."""
    if isinstance(key, str):
        return key
    if key.type == "number":
        return "i:" + _script_number(key)[0].partition(":")[2].removesuffix(".0")
    if key.type == "string":
        text = _script_text(key)
        return "i:" + text if _SIMPLE_KEY.fullmatch(text) else key
    return key


def jsx_children(data: bytes, kids: list[Kid]) -> list[Kid]:
    """The children of an element, with the texts between them as they are rendered."""
    arranged: list[Kid] = []
    texts: list[str] = []
    end = None
    for field, kid in kids:
        if isinstance(kid, str) or kid.type in _PIECES:
            continue
        if end is not None:
            texts.append(_rendered(data[end : kid.start_byte].decode("utf-8", "surrogateescape")))
        end = kid.end_byte
        only = _only_child(kid) if kid.type == "jsx_expression" else kid
        if only is None:
            continue
        if only.type == "string" and kid.type == "jsx_expression" and not _script_text(only).strip():
            texts.append(_script_text(only))
            continue
        arranged += _text_kid(texts)
        texts = []
        arranged.append((field, kid))
    return arranged + _text_kid(texts)


def _text_kid(texts: list[str]) -> list[Kid]:
    text = re.sub(r"[ \t\r\n]+", " ", "".join(texts))
    return [("", "text:" + text)] if text else []


def _rendered(text: str) -> str:
    """Text without the ends of its lines, as JSX defines it."""
    lines = re.split(r"\r?\n", text)
    trimmed = [
        line.lstrip(" \t") if place and place == len(lines) - 1
        else line.rstrip(" \t") if not place and len(lines) > 1
        else line.strip(" \t") if place
        else line
        for place, line in enumerate(lines)
    ]  # fmt: skip
    return " ".join(line for line in trimmed if line)


def _only_child(node: Node) -> Node | None:
    """What a JSX expression holds, if it is not just a comment; the expression itself if it holds more."""
    kids = [kid for kid in node.named_children if not kid.type.endswith("comment")]
    return kids[0] if len(kids) == 1 else node if kids else None


def _script_text(node: Node) -> str:
    return re.sub(r"\\(.)", lambda found: found[1] if found[1] in "'\"" else found[0], text_of(node)[1:-1], flags=re.S)


def _script_string(node: Node) -> list[str]:
    if node.parent is not None and node.parent.type == "jsx_attribute":
        return ["str:" + text_of(node)[1:-1].replace("&quot;", '"').replace("&apos;", "'")]
    return ["str:" + _script_text(node)]


def _script_braces(node: Node) -> list[str] | None:
    """`a={"x"}` is `a="x"`."""
    only = _only_child(node)
    in_attribute = node.parent is not None and node.parent.type == "jsx_attribute"
    return _script_string(only) if in_attribute and only is not None and only.type == "string" else None


def _script_number(node: Node) -> list[str]:
    text = text_of(node).lower()
    return [f"number:{float(text.replace('_', ''))!r}" if _DECIMAL.fullmatch(text) else f"number:{text}"]


def _flags(node: Node) -> list[str]:
    return ["flags:" + "".join(sorted(text_of(node)))]


def _lower(node: Node) -> list[str]:
    return ["number:" + text_of(node).lower()]


def _joined_strings(node: Node) -> list[str]:
    """C: neighbouring strings are one string."""
    pieces = node.named_children if node.type == "concatenated_string" else [node]
    tokens: list[str] = []
    for piece in pieces:
        if piece.type.endswith("comment"):
            continue
        text = text_of(piece)
        if piece.type != "string_literal":
            tokens.append(("i:" if piece.type == "identifier" else "raw:") + text)
            continue
        prefix, _, content = text.partition('"')
        if tokens and tokens[-1].startswith(f"str:{prefix}:"):
            tokens[-1] += content[:-1]
        else:
            tokens.append(f"str:{prefix}:{content[:-1]}")
    return tokens if len(tokens) == 1 else ["(strings", *tokens, ")"]


def _preprocessor(node: Node) -> list[str]:
    """C: the body of a macro is text to the grammar, and tokens to the compiler."""
    found = _PREPROCESSOR_TOKEN.findall(text_of(node))
    kept = [token for token in found if not token.isspace() and token[:2] not in ("//", "/*", "\\\n", "\\\r")]
    return ["(text", *(("i:" if token.isidentifier() else "'") + token for token in kept), ")"]


def _java_string(node: Node) -> list[str]:
    """A text block without its indentation, which is not part of the text."""
    text = text_of(node)
    if not text.startswith('"""'):
        return ["str:" + text[1:-1]]
    first, *lines = text[3:-3].split("\n")
    counting = [line for place, line in enumerate(lines) if line.strip() or place == len(lines) - 1]
    indent = min((len(line) - len(line.lstrip()) for line in counting), default=0)
    return ["block:" + "\n".join([first.strip(), *(line[indent:].rstrip() for line in lines)])]


_LITERALS: dict[tuple[str, str], Callable[[Node], list[str] | None]] = {
    ("c", "concatenated_string"): _joined_strings,
    ("c", "preproc_arg"): _preprocessor,
    ("c", "string_literal"): _joined_strings,
    ("go", "float_literal"): _lower,
    ("go", "imaginary_literal"): _lower,
    ("go", "int_literal"): _lower,
    ("java", "string_literal"): _java_string,
    ("script", "jsx_expression"): _script_braces,
    ("script", "number"): _script_number,
    ("script", "regex_flags"): _flags,
    ("script", "string"): _script_string,
}
