"""Results and lines of proposals and rejections."""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING, Any

import msgspec

from quire.inbox.proposals import Proposal, ProposalEvidence
from quire.model.errors import QuireError
from quire.model.text import counted, cut, one_line
from quire.verbs.verb import Lines, Recalled, Result

if TYPE_CHECKING:
    from quire.inbox.rejections import Rejection

_QUOTE_CHARS = 200
_UNDECIDED = 10
_EVIDENCE = 3


class Settled(Result, kw_only=True):
    """What was settled, and what could not be."""

    done: list[Proposal] = []
    failed: list[tuple[Proposal, QuireError]] = []
    rejections: list[Rejection] = []
    files: list[str] = []
    undecided: list[Proposal] = []
    """Those that were left out because their own source calls them undecided: each of them is accepted by its id."""
    left: int = 0
    """How many still wait."""

    def is_incomplete(self) -> bool:
        return bool(self.failed)

    def fields(self) -> dict[str, Any]:
        return {
            "settled": [proposal_fields(item) for item in self.done],
            "failed": [
                {"id": item.id, "code": error.code, "message": error.message, "hint": error.hint}
                for item, error in self.failed
            ],
            "rejections": [rejection_fields(item) for item in self.rejections],
            "files_changed": self.files,
            "undecided": [item.id for item in self.undecided],
            "pending": self.left,
        }


def proposal_fields(item: Proposal) -> dict[str, Any]:
    return {"evidence": [], "status": item.status, **msgspec.to_builtins(item)}


def rejection_fields(item: Rejection) -> dict[str, Any]:
    names = ("id", "value", "kind", "reason", "origin", "rejected_at")
    return {**{name: getattr(item, name) for name in names}, "lifted_at": item.lifted_at or None}


def proposal_lines(item: Proposal) -> Lines:
    """A proposal with its evidence."""
    status = "" if item.status == "pending" else f"  {item.status}"
    yield f"{item.id}  {item.kind} → {_target(item)}{status}"
    told = item.text
    if item.into == "episodes":
        # What the episode will say, and its figures.
        told = "\n".join(filter(None, (str(item.fields.get("summary") or ""), _figures(item.fields))))
    title = item.fields.get("title")
    if isinstance(title, str) and not item.text.startswith(title.strip().rstrip("…")):
        yield _quoted(item, f"  {title}")
    yield _quoted(item, indent(told, "  "))
    for line in [*dict.fromkeys(_evidence_line(item, one) for one in item.evidence)][:_EVIDENCE]:
        yield _quoted(item, line)
    if not item.evidence:
        yield f"    {item.by}, {item.origin}"
    if item.updates:
        yield f"    changes {item.updates}, which was made of an earlier version of its file"
    if item.standing == "open":
        yield f"    undecided according to its file: “{cut(item.said, _QUOTE_CHARS)}”; accept it by its id"
    elif item.standing == "over":
        yield (
            f"    no longer valid according to its file: “{cut(item.said, _QUOTE_CHARS)}”; it would become a "
            "retired record"
        )
    if item.ref:
        yield f"    is {item.ref}"
    yield ""


def _evidence_line(item: Proposal, evidence: ProposalEvidence) -> str:
    """Who said it, and where; the words as well, unless the proposal repeats them."""
    said = _first_line(evidence.quote)
    is_repeated = said.rstrip(" .…").casefold() in one_line(item.text).casefold()
    where = ", ".join(filter(None, (evidence.by, evidence.where, evidence.at[:10])))
    return f"    {where}" if is_repeated else f"    {where}: “{said}”"


def _figures(fields: dict[str, Any]) -> str:
    """The figures of a session, those that are known."""
    counts = [(fields.get("turns"), "turn"), (fields.get("tool_calls"), "tool call")]
    known = [counted(count, noun) for count, noun in counts if isinstance(count, int) and count]
    date = str(fields.get("started_at") or "")[:10]
    return f"({', '.join(filter(None, (date, *known)))})" if date or known else ""


def settled_lines(done: Settled, verb: str) -> Lines:
    """What was accepted, rejected or lifted, and what was not."""
    for item in done.done:
        yield _quoted(item, f"{verb} {item.id}: {_name_of(item)}" + (f"  ({item.ref})" if item.ref else ""))
    named = {item.id for item in done.done}
    for rejection in done.rejections:
        if rejection.id not in named:
            yield Recalled(text=f"{verb} {rejection.id}: {_first_line(rejection.value)}", origin=rejection.origin)
    yield from failed_lines(done)
    yield from undecided_lines(done)
    if not (done.done or done.rejections or done.failed or done.undecided):
        yield "No pending proposal matches."
    if done.files:
        yield f"Commit {', '.join(sorted({path.rpartition('/')[0] + '/' for path in done.files}))} to share it."
    yield waiting_line(done.left)


def failed_lines(done: Settled) -> Lines:
    for item, error in done.failed:
        yield f"Not accepted: {item.id}: {error.message}"
        if error.hint:
            yield f"  {error.hint}"


def undecided_lines(done: Settled) -> Lines:
    """Those that were left because no person said yet that they hold."""
    for item in done.undecided[:_UNDECIDED]:
        said = f"Undecided according to its file (“{cut(item.said, 60)}”): {_name_of(item)}."
        text = f"{said} `memory inbox accept {item.id}` accepts it."
        yield _quoted(item, text)
    if len(done.undecided) > _UNDECIDED:
        yield f"{len(done.undecided) - _UNDECIDED} more are not decided by their files: see `memory inbox`."


def waiting_line(left: int) -> str:
    return f"{counted(left, 'proposal')} pending." if left else "No pending proposals."


def _quoted(item: Proposal, text: str) -> Recalled:
    return Recalled(text=text, origin=item.origin)


def _name_of(item: Proposal) -> str:
    return _first_line(str(item.fields.get("title") or item.text))


def _first_line(text: str) -> str:
    return cut(one_line(text), _QUOTE_CHARS)


def _target(item: Proposal) -> str:
    fields = item.fields
    if item.into == "profile":
        return f"profile {fields.get('category')}.{fields.get('key')}"
    if item.into == "facts":
        return f"facts, {fields.get('section')}"
    return item.into
