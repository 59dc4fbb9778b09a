"""Check the history: every line, the order of ids, counters, pending events, unexpected files.

Nothing ends the check early. A line that is no event takes nothing from the others, and is reported by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from quire.layers.journal.checks.findings import REPAIRS_IT, RESTORES, TOLD, failed, listing, passed, warned
from quire.layers.journal.checks.order import disordered, repeated
from quire.layers.journal.cursors import unrecalled
from quire.layers.journal.events import EventLine, History, read_history
from quire.layers.journal.layout import EVENTS, FOLDER
from quire.layers.journal.numbered_ids import ordinal_of
from quire.layers.journal.records import signal_lines
from quire.layers.journal.settings import JournalSettings
from quire.layers.journal.store import held_log
from quire.layers.journal.types import State
from quire.model.errors import QuireError
from quire.model.records import Problem

_EVENTS = f"{FOLDER}/{EVENTS}"
CONFLICT = "ConflictMarker"


def check_log(root: str) -> tuple[History | None, list[Problem]]:
    """The log, where it can be read at all."""
    try:
        data = held_log(root)
    except QuireError as error:
        return None, [failed("history:events-read", error.message, _EVENTS, RESTORES)]
    if data is None:
        return None, [failed("history:events-missing", f"`{_EVENTS}` is missing.", _EVENTS, RESTORES)]
    return read_history(data), []


def check_history(
    history: History, config: JournalSettings, state: State | None, archived: Collection[str], apart: int = 0
) -> list[Problem]:
    """`archived` are the ids that left the log in an orderly way; so many events stand `apart`, in fragments."""
    found = [*_line_findings(history), *_order_findings(history, config, archived, apart)]
    if not found:
        said = f"All {len(history.events):,} events can be read and are in order."
        found.append(passed("history:events", said, _EVENTS))
    if state is not None:
        found += [_count_finding(history, state, apart), _backlog_finding(history, config, state)]
    found += _secret_findings(history)
    return found


# -- lines ----------------------------------------------------------------------------------------


def _line_findings(history: History) -> Iterator[Problem]:
    marks = [line for line in history.aside if _code(line) == CONFLICT]
    if marks:
        said = f"{len(marks):,} merge conflict marks are in the log; the events of both sides are used."
        yield failed("history:conflict", said, _EVENTS, REPAIRS_IT, marks[0].number)
    damaged = [line for line in history.aside if _code(line) not in (CONFLICT, "LineTorn")]
    for line in damaged[:TOLD]:
        yield _damage(line)
    if len(damaged) > TOLD:
        said = f"{len(damaged) - TOLD:,} more lines cannot be read."
        yield failed("history:events-read", said, _EVENTS, line=damaged[TOLD].number)
    if history.is_torn:
        said = "The last line is incomplete."
        hint = "It is kept. The next event starts on a new line."
        yield warned("history:torn", said, _EVENTS, hint, history.lines[-1].number)


def _code(line: EventLine) -> str:
    return line.problem.code if line.problem is not None else ""


def _damage(line: EventLine) -> Problem:
    said = f"Line {line.number:,}: {line.problem.message if line.problem is not None else ''}"
    hint = "It is kept, and all other lines are used. Correct or remove it by hand."
    if _code(line) != "EventInvalid":
        is_half = _code(line) in ("JsonInvalid", "NotUtf8")
        hint = f"It is kept, and all other lines are used. {REPAIRS_IT}" if is_half else hint
        return failed("history:events-read", said, _EVENTS, hint, line.number)
    name = next(History((line,)).ids(), f"line-{line.number}")
    return failed(f"history:event:{name}", said, _EVENTS, hint, line.number)


# -- order ----------------------------------------------------------------------------------------


def _order_findings(
    history: History, config: JournalSettings, archived: Collection[str], apart: int
) -> Iterator[Problem]:
    """Events in fragments come last, and get numbers that nobody else has when they are folded."""
    events = history.events[: len(history.events) - apart]
    twice = repeated(events)
    if twice:
        said = f"{len(twice):,} ids are those of more than one event: {listing(twice)}."
        yield failed("history:duplicate", said, _EVENTS, REPAIRS_IT)
    wrong = disordered(events)
    if wrong is not None:
        said = f"The ids of the events are out of order: see `{wrong}`."
        yield failed("history:ordering", said, _EVENTS, REPAIRS_IT)
    gaps = 0 if config.is_retaining else _gaps([*history.ids(), *archived])
    if gaps:
        said = f"{gaps:,} numbers of events are missing, and nothing is being archived."
        hint = "Events were removed. That is fine if an expired archive held them."
        yield failed("history:continuity", said, _EVENTS, hint)


def _gaps(names: Iterable[str]) -> int:
    numbers = sorted({ordinal_of(name) for name in names} - {0})
    return numbers[-1] - numbers[0] + 1 - len(numbers) if numbers else 0


# -- what the state says of it --------------------------------------------------------------------


def accepted_count(history: History, count: float, apart: int = 0) -> bool:
    """Whether the state counts right; what cannot be read, or stands apart, may have been counted or not."""
    unread = sum(1 for line in history.aside if _code(line) != CONFLICT)
    events = len(history.events)
    return count in range(events - apart, events + unread + 1)


def _count_finding(history: History, state: State, apart: int) -> Problem:
    count = state.maintenance.history_event_count
    if accepted_count(history, count, apart):
        return passed("history:event-count", "The state has the right number of events.", _EVENTS)
    said = f"The state counts {count:,} events; there are {len(history.events):,}."
    return failed("history:event-count", said, _EVENTS, REPAIRS_IT)


def _backlog_finding(history: History, config: JournalSettings, state: State) -> Problem:
    waiting = len(unrecalled(history.events, state.maintenance))
    if waiting > config.backlog_warn_threshold:
        said = f"{waiting:,} events are not recalled yet."
        return warned("recall:backlog", said, _EVENTS, "`memory journal recall` merges them into the memory.")
    return passed("recall:backlog", f"{waiting:,} events are not recalled yet.", _EVENTS)


def _secret_findings(history: History) -> Iterator[Problem]:
    from quire.guard.secrets import find_secrets

    told = 0
    for line in history.lines:
        event = line.event
        if event is None:
            continue
        texts = [event.summary, *signal_lines(event), event.source_ref, event.external_item_id or ""]
        secret = next((found for found in find_secrets("\n".join(texts)) if found.certain), None)
        if secret is None:
            continue
        if told == TOLD:
            yield warned("history:secret", f"After {TOLD} events with credentials no more were looked for.", _EVENTS)
            return
        told += 1
        said = f"Looks like a credential ({secret.what}, {secret.rule}): {secret.masked}."
        hint = "Replace the credential, then `memory purge --secrets`; git history keeps it until it is rewritten."
        yield warned(f"history:secret:{event.id}", said, _EVENTS, hint, line.number)
