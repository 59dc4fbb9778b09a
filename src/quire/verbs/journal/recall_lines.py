"""What `memory journal recall` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.model.text import counted
from quire.verbs.journal.journal_lines import (
    cost_lines,
    difference_lines,
    file_diff_lines,
    for_people,
    listed,
    planned_lines,
    told,
)
from quire.verbs.verb import Lines

if TYPE_CHECKING:
    from quire.verbs.journal.recall import JournalRecalled


def lines(done: JournalRecalled) -> Lines:
    yield from plain_scope(done)
    yield from plan_lines(done)
    yield from done_lines(done)


def recorded_lines(done: JournalRecalled) -> Lines:
    """The same with the scope as `agent-memory` has printed it from the beginning."""
    yield from scope_lines(done)
    yield from plan_lines(done)
    yield from done_lines(done)


def plain_scope(done: JournalRecalled) -> Lines:
    """What was looked at, in a sentence."""
    section = "all sections" if done.section == "all" else f"the section `{done.section}`"
    events = {"all": "", "local": " of this machine", "imports": " from imported sessions"}
    new = counted(done.raw_event_count, "new event")
    yield told(f"{new}{events.get(done.source, '')} to merge into {section} (policy {done.policy}).")
    yield told("")


def scope_lines(done: JournalRecalled) -> Lines:
    """What was looked at, line by line."""
    yield told(f"Recall source scope: {done.source}")
    yield told(f"Recall section: {done.section}")
    yield told(f"Recall policy: {done.policy}")
    yield told(f"Unrecalled events considered: {done.raw_event_count}")
    if done.backlog:
        yield told("")
        yield told("Unrecalled History Summary:")
        for line in done.backlog:
            yield told(line)
    yield told("")


def plan_lines(done: JournalRecalled) -> Lines:
    """What changes, or would."""
    if done.planned:
        yield from planned_lines(done.planned)
        yield told("")
    if done.noop_reason is not None:
        return
    yield told("Memory Summary:")
    yield from difference_lines(done.diff)
    for key, label in (("currentFocusChanged", "Current focus changed"), ("validationChanged", "Validation changed")):
        yield told(f"- {label}: {'yes' if done.diff.get(key) else 'no'}")
    yield told(f"- Protected sections: {listed(done.protected)}")
    for key, label in (("gotchas", "Gotchas"), ("nextSteps", "Next steps")):
        if key in done.memory:
            yield told(f"- {label}: {done.memory[key]['before']} -> {done.memory[key]['after']}")
    if done.baseline is not None:
        yield told("")
        yield told("Checkpoint Summary:")
        yield told(f"- Baseline: {done.baseline['id']}")
        if "error" in done.baseline:
            yield told(f"- {done.baseline['error']}")
        else:
            yield from difference_lines(done.baseline)
    if any(item.diff for item in done.planned):
        yield from file_diff_lines(done.planned)
    else:
        yield for_people("")
        yield for_people("--show-diff shows the files line by line.")
    yield ""


def done_lines(done: JournalRecalled) -> Lines:
    """What came of it."""
    if done.noop_reason is not None:
        anew = " Its pages were rewritten." if done.pages_anew else ""
        yield f"Nothing to recall. {done.noop_reason}{anew}"
    elif not done.applied:
        yield "Dry run: nothing was written."
    else:
        yield f"Recalled: checkpoint {done.checkpoint}, event {done.event}."
    yield from cost_lines(done.cost_usd, done.provider)
