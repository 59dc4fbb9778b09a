"""`memory receipts`: list what hooks sent to agents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any

from quire.clients.receipts import Receipt, read_receipts
from quire.model import limits
from quire.model.text import counted
from quire.project import Project
from quire.verbs.verb import Arguments, Lines, Option, Result, Verb, Word

_LIMIT, _MOST = 20, 10_000
_OUTCOMES = ("included", "trimmed", "withheld")


class ShowReceipts(Arguments, frozen=True, kw_only=True):
    session: Annotated[str | None, Word(required=False)] = None
    limit: Annotated[int | None, Option(metavar="N", help="How many of the latest to show; 20 by default.")] = None
    details: Annotated[bool, Option(help="Also show what happened to each record.")] = False


class ReceiptList(Result, kw_only=True):
    receipts: list[Receipt]
    total: int
    tokens: int
    details: bool

    def fields(self) -> dict[str, Any]:
        return {"results": [_fields(receipt) for receipt in self.receipts], "total": self.total}


def show_receipts(project: Project, given: ShowReceipts) -> ReceiptList:
    """Show what hooks sent to your agents: what was considered, sent or left out, why, and what it cost.

    SESSION is the client's session id, or the beginning of it; its receipts are then shown in full. Receipts stay on
    this machine, in .memory/local/receipts.jsonl, and do not hold what the user wrote.
    """
    found = receipts(project, given.session or "")
    usual = _MOST if given.session else _LIMIT
    most = limits.within(given.limit, "limit", 1, _MOST) if given.limit is not None else usual
    return ReceiptList(
        receipts=found[-most:],
        total=len(found),
        tokens=sum(receipt.tokens for receipt in found),
        details=given.details or bool(given.session),
        nothing=f"No receipts for the session `{given.session[:40]}`. `memory receipts` lists all sessions."
        if given.session
        else "Nothing was sent to an agent yet. `memory integrate` connects the agents that you use.",
    )


def receipts(project: Project, session: str = "") -> list[Receipt]:
    """What was sent to agents by hooks on this machine, the oldest first."""
    project.ready_to_ask()
    return read_receipts(project.root, session)


def _fields(receipt: Receipt) -> dict[str, Any]:
    names = ("at", "client", "event", "session", "files", "considered", "budget", "tokens", "milliseconds", "note")
    outcomes = {
        outcome: [
            {"ref": item.ref, "why": item.why, "tokens": item.tokens, "verdict": item.verdict}
            for item in receipt.items
            if item.outcome == outcome
        ]
        for outcome in _OUTCOMES
    }
    return {**{name: getattr(receipt, name) for name in names}, **outcomes}


def lines(found: ReceiptList) -> Lines:
    if not found.total:
        yield found.nothing
        return
    for receipt in found.receipts:
        yield from _receipt_lines(receipt, details=found.details)
    if found.total > len(found.receipts):
        yield f"{found.total - len(found.receipts):,} earlier ones: --limit."
    yield f"{counted(found.total, 'receipt')}, {found.tokens:,} tokens."


def _receipt_lines(receipt: Receipt, *, details: bool) -> Iterator[str]:
    counts = Counter(item.outcome for item in receipt.items)
    said = ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or receipt.note or "nothing"
    cost = f"{receipt.tokens} of {receipt.budget} tokens, {receipt.milliseconds} ms"
    yield f"{receipt.at[:19]}  {receipt.client}  {receipt.event}  {receipt.session[:8]}  {said}  ({cost})"
    if not details:
        return
    for file in receipt.files:
        yield f"  about {file}"
    for item in receipt.items:
        facts = ", ".join(filter(None, (item.why, item.verdict, f"{item.tokens} tokens" if item.tokens else "")))
        yield f"  {item.outcome:9} {item.ref}{f'  ({facts})' if facts else ''}"


VERB = Verb(
    takes=ShowReceipts,
    run=show_receipts,
    lines=lines,
    examples="""Examples:
  memory receipts
  memory receipts 3f2a --details
  memory receipts --limit 100 --json
""",
)
