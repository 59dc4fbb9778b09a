"""List the words that the memory is made of: forms of refs, verdicts, and the closed lists of every layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quire.layers.table import LAYERS
from quire.model.verdicts import VERDICTS

_REFS = (
    "kind.slug",
    "fact:ID",
    "episode:ID",
    "profile:category.key",
    "event:ID",
    "checkpoint:ID",
    "bundle:SECTION",
)


def words_of_memory() -> dict[str, Sequence[str] | Mapping[str, Sequence[str]]]:
    """Every word that an argument may have to be one of, by layer and name."""
    return {"refs": _REFS, "verdicts": VERDICTS, **{layer.name: layer.words for layer in LAYERS}}
