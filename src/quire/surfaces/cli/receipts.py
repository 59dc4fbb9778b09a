"""`memory receipts`"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.model import limits
from quire.model.text import counted
from quire.surfaces.cli.commands import Argument, Command, Option, Session
from quire.surfaces.cli.output import answer, say
from quire.surfaces.cli.reading import number

if TYPE_CHECKING:
    from quire.clients.receipts import Receipt

_EXAMPLES = """Examples:
  memory receipts
  memory receipts 3f2a --details
  memory receipts --limit 100 --json
"""
_LIMIT = 20
_MOST = 10_000


def run(session: Session, name: str | None, limit: str | None, details: bool) -> None:
    """Show what hooks handed to agents unasked: what was considered, told, left out and why, and what it cost.

    SESSION is the client's id of a session, or the beginning of it; then everything of it is shown in full. Receipts
    stay on this machine, in .memory/local/receipts.jsonl, and do not hold what the user wrote.
    """
    from quire.verbs.agents.hook_answer import receipts

    project = session.project()
    found = receipts(project, name or "")
    wanted = number("--limit", limit)
    most = limits.within(wanted, "limit", 1, _MOST) if wanted is not None else (_MOST if name else _LIMIT)
    shown = found[-most:]
    if session.as_json:
        from quire.fields.receipts import receipts_fields

        answer(project, receipts_fields(shown, len(found)))
        return
    if not found:
        if name:
            say(f"There is none of a session `{name[:40]}`. `memory receipts` shows those of all.")
        else:
            say("Nothing was handed to an agent yet. `memory integrate` wires the agents that you use.")
        return
    for receipt in shown:
        _show(receipt, details=details or bool(name))
    if len(found) > len(shown):
        say(f"{len(found) - len(shown):,} earlier ones: --limit.")
    say(f"{counted(len(found), 'receipt')}, {sum(receipt.tokens for receipt in found):,} tokens.")


def _show(receipt: Receipt, *, details: bool) -> None:
    counts: dict[str, int] = {}
    for item in receipt.items:
        counts[item.outcome] = counts.get(item.outcome, 0) + 1
    said = ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "nothing"
    cost = f"{receipt.tokens} of {receipt.budget} tokens, {receipt.milliseconds} ms"
    say(f"{receipt.at[:19]}  {receipt.client}  {receipt.event}  {receipt.session[:8]}  {said}  ({cost})")
    if not details:
        return
    for file in receipt.files:
        say(f"  about {file}")
    for item in receipt.items:
        facts = ", ".join(filter(None, (item.why, item.verdict, f"{item.tokens} tokens" if item.tokens else "")))
        say(f"  {item.outcome:9} {item.ref}{f'  ({facts})' if facts else ''}")


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    arguments=(Argument(name="name", required=False, metavar="[SESSION]"),),
    options=(
        Option(name="--limit", into="limit", metavar="N", help="So many of the latest, by default 20."),
        Option(name="--details", into="details", help="What became of each record, too."),
    ),
)
