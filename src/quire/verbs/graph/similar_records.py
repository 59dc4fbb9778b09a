"""Warn about records that nearly repeat or contradict another, with the command that supersedes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from quire.model.records import Problem, Record
from quire.model.text import cut, one_line

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.retrieval.similar_records import Alike

_TITLE_CHARS = 120
_LISTED = 100
_SIMILAR = 3
_FEW = 10


def alike_problems(
    index: Index,
    record: Record,
    without: frozenset[str] = frozenset(),
    beside: Iterable[Record] = (),
    *,
    is_new: bool = True,
) -> list[Problem]:
    """Which live records say what this one says, or the opposite; but for those that it replaces anyway.

    `beside` are records that would be written together with it. Where there is none, what else the memory says on a new
    one.
    """
    from quire.retrieval.similar_records import alike_to

    together = list(beside)
    found = [one for one in alike_to(index, record, beside=together) if one.older.ref not in without]
    # Nobody reads hints on each record of an import, or the same hint at each change.
    if found or len(together) > _FEW or not is_new:
        return [alike_problem(one) for one in found]
    return similar_problems(index, record, {*without, *(other.ref for other in together)})


def similar_problems(index: Index, record: Record, without: Collection[str] = ()) -> list[Problem]:
    """One warning with the live records of any kind and layer that answer the title of this one as a question."""
    from quire.retrieval.similar_records import answers_to

    found = [other for other in answers_to(index, record) if other.ref not in without][:_SIMILAR]
    if not found:
        return []
    said = "; ".join(
        f"`{other.ref}` “{cut(one_line(other.title), _TITLE_CHARS)}” ({other.created_at[:10]})" for other in found
    )
    return [
        Problem(
            code="SimilarRecord",
            severity="warning",
            message=f"Similar {'record' if len(found) == 1 else 'records'}: {said}.",
            hint=f"If one replaces the other, supersede or edit it (`memory inspect {found[0].ref}`); else keep both.",
        )
    ]


def alike_findings(index: Index) -> list[Problem]:
    """All such pairs of a memory, opposites first; not more than anybody reads."""
    from quire.layers.graph.layout import FOLDER
    from quire.layers.table import path_from_root
    from quire.retrieval.similar_records import alike_pairs

    found = alike_pairs(index)
    problems = []
    for one in found[:_LISTED]:
        problems.append(alike_problem(one, path_from_root(one.record.layer, one.record.path)))
    if len(found) > _LISTED:
        problems.append(
            Problem(
                code="SaysNearlyTheSame",
                severity="warning",
                path=FOLDER,
                message=f"{len(found) - _LISTED:,} more pairs of records say nearly the same or the opposite.",
                hint="Supersede some of those above, then check again.",
                fixed_by="person",
            )
        )
    return problems


def alike_problem(found: Alike, path: str = "") -> Problem:
    """In a check `path` is the file of the newer record."""
    older, newer = found.older, found.record
    how = "the opposite" if found.is_opposite else "nearly the same"
    first = f"`{newer.ref}` and `{older.ref}` say {how}" if path else f"`{older.ref}` says {how}"
    return Problem(
        code="SaysTheOpposite" if found.is_opposite else "SaysNearlyTheSame",
        severity="warning",
        path=path,
        message=f"{first}: “{cut(one_line(older.title), _TITLE_CHARS)}”.",
        hint=f"If the {'newer' if path else 'new'} one replaces it: {_command(newer, older)}",
        fixed_by="person" if path else "",
    )


def _command(newer: Record, older: Record) -> str:
    import shlex

    import msgspec

    if older.layer == "facts":
        return shlex.join(("memory", "facts", "supersede", older.ref, "--by", newer.ref))
    if older.layer == "profile":
        names = [record.ref.partition(":")[2] for record in (newer, older)]
        return shlex.join(("memory", "profile", "link", *names, "supersedes"))
    reason = f"replaced by {newer.ref}"
    intent = {"task": "supersede", "supersede": [{"id": older.ref, "superseded_by": newer.ref, "reason": reason}]}
    return f"echo {shlex.quote(msgspec.json.encode(intent).decode())} | memory save --stdin"
