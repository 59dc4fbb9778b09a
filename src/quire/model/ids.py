"""Make ids, slugs and file names: ASCII, readable, unique, valid on every system."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from quire.model.limits import RELATION_STEM_CHARS, SLUG_CHARS

ID_PATTERN = r"^[a-z][a-z0-9_]*\.[a-z0-9][a-z0-9-]*$"
RELATION_ID_PATTERN = r"^rel\.[a-z0-9][a-z0-9-]*$"
PROJECT_ID_PATTERN = r"^project\.[a-z0-9][a-z0-9-]*$"

_QUOTES = dict.fromkeys(map(ord, "'\"`‘’“”"))
_RESERVED = frozenset(["con", "prn", "aux", "nul", *(f"com{n}" for n in range(10)), *(f"lpt{n}" for n in range(10))])


def is_id(text: str) -> bool:
    """Whether the text has the form `kind.slug`."""
    return re.match(ID_PATTERN, text) is not None and not text.endswith("\n")


def kind_of(node_id: str) -> str:
    return node_id.partition(".")[0]


def slug_of(node_id: str) -> str:
    return node_id.partition(".")[2]


def slugify(title: str, digest: Callable[[str], str]) -> str:
    """A slug that a reader recognises; `digest` names what has no letters at all."""
    text = unicodedata.normalize("NFKD", title)
    text = "".join(char for char in text if not "\u0300" <= char <= "\u036f")
    text = text.translate(_QUOTES)
    if not text.isascii():
        # Loaded only for titles that need it: the tables cost more than the rest of a save.
        from anyascii import anyascii

        text = anyascii(text).translate(_QUOTES)
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if len(slug) > SLUG_CHARS:
        cut = slug[: SLUG_CHARS + 1].rfind("-")
        slug = slug[: cut if cut > SLUG_CHARS // 2 else SLUG_CHARS].strip("-")
    return slug or f"untitled-{digest(title)[:8]}"


def title_from_slug(slug: str) -> str:
    """`harbor-invoices` → `Harbor Invoices`."""
    return " ".join(part[:1].upper() + part[1:] for part in slug.split("-") if part)


def file_stems(node_id: str) -> tuple[str, ...]:
    """The file names a node may get, best first: its slug, or kind and slug where that is taken.

    A slug holds no dot, so `kind.slug` can collide with no other node. Device names that
    Windows reserves are never used bare.
    """
    slug = slug_of(node_id)
    if slug in _RESERVED:
        return (node_id,)
    return (slug, node_id)


def relation_stem(source: str, predicate: str, target: str, digest: Callable[[str], str]) -> str:
    """The relation's name without `rel.`: from, predicate and to, cut with a digest when too long."""
    parts = (source.replace(".", "-", 1), predicate, target.replace(".", "-", 1))
    stem = "-".join(parts).replace("_", "-")
    if len(stem) <= RELATION_STEM_CHARS:
        return stem
    return f"{stem[: RELATION_STEM_CHARS - 13].rstrip('-')}-{digest(stem)[:12]}"
