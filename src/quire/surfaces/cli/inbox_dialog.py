"""Ask on a terminal for `memory inbox`: each group of one source and kind, accepted or skipped with one key."""

from __future__ import annotations

from quire.model.text import counted, cut, one_line
from quire.project import Project
from quire.surfaces.cli.commands import Session
from quire.surfaces.cli.declared import say_lines
from quire.surfaces.cli.import_dialog import ask_each
from quire.surfaces.cli.input import answered
from quire.surfaces.cli.output import say, warn
from quire.verbs.inbox.accept import accept
from quire.verbs.inbox.inbox_file import waiting
from quire.verbs.inbox.options import ChosenProposals
from quire.verbs.inbox.overview import ProposalGroup, ShowInbox, grouped, inbox
from quire.verbs.inbox.reject import Reject, reject
from quire.verbs.inbox.results import failed_lines, waiting_line
from quire.verbs.verb import Verb

_CHOICE = "[a]ccept all, [l]ook at each, [n]one and never again, [s]kip, [q]uit: "
_SHOWN, _CHARS = 40, 100


def on_terminal(session: Session, _: Verb, given: ShowInbox) -> int | None:
    """Ask about each group that is pending; where none is, or others were asked for, there is nothing to ask."""
    project = session.project()
    found = inbox(project, given)
    if given.status != "pending" or not found.proposals:
        return None
    for group in grouped(found.proposals):
        say(group.heading, "1")
        for title in _titles(group)[:_SHOWN]:
            say(f"  {title}")
        if len(group.items) > _SHOWN:
            say(f"  and {len(group.items) - _SHOWN} more")
        if not _settled(project, group, answered(_CHOICE, "alnsq")):
            break
    warn(found.warnings)
    say(f"{waiting_line(waiting(project)).removesuffix('.')} in the inbox.")
    return 0


def _settled(project: Project, group: ProposalGroup, word: str) -> bool:
    """Do with a group what was said. Whether to go on."""
    if word == "l":
        return ask_each(project, group)
    if word == "a":
        _accept(project, group)
    elif word == "n":
        reject(project, Reject(ids=[item.id for item in group.items]))
        say(f"Rejected: {len(group.items)}.")
    return word != "q"


def _accept(project: Project, group: ProposalGroup) -> None:
    """Accept a group, but for what its own source calls undecided."""
    decided = [item.id for item in group.items if item.standing != "open"]
    if decided:
        done = accept(project, ChosenProposals(ids=decided))
        say(f"Accepted: {len(done.done)}.")
        say_lines(failed_lines(done))
        warn(done.warnings)
    if len(decided) < len(group.items):
        say(f"{counted(len(group.items) - len(decided), 'undecided proposal')} left: look at each.")


def _titles(group: ProposalGroup) -> list[str]:
    """What is proposed, each on one line, with where it comes from."""
    titles = []
    for item in group.items:
        said = item.fields.get("title")
        text = one_line(said if isinstance(said, str) and said.strip() else item.text)
        where = item.evidence[0].where if item.evidence else ""
        mark = ", undecided" if item.standing == "open" else ""
        titles.append(f"{cut(text, _CHARS)}{f'  ({cut(where, 60)}{mark})' if where else ''}")
    return titles
