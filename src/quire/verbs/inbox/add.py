"""Add proposals of sessions and imports to the inbox."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import msgspec

from quire.files.write_access import write_access
from quire.inbox.layout import FOLDER
from quire.model.records import Problem
from quire.model.times import timestamp
from quire.project import Project
from quire.verbs.facts.notes import show_notes
from quire.verbs.inbox.inbox_file import settled_as
from quire.verbs.inbox.proposal_duplicates import digests_of, inbox_full, said_by_records, texts_of
from quire.verbs.verb import Arguments

if TYPE_CHECKING:
    from quire.inbox.proposals import Proposal
    from quire.inbox.store import Inbox


class AddedProposals(msgspec.Struct, kw_only=True):
    """What became of proposals that were handed in."""

    added: list[Proposal] = []
    known: int = 0
    """Said already: by a record, or by a proposal that waits or was settled."""
    rejected: int = 0
    warnings: list[Problem] = []


def inbox_add(
    project: Project, proposals: Iterable[Proposal], *, dry_run: bool = False, replacing: Collection[str] = ()
) -> AddedProposals:
    """Hand in proposals. What a record says already, and what was rejected, is left out.

    A new one from an origin among `replacing` takes the place of those from there that wait.
    """
    from quire.inbox.rejections import read_rejections
    from quire.inbox.store import read_inbox, write_inbox

    project.ready()
    wanted = list(proposals)
    now = timestamp(project.world.now())
    rejections = read_rejections(project.root)
    done = AddedProposals(warnings=list(rejections.problems))
    said = _said(project) if wanted else set()
    new = []
    for item in wanted:
        if any(rejections.match(text) for text in texts_of(item)):
            done.rejected += 1
        elif not item.updates and digests_of(item) & said:
            done.known += 1
        else:
            new.append(msgspec.structs.replace(item, proposed_at=item.proposed_at or now))
    if dry_run:
        before = read_inbox(project.root)
        done.added = before.with_new(new)[1]
    else:
        with write_access(project.root, FOLDER, project.world, "add proposals"):
            before = read_inbox(project.root)
            after, done.added = before.with_new(new)
            after = after.with_changed(_replaced(project, before, done.added, replacing))
            if after.proposals != before.proposals:
                write_inbox(project.root, after, project.world.token())
    held = {item.id for item in (*before.proposals, *done.added)}
    left = sum(item.id not in held for item in new)
    done.known += len(new) - len(done.added) - left
    done.warnings += inbox_full(left) if left else []
    return done


def _replaced(
    project: Project, inbox: Inbox, added: Iterable[Proposal], origins: Collection[str]
) -> dict[str, Proposal]:
    """What waited of sources that say something else now."""
    new = {item.origin for item in added if item.origin in origins}
    return {item.id: settled_as(project, item, "withdrawn") for item in inbox.pending if item.origin in new}


def _said(project: Project) -> set[str]:
    """What records and notes say, by digest: on another machine no inbox tells what was accepted."""
    from quire.inbox.proposals import value_digest

    return project.with_index(said_by_records) | {
        value_digest(note.text) for note in show_notes(project, Arguments()).notes
    }
