"""The facts: what agents learned, by section, with confidence, connections and episodes, in `.memory/facts.jsonl`."""

from typing import TYPE_CHECKING

from quire.layers.facts import layout
from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.layers.facts.content import (
        clean_content,
        content_hash,
        is_canonical_relation,
        normal_relation,
        normal_text,
    )
    from quire.layers.facts.decay import effective_confidence, profile_of
    from quire.layers.facts.faults import find_fact_faults
    from quire.layers.facts.lines import Reading, encode_record, read_lines
    from quire.layers.facts.resolve import Contradiction, Link, Parked, Resolved, canonical, resolve_reading
    from quire.layers.facts.types import Connection, Episode, Fact, Mind
    from quire.layers.facts.winners import Conflict

__all__ = [
    "Conflict",
    "Connection",
    "Contradiction",
    "Episode",
    "Fact",
    "Link",
    "Mind",
    "Parked",
    "Reading",
    "Resolved",
    "canonical",
    "clean_content",
    "content_hash",
    "effective_confidence",
    "encode_record",
    "find_fact_faults",
    "is_canonical_relation",
    "layout",
    "normal_relation",
    "normal_text",
    "profile_of",
    "read_lines",
    "resolve_reading",
]

# Which module holds what.
_HOMES = {
    "Conflict": "winners",
    "Connection": "types",
    "Contradiction": "resolve",
    "Episode": "types",
    "Fact": "types",
    "Link": "resolve",
    "Mind": "types",
    "Parked": "resolve",
    "Reading": "lines",
    "Resolved": "resolve",
    "canonical": "resolve",
    "clean_content": "content",
    "content_hash": "content",
    "effective_confidence": "decay",
    "encode_record": "lines",
    "find_fact_faults": "faults",
    "is_canonical_relation": "content",
    "normal_relation": "content",
    "normal_text": "content",
    "profile_of": "decay",
    "read_lines": "lines",
    "resolve_reading": "resolve",
}

__getattr__ = loader(__name__, _HOMES)
