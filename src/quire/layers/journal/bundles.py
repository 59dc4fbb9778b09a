"""Read parts of a bundle of any shape: missing or unexpected parts are empty."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from quire.layers.journal.layout import ALL, NONE, SECTION_KEYS
from quire.layers.journal.types import Bundle, Fields
from quire.model.untyped import as_list, as_text, at_path

_POINTER = re.compile(r"See evt-[0-9]+ in the history\.")
"""Said by earlier versions where no way out was known; retention may have put that event away since."""


def shown(value: Any, *path: str) -> str:
    """The text at a path; empty where there is none."""
    return as_text(at_path(value, *path))


def known(value: Any, *path: str) -> str:
    """The text at a path, if it says something: empty where it is the word for none."""
    text = shown(value, *path)
    return "" if text.strip().lower() == NONE or _POINTER.fullmatch(text.strip()) else text


def labelled(name: str, text: str) -> str:
    """A name with what is said of it, or alone."""
    return f"{name}: {text}" if text else name


def texts_at(value: Any, *path: str) -> list[str]:
    return [item for item in as_list(at_path(value, *path)) if isinstance(item, str)]


def objects_at(value: Any, *path: str) -> list[Fields]:
    return [item for item in as_list(at_path(value, *path)) if isinstance(item, dict)]


def entry_file(bundle: Bundle) -> str:
    """Where the bundle wants the entry block. Nobody has checked that this lies within the project."""
    return shown(bundle, "project", "recommendedEntryFile")


def merge_sections(
    current: Bundle, proposal: Bundle, section: str = ALL, protected: Collection[str] = frozenset()
) -> Bundle:
    """The current bundle with the sections of a proposal: one of them, or all that are not protected.

    Keys at the top that are no sections stay as they are: a proposal has no say in them. Nothing given is changed.
    """
    taken = [
        key
        for name, key in SECTION_KEYS.items()
        if section in (ALL, name) and (name == section or name not in protected) and key in proposal
    ]
    return {**current, **{key: proposal[key] for key in taken}}
