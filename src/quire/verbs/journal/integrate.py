"""`memory journal integrate`: connect Claude Code and Codex to the journal, as `agent-memory integrate` does.

`memory integrate` wires clients to the whole memory, and keeps a record of what it wrote so that it can take it back.
This verb writes entries under the journal's own name beside those, and no record.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from quire.files.durable_write import write_file
from quire.files.paths import inside
from quire.layers.journal.layout import CONFIG, FOLDER, OUTPUTS, default_config
from quire.layers.journal.settings import config_bytes
from quire.model.errors import QuireError, UsageError, not_one_of
from quire.model.records import Problem, as_warning
from quire.model.text import cut
from quire.project import Project
from quire.verbs.journal.journal_lines import listed
from quire.verbs.journal.journal_state import journal_locked
from quire.verbs.journal.options import DryRun
from quire.verbs.journal.recorded_lines import as_word
from quire.verbs.plain import json_line
from quire.verbs.verb import Arguments, Aside, Lines, Option, Result, Verb, Word

if TYPE_CHECKING:
    from quire.clients.integration.journal import JournalPartDone, JournalPartSeen
    from quire.clients.integration.journal_parts import JournalPart
    from quire.clients.integration.types import Surroundings

_ALL = "all"
_TITLES = {"claude": "Claude Code", "codex": "Codex"}
_COMMAND = "memory journal integrate"
_AS_WRITTEN = ("present", "missing")

Config = Literal["there", "missing", "made"]
"""Whether the journal had settings of its own, and whether the defaults were written."""


class JournalIntegrate(Arguments, frozen=True, kw_only=True):
    targets: Annotated[list[str], Word(required=False)] = []
    status: Annotated[bool, Option(help="Show the current state, change nothing.")] = False
    repair: Annotated[bool, Option(help="Only restore what the command wrote before and someone changed since.")] = (
        False
    )
    dry_run: DryRun = False
    yes: Annotated[bool, Option(short="-y", help="Change the configuration in your home without asking.")] = False
    output: Annotated[
        str | None,
        Option(
            metavar="FORM",
            choices=OUTPUTS,
            help="With --status: text, or the plain JSON that other programs know.",
        ),
    ] = None


class JournalIntegration(Result, kw_only=True):
    """How both clients are wired; health, alerts and advice are of the one that was asked about, or of both."""

    target: str
    parts: tuple[JournalPartSeen, ...]
    advice: str
    as_json: bool = False

    def fields(self) -> dict[str, Any]:
        names = ("status", "path", "scope", "note")
        clients = {
            client: {
                part.key: {name: getattr(part, name) for name in names} for part in self.parts if part.client == client
            }
            for client in _TITLES
        }
        return {
            "target": self.target,
            "healthy": self.healthy,
            **clients,
            "warnings": self.alerts,
            "missingItems": self.missing,
            "suggestedNextAction": self.advice,
        }

    @property
    def asked(self) -> list[JournalPartSeen]:
        return [part for part in self.parts if self.target in (_ALL, part.client)]

    @property
    def healthy(self) -> bool:
        return all(part.status == "present" for part in self.asked)

    @property
    def alerts(self) -> list[str]:
        return [f"{part.name}: {part.note}" for part in self.asked if part.status not in _AS_WRITTEN]

    @property
    def missing(self) -> list[str]:
        return [part.name for part in self.asked if part.status == "missing"]

    @property
    def health(self) -> dict[str, str | bool]:
        """In a word for each client: whether it has all that there is to write."""
        whole = {name: all(one.status == "present" for one in self.parts if one.client == name) for name in _TITLES}
        words = {name: "healthy" if is_whole else "attention" for name, is_whole in whole.items()}
        return {**words, "healthy": self.healthy}

    @property
    def damaged(self) -> list[JournalPartSeen]:
        """What was wired once and is not as it should be. A client that nobody wired is no fault."""
        begun = ("present", "managed_mismatch")
        wired = {part.client for part in self.parts if part.scope == "project" and part.status in begun}
        return [part for part in self.parts if part.client in wired and part.status not in _AS_WRITTEN]


class JournalIntegrated(Result, kw_only=True):
    """What wiring did, or would do."""

    target: str
    repair: bool
    dry_run: bool
    files: tuple[JournalPartDone, ...]
    config: Config
    advice: str
    yes: bool = False

    def fields(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "repair": self.repair,
            "dry_run": self.dry_run,
            "files": msgspec.to_builtins(self.files),
            "config": self.config,
            "advice": self.advice,
            "complete": not self.is_incomplete(),
        }

    def is_incomplete(self) -> bool:
        return any(item.action in ("UNREADABLE", "FAILED") for item in self.files)

    def written_in_home(self) -> list[str]:
        """The files in the user's home that are changed, or would be."""
        return [item.path for item in self.files if item.scope == "user" and item.action in ("CREATE", "UPDATE")]


def integrate_journal(project: Project, given: JournalIntegrate) -> JournalIntegrated | JournalIntegration:
    """Connect Claude Code and Codex to the journal: MCP server, hooks, skill, a section in AGENTS.md.

    TARGETS are claude, codex or all (the default). Files are changed in place; everything else in them stays, and
    unreadable files are reported and not changed. The configuration of Codex in your home is changed only with your
    consent, on a terminal or with --yes. `memory integrate` connects these clients and others to the whole memory.
    """
    if given.output is not None and not given.status:
        raise UsageError("--output is for --status.", hint="--json answers with one JSON object.")
    if given.repair and given.status:
        raise UsageError("--repair and --status exclude each other.", hint="Give one of them.")
    target = _target(given.targets)
    if given.status:
        found = journal_integration(project, target)
        found.as_json = given.output == "json"
        return found
    return _wire(project, given, target)


def _target(targets: Sequence[str]) -> str:
    """The one that is meant; `all` before it adds nothing."""
    named = [target for target in targets if target != _ALL]
    if len(named) > 1:
        raise UsageError("Only one client can be named.", hint="Without one, both are connected.")
    known = (*_TITLES, _ALL)
    if named and named[0] not in known:
        said = f"`{cut(named[0], 40)}` is not a client that the journal supports."
        hint = f"Use any of {', '.join(known)}. `memory integrate` knows more of them."
        raise not_one_of(said, "target", known, hint)
    return named[0] if named else _ALL


def journal_integration(project: Project, target: str = _ALL) -> JournalIntegration:
    """How both clients are wired, with what to do about the one that is asked about, or about both."""
    from quire.clients.integration.journal import look_at_part

    parts = tuple(look_at_part(part, _around(project), project.world) for part in _parts(project))
    return JournalIntegration(
        target=target, parts=parts, advice=_advice([part for part in parts if target in (_ALL, part.client)])
    )


def _wire(project: Project, given: JournalIntegrate, target: str) -> JournalIntegrated:
    """Write what a client needs and has not; the journal gets the usual settings where it has none."""
    from quire.clients.integration.journal import connect_journal

    project.recover()
    chosen = [part for part in _parts(project) if target in (_ALL, part.client)]
    warnings: list[Problem] = []

    def wire(*, dry_run: bool) -> tuple[JournalPartDone, ...]:
        return connect_journal(
            chosen, _around(project), project.world, repair=given.repair, dry_run=dry_run, user=given.yes
        )

    files = wire(dry_run=True)
    config: Config = "there" if os.path.lexists(os.path.join(project.root, FOLDER, CONFIG)) else "missing"
    changes = any(item.action in ("CREATE", "UPDATE") for item in files)
    if not given.dry_run and (changes or (config == "missing" and not given.repair)):
        with journal_locked(project, "integrate"):
            files = wire(dry_run=False)
            if config == "missing":
                config = _make_config(project, warnings)
    return JournalIntegrated(
        target=target,
        repair=given.repair,
        dry_run=given.dry_run,
        files=files,
        config=config,
        advice=journal_integration(project, target).advice,
        yes=given.yes,
        warnings=warnings,
    )


def _parts(project: Project) -> tuple[JournalPart, ...]:
    from quire.clients.integration.journal_parts import journal_parts

    return journal_parts(project.root, project.world.cwd, project.world.env)


def _around(project: Project) -> Surroundings:
    from quire.clients.integration.types import Surroundings

    return Surroundings(root=project.root, home=project.world.home, env=project.world.env)


def _make_config(project: Project, warnings: list[Problem]) -> Config:
    """The usual settings, written out. The caller holds the lock."""
    try:
        path = inside(os.path.join(project.root, FOLDER), CONFIG)
        write_file(path, config_bytes(default_config()), project.world.token(), expects=None)
    except QuireError as error:
        warnings.append(as_warning(error))
        return "missing"
    return "made"


def _advice(asked: Sequence[JournalPartSeen]) -> str:
    """What to do first: what only a person can repair, then what was changed, then what is missing."""
    states = ("unreadable", "managed_mismatch", "missing")
    unreadable, changed, missing = ([part for part in asked if part.status == state] for state in states)
    if unreadable:
        places = ", ".join(f"`{part.path}`" if part.path else part.label for part in unreadable)
        return f"Fix {places} by hand, then run `{_COMMAND}`."
    if changed:
        return f"`{_COMMAND}{_client(changed)} --repair` restores what was changed."
    return f"`{_COMMAND}{_client(missing)}` writes what is missing." if missing else "Nothing to do."


def _client(parts: Sequence[JournalPartSeen]) -> str:
    clients = {part.client for part in parts}
    return f" {clients.pop()}" if len(clients) == 1 else ""


# -- lines ------------------------------------------------------------------------------------


def lines(result: JournalIntegrated | JournalIntegration) -> Lines:
    if isinstance(result, JournalIntegrated):
        yield from _done_lines(result)
    elif result.as_json:
        yield msgspec.json.format(json_line(result.fields()), indent=2)
    else:
        yield from _status_lines(result)


def _status_lines(found: JournalIntegration) -> Lines:
    yield "Integration Status:"
    yield f"- target: {found.target}"
    yield f"- overall healthy: {as_word(found.healthy)}"
    for client, title in _TITLES.items():
        yield ""
        yield f"{title}:"
        for part in found.parts:
            if part.client == client:
                yield f"- {part.label}: {part.status} ({part.path or 'no home folder'})"
    yield ""
    yield "Summary:"
    yield f"- warnings: {' | '.join(found.alerts) or 'none'}"
    yield f"- missing items: {listed(found.missing)}"
    yield f"- suggested next action: {found.advice}"


def _done_lines(done: JournalIntegrated) -> Lines:
    if done.repair and not done.files:
        yield "Nothing to repair."
        yield f"Suggested next action: {done.advice}"
        return
    yield f"Integrated target: {done.target}"
    yield f"Repair mode: {as_word(done.repair)}"
    yield f"Dry run: {as_word(done.dry_run)}"
    if done.dry_run:
        yield "Planned repairs:" if done.repair else "Planned changes:"
    else:
        yield "Repairs applied:" if done.repair else "Changes applied:"
    for scope in ("project", "user"):
        files = [item for item in done.files if item.scope == scope]
        if files:
            yield f"- {scope}:"
        for item in files:
            note = f"{item.reason}." if item.reason else item.note
            yield f"  [{scope}] {item.action} {item.path or 'no home folder'}: {note}"
    yield from _ending_lines(done)
    for item in done.files:
        if item.reason:
            yield Aside(text=f"error: {item.path or item.component}: {item.reason}.")
            if item.hint:
                yield Aside(text=f"hint: {item.hint}")


def _ending_lines(done: JournalIntegrated) -> Lines:
    if not done.dry_run:
        if done.config == "made":
            yield "Additional setup: created .agent-memory/config.json."
        yield f"Global changes were made: {as_word(bool(done.written_in_home()))}"
        yield "Suggested verification: memory journal integrate --status"
        return
    if done.config == "missing":
        yield "Note: the journal has no settings; .agent-memory/config.json would be created."
    if done.written_in_home() and not done.yes:
        yield "Note: files in your home are changed only with --yes, or if you say so on a terminal."


VERB = Verb(
    takes=JournalIntegrate,
    run=integrate_journal,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory journal integrate --dry-run       what would be written, and where
  memory journal integrate claude          Claude Code: MCP entry, hooks and skill, in this project
  memory journal integrate codex --yes     Codex: AGENTS.md here, and its configuration in your home
  memory journal integrate --status        the present state
  memory journal integrate --repair        restore what was changed
""",
)
