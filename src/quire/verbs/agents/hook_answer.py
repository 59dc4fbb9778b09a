"""Answer one hook: a text for the agent and a receipt, or a note that a session ended."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from datetime import timedelta
from time import perf_counter
from typing import TYPE_CHECKING

from quire.clients.ended_sessions import note_session
from quire.files.digests import hex_digest
from quire.files.local_lock import local_lock
from quire.layers.graph.layout import FOLDER
from quire.model.errors import LockBusy, QuireError
from quire.model.times import instant, timestamp
from quire.project import Project
from quire.retrieval.injection import Injection
from quire.verbs.agents.prompt_brief import hook_edit, hook_prompt

if TYPE_CHECKING:
    from quire.clients.hooks.types import HookEvent
    from quire.clients.receipts import Receipt

_COMPACTION = ("before-compaction", "after-compaction")
"""One client takes text before it summarises, others after: what must survive is the same."""
_OPENING = ("session-start", *_COMPACTION)
_WAIT_SECONDS = 1.0
_TWICE = timedelta(seconds=10)
"""Some clients run the hooks of another one beside their own: the second answer to the same start says nothing."""
_BEGUN = ("", "new", "startup")
"""What a session that begins says of itself; some clients say it with every message."""


def answer_hook(project: Project, event: HookEvent, tokens: int, chars: int) -> str:
    """The text to hand over; empty where there is none. A client that takes no text gets none worked out."""
    note_session(project.root, event, project.world)
    if event.agent or tokens <= 0:
        return ""
    begun = perf_counter()
    with _one_at_a_time(project, event):
        receipts = _receipts(project, event.session)
        if event.event in _OPENING and _is_twice(project, event, receipts):
            return ""
        handed = _handed(project, event, tokens, chars, receipts)
        if handed.considered or event.event in _OPENING:
            _add_receipt(project, event, handed, round((perf_counter() - begun) * 1000))
    return handed.text


@contextlib.contextmanager
def _one_at_a_time(project: Project, event: HookEvent) -> Iterator[None]:
    """Two hooks of one event at once: the second waits until the first has left its receipt."""
    if not event.session or not os.path.isdir(os.path.join(project.root, FOLDER)):
        yield
        return
    name = f"hooks-{hex_digest(event.session)[0]}.lock"
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(LockBusy, OSError, QuireError):
            stack.enter_context(local_lock(project.root, FOLDER, name, "hook", project.world, _WAIT_SECONDS))
        yield


def _handed(project: Project, event: HookEvent, tokens: int, chars: int, receipts: list[Receipt]) -> Injection:
    began = receipts[0].at if receipts else ""
    if event.event in _OPENING:
        from quire.clients.receipts import last_start
        from quire.verbs.agents.session_brief import hook_start

        told = [ref for receipt in receipts if receipt.event not in _OPENING for ref in receipt.included()]
        return hook_start(
            project,
            client=event.client,
            session=event.session,
            tokens=tokens,
            chars=chars,
            told=told,
            since=last_start(project.root, event.session),
            compacted=event.event in _COMPACTION,
            began=began,
        )
    told_now = _told(receipts)
    if event.event == "prompt":
        return hook_prompt(project, event.prompt, tokens=tokens, chars=chars, told=told_now, began=began)
    return hook_edit(project, event.files, tokens=tokens, chars=chars, told=told_now, began=began)


# -- receipts and the spool ---------------------------------------------------------------


def _receipts(project: Project, session: str) -> list[Receipt]:
    if not session:
        return []
    from quire.clients.receipts import read_receipts

    return [receipt for receipt in read_receipts(project.root, session) if receipt.session == session]


def _is_twice(project: Project, event: HookEvent, receipts: list[Receipt]) -> bool:
    now = project.world.now()
    for receipt in reversed(receipts):
        at = instant(receipt.at)
        if receipt.event == event.event and at is not None and timedelta(0) <= now - at < _TWICE:
            return True
    return event.event == "session-start" and event.source in _BEGUN and bool(receipts)


def _add_receipt(project: Project, event: HookEvent, handed: Injection, milliseconds: int) -> None:
    from quire.clients.receipts import Receipt, ReceiptItem, add_receipt

    items = tuple(
        ReceiptItem(ref=fate.ref, outcome=fate.outcome, why=fate.why, tokens=fate.tokens, verdict=fate.verdict)
        for fate in handed.fates
        if fate.ref
    )
    receipt = Receipt(
        at=timestamp(project.world.now()),
        client=event.client,
        event=event.event,
        session=event.session,
        files=event.files[:20],
        considered=handed.considered,
        budget=handed.budget,
        tokens=handed.tokens,
        milliseconds=milliseconds,
        items=items,
    )
    # A disk that takes no receipt is no reason to keep from the agent what it needs.
    with contextlib.suppress(OSError, QuireError):
        add_receipt(project.root, receipt, project.world.token())


def work_waits(project: Project) -> bool:
    """Whether sessions ended that nobody has read yet, or design documents changed: a look at folders alone."""
    from quire.capture.design_documents import documents_wait
    from quire.clients.spool import has_ended

    return has_ended(project.root) or documents_wait(project.root)


def _told(receipts: list[Receipt]) -> set[str]:
    """What the agent still has before its eyes: what was told since the last compaction."""
    found: set[str] = set()
    for receipt in receipts:
        if receipt.event in _COMPACTION:
            found = set()
        found.update(receipt.included())
    return found
