"""`memory journal update`: scan the project again and write what changed."""

from __future__ import annotations

from msgspec.structs import replace

from quire.layers.journal.bundle_diff import diff_bundles, diff_text, diff_value
from quire.layers.journal.bundles import shown
from quire.layers.journal.layout import LOCAL_PROVIDER
from quire.layers.journal.pages import holds_entry
from quire.layers.journal.state_changes import write_bundle
from quire.layers.journal.store import Journal, Writing
from quire.layers.journal.types import Bundle
from quire.model.errors import Conflict
from quire.project import Project
from quire.verbs.journal.journal_state import (
    change_journal,
    journal_time,
    plan_journal,
    plan_pages,
    read_journal,
    sift_rejected_diff,
)
from quire.verbs.journal.new_bundle import JournalRefreshed, LookAtProject, lines, look_at
from quire.verbs.verb import Verb


class JournalUpdate(LookAtProject, frozen=True, kw_only=True):
    pass


def journal_update(project: Project, given: JournalUpdate) -> JournalRefreshed:
    """Read the project's files again and write what changed.

    Texts from sessions and models are kept. If nothing changed, only missing pages are written. With --yes, or after a
    question, it also adds its section to AGENTS.md where that is missing. --validate also runs the project's
    validation commands.
    """
    journal = read_journal(project)
    look = look_at(project, given, journal.state)
    result = look.result
    before = journal.state.bundle_hash

    def plan(fresh: Journal) -> tuple[JournalRefreshed, Writing | None]:
        bundle = look.bundle
        if fresh.state.bundle_hash != before and result.provider == LOCAL_PROVIDER:
            # Someone wrote while we looked: what they wrote is where we start from.
            bundle = look_at(project, given, fresh.state, look.validations).bundle
        elif fresh.state.bundle_hash != before:
            raise Conflict(
                "Another process changed the journal in the meantime.",
                hint="Nothing was written. Run the command again.",
            )
        wanted = bundle if given.yes else _with_its_entry(project, bundle, fresh.state.bundle)
        diff = sift_rejected_diff(project, diff_bundles(fresh.state.bundle, wanted))
        result.changed_sections = list(diff.changed_sections)
        result.summary = diff_text(diff_value(diff))
        if diff.is_empty:
            result.changed = False
            result.planned = plan_pages(project, fresh.state, given.show_diff, given.yes)
            result.pages_anew = bool(result.planned) and not given.dry_run
            return result, Writing(pages=True, entry=given.yes) if result.pages_anew else None
        writing = write_bundle(
            fresh,
            wanted,
            command="update",
            now=journal_time(project),
            provider=look.maker,
            summary=result.summary,
            validations=[(one.command, one.summary) for one in look.validations],
        )
        if writing.state is not None:
            result.planned = plan_journal(project, writing.state, diffs=given.show_diff, agreed=given.yes)
        if given.dry_run:
            return result, None
        result.applied = True
        result.checkpoint = writing.checkpoint.id if writing.checkpoint else None
        result.event = writing.events[0].id
        return result, replace(writing, entry=given.yes)

    return plan(journal)[0] if given.dry_run else change_journal(project, "update", plan)


def _with_its_entry(project: Project, bundle: Bundle, before: Bundle) -> Bundle:
    """The bundle with the entry file it had, as long as that has the block: to move it, a person has to agree."""
    place = ("project", "recommendedEntryFile")
    held = shown(before, *place)
    if not held or held == shown(bundle, *place) or not holds_entry(project.root, held):
        return bundle
    return {**bundle, "project": {**bundle["project"], "recommendedEntryFile": held}}


VERB = Verb(
    takes=JournalUpdate,
    run=journal_update,
    lines=lines,
    writes=True,
    examples="Examples:\n  memory journal update\n  memory journal update --validate --yes\n",
)
