"""What waits for a person's word: proposals, on this machine alone; and what was rejected, for everybody."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.inbox.proposals import (
        BY,
        INTO,
        QUOTE_CHARS,
        TEXT_CHARS,
        By,
        Evidence,
        Into,
        Proposal,
        Standing,
        Status,
        proposal_id,
        propose,
        value_digest,
    )
    from quire.inbox.rejections import Rejection, Rejections, named_rejection, read_rejections, write_rejection
    from quire.inbox.reviewed import REVIEWED, note_reviewed, read_reviewed, review_mark
    from quire.inbox.store import (
        PENDING_MOST,
        Inbox,
        Waiting,
        count_pending,
        named_proposal,
        pending_kinds,
        read_inbox,
        sound_lines,
        write_inbox,
    )

__all__ = [
    "BY",
    "INTO",
    "PENDING_MOST",
    "QUOTE_CHARS",
    "REVIEWED",
    "TEXT_CHARS",
    "By",
    "Evidence",
    "Inbox",
    "Into",
    "Proposal",
    "Rejection",
    "Rejections",
    "Standing",
    "Status",
    "Waiting",
    "count_pending",
    "named_proposal",
    "named_rejection",
    "note_reviewed",
    "pending_kinds",
    "proposal_id",
    "propose",
    "read_inbox",
    "read_rejections",
    "read_reviewed",
    "review_mark",
    "sound_lines",
    "value_digest",
    "write_inbox",
    "write_rejection",
]

# Which module holds what.
_HOMES = {
    "BY": "proposals",
    "INTO": "proposals",
    "PENDING_MOST": "store",
    "QUOTE_CHARS": "proposals",
    "REVIEWED": "reviewed",
    "TEXT_CHARS": "proposals",
    "By": "proposals",
    "Evidence": "proposals",
    "Inbox": "store",
    "Into": "proposals",
    "Proposal": "proposals",
    "Rejection": "rejections",
    "Rejections": "rejections",
    "Standing": "proposals",
    "Status": "proposals",
    "Waiting": "store",
    "count_pending": "store",
    "named_proposal": "store",
    "named_rejection": "rejections",
    "note_reviewed": "reviewed",
    "pending_kinds": "store",
    "proposal_id": "proposals",
    "propose": "proposals",
    "read_inbox": "store",
    "read_rejections": "rejections",
    "read_reviewed": "reviewed",
    "review_mark": "reviewed",
    "sound_lines": "store",
    "value_digest": "proposals",
    "write_inbox": "store",
    "write_rejection": "rejections",
}

__getattr__ = loader(__name__, _HOMES)
