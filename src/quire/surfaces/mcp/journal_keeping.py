"""The tool that recalls past sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from quire.surfaces.mcp.tool import Call, Given
from quire.verbs.verb import Arguments

if TYPE_CHECKING:
    from quire.project import Project


class JournalRecallArguments(Arguments, frozen=True, kw_only=True):
    source: (
        Annotated[
            Literal["all", "local", "imports"],
            msgspec.Meta(description="events of sessions (imports), of commands (local)"),
        ]
        | None
    ) = None
    section: (
        Literal["all", "project", "project-map", "current-focus", "gotchas", "next-steps", "validation-commands"] | None
    ) = None
    dry_run: bool = False


def journal_recall(project: Project, given: JournalRecallArguments, call: Call) -> Given:
    from quire.fields.journal import journal_recall_fields
    from quire.verbs.journal.recall import journal_recall as journal_recall_of

    call.wanted()
    done = journal_recall_of(project, source=given.source, section=given.section, diffs=False, dry_run=given.dry_run)
    fields = journal_recall_fields(done)
    left_out = ("expects", "memory", "baseline")
    told = {name: value for name, value in fields.items() if name not in left_out}
    told["planned"] = [item["path"] for item in fields["planned"]]
    return Given(fields={**told, "dry_run": given.dry_run}, warnings=done.warnings)
