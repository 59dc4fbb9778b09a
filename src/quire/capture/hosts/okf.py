"""Concepts of the Open Knowledge Format: Markdown files with a head that says `type`, in folders called okf.

---
type: Decision
title: Invoices live in Postgres
description: Two workers write at once.
tags: [billing]
---
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from quire.capture.front_matter import read_front_matter
from quire.capture.hosts.adr_document import standing_of
from quire.capture.hosts.source_files import named_folders
from quire.capture.hosts.structured_files import code_paths, find_file, markdown_below
from quire.capture.hosts.structured_proposals import (
    BODY_CHARS,
    begun_text,
    is_gotcha,
    section_for,
    shortened,
    word_of,
)
from quire.capture.hosts.types import FILES_MOST, HostRead, HostSource
from quire.capture.transcripts.types import KnownPlaces
from quire.inbox.proposals import Standing
from quire.layers.facts.layout import SECTIONS
from quire.layers.graph.layout import NO_DESCRIPTION
from quire.model.ids import title_from_slug

_ESCAPED = re.compile(r"^\\(?=---|\.\.\.|\+\+\+)", re.M)
_FOLDERS = ("okf", "okf-bundle", "okf_bundle", "knowledge-bundle")
_RESERVED = ("index.md", "log.md")
_KINDS = {"decision": "decision", "adr": "decision", "question": "question", "open-question": "question"}


def find_okf(root: str, home: str, env: Mapping[str, str]) -> list[HostSource]:  # noqa: ARG001
    paths = [path for folder in named_folders(root, _FOLDERS) for path in markdown_below(root, folder)]
    wanted = [path for path in paths if os.path.basename(path) not in _RESERVED][:FILES_MOST]
    return [source for path in wanted if (source := find_file("okf", root, path, "project"))]


def read(source: HostSource, places: KnownPlaces, now: str) -> HostRead:
    """A decision, a gotcha or a question by its type; everything else is a fact. Without a type it is no concept."""
    found, text = begun_text(source, places, now)
    head = read_front_matter(text, source.shown)
    kind = word_of(head.text("type"))
    # What an export of ours says of a project that nobody described says nothing.
    if not kind or NO_DESCRIPTION in text:
        found.skipped += 1
    elif found.may_pass(text, 1, spread=True):
        name = title_from_slug(os.path.basename(source.shown).removesuffix(".md"))
        title = head.text("title") or name
        described, body = head.text("description"), _ESCAPED.sub("", head.body.strip())
        if not _begins(body, described):
            body = f"{described}\n\n{body}".strip()
        tags = head.texts("tags")
        node = "gotcha" if is_gotcha(kind) else _KINDS.get(kind, "")
        status = head.text("status")
        state = standing_of([status])
        # A question is a record while it is open.
        standing: Standing = "" if state == "holds" or (state == "open" and node == "question") else state
        if node:
            resource = head.text("resource")
            anchors = code_paths(f"`{resource}`\n{body}", places.root)
            found.node(
                node,
                title,
                body,
                1,
                standing=standing,
                said=status if standing else "",
                anchors=anchors,
                tags=tags,
            )
        elif standing == "over":
            found.skipped += 1
        else:
            # A title that was made of the text says nothing more.
            said = body if _begins(body, title) else f"{title}: {body}".strip(": ")
            section = head.text("section")
            place = section if section in SECTIONS else section_for(kind)
            found.fact(
                place,
                shortened(said, BODY_CHARS),
                [kind, *tags],
                1,
                standing=standing,
                said=status if standing else "",
            )
    return found.read()


def _begins(text: str, beginning: str) -> bool:
    """Whether a text begins so, whatever marks stand between the words."""
    first, whole = ("".join(filter(str.isalnum, part)) for part in (beginning, text))
    return whole.startswith(first)
