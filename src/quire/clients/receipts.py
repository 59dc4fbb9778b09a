"""Receipts: which records a hook sent to an agent, which it did not, and why. They stay on this machine."""

from __future__ import annotations

import msgspec

from quire.clients.lines import LINE_BYTES, OLD_RECEIPTS, RECEIPTS, add_line, read_lines
from quire.files.json_files import json_value

MOST_BYTES = 2 * 1024 * 1024
"""A file of receipts that is larger makes way for a new one; two are kept."""
_ITEMS = 200
_LEFT_OUT_LAST = ("included", "withheld", "trimmed")
_START = b'"session-start"'


class ReceiptItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one record."""

    ref: str
    outcome: str
    """`included`, `trimmed` (there was no room), `withheld` (it must not be told)."""
    why: str = ""
    tokens: int = 0
    verdict: str = ""


class Receipt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One answer to a hook. What the user wrote is not in it."""

    at: str
    client: str
    event: str
    session: str = ""
    files: tuple[str, ...] = ()
    """Before an edit: the files that it was about."""
    considered: int = 0
    budget: int = 0
    tokens: int = 0
    milliseconds: int = 0
    items: tuple[ReceiptItem, ...] = ()
    note: str = ""
    """What was said beside records."""

    def included(self) -> list[str]:
        """The records that were sent."""
        return [item.ref for item in self.items if item.outcome == "included"]


def add_receipt(root: str, receipt: Receipt, token: str) -> None:
    data = msgspec.json.encode(receipt)
    if len(data) >= LINE_BYTES:
        # What was told is the last that is left out: it would be told again.
        items = sorted(receipt.items, key=lambda item: _LEFT_OUT_LAST.index(item.outcome))[:_ITEMS]
        receipt = msgspec.structs.replace(receipt, items=tuple(items), files=())
        data = msgspec.json.encode(receipt)
    while len(data) >= LINE_BYTES and receipt.items:
        receipt = msgspec.structs.replace(receipt, items=receipt.items[: len(receipt.items) // 2])
        data = msgspec.json.encode(receipt)
    add_line(root, RECEIPTS, data, token, most=MOST_BYTES, old=OLD_RECEIPTS)


def read_receipts(root: str, session: str = "") -> list[Receipt]:
    """The receipts, the oldest first; of one session, named by the beginning of its id. Bad lines do not count."""
    found = []
    # Most lines are of other sessions: those are not taken apart.
    mark = msgspec.json.encode(session.encode("utf-8", "replace").decode())[1:-1]
    for line in read_lines(root, OLD_RECEIPTS, RECEIPTS):
        if mark and mark not in line:
            continue
        receipt = json_value(line, Receipt)
        if receipt is not None and receipt.session.startswith(session):
            found.append(receipt)
    return found


def last_start(root: str, session: str) -> str:
    """When a session last began that was another one; empty where none did."""
    for line in reversed([line for line in read_lines(root, RECEIPTS) if _START in line]):
        receipt = json_value(line, Receipt)
        if receipt is not None and receipt.event == "session-start" and receipt.session != session:
            return receipt.at
    return ""
