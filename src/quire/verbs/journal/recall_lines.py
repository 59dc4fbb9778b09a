"""What `memory journal recall` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quire.layers.journal.bundle_diff import diff_text
from quire.model.text import counted
from quire.verbs.journal.journal_lines import cost_lines, file_diff_lines, for_people, planned_lines, told
from quire.verbs.verb import Lines

if TYPE_CHECKING:
    from quire.verbs.journal.recall import JournalRecalled


def lines(done: JournalRecalled) -> Lines:
    yield from scope_lines(done)
    yield from plan_lines(done)
    yield from done_lines(done)


def scope_lines(done: JournalRecalled) -> Lines:
    """What was looked at, in a sentence."""
    section = "all sections" if done.section == "all" else f"the section `{done.section}`"
    kinds = {
        "all": ("new session or run", "new sessions and runs"),
        "local": ("new run", "new runs"),
        "imports": ("new session", "new sessions"),
    }
    new = counted(done.raw_event_count, *kinds.get(done.source, kinds["all"]))
    yield told(f"{new} to merge into {section} (policy {done.policy}).")
    yield told("")


def plan_lines(done: JournalRecalled) -> Lines:
    """What changes, or would."""
    if done.planned:
        yield from planned_lines(done.planned)
    if done.noop_reason is not None:
        return
    changes = diff_text(done.diff)
    yield told(f"Changes: {changes}")
    if done.protected:
        yield told(f"Kept as they are: {', '.join(done.protected)}")
    if done.baseline is not None and (since := _difference(done.baseline)) != changes:
        yield told(f"Since {done.baseline['id']}: {since}")
    if any(item.diff for item in done.planned):
        yield from file_diff_lines(done.planned)
    else:
        yield for_people("--show-diff shows the files line by line.")


def _difference(baseline: dict[str, Any]) -> str:
    return str(baseline.get("error") or diff_text(baseline))


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
