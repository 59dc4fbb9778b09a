"""Split a record into searched fields and into passages that each get a vector."""

from __future__ import annotations

from quire.index.text_analysis import index_text
from quire.model.records import Record

_WHOLE_WORDS = 100
"""A text of up to this many words is one passage."""
_PASSAGE_WORDS = 50
_PASSAGES = 24


def searched_fields(record: Record) -> tuple[str, str, str]:
    """Title, names (ref, tags, anchors) and body, prepared for the full-text table."""
    names = " ".join([record.ref, *record.tags, *record.anchors])
    return index_text(_own_title(record)), index_text(names), index_text(record.text)


def passages(record: Record) -> list[str]:
    """The text in pieces that one vector can stand for; the title belongs to the first."""
    words = f"{_own_title(record)} {record.text}".split()
    if len(words) <= _WHOLE_WORDS:
        return [" ".join(words)]
    number = min(_PASSAGES, -(-len(words) // _PASSAGE_WORDS))
    size = -(-len(words) // number)
    return [" ".join(words[at : at + size]) for at in range(0, len(words), size)]


def _own_title(record: Record) -> str:
    """The title, unless it only repeats how the text begins: nothing is said twice for having no name."""
    return "" if record.text.startswith(record.title.rstrip("…")) else record.title
