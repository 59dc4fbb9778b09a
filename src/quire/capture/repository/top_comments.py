"""The docstring or comment at the top of a source file, unless it is only a licence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quire.capture.repository.clean_text import sentence_of
from quire.capture.repository.tree import Tree, read_beginning
from quire.model.text import one_line

_HEAD_BYTES = 16 * 1024
_LINES_MOST = 60
_LEGAL = re.compile(
    r"copyright|licen[sc]e|spdx|all rights reserved|\(c\)\s*\d{4}|eslint|prettier|@ts-|generated|istanbul", re.I
)
_MAGIC = re.compile(
    r"[ \t]*(?:coding|-\*-|frozen_string_literal|vim:|type:|ruff|noqa|pylint|flake8|mypy|encoding|typed:)", re.I
)
_DOCSTRING = re.compile(r"[rRuU]{0,2}(\"\"\"|''')(.{0,6000}?)\1", re.S)
_SHORT_DOCSTRING = re.compile(r"[rRuU]{0,2}([\"'])((?:\\.|[^\\\n]){0,500}?)\1[ \t]*(?:\n|\Z)")
_DECORATION = re.compile(r"^[ \t]{0,40}[*!/#=-]{1,100}[ \t]?|[ \t]{0,8}\*{1,100}/?[ \t]{0,8}$", re.M)
_TAG = re.compile(
    r"^[ \t]{0,40}@(?:file(?:overview)?|module|packageDocumentation|summary|description)\b[ \t]*([\w./@-]+$)?", re.M
)
_OTHER_TAG = re.compile(r"^[ \t]{0,40}@\w+.*", re.M | re.S)
_STRICT = re.compile(r"['\"]use [\w ]{1,20}['\"];?")
_C_FAMILY = "c cc cjs cpp cs cts cxx dart h hpp java js jsx kt m mjs mm mts php scala svelte swift ts tsx vue zig"
_C_LIKE = frozenset(_C_FAMILY.split())
_HASH = frozenset(["ex", "exs", "jl", "pl", "py", "r", "rb", "sh"])
_DASHES = frozenset(["hs", "lua", "sql"])


def introduction(tree: Tree, path: str) -> str:
    """The first sentence of what a source file says of itself; empty where it says nothing."""
    text = read_beginning(tree, path, _HEAD_BYTES)
    if text.startswith("#!"):
        text = text.partition("\n")[2]
    ending = path.rpartition(".")[2]
    for comment in _comments(ending, text):
        words = one_line(comment)
        if words and not _LEGAL.search(words[:400]):
            return sentence_of(words)
    return ""


def _comments(ending: str, text: str) -> Iterator[str]:
    if ending == "py":
        yield _docstring(text)
    elif ending == "rs":
        lines = [line.strip() for line in text.split("\n")[:_LINES_MOST]]
        yield "\n".join(_until_blank(line.removeprefix("//!").strip() for line in lines if line.startswith("//!")))
    elif ending == "go":
        yield _package_comment(text)
    elif ending in _C_LIKE:
        yield from _blocks(text, "//", "/*", "*/")
    elif ending in _HASH:
        yield from _blocks(text, "#", "", "")
    elif ending in _DASHES:
        yield from _blocks(text, "--", "", "")


def _docstring(text: str) -> str:
    """The docstring of a module, behind comments and blank lines; only its first paragraph."""
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end].strip()
        if line and not line.startswith("#"):
            break
        at = end + 1
    found = _DOCSTRING.match(text, at) or _SHORT_DOCSTRING.match(text, at)
    return found[2].strip().partition("\n\n")[0] if found else ""


def _package_comment(text: str) -> str:
    """The comment right above `package`."""
    held: list[str] = []
    for line in text.split("\n"):
        if line.startswith("package "):
            break
        if line.startswith("//") and not line.startswith(("//go:", "// +build")):
            held.append(line[2:].strip())
        elif line.startswith(("/*", " *", "*/", "\t")) or (held and line and not line.startswith("//")):
            held.append(_DECORATION.sub("", line))
        elif not line.strip():
            held.clear()
    else:
        return ""
    return "\n".join(_until_blank(held))


def _blocks(text: str, line_mark: str, opening: str, closing: str) -> Iterator[str]:
    """The comments before the first line of code, one after the other."""
    held: list[str] = []
    lines = iter(text.split("\n")[:_LINES_MOST])
    for line in lines:
        bare = line.strip()
        if opening and bare.startswith(opening):
            yield _joined(held)
            held = [bare]
            while closing not in held[-1] and (more := next(lines, None)) is not None:
                held.append(more)
            held[-1] = held[-1].partition(closing)[0]
            yield _cleaned("\n".join(held))
            held = []
        elif bare.startswith(line_mark):
            words = bare.lstrip(line_mark[0])
            held += [] if _MAGIC.match(words) else [words.strip(" !-=#/*")]
        elif not bare:
            yield _joined(held)
            held = []
        elif not _STRICT.fullmatch(bare) and not bare.startswith(("<?php", "<script")):
            break
    yield _joined(held)


def _joined(lines: list[str]) -> str:
    return "\n".join(_until_blank(lines))


def _cleaned(comment: str) -> str:
    """A block of comment without its stars and without what is said to tools."""
    text = _DECORATION.sub("", comment)
    text = _OTHER_TAG.sub("", _TAG.sub("", text))
    return text.strip().partition("\n\n")[0]


def _until_blank(lines: Iterator[str] | list[str]) -> Iterator[str]:
    """The first paragraph of some lines."""
    begun = False
    for line in lines:
        if not line and begun:
            return
        if line:
            begun = True
            yield line
