"""`memory import`"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from quire.model.errors import Cancelled, UsageError
from quire.model.text import counted
from quire.surfaces.cli.commands import Argument, Command, Option, Session
from quire.surfaces.cli.inbox import show_proposal, show_undecided
from quire.surfaces.cli.output import answer, say, warn

if TYPE_CHECKING:
    from quire.inbox.proposals import Proposal
    from quire.project import Project
    from quire.verbs.inbox.host_import import FoundSource, ImportedHosts
    from quire.verbs.inbox.review import Settled

_EXAMPLES = """Examples:
  memory import                       show what is found, and what of it is new
  memory import adr claude-md         propose what these say: it waits in `memory inbox`
  memory import adr --accept          make records of it at once
  memory import --all --choose        decide one by one
  memory import --as mcp-memory ~/notes/memory.json
"""
_LISTED = 3
"""Of more files in one folder, only the folder is named."""
_CHOICE = "[y]es, [n]o and never again, [s]kip, [q]uit? "


def run(
    session: Session,
    words: tuple[str, ...],
    everything: bool,
    as_kind: str | None,
    accept: bool,
    choose: bool,
    dry_run: bool,
) -> int | None:
    """Read what other programs already know of this project.

    Finds CLAUDE.md and rules, AGENTS.md, GEMINI.md, the rules of Cursor, Cline and Copilot, Claude's and Codex's own
    notes, memories of Serena, Cline, Basic Memory and the MCP memory server, decision records, Beads. Without a SOURCE,
    shows what there is. Those that are named (by kind, or with --as by path) become proposals with their origin, which
    wait in `memory inbox`. Their files are only read; a second import proposes only what is new.
    """
    from quire.verbs.inbox.host_import import accept_imported, import_hosts

    _check(words, everything=everything, as_kind=as_kind, settles=accept or choose, dry_run=dry_run)
    _refuse_wrong(words, everything, accept, choose, dry_run)
    if choose and (session.as_json or not sys.stdin.isatty()):
        raise UsageError("--choose asks in a terminal, and this is none.", hint="Use --accept, or `memory inbox`.")
    project = session.project()
    looks = not words and not everything
    kinds, paths = (words, ()) if as_kind is None else ((), words)
    done = import_hosts(project, kinds, paths=paths, as_kind=as_kind, dry_run=dry_run or looks)
    settled = accept_imported(project, done) if accept else None
    if session.as_json:
        from quire.fields.importing import imported_fields

        answer(project, imported_fields(done, settled), done.warnings)
        return 1 if settled and settled.failed else None
    _sources(done)
    if dry_run:
        for item in done.proposals:
            show_proposal(item)
    elif choose:
        _choose(project, done)
    elif not looks:
        _tell(done, settled)
    if looks and done.sources:
        say("memory import KIND… proposes them; --dry-run shows each, --accept takes them at once.")
    warn(done.warnings)
    return 1 if settled and settled.failed else None


def _check(words: tuple[str, ...], *, everything: bool, as_kind: str | None, settles: bool, dry_run: bool) -> None:
    if settles and dry_run:
        raise UsageError("--dry-run writes nothing; leave out --accept and --choose.")
    if everything and words:
        raise UsageError("Give sources or --all, not both.")
    if as_kind is not None and not words:
        raise UsageError("--as names no file.", hint="Give its path: memory import --as KIND PATH…")
    if settles and not words and not everything:
        raise UsageError("No source is named.", hint="Give kinds, as `memory import` lists them, or --all.")


def _refuse_wrong(words: tuple[str, ...], everything: bool, accept: bool, choose: bool, dry_run: bool) -> None:
    if accept and choose:
        raise UsageError("Give --accept or --choose, not both.")
    if (accept or choose) and dry_run:
        raise UsageError("--dry-run writes nothing; leave out --accept and --choose.")
    if everything and words:
        raise UsageError("Give sources or --all, not both.")
    if not words and not everything and (accept or choose):
        raise UsageError("No source is named.", hint="Give kinds, as `memory import` lists them, or --all.")


def _sources(done: ImportedHosts) -> None:
    if not done.sources:
        say("Nothing of other programs is found here. `memory import --help` says what is looked for.")
    folders: dict[tuple[str, str], list[FoundSource]] = {}
    for found in done.sources:
        folders.setdefault((found.source.kind, found.source.shown.rpartition("/")[0]), []).append(found)
    for (kind, folder), group in folders.items():
        if len(group) > _LISTED:
            _line(kind, f"{folder or '.'}/ ({len(group)} files)", group)
            continue
        for found in group:
            _line(kind, found.source.shown, [found])


def _line(kind: str, place: str, group: list[FoundSource]) -> None:
    items, new = sum(found.items for found in group), sum(found.new for found in group)
    say(f"{kind:22} {place}: {f'{new} new of {items}' if items else 'nothing to propose'}")


def _tell(done: ImportedHosts, settled: Settled | None) -> None:
    before = f", {done.rejected} rejected before" if done.rejected else ""
    said = f"{done.known} known already{before}"
    if settled is None:
        where = ": see `memory inbox`" if done.proposals else ""
        say(f"{counted(len(done.proposals), 'new proposal')}{where}. ({said})")
        if len(done.waiting) > len(done.proposals):
            pending = counted(len(done.waiting), "proposal")
            say(f"{pending} of these sources {_is(done.waiting)} pending. Add --accept, or see `memory inbox`.")
        return
    changed = sum(bool(item.updates) for item in settled.done)
    say(f"{counted(len(settled.done) - changed, 'record')} made{f', {changed} changed' if changed else ''}. ({said})")
    for item, error in settled.failed:
        say(f"Not accepted: {item.id}: {error.message}")
        if error.hint:
            say(f"  {error.hint}")
    show_undecided(settled.undecided)
    warn(settled.warnings)


def _is(items: list[Proposal]) -> str:
    return "is" if len(items) == 1 else "are"


def _choose(project: Project, done: ImportedHosts) -> None:
    """Ask for each that waits of these sources; what is skipped stays in the inbox."""
    from quire.verbs.inbox.review import inbox, inbox_accept, inbox_reject

    for number, item in enumerate(done.waiting, start=1):
        show_proposal(item)
        word = _answered(f"{number} of {len(done.waiting)}: {_CHOICE}")
        if word == "q":
            break
        if word == "y":
            settled = inbox_accept(project, [item.id])
            for _, error in settled.failed:
                say(f"Not accepted: {error.message}")
        elif word == "n":
            inbox_reject(project, [item.id])
    left = len(inbox(project).proposals)
    say(f"{counted(left, 'proposal')} {'waits' if left == 1 else 'wait'} in the inbox.")


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


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    arguments=(Argument(name="words", many=True, required=False),),
    options=(
        Option(name="--all", into="everything", help="Everything that is found."),
        Option(name="--as", into="as_kind", metavar="KIND", help="The SOURCEs are paths of files of this kind."),
        Option(name="--accept", into="accept", help="Make records of it at once, also of what was proposed before."),
        Option(name="--choose", into="choose", help="Ask for each, in a terminal."),
        Option(name="--dry-run", into="dry_run", help="Show what would be proposed, write nothing."),
    ),
    paths=("words",),
)
