"""Ask on a terminal for `memory inbox`: each group of one source and kind, accepted or skipped with one key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.model.text import counted, cut, one_line
from quire.surfaces.cli.import_dialog import ask_each
from quire.surfaces.cli.input import answered
from quire.surfaces.cli.output import say, warn
from quire.verbs.inbox.accept import accept
from quire.verbs.inbox.inbox_file import waiting
from quire.verbs.inbox.options import ChosenProposals
from quire.verbs.inbox.overview import ShowInbox, group_line, grouped, inbox
from quire.verbs.inbox.reject import Reject, reject
from quire.verbs.inbox.results import failed_lines, waiting_line

if TYPE_CHECKING:
    from quire.inbox.proposals import Proposal
    from quire.project import Project
    from quire.surfaces.cli.commands import Session
    from quire.verbs.verb import Verb

_CHOICE = "[a]ccept all, [l]ook at each, [n]one and never again, [s]kip, [q]uit: "
_SHOWN, _CHARS = 40, 100


def on_terminal(session: Session, _: Verb, given: ShowInbox) -> int | None:
    """Ask about each group that is pending; where none is, or others were asked for, there is nothing to ask."""
    project = session.project()
    found = inbox(project, given)
    if given.status != "pending" or not found.proposals:
        return None
    for (source, kind), items in grouped(found.proposals).items():
        say(group_line(source, kind, items), "1")
        for item in items[:_SHOWN]:
            say(f"  {_title(item)}")
        if len(items) > _SHOWN:
            say(f"  and {len(items) - _SHOWN} more")
        if not _settled(project, items, answered(_CHOICE, "alnsq")):
            break
    warn(found.warnings)
    say(f"{waiting_line(waiting(project)).removesuffix('.')} in the inbox.")
    return 0


def _settled(project: Project, items: list[Proposal], word: str) -> bool:
    """Do with a group what was said. Whether to go on."""
    if word == "l":
        return ask_each(project, items)
    if word == "a":
        _accept(project, items)
    elif word == "n":
        reject(project, Reject(ids=[item.id for item in items]))
        say(f"Rejected: {len(items)}.")
    return word != "q"


def _accept(project: Project, items: list[Proposal]) -> None:
    """Accept a group, but for what its own source calls undecided."""
    decided = [item.id for item in items if item.standing != "open"]
    if decided:
        done = accept(project, ChosenProposals(ids=decided))
        say(f"Accepted: {len(done.done)}.")
        for line in failed_lines(done):
            say(str(line))
        warn(done.warnings)
    if len(decided) < len(items):
        left = counted(len(items) - len(decided), "is", "are")
        say(f"{left} not decided by their files; accept them one by one.")


def _title(item: Proposal) -> str:
    """What is proposed, on one line, with where it comes from."""
    said = item.fields.get("title")
    text = one_line(said if isinstance(said, str) and said.strip() else item.text)
    where = item.evidence[0].where if item.evidence else ""
    return f"{cut(text, _CHARS)}{f'  ({cut(where, 60)})' if where else ''}"
