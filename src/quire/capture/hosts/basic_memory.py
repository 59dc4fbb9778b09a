"""Notes of Basic Memory: Markdown with a head, observations by category, relations to other notes.

---
title: Retry queue
type: note
permalink: retry-queue
---
- [decision] Retries run in the worker #queue (the API must answer at once)
- depends_on [[Worker pool]]
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

import msgspec

from quire.capture.front_matter import FrontMatter, Value, read_front_matter
from quire.capture.hosts.structured_files import code_paths, find_file, markdown_below, read_config
from quire.capture.hosts.structured_proposals import (
    Atom,
    StructuredCollector,
    begun_text,
    grouped,
    is_gotcha,
    joined,
    listed,
    node_id,
    section_for,
    sentence,
    shortened,
    word_of,
)
from quire.capture.hosts.types import FILE_BYTES, FILES_MOST, HostRead, HostSource
from quire.capture.markdown import sections_of
from quire.capture.transcripts.types import KnownPlaces
from quire.files.paths import below, read_inside
from quire.inbox.proposals import TEXT_CHARS
from quire.model.text import first_sentence, headline, one_line
from quire.model.untyped import as_dict

_TITLE_CHARS = 80
_FOLDERS = (
    *("basic-memory", ".basic-memory", "memory", "notes", "knowledge"),
    *("docs/memory", "docs/notes", "docs/knowledge"),
)
_CONFIG = "config.json"
_SETTING = "BASIC_MEMORY_CONFIG_DIR"
_ITEM = re.compile(r"\s*[-*+][ \t]+(.+)$")
_OBSERVATION = re.compile(r"\[([^\[\]()]{2,60})\][ \t]+(.+)$")
_RELATION = re.compile(
    r"""(?:"([^"\[\]]{1,80})"|'([^'\[\]]{1,80})'|([^\s\[\]"']{1,80}))"""
    r"""[ \t]+\[\[([^\[\]]{1,200})\]\][ \t]*(?:\([^()]*\))?$"""
)
_CLOCK = re.compile(r"\d{1,3}:\d{2}")
_TAG = re.compile(r"(?<!\S)#([\w/-]+)")
_TAGS_BEFORE_CONTEXT = re.compile(r"(?:[ \t]+#[\w/-]+)+(?=[ \t]*(?:\([^()]*\))?[ \t]*$)")
_CONTEXT = re.compile(r"(?<=\S) \([^()]*\)$")
_DIRECTIVE = re.compile(r"[ \t]+#bm:\w+[ \t]*$")
_NOTE_HEAD = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(?s:.{0,4000}?)^permalink[ \t]*:", re.M)
_STEPS = ("todo", "next", "next-step", "task", "action", "action-item", "follow-up", "followup")


class _Said(msgspec.Struct, frozen=True, kw_only=True):
    """One observation."""

    category: str
    text: str
    tags: list[str]
    line: int


# -- finding --------------------------------------------------------------------------------------


def find_basic_memory(root: str, home: str, env: Mapping[str, str]) -> list[HostSource]:
    """The notes of projects that lie in this one by the user's own configuration, and folders of such notes in it."""
    found: dict[str, HostSource] = {}
    configured = _configured(root, home, env)
    for folder in dict.fromkeys([*configured, *_FOLDERS]):
        for path in markdown_below(root, folder):
            # In a folder of its own every file is a note; elsewhere only one that says so.
            if (folder and folder in configured) or _is_note(root, path):
                source = find_file("basic-memory", root, path, "project")
                if source is not None:
                    found.setdefault(source.path, source)
            if len(found) == FILES_MOST:
                return list(found.values())
    return list(found.values())


def _configured(root: str, home: str, env: Mapping[str, str]) -> list[str]:
    """The folders of this project that are projects of Basic Memory, relative to it; empty for the project itself."""
    folders = [env.get(_SETTING, ""), os.path.join(home, ".basic-memory") if home else ""]
    settings = env.get("XDG_CONFIG_HOME", "") or (os.path.join(home, ".config") if home else "")
    folders.append(os.path.join(settings, "basic-memory") if settings else "")
    top = os.path.realpath(root)
    found = []
    for folder in folders:
        projects = read_config(folder, _CONFIG).get("projects") if os.path.isabs(folder) else None
        for project in as_dict(projects).values():
            path = project.get("path") if isinstance(project, dict) else project
            if not isinstance(path, str) or not path or "\0" in path:
                continue
            path = os.path.join(home, path[2:]) if path.startswith("~/") else path
            inner = below(os.path.realpath(path), top) if os.path.isabs(path) else None
            if inner:
                found.append("" if inner == "." else inner)
    return list(dict.fromkeys(found))


def _is_note(root: str, path: str) -> bool:
    try:
        return _NOTE_HEAD.match(read_inside(root, path, FILE_BYTES)[:8_192]) is not None
    except OSError:
        return False


# -- reading --------------------------------------------------------------------------------------


def read(source: HostSource, places: KnownPlaces, now: str) -> HostRead:
    """What a note observes, by category, and one fact for what it has to do with others."""
    found, text = begun_text(source, places, now)
    head = read_front_matter(text, source.shown)
    title = head.text("title") or os.path.splitext(os.path.basename(source.path))[0]
    tags = _tag_list(head.fields.get("tags"))
    if not found.may_pass("\n".join([title, *tags]), 1):
        return found.read()
    said: list[_Said] = []
    related: dict[str, dict[str, int]] = {}
    for line, whole in _items(head):
        item = shortened(whole, TEXT_CHARS)
        relation = _RELATION.match(item)
        observation = None if relation else _observation(item, line)
        if relation and found.may_pass(whole, line):
            says = (relation[1] or relation[2] or relation[3]).replace("_", " ")
            related.setdefault(says, {}).setdefault(_target(relation[4]), line)
        elif observation and found.may_pass(whole, line):
            said.append(observation)
        elif not relation and not observation:
            found.skipped += 1
    _add_observations(found, title, tags, said, places.root)
    _add_relations(found, title, related)
    return found.read()


def _tag_list(value: Value | None) -> list[str]:
    return value.replace(",", " ").split() if isinstance(value, str) else list(value or ())


def _items(head: FrontMatter) -> Iterator[tuple[int, str]]:
    """The items of lists, with their lines; neither code nor comments."""
    raw = head.body.split("\n")
    at = 0
    for section in sections_of(head.body):
        at = max(at, section.line - 1)
        for line in section.lines:
            # What was left out stands between: the next line that is the same is this one.
            at = raw.index(line, at) + 1
            found = _ITEM.match(line)
            if found:
                yield head.body_line + at - 1, one_line(found[1])


def _observation(item: str, line: int) -> _Said | None:
    """An item that begins with its category. One in a box, a time or a link is none."""
    item = _DIRECTIVE.sub("", item)
    found = _OBSERVATION.match(item)
    if found is None or _CLOCK.match(found[1]) or found[1].startswith("!"):
        return None
    tags = _TAG.findall(found[2])
    text = _TAG.sub(r"\1", _TAGS_BEFORE_CONTEXT.sub("", found[2])).strip()
    return _Said(category=word_of(found[1]), text=text, tags=tags, line=line) if text else None


def _target(text: str) -> str:
    """The title of a note that a link leads to: `folder/note|shown` is `shown`."""
    return one_line(text.rpartition("|")[2])


# -- proposals ------------------------------------------------------------------------------------


def _add_observations(found: StructuredCollector, title: str, tags: list[str], said: list[_Said], root: str) -> None:
    facts: dict[str, list[_Said]] = {}
    for item in said:
        kind = _node_kind(item.category)
        if kind:
            name = headline(first_sentence(_CONTEXT.sub("", item.text)).rstrip(" ."), _TITLE_CHARS)
            found.node(
                kind,
                name,
                f"{sentence(item.text)}\n\nFrom the note “{title}”.",
                item.line,
                quote=item.text,
                id=node_id(kind, name),
                tags=[*tags, *item.tags],
                anchors=code_paths(item.text, root),
            )
        elif item.category == "preference":
            found.entry("user", item.text, [*tags, *item.tags], item.line)
        elif item.category in _STEPS:
            found.note(f"{title}: {sentence(item.text)}", item.line)
        else:
            facts.setdefault(item.category, []).append(item)
    for category, items in facts.items():
        by_line = {item.line: item for item in items}
        for group in grouped([Atom(item.text, item.line) for item in items]):
            named = [tag for atom in group for tag in by_line[atom.line].tags]
            content = f"{title}: {joined([atom.text for atom in group])}"
            found.fact(section_for(category), content, [category, *tags, *named], group[0].line)


def _node_kind(category: str) -> str:
    if category in ("decision", "decided"):
        return "decision"
    if category in ("question", "open-question"):
        return "question"
    return "gotcha" if is_gotcha(category) else ""


def _add_relations(found: StructuredCollector, title: str, related: dict[str, dict[str, int]]) -> None:
    if not related:
        return
    parts = [f"{says} {listed(list(targets))}" for says, targets in related.items()]
    line = min(line for targets in related.values() for line in targets.values())
    found.fact("Architecture", sentence(f"{title} {'; '.join(parts)}"), ["relation"], line)
