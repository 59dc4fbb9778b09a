"""Find records that read like orders to a model, and their effects; computed once for each text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from quire.files.digests import digest_of
from quire.index.catalog import Index
from quire.model.records import Record
from quire.model.text import first_sentence

_RULES = b"3"
_EFFECT_RULES = b"2"
"""Another number where the rules find other things."""


def flagged_records(index: Index, records: Sequence[Record]) -> dict[str, tuple[str, ...]]:
    """By ref, what a record's text tries; only of those that try anything."""
    return _found(index, records, "flags", _RULES)


def effects_in(index: Index, records: Sequence[Record]) -> dict[str, tuple[str, ...]]:
    """By ref, what would come of doing as a record says; only of those where that could do harm."""
    return _found(index, records, "effects", _EFFECT_RULES)


def flagged_lines(index: Index, records: Sequence[Record]) -> dict[str, tuple[str, ...]]:
    """By ref, what a record's title and first sentence try or could do; only of those where that is anything."""
    return _found(index, records, "line", _RULES + _EFFECT_RULES, lambda record: first_sentence(record.text))


def _found(
    index: Index,
    records: Sequence[Record],
    what: str,
    rules: bytes,
    body: Callable[[Record], str] = lambda record: record.text,
) -> dict[str, tuple[str, ...]]:
    names = {f"{what} {record.ref}": record for record in records}
    known = index.memos(names)
    found: dict[str, tuple[str, ...]] = {}
    new: dict[str, bytes] = {}
    for name, record in names.items():
        text = f"{record.title}\n{body(record)}"
        mark = digest_of(rules + text.encode("utf-8", "surrogatepass"))[:16]
        memo = known.get(name, b"")
        if memo[:16] == mark:
            flags = tuple(filter(None, memo[16:].decode().split("\n")))
        else:
            flags = _looked_for(what, text)
            new[name] = mark + "\n".join(flags).encode()
        if flags:
            found[record.ref] = flags
    if new:
        index.note(new)
    return found


def _looked_for(what: str, text: str) -> tuple[str, ...]:
    if what == "flags":
        from quire.guard.prompt_attacks import find_instructions

        return tuple(find_instructions(text))
    from quire.guard.effects import effects_of, flags_of

    return effects_of(text) if what == "effects" else flags_of(text)
