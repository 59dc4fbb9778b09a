"""Ask the agent of a session, once, to propose what should last: where a person chose that, and there is something."""

from __future__ import annotations

import contextlib
import os
from time import perf_counter
from typing import TYPE_CHECKING

from quire.clients.capture_choice import is_due, note_look
from quire.model.errors import QuireError
from quire.model.times import timestamp
from quire.model.vocabulary import LayerName

if TYPE_CHECKING:
    from quire.clients.hooks.types import HookEvent
    from quire.project import Project

_ASKED = "asked what should last"
_REQUEST = """Before you finish: this session seems to have decided or found out what should last, and nothing was \
saved. Propose at most three things that the code does not show: a decision with its reason, a trap, a standing rule. \
Use the tool `propose_memory` where you have it, else run `memory inbox propose decision "…" --why "…"` (or gotcha, \
fact, preference). A person decides later. If nothing should last, propose nothing. Do no other work; end your turn. \
(Sent once per session, about {tokens} tokens. `memory integrate --capture none` turns it off.)"""
_SAVED: tuple[tuple[LayerName, str | None], ...] = (("graph", None), ("facts", "fact"), ("profile", None))


def capture_request(project: Project, event: HookEvent) -> str:
    """The request; empty where the session was asked, says nothing that lasts, or had something saved already."""
    from quire.capture.session_proposals import find_session
    from quire.capture.session_worth import says_something_lasting
    from quire.files.digests import hex_digest
    from quire.model.tokens import count_tokens

    begun = perf_counter()
    world, root = project.world, project.root
    name = hex_digest(f"{event.client}:{event.session}")[:16]
    found = find_session(event.client, event.transcript, event.session, root=root, home=world.home, env=world.env)
    if found is None or not is_due(root, name, size := os.path.getsize(found.path)):
        return ""
    # Noted before it is read: a look that is cut short is not begun anew at each turn.
    if not note_look(root, name, size, world) or _was_saved(project, event, found.started_at):
        return ""
    if not says_something_lasting(found, root, world.home) or not note_look(root, name, 0, world):
        return ""
    tokens = count_tokens(_REQUEST)
    _add_receipt(project, event, tokens, round((perf_counter() - begun) * 1000))
    return _REQUEST.format(tokens=tokens)


def _was_saved(project: Project, event: HookEvent, started_at: str) -> bool:
    """Whether a record or a proposal was made since the session began."""
    from quire.clients.receipts import read_receipts
    from quire.inbox.store import read_inbox

    heard = (receipt.at for receipt in read_receipts(project.root, event.session) if receipt.session == event.session)
    began = next(heard, started_at)
    if not began:
        return False
    if any(item.proposed_at >= began and item.origin == "agent" for item in read_inbox(project.root).proposals):
        return True
    newest = project.with_index(
        lambda index: [record for layer, kind in _SAVED for record in index.records(layer, kind, limit=1)]
    )
    return any(record.updated_at >= began for record in newest)


def _add_receipt(project: Project, event: HookEvent, tokens: int, milliseconds: int) -> None:
    from quire.clients.receipts import Receipt, add_receipt

    receipt = Receipt(
        at=timestamp(project.world.now()),
        client=event.client,
        event=event.event,
        session=event.session,
        budget=tokens,
        tokens=tokens,
        milliseconds=milliseconds,
        note=_ASKED,
    )
    with contextlib.suppress(OSError, QuireError):
        add_receipt(project.root, receipt, project.world.token())
