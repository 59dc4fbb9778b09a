"""Ask on a terminal for `memory import --choose`: show each proposal and settle it as the user says."""

from __future__ import annotations

import msgspec

from quire.project import Project
from quire.surfaces.cli.commands import Session
from quire.surfaces.cli.declared import say_lines
from quire.surfaces.cli.input import answered
from quire.surfaces.cli.output import progress_bar, say, warn
from quire.verbs.inbox.accept import accept
from quire.verbs.inbox.import_ import ImportSources, import_sources, refuse_contradictions, source_lines
from quire.verbs.inbox.inbox_file import waiting
from quire.verbs.inbox.options import ChosenProposals
from quire.verbs.inbox.overview import ProposalGroup
from quire.verbs.inbox.reject import Reject, reject
from quire.verbs.inbox.results import proposal_lines, waiting_line
from quire.verbs.verb import Verb

_CHOICE = "[y]es, [n]o and never again, [s]kip, [q]uit? "


def on_terminal(session: Session, verb: Verb, given: ImportSources) -> int | None:
    """Ask for each proposal where that was wished; otherwise go on as without a terminal."""
    if not given.choose:
        return None
    refuse_contradictions(given)
    project = session.project()
    with progress_bar(verb.counts) as project.progress:
        done = import_sources(project, msgspec.structs.replace(given, choose=False))
    say_lines(source_lines(done))
    ask_each(project, ProposalGroup(source="", kind="", items=done.waiting))
    say(f"{waiting_line(waiting(project)).removesuffix('.')} in the inbox.")
    warn(done.warnings)
    return 0


def ask_each(project: Project, group: ProposalGroup) -> bool:
    """Ask for each of these proposals, and settle it; what is skipped stays in the inbox. Whether to go on."""
    for number, item in enumerate(group.items, start=1):
        say_lines(proposal_lines(item))
        word = answered(f"{number} of {len(group.items)}: {_CHOICE}", "ynsq")
        if word == "q":
            return False
        if word == "y":
            for _, error in accept(project, ChosenProposals(ids=[item.id])).failed:
                say(f"Not accepted: {error.message}")
        elif word == "n":
            reject(project, Reject(ids=[item.id]))
    return True
