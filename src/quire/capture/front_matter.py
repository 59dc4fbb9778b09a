"""Read the head of a Markdown document: `---` with a simple subset of YAML, or `+++` with TOML.

Of YAML, this is read: one `key: value` to a line, values plain or quoted, blocks of text below `|` or `>`, lists as
`[a, "b, c"]` or as lines `- item`, comments. Numbers, dates and truth values stay the text they are; a plain text may
hold colons. All else of YAML (nested keys, other texts over several lines, anchors, tags) is reported with its key and
left out, never guessed.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from quire.model.records import Problem
from quire.model.text import cut, one_line, plain_newlines

Value = str | list[str]

HEAD_CHARS = 32_768
"""A longer head is no head."""
# A key of TOML with thousands of parts costs its reader the square of them.
_DOTS_MOST = 200
_ENDS = {"---": ("---", "..."), "+++": ("+++",)}
_KEY = re.compile(r"([^\W\d][\w.-]*)[ \t]*:(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"( *)-(?:[ \t]+(.*))?$")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"')
_SINGLE = re.compile(r"'((?:[^']|'')*)'")
_PLAIN_IN_LIST = re.compile(r"[^,\[\]{}]*")
_COMMENT = re.compile(r"[ \t]#")
_BLOCK = re.compile(r"([|>])[+-]?([1-9]?)[+-]?(?:[ \t]+#.*|[ \t]*)$")
_FOLD = re.compile(r"(?<=\S)\n(?=\S)")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)")
_ESCAPED = {'"': '"', "\\": "\\", "/": "/", " ": " ", "n": "\n", "t": "\t", "r": "\r"}
_NOTHING = ("", "~", "null", "Null", "NULL")
# With these a value begins that is more than a text.
_INDICATORS = "[]{}&*!|>%@`,"


class FrontMatter(Struct, frozen=True):
    """The fields of a head, the text below it, and what of the head was not read."""

    fields: dict[str, Value]
    body: str
    body_line: int = 1
    """The number of the body's first line in the document."""
    problems: tuple[Problem, ...] = ()

    def text(self, name: str) -> str:
        """A field that is a text, on one line."""
        value = self.fields.get(name)
        return one_line(value) if isinstance(value, str) else ""

    def texts(self, name: str) -> list[str]:
        """A field that is a list of texts, or one text."""
        value = self.fields.get(name) or []
        return [value] if isinstance(value, str) else value


class _Unread(Exception):
    """A value of another kind than those read here; says which."""


def read_front_matter(text: str, path: str = "") -> FrontMatter:
    """The head of a document and its body, with line feeds alone. Without a head, everything is body.

    A head without its end, longer than a head may be, or that is no TOML, is not read at all: then the whole document
    is the body. Of a key that stands twice neither value is taken.
    """
    text = plain_newlines(text)
    first, _, rest = text.partition("\n")
    mark = first.rstrip(" \t")
    if mark not in _ENDS:
        return FrontMatter({}, text)
    lines = rest.split("\n")
    ends = (number for number, line in enumerate(lines) if line.rstrip(" \t") in _ENDS[mark])
    end = next(ends, None)
    if end is None:
        return _unread(text, path, f"has no end: a line `{mark}` is missing")
    head = lines[:end]
    if sum(map(len, head)) > HEAD_CHARS:
        return _unread(text, path, f"is longer than {HEAD_CHARS:,} characters")
    try:
        fields, problems = _read_yaml(head, path) if mark == "---" else _read_toml(head, path)
    except _Unread as error:
        return _unread(text, path, str(error))
    return FrontMatter(fields, "\n".join(lines[end + 1 :]), end + 3, tuple(problems))


def _unread(text: str, path: str, why: str) -> FrontMatter:
    problem = warn("FrontMatterUnread", f"The head {why}.", path, 1, None, "Correct the head, or remove it.")
    return FrontMatter({}, text, 1, (problem,))


# -- YAML -----------------------------------------------------------------------------------------


def _read_yaml(head: list[str], path: str) -> tuple[dict[str, Value], list[Problem]]:
    fields: dict[str, Value] = {}
    problems: list[Problem] = []
    seen: set[str] = set()
    at = 0
    while at < len(head):
        line, number = head[at], at + 2
        at += 1
        if _says_nothing(line):
            continue
        found = _KEY.match(line)
        if found is None:
            said = f"`{cut(line.strip(), 40)}` is not `key: value`."
            problems.append(warn("FieldUnusable", said, path, number))
            continue
        name, value = found[1], (found[2] or "").strip()
        more = []
        while at < len(head) and (_says_nothing(head[at]) or head[at][0] in " \t-"):
            more.append(head[at])
            at += 1
        if name in seen:
            fields.pop(name, None)
            problems.append(warn("KeyTwice", f"`{name}` occurs twice; neither is used.", path, number, name))
            continue
        seen.add(name)
        try:
            block = _BLOCK.match(value)
            fields[name] = _block(block, more) if block else _value(value, more)
        except _Unread as error:
            said = f"`{name}` was not read: {error}."
            hint = 'Write it as one line, in quotes, or as a list of lines "- item".'
            problems.append(warn("FieldUnusable", said, path, number, name, hint))
    return fields, problems


def _says_nothing(line: str) -> bool:
    return line.lstrip(" \t")[:1] in ("", "#")


def _block(mark: re.Match[str], lines: list[str]) -> str:
    """The text of the lines below `|` or `>`, without the line feeds at its end; `>` joins lines to paragraphs."""
    end = next((number for number, line in enumerate(lines) if line[:1] not in ("", " ")), len(lines))
    if any(not _says_nothing(line) for line in lines[end:]):
        raise _Unread("the lines below it are not a block of text")
    inner = lines[:end]
    depths = (len(line) - len(line.lstrip(" ")) for line in inner if line.strip())
    depth = int(mark[2]) if mark[2] else next(depths, 0)
    if any(line[:depth].strip() for line in inner):
        raise _Unread("its lines are not indented alike")
    text = "\n".join(line[depth:] for line in inner).rstrip()
    return text if mark[1] == "|" else re.sub(r"\n(\n+)", r"\1", _FOLD.sub(" ", text))


def _value(text: str, more: list[str]) -> Value:
    """A value that begins beside its key, or stands on the lines below it."""
    more = [line for line in more if not _says_nothing(line)]
    if text.startswith("#"):
        text = ""
    if text and more:
        raise _Unread("it spans several lines")
    if text.startswith("["):
        return _flow_list(text)
    if not more:
        return _scalar(text)
    items = [_ITEM.match(line) for line in more]
    if any(item is None or item[1] != (items[0] or item)[1] for item in items):
        raise _Unread("the lines below it are not a list of plain items")
    found = [_scalar((item[2] or "").strip()) for item in items if item]
    return [item for item in found if item]


def _flow_list(text: str) -> list[str]:
    items: list[str] = []
    at = 1
    while True:
        at += len(text[at:]) - len(text[at:].lstrip(" \t"))
        if text[at : at + 1] == "]":
            break
        if text[at : at + 1] in ('"', "'"):
            item, at = _quoted(text, at)
        else:
            found = _PLAIN_IN_LIST.match(text, at)
            plain = found.group().strip() if found else ""
            if not plain or _COMMENT.search(f" {plain}"):
                raise _Unread("the list does not end on its line, or has an empty item")
            item, at = _scalar(plain), found.end() if found else at
        items.append(item)
        after = text[at:].lstrip(" \t")
        if after[:1] not in (",", "]"):
            raise _Unread("the list does not end on its line, or holds more than plain items")
        at = len(text) - len(after) + (after[0] == ",")
    _only_comment(text[at + 1 :])
    return [item for item in items if item]


def _scalar(text: str) -> str:
    if text[:1] in ('"', "'"):
        found, end = _quoted(text, 0)
        _only_comment(text[end:])
        return found
    if text[:1] and text[0] in _INDICATORS:
        raise _Unread(f"`{text[0]}` begins something else than a text")
    if text[:2].rstrip() in ("-", "?", ":"):
        raise _Unread("it is nested")
    comment = _COMMENT.search(f" {text}")
    plain = text[: max(comment.start() - 1, 0)].rstrip() if comment else text
    return "" if plain in _NOTHING else plain


def _quoted(text: str, at: int) -> tuple[str, int]:
    """A text in quotes and where it ends."""
    pattern = _DOUBLE if text[at] == '"' else _SINGLE
    found = pattern.match(text, at)
    if found is None:
        raise _Unread("a quote is not closed on its line")
    inner = found[1]
    return (_ESCAPE.sub(_unescaped, inner) if pattern is _DOUBLE else inner.replace("''", "'")), found.end()


def _unescaped(found: re.Match[str]) -> str:
    name = found[1]
    if name in _ESCAPED:
        return _ESCAPED[name]
    code = int(name[1:], 16) if len(name) > 1 else -1
    if not 0 <= code <= 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise _Unread(f"`\\{name}` is not a known escape")
    return chr(code)


def _only_comment(rest: str) -> None:
    if rest.strip() and not _COMMENT.match(rest):
        raise _Unread("text follows its end")


# -- TOML -----------------------------------------------------------------------------------------


def _read_toml(head: list[str], path: str) -> tuple[dict[str, Value], list[Problem]]:
    import tomllib

    if any(line.count(".") > _DOTS_MOST for line in head):
        raise _Unread(f"has a line with more than {_DOTS_MOST} dots")
    try:
        values = tomllib.loads("\n".join(head))
    except (ValueError, RecursionError) as error:
        raise _Unread(f"is not TOML: {cut(str(error), 200).rstrip('.')}") from None
    fields: dict[str, Value] = {}
    problems: list[Problem] = []
    for name, value in values.items():
        try:
            fields[name] = [_toml_text(item) for item in value] if isinstance(value, list) else _toml_text(value)
        except _Unread as error:
            said = f"`{cut(name, 40)}` was not read: {error}."
            problems.append(warn("FieldUnusable", said, path, None, name, "Write it as a text or a list of texts."))
    return fields, problems


def _toml_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        raise _Unread("it is nested")
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return str(value)
    except ValueError:
        raise _Unread("the number is too long") from None


def warn(
    code: str,
    message: str,
    path: str,
    line: int | None = None,
    field: str | None = None,
    hint: str | None = None,
    allowed: tuple[str, ...] = (),
) -> Problem:
    """A warning about a document."""
    return Problem(
        code=code, message=message, path=path, line=line, field=field, hint=hint, allowed=allowed, severity="warning"
    )
