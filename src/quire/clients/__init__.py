"""The programs that agents run in: what their hooks say and hear, what they read, how they are wired to the memory."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.clients.layout import ENDED
    from quire.clients.logs import log_line, read_log
    from quire.clients.receipt_sums import DaySum, ReceiptHealth, RecentAnswer, Told, ToldRecord, sum_receipts
    from quire.clients.receipts import Receipt, ReceiptItem, add_receipt, last_start, read_receipts
    from quire.clients.spool import Ended, Taken, has_ended, note_ended, take_ended, waiting_sessions

__all__ = [
    "ENDED",
    "DaySum",
    "Ended",
    "Receipt",
    "ReceiptHealth",
    "ReceiptItem",
    "RecentAnswer",
    "Taken",
    "Told",
    "ToldRecord",
    "add_receipt",
    "has_ended",
    "last_start",
    "log_line",
    "note_ended",
    "read_log",
    "read_receipts",
    "sum_receipts",
    "take_ended",
    "waiting_sessions",
]

# Which module holds what.
_HOMES = {
    "ENDED": "layout",
    "DaySum": "receipt_sums",
    "Ended": "spool",
    "Receipt": "receipts",
    "ReceiptHealth": "receipt_sums",
    "ReceiptItem": "receipts",
    "RecentAnswer": "receipt_sums",
    "Taken": "spool",
    "Told": "receipt_sums",
    "ToldRecord": "receipt_sums",
    "add_receipt": "receipts",
    "has_ended": "spool",
    "last_start": "receipts",
    "log_line": "logs",
    "note_ended": "spool",
    "read_log": "logs",
    "read_receipts": "receipts",
    "sum_receipts": "receipt_sums",
    "take_ended": "spool",
    "waiting_sessions": "spool",
}

__getattr__ = loader(__name__, _HOMES)
