"""Keep what explains a change beside its verdict, so that a hook can say it without working it out."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from quire.model.change_explained import ChangeExplained
from quire.upkeep.verdicts import MEMO

if TYPE_CHECKING:
    from quire.files.git import Git
    from quire.index.catalog import Index
    from quire.model.verdicts import Verdict

Explained = dict[str, tuple[ChangeExplained, ...]]
"""By ref, the changed anchors of a record."""
_KEPT = "explained "


class _Kept(msgspec.Struct, frozen=True):
    """Explanations, and the digest of the noted verdict that they belong to: it changes with all that it rests on."""

    verdict: bytes
    changes: tuple[ChangeExplained, ...]


def known_explanations(index: Index, verdicts: Mapping[str, Verdict]) -> Explained:
    """What is known already of these records; nothing is worked out."""
    changed = [ref for ref, verdict in verdicts.items() if verdict.verdict == "changed"]
    noted = index.memos([f"{part}{ref}" for ref in changed for part in (MEMO, _KEPT)]) if changed else {}
    found = {}
    for ref in changed:
        with contextlib.suppress(msgspec.MsgspecError, KeyError):
            kept = msgspec.msgpack.decode(noted[f"{_KEPT}{ref}"], type=_Kept)
            if kept.verdict == _digest(noted[f"{MEMO}{ref}"]):
                found[ref] = kept.changes
    return found


def explanations(root: str, git: Git, index: Index, verdicts: Mapping[str, Verdict]) -> Explained:
    """What changed behind these records, worked out where it is not known; the index keeps it."""
    from quire.upkeep.explain_change import explain_changes

    known = known_explanations(index, verdicts)
    missing = {ref: one for ref, one in verdicts.items() if one.verdict == "changed" and ref not in known}
    new = {ref: tuple(explain_changes(root, git, verdict)) for ref, verdict in missing.items()}
    noted = index.memos(f"{MEMO}{ref}" for ref in new)
    kept = {ref: _Kept(_digest(noted[f"{MEMO}{ref}"]), new[ref]) for ref in new if f"{MEMO}{ref}" in noted}
    if kept:
        index.note({f"{_KEPT}{ref}": msgspec.msgpack.encode(one) for ref, one in kept.items()})
    return known | new


def _digest(noted: bytes) -> bytes:
    return hashlib.sha256(noted).digest()
