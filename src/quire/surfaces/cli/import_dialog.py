"""Ask on a terminal for `memory import --choose`: show each proposal and settle it as the user says."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec

from quire.model.errors import Cancelled
from quire.surfaces.cli.declared import say_lines
from quire.surfaces.cli.output import say, warn
from quire.verbs.inbox.accept import accept
from quire.verbs.inbox.import_ import ImportSources, import_sources, refuse_contradictions, source_lines
from quire.verbs.inbox.inbox_file import waiting
from quire.verbs.inbox.options import ChosenProposals
from quire.verbs.inbox.reject import Reject, reject
from quire.verbs.inbox.results import proposal_lines, waiting_line

if TYPE_CHECKING:
    from quire.project import Project
    from quire.surfaces.cli.commands import Session
    from quire.verbs.inbox.host_import import ImportedHosts
    from quire.verbs.verb import Verb

_CHOICE = "[y]es, [n]o and never again, [s]kip, [q]uit? "


def on_terminal(session: Session, _: Verb, given: ImportSources) -> int | None:
    """Ask for each proposal where that was wished; otherwise go on as without a terminal."""
    if not given.choose:
        return None
    refuse_contradictions(given)
    project = session.project()
    done = import_sources(project, msgspec.structs.replace(given, choose=False))
    say_lines(source_lines(done))
    _choose(project, done)
    warn(done.warnings)
    return 0


def _choose(project: Project, done: ImportedHosts) -> None:
    """Ask for each that waits of these sources; what is skipped stays in the inbox."""
    for number, item in enumerate(done.waiting, start=1):
        say_lines(proposal_lines(item))
        word = _answered(f"{number} of {len(done.waiting)}: {_CHOICE}")
        if word == "q":
            break
        if word == "y":
            for _, error in accept(project, ChosenProposals(ids=[item.id])).failed:
                say(f"Not accepted: {error.message}")
        elif word == "n":
            reject(project, Reject(ids=[item.id]))
    say(f"{waiting_line(waiting(project)).removesuffix('.')} in the inbox.")


def _answered(question: str) -> str:
    """The letter of what somebody answers; asked again until it is one that was offered."""
    while True:
        say(question)
        said = sys.stdin.readline()
        if not said:
            raise Cancelled("Nobody answered; what is left waits in the inbox.")
        word = said.strip().lower()[:1]
        if word and word in "ynsq":
            return word
