"""`memory inbox edit`: change the words of a proposal."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from quire.files.write_access import write_access
from quire.guard.admission import admit
from quire.inbox.layout import FOLDER
from quire.inbox.proposals import TEXT_CHARS, Proposal, proposal_id
from quire.inbox.store import read_inbox, write_inbox
from quire.layers.facts.drafts import section_named
from quire.layers.profile.rules import allowed_category
from quire.model.errors import InputError, UsageError
from quire.project import Project
from quire.verbs.facts.notes import settling_lock
from quire.verbs.graph.save import save_nodes
from quire.verbs.inbox.inbox_file import named_proposals, settled_as
from quire.verbs.inbox.options import ChosenProposals
from quire.verbs.inbox.proposal_duplicates import words_field
from quire.verbs.inbox.proposal_records import TASK
from quire.verbs.inbox.results import proposal_fields, proposal_lines
from quire.verbs.verb import Arguments, Lines, Option, Result, Verb, Word


class Edit(Arguments, frozen=True, kw_only=True):
    proposal: Annotated[str, Word()]
    text: Annotated[str | None, Option(metavar="TEXT", help="The new text of the proposal.")] = None
    fields: Annotated[
        list[str],
        Option(
            name="--set",
            metavar="NAME=VALUE",
            help="A field of the record: title, stage, section, category, key, anchors, tags …",
        ),
    ] = []


class Edited(Result, kw_only=True):
    proposal: Proposal

    def fields(self) -> dict[str, Any]:
        return proposal_fields(self.proposal)


def edit(project: Project, given: Edit) -> Edited:
    """Change the text of a proposal, or other fields of its record, without accepting it."""
    if given.text is None and not given.fields:
        raise UsageError("Give something to change.", hint='Give --text "…", or --set name=value.')
    fields = dict(map(_pair, given.fields))
    named = ChosenProposals(ids=[given.proposal])
    named_proposals(project, named)
    with settling_lock(project, "edit a proposal"):
        (item,) = named_proposals(project, named)
        return Edited(proposal=_edited(project, item, given.text, fields))


def _pair(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"`{text[:40]}` sets nothing.", hint="--set takes name=value, such as --set title=Retries.")
    name = name.strip()
    if name in ("anchors", "tags"):
        return name, [part.strip() for part in value.split(",") if part.strip()]
    return name, value


def _edited(project: Project, item: Proposal, text: str | None, fields: dict[str, Any]) -> Proposal:
    changed = item.fields | fields
    said = item.text
    if text is not None:
        said, _ = admit(text, "text", most=TEXT_CHARS)
        changed[words_field(item)] = said
    for field, value in changed.items():
        if isinstance(value, str):
            admit(value, field, most=TEXT_CHARS)
    check_form(project, item, changed)
    after = msgspec.structs.replace(item, id=proposal_id(said), text=said, fields=changed)
    with write_access(project.root, FOLDER, project.world, "edit a proposal"):
        inbox = read_inbox(project.root)
        if after.id != item.id and inbox.find(after.id) is not None:
            raise InputError(f"`{after.id}` already says that.", hint="Reject one of the two.")
        inbox = inbox.with_changed({item.id: after})
        if after.id != item.id:
            # As it was first said it stays known: else the next look at its source would propose it again.
            inbox, _ = inbox.with_new([settled_as(project, item, "withdrawn")])
        write_inbox(project.root, inbox, project.world.token())
    return after


def check_form(project: Project, item: Proposal, fields: dict[str, Any]) -> None:
    """Refuse what could not be accepted later, as far as its shape tells."""
    if item.into == "graph":
        save_nodes(project, {"task": TASK, "nodes": [{**fields, "related": []}]}, dry_run=True)
    elif item.into == "facts":
        section_named(str(fields.get("section", "")))
    elif item.into == "profile":
        allowed_category(str(fields.get("category", "")))


def lines(done: Edited) -> Lines:
    yield from proposal_lines(done.proposal)


VERB = Verb(
    takes=Edit,
    run=edit,
    lines=lines,
    writes=True,
    examples='Example:\n  memory inbox edit in-3f2a --text "Retries run in the worker." --set title=Retries\n',
)
