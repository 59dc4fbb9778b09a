"""The programs that agents run in: what their hooks say and hear, what they read, how they are wired to the memory."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.clients.logs import log_line, read_log
    from quire.clients.receipts import Receipt, ReceiptItem, add_receipt, last_start, read_receipts
    from quire.clients.spool import Ended, Taken, has_ended, note_ended, take_ended, waiting_sessions

__all__ = [
    "Ended",
    "Receipt",
    "ReceiptItem",
    "Taken",
    "add_receipt",
    "has_ended",
    "last_start",
    "log_line",
    "note_ended",
    "read_log",
    "read_receipts",
    "take_ended",
    "waiting_sessions",
]

# Which module holds what.
_HOMES = {
    "Ended": "spool",
    "Receipt": "receipts",
    "ReceiptItem": "receipts",
    "Taken": "spool",
    "add_receipt": "receipts",
    "has_ended": "spool",
    "last_start": "receipts",
    "log_line": "logs",
    "note_ended": "spool",
    "read_log": "logs",
    "read_receipts": "receipts",
    "take_ended": "spool",
    "waiting_sessions": "spool",
}

__getattr__ = loader(__name__, _HOMES)
