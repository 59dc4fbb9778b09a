"""What arrives by itself: conversations to compact, design documents, sessions."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.capture.compaction import Compacted, compact
    from quire.capture.conversation import Conversation, Pin, messages_from, read_conversation
    from quire.capture.design_documents import documents_stamp, scan_design_documents
    from quire.capture.importing import Looked, Normalise, Noted, count_elsewhere, look_through
    from quire.capture.lifecycle import (
        ANEW,
        DROPPED,
        Artifact,
        Held,
        Step,
        parse_candidate,
        plan_candidates,
        plan_documents,
        source_of,
    )
    from quire.capture.proposing import Account, SessionRead, find_session, propose_session
    from quire.capture.summariser import Summariser, SummaryRequest
    from quire.capture.trusted_sources import agree_to, is_agreed

__all__ = [
    "ANEW",
    "DROPPED",
    "Account",
    "Artifact",
    "Compacted",
    "Conversation",
    "Held",
    "Looked",
    "Normalise",
    "Noted",
    "Pin",
    "SessionRead",
    "Step",
    "Summariser",
    "SummaryRequest",
    "agree_to",
    "compact",
    "count_elsewhere",
    "documents_stamp",
    "find_session",
    "is_agreed",
    "look_through",
    "messages_from",
    "parse_candidate",
    "plan_candidates",
    "plan_documents",
    "propose_session",
    "read_conversation",
    "scan_design_documents",
    "source_of",
]

# Which module holds what.
_HOMES = {
    "ANEW": "lifecycle",
    "DROPPED": "lifecycle",
    "Account": "proposing",
    "Artifact": "lifecycle",
    "Compacted": "compaction",
    "Conversation": "conversation",
    "Held": "lifecycle",
    "Looked": "importing",
    "Normalise": "importing",
    "Noted": "importing",
    "Pin": "conversation",
    "SessionRead": "proposing",
    "Step": "lifecycle",
    "Summariser": "summariser",
    "SummaryRequest": "summariser",
    "agree_to": "trusted_sources",
    "compact": "compaction",
    "count_elsewhere": "importing",
    "documents_stamp": "design_documents",
    "find_session": "proposing",
    "is_agreed": "trusted_sources",
    "look_through": "importing",
    "messages_from": "conversation",
    "parse_candidate": "lifecycle",
    "plan_candidates": "lifecycle",
    "plan_documents": "lifecycle",
    "propose_session": "proposing",
    "read_conversation": "conversation",
    "scan_design_documents": "design_documents",
    "source_of": "lifecycle",
}

__getattr__ = loader(__name__, _HOMES)
