"""Render the profile as Markdown: about the user, about the collaboration, an index, an export.

What entries say comes from anywhere: hostile characters are written out, a key stays on its line, and the lines of a
value are indented, so that a list stays a list. A page with nothing on it is an empty text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from quire.guard.hostile_text import make_safe, safe_line
from quire.layers.profile.layout import ACTIVE, ASSISTANT, CATEGORIES, FILE, FOLDER, RELATIONSHIPS, TOOLS, USER
from quire.model.text import cut

if TYPE_CHECKING:
    from quire.layers.profile.entries import Entry
    from quire.layers.profile.places import ProfilePlaces

USER_FACING, USER_PREFERENCE = "user-facing", "user-preference"
"""The tags that bring a relationship and a tool onto the page about the user."""
SUMMARY_CHARS = 100
"""How much of a value stands in the index where there is no summary."""
_GIVEN_CHARS = 300
_NAMELESS = "(no name)"
_INDENT = "  "


def about_me(entries: Sequence[Entry]) -> str:
    """What is known of the user."""
    return _sections(
        ("## User Profile", _told(entries, USER)),
        ("## Relationship Context", _told(entries, RELATIONSHIPS, USER_FACING)),
        ("## Tool Preferences", _told(entries, TOOLS, USER_PREFERENCE)),
    )


def about_us(entries: Sequence[Entry]) -> str:
    """How the user and the assistant work together."""
    return _sections(
        ("## Our Relationship", _told(entries, RELATIONSHIPS)),
        ("## Assistant Identity", _told(entries, ASSISTANT)),
    )


def index_page(entries: Sequence[Entry], everything: bool = False) -> str:
    """One line for each entry; those that are no longer active on request only, and marked."""
    groups = _by_category(_shown(entries, everything))
    return _sections(
        *((f"## {safe_name(name)} ({len(found)})", [_index_line(entry) for entry in found]) for name, found in groups)
    )


def export_page(entries: Sequence[Entry], version: str, session_count: int, everything: bool) -> str:
    """Every entry with its whole value, for a reader who has nothing else."""
    head = f"# Memory Export (schema {safe_line(version)})\nSession count: {session_count}\n"
    groups = _by_category(_shown(entries, everything))
    body = _sections(
        *((f"## {safe_name(name)}", [_line(entry, _notes(entry)) for entry in found]) for name, found in groups)
    )
    return f"{head}\n{body}" if body else head


def safe_name(text: str) -> str:
    """The name of an entry or a category, which may be missing in files that others wrote."""
    return safe_line(text) or _NAMELESS


def cut_at_word(text: str, chars: int) -> str:
    """At most `chars` characters, the last word whole; scripts without spaces are cut where they must be."""
    if len(text) <= chars:
        return text
    words = text[:chars].rpartition(" ")[0].rstrip()
    return f"{words}…" if len(words) >= chars // 2 else cut(text, chars)


def _by_category(entries: Iterable[Entry]) -> list[tuple[str, list[Entry]]]:
    """The entries of each category that has some: the known categories in their order, then any other as it comes."""
    found: dict[str, list[Entry]] = {name: [] for name in CATEGORIES}
    for entry in entries:
        found.setdefault(entry.category, []).append(entry)
    return [(name, held) for name, held in found.items() if held]


def _shown(entries: Iterable[Entry], everything: bool) -> list[Entry]:
    return [entry for entry in entries if everything or entry.status == ACTIVE]


def _told(entries: Iterable[Entry], category: str, tag: str | None = None) -> list[str]:
    """The lines of a category's active entries, or of those with a tag, however it is written."""
    return [
        _line(entry, "")
        for entry in entries
        if entry.category == category
        and entry.status == ACTIVE
        and (tag is None or tag in {own.casefold() for own in entry.tags})
    ]


def _line(entry: Entry, notes: str) -> str:
    """An entry with its whole value; what is said about it stands behind the value, or below one of many lines."""
    first, *others = make_safe(entry.value).strip().splitlines() or [""]
    if others and notes:
        others.append(notes)
    elif notes:
        first = f"{first} {notes}".lstrip()
    return "\n".join((f"{_item(entry)} {first}".rstrip(), *(f"{_INDENT}{line}".rstrip() for line in others)))


def _index_line(entry: Entry) -> str:
    given = safe_line(entry.summary)
    summary = cut_at_word(given, _GIVEN_CHARS) if given else cut_at_word(safe_line(entry.value), SUMMARY_CHARS)
    return " ".join(part for part in (_item(entry), summary, _notes(entry)) if part)


def _item(entry: Entry) -> str:
    return f"- **{safe_name(entry.key)}**:"


def _notes(entry: Entry) -> str:
    """The tags, and the status where an entry is no longer active."""
    tags = ", ".join(filter(None, map(safe_line, entry.tags)))
    status = "" if entry.status == ACTIVE else f"({safe_line(entry.status)})"
    return " ".join(part for part in (f"[{tags}]" if tags else "", status) if part)


def _sections(*sections: tuple[str, list[str]]) -> str:
    """Headings with their lines, those without lines left out, one blank line between."""
    return "\n".join("\n".join((heading, *lines)) + "\n" for heading, lines in sections if lines)


def entries_on(page: str) -> int:
    """How many entries a page shows: each has one line that begins so, whatever its value holds."""
    return sum(line.startswith("- **") for line in page.split("\n"))


def export_document(places: ProfilePlaces, *, private: bool = True) -> str:
    """The document as it is stored; with what is private in it, unless that is to be left out."""
    from quire.layers.profile.document import empty_document
    from quire.layers.profile.store import read_documents

    shared, own = read_documents(places)
    document = shared or empty_document(f"{FOLDER}/{FILE}")
    if own is not None and private:
        for category in own.categories():
            for key in own.keys(category):
                fields = own.fields(category, key)
                if fields is not None:
                    if category not in document.categories():
                        document.clear(category)  # only here: nothing of this is written
                    document.put(category, key, fields)
    return document.render().decode("utf-8")


def size_text(size: int) -> str:
    """`191 B`, `4.6 KB`, `1.2 MB`."""
    if size < 1024:
        return f"{size} B"
    return f"{size / 1024:.1f} KB" if size < 1024 * 1024 else f"{size / 1024 / 1024:.1f} MB"
