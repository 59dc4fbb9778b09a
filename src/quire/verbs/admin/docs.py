"""`memory docs`: the documentation that ships with the program."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

import quire
from quire.files.world import World
from quire.model.errors import NotFound
from quire.verbs.verb import Arguments, LaidOut, Lines, Result, Verb, Word

_FOLDERS = ("guides", "concepts", "reference")


class ReadDocs(Arguments, frozen=True, kw_only=True):
    topic: Annotated[str | None, Word(required=False)] = None


class Topic(msgspec.Struct, frozen=True, kw_only=True):
    topic: str
    title: str


class Page(Result, kw_only=True):
    """The list of pages, or the text of one."""

    kind: str
    """`list`, or `topic`"""
    topics: list[Topic] | UnsetType = UNSET
    topic: str | UnsetType = UNSET
    markdown: str | UnsetType = UNSET


def docs(_world: World, given: ReadDocs) -> Page:
    """Read the documentation in the terminal, offline."""
    found = topics()
    if given.topic is None:
        return Page(kind="list", topics=[Topic(topic=name, title=_title(path)) for name, path in found.items()])
    path = found.get(given.topic.strip().lower().removesuffix(".md"))
    section = "" if path else _section(found.values(), given.topic.strip())
    if section:
        return Page(kind="topic", topic=given.topic, markdown=section)
    if path is None:
        from difflib import get_close_matches

        close = get_close_matches(given.topic.lower(), found, n=1, cutoff=0.4)
        raise NotFound(
            f"There is no page on `{given.topic}`.",
            hint=f"Did you mean `{close[0]}`?" if close else f"Topics: {', '.join(found)}.",
            details={"field": "topic", "allowed": list(found)},
        )
    return Page(kind="topic", topic=given.topic, markdown=_read(path))


def topics() -> dict[str, str]:
    """Every page that ships with the program, by its name."""
    package = os.path.dirname(os.path.abspath(quire.__file__))
    bundled = os.path.join(package, "_docs")
    # In a source checkout the pages lie beside the package's source, not inside it.
    base = bundled if os.path.isdir(bundled) else os.path.join(os.path.dirname(os.path.dirname(package)), "docs")
    found = {}
    for part in _FOLDERS:
        folder = os.path.join(base, part)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if name.endswith(".md"):
                found[name.removesuffix(".md")] = os.path.join(folder, name)
    return found


def _section(paths: Iterable[str], name: str) -> str:
    """The part of a page below a heading of this name, up to the next of its level: the page of a code."""
    heading = re.compile(rf"(?ims)^(#{{2,4}}) `?{re.escape(name)}`?$.*?(?=^#{{2,4}} |\Z)")
    return next((match[0].strip() + "\n" for path in paths if (match := heading.search(_read(path)))), "")


def _title(path: str) -> str:
    return next((line[2:].strip() for line in _read(path).split("\n") if line.startswith("# ")), "")


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def lines(page: Page) -> Lines:
    for item in page.topics or ():
        yield f"{item.topic:<20} {item.title}"
    if page.markdown:
        yield LaidOut(text=page.markdown.rstrip("\n"))


VERB = Verb(
    takes=ReadDocs,
    run=docs,
    lines=lines,
    over="machine",
    examples="""Examples:
  memory docs                   list the topics
  memory docs getting-started
""",
)
