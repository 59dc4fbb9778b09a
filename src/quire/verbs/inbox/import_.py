"""`memory import`: import what other programs know of this project."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from quire.model.errors import UsageError
from quire.model.text import counted
from quire.project import Project
from quire.verbs.inbox.history_import import HISTORY, LIMIT_MOST, SOURCES, wish_of
from quire.verbs.inbox.host_import import FoundSource, ImportedHosts, accept_imported, import_hosts
from quire.verbs.inbox.results import failed_lines, proposal_lines, undecided_lines
from quire.verbs.verb import Arguments, Lines, Option, Verb, Word

_LISTED = 3
"""Of more files in one folder, only the folder is named."""


class ImportSources(Arguments, frozen=True, kw_only=True):
    words: Annotated[list[str], Word(name="sources", required=False, is_path=True)] = []
    everything: Annotated[bool, Option(name="--all", help="Use every source that was found.")] = False
    as_kind: Annotated[
        str | None, Option(name="--as", metavar="KIND", help="Treat SOURCES as paths of files of this kind.")
    ] = None
    accept: Annotated[bool, Option(help="Make records at once, also from earlier proposals.")] = False
    choose: Annotated[bool, Option(help="Ask about each one, in a terminal.")] = False
    dry_run: Annotated[bool, Option(help="Show what would be proposed, write nothing.")] = False
    limit: Annotated[
        int | None,
        Meta(ge=1, le=LIMIT_MOST),
        Option(metavar="NUMBER", help="With `git`: the most proposals; 30 by default."),
    ] = None
    since: Annotated[
        Annotated[str, Meta(max_length=40)] | None,
        Option(metavar="DATE", help="With `git`: only commits of that day or later."),
    ] = None
    history: Annotated[
        list[str],
        Option(name="--kind", metavar="KINDS", commas=True, choices=SOURCES, help=f"With `git`: {', '.join(SOURCES)}."),
    ] = []


def import_sources(project: Project, given: ImportSources) -> ImportedHosts:
    """Propose records from the files of other programs.

    Finds CLAUDE.md and rules, AGENTS.md, GEMINI.md, the rules of Cursor, Cline and Copilot, the notes that Claude,
    Codex and Copilot keep, memories of Serena, Cline, Basic Memory and the MCP memory server, decision records, Beads,
    Entire's checkpoints, the Open Knowledge Format. `git` reads the history of this repository: reasons that commits
    give, reverts, traps, warnings in comments. Without SOURCES, lists the sources that it finds. Sources that you name
    (by kind, or with --as by path) become proposals in `memory inbox`. Files are only read; a second import proposes
    only what is new.
    """
    refuse_contradictions(given)
    if given.choose:
        raise UsageError("--choose asks on a terminal, and this is not one.", hint="Use --accept, or `memory inbox`.")
    looks = not given.words and not given.everything
    kinds, paths = (given.words, []) if given.as_kind is None else ([], given.words)
    wish = None if looks else wish_of(given.limit, given.since, given.history)
    done = import_hosts(project, kinds, paths=paths, as_kind=given.as_kind, wish=wish, dry_run=given.dry_run or looks)
    done.looks, done.previews = looks, given.dry_run
    if given.accept:
        done.accepted = accept_imported(project, done)
        done.warnings = [*done.accepted.warnings, *done.warnings]
    return done


def refuse_contradictions(given: ImportSources) -> None:
    """Raise UsageError where two options exclude each other, or one lacks what it needs."""
    settles = given.accept or given.choose
    if settles and given.dry_run:
        raise UsageError("--dry-run writes nothing; leave out --accept and --choose.")
    if given.everything and given.words:
        raise UsageError("Give sources or --all, not both.")
    if given.as_kind is not None and not given.words:
        raise UsageError("--as names no file.", hint="Give its path: memory import --as KIND PATH…")
    if given.as_kind == HISTORY:
        raise UsageError("The history is not a file; `git` takes no path.", hint="memory import git")
    if given.as_kind == "entire":
        raise UsageError("Checkpoints lie on a branch; `entire` takes no path.", hint="memory import entire")
    if settles and not given.words and not given.everything:
        raise UsageError("No source is named.", hint="Give kinds, as `memory import` lists them, or --all.")
    if given.accept and given.choose:
        raise UsageError("Give --accept or --choose, not both.")
    if (given.limit is not None or given.since or given.history) and not (given.everything or HISTORY in given.words):
        raise UsageError("--limit, --since and --kind are about the history.", hint="memory import git --limit 60")


def lines(done: ImportedHosts) -> Lines:
    yield from source_lines(done)
    if done.previews:
        for item in done.proposals:
            yield from proposal_lines(item)
    elif not done.looks:
        yield from _outcome(done)
    for kind in done.unread:
        yield f"{kind:22} the history of this repository: `memory import {kind}` reads it"
    if done.looks and done.sources:
        yield "`memory import KIND…` proposes them; --dry-run shows each one, --accept makes records at once."


def source_lines(done: ImportedHosts) -> Iterator[str]:
    """The files that were found, and how much of each is new."""
    for kind in done.absent:
        missing = "no commit of a git repository" if kind == HISTORY else "nothing of this kind"
        yield f"{kind:22} {missing} was found here"
    if not done.sources and not done.absent:
        yield "No files of other programs were found here. `memory import --help` lists what is recognised."
    folders: dict[tuple[str, str], list[FoundSource]] = {}
    for found in done.sources:
        folders.setdefault((found.source.kind, found.source.shown.rpartition("/")[0]), []).append(found)
    for (kind, folder), group in folders.items():
        if len(group) > _LISTED:
            yield _source_line(kind, f"{folder or '.'}/ ({len(group)} files)", group)
        else:
            yield from (_source_line(kind, found.source.shown, [found]) for found in group)


def _source_line(kind: str, place: str, group: list[FoundSource]) -> str:
    items, new = sum(found.items for found in group), sum(found.new for found in group)
    return f"{kind:22} {place}: {f'{new} new of {items}' if items else 'nothing to propose'}"


def _outcome(done: ImportedHosts) -> Lines:
    counts = ((done.known, "known already"), (done.rejected, "rejected before"))
    others = ", ".join(f"{number} {how}" for number, how in counts if number)
    said = f" ({others})" if others else ""
    settled = done.accepted
    if settled is None:
        where = ": see `memory inbox`" if done.proposals else ""
        yield f"{counted(len(done.proposals), 'new proposal')}{where}.{said}"
        if len(done.waiting) > len(done.proposals):
            pending = f"{counted(len(done.waiting), 'proposal')} of these sources"
            verb = "is" if len(done.waiting) == 1 else "are"
            yield f"{pending} {verb} pending. Add --accept, or see `memory inbox`."
        return
    changed = sum(bool(item.updates) for item in settled.done)
    yield f"{counted(len(settled.done) - changed, 'record')} made{f', {changed} changed' if changed else ''}.{said}"
    yield from failed_lines(settled)
    yield from undecided_lines(settled)


VERB = Verb(
    takes=ImportSources,
    run=import_sources,
    lines=lines,
    writes=True,
    counts="commits",
    examples="""Examples:
  memory import                       list the sources that are found, and how much is new
  memory import adr claude-md         propose records in `memory inbox`
  memory import adr --accept          make records at once
  memory import git                   the best thirty from the history
  memory import git --since 2025-01-01 --kind decision,revert --dry-run
  memory import --all --choose        decide one by one
  memory import --as mcp-memory ~/notes/memory.json
""",
)
