"""Guide the first run on a terminal: after `memory init`, offer what else can be set up."""

from __future__ import annotations

import os
import sys
import textwrap
from typing import TYPE_CHECKING, Literal

from quire.model.text import counted
from quire.project import Project
from quire.surfaces.cli.commands import Session
from quire.surfaces.cli.output import progress_bar, say, warn
from quire.verbs.admin.first_run import FirstAnswer, FirstOffers, first_answer, first_offers, read_history_now
from quire.verbs.admin.init import WRITTEN, Init, exists_already, import_lines, make_memory, sharing, wanted_by
from quire.verbs.agents.connections import connect_clients
from quire.verbs.agents.git_setup import integrate_git, lacks_git_setup
from quire.verbs.agents.integrate import client_warnings
from quire.verbs.inbox.host_import import import_hosts
from quire.verbs.verb import Verb

if TYPE_CHECKING:
    from quire.clients.integration.types import Integrated
    from quire.upkeep.init import Initialized

Answer = Literal["yes", "no", "quit"]

_WIDTH, _LEAST, _MOST = 80, 24, 100
_NAMED = 3
_BOLD = "1"
_WORDS = {"created": "new", "updated": "changed"}
_LATER = "Run `memory init` to get this offer again."


def on_terminal(session: Session, _verb: Verb, given: Init) -> int | None:
    """Make the memory, then offer what else could be done; where that was said beforehand, nothing is asked."""
    if given.brief or given.dry_run or any(wanted_by(given)):
        return None
    project = session.project()
    return begin_here(project, make_memory(project, given), guidance=not given.no_guidance)


def begin_here(project: Project, done: Initialized, *, guidance: bool = True) -> int:
    """Say what was made, offer what is missing, show what an agent will hear; the exit code.

    Whatever is answered, and wherever it is broken off: the memory is made and whole.
    """
    _made(done)
    warn(done.warnings)
    try:
        # Wiring brings the guidance along, so it is not offered to those who do not want that.
        offers = first_offers(project) if guidance else first_offers(project, agents=("none",))
        wired, go_on = _offer_wiring(project, offers)
        if go_on:
            go_on = _offer_imports(project, offers)
        if go_on:
            go_on = _offer_history(project, offers)
        if not go_on:
            _tell(f"Nothing else was changed. {_LATER}")
            return _code(wired)
        _first_answer(first_answer(project, wired.clients[0] if wired is not None and wired.clients else ""))
    except KeyboardInterrupt:
        say()
        _tell(f"Stopped. The memory is complete. {_LATER}")
        return 130
    line = sharing(done, wired)
    if line:
        say(f"To share it: {line}")  # in one piece, so that it can be copied
    return _code(wired)


# -- the screen -----------------------------------------------------------------------------


def _made(done: Initialized) -> None:
    if not done.created:
        say(exists_already(done), _BOLD)
    else:
        say(f"Created the memory of {done.project['name']}.", _BOLD)
    inner = sum(path.startswith(".memory/") for path in done.files_created)
    parts = [f".memory/ ({counted(inner, 'file')})"] if inner else []
    parts += [path for path in done.files_created if not path.startswith(".memory/")]
    parts += [".gitignore"] if done.gitignore_updated else []
    parts += [target.path for target in done.guidance if target.status in WRITTEN]
    if parts:
        _tell(f"Written: {', '.join(parts)}", "  ")
    if done.backup_path:
        _tell(f"The earlier memory is archived in {done.backup_path}", "  ")


def _offer_wiring(project: Project, offers: FirstOffers) -> tuple[Integrated | None, bool]:
    """What was wired, and whether to go on."""
    plan = offers.wiring
    if plan is None:
        return None, True
    say()
    say(f"Agents found: {', '.join(plan.clients)}", _BOLD)
    _tell(
        "Connected agents can ask the memory, and get relevant records when a session starts. This writes only files "
        "of this project:"
    )
    width = max(map(len, plan.clients)) + 2
    for client in plan.clients:
        own = [part for part in plan.parts if part.client == client]
        written = [f"{part.path} ({_WORDS[part.status]})" for part in own if part.status in WRITTEN]
        _tell(f"{client:<{width}}{', '.join(dict.fromkeys(written))}", "  ", " " * (width + 2))
        for part in own:
            if part.reason and part.status not in (*WRITTEN, "unchanged"):
                _tell(f"{part.path} is not changed: {part.reason}.", " " * (width + 2))
    merges = lacks_git_setup(project)
    if merges:
        text = f"{'git':<{width}}.git/config, .memory/.gitattributes: branches merge the memory by record"
        _tell(text, "  ", " " * (width + 2))
    _tell("`memory integrate --remove` undoes it.")
    said = _ask("Connect them?", default="no")
    if said != "yes":
        return None, said == "no"
    done = connect_clients(project, plan.clients)
    if merges:
        integrate_git(project)
    files = [file for file in done.files if file.status in WRITTEN]
    _tell(f"Connected: {counted(len(files), 'file')} written. Most agents ask once whether you trust such files.")
    warn(client_warnings(done))
    return done, True


def _offer_imports(project: Project, offers: FirstOffers) -> bool:
    """Whether to go on."""
    found = offers.imports
    if found is None:
        return True
    count = len(found.proposals)
    say()
    say(f"Known to other programs: {counted(count, 'item')}", _BOLD)
    for line in import_lines(found):
        _tell(line, "  ", "    ")
    _tell("They would be proposals in your inbox. No agent sees them until you accept them.")
    said = _ask("Propose them?", default="yes")
    if said != "yes":
        return said == "no"
    done = import_hosts(project, tuple(dict.fromkeys(one.source.kind for one in found.sources)))
    them = "it" if len(done.proposals) == 1 else "them"
    _tell(f"{counted(len(done.proposals), 'proposal')} pending: `memory inbox` shows {them}.")
    warn(done.warnings)
    return True


def _offer_history(project: Project, offers: FirstOffers) -> bool:
    """Whether to go on."""
    if not offers.commits:
        return True
    say()
    say(f"The history: {counted(offers.commits, 'commit')}", _BOLD)
    _tell("Reasons that commits give, reverts and traps behind fixes can become a first memory: the best thirty.")
    said = _ask("Read it?", default="yes")
    if said != "yes":
        return said == "no"
    with progress_bar("commits") as project.progress:
        done = read_history_now(project)
    for item in done.proposals[:_NAMED]:
        _tell(f"{item.fields.get('title', item.text)}", "  ", "    ")
    count = len(done.proposals)
    them = "it" if count == 1 else "them"
    _tell(f"{counted(count, 'proposal')} pending: `memory inbox` shows {them}." if count else "It gives no reasons.")
    warn(done.warnings)
    return True


def _first_answer(found: FirstAnswer) -> None:
    say()
    if not found.text:
        say("What an agent will get: nothing yet, the memory is empty.", _BOLD)
        _tell("Next: `memory add` records something; `memory init --brief` is for your agent.")
        return
    say("What an agent will get when its next session starts:", _BOLD)
    for line in found.text.strip().split("\n"):
        _tell(line, "  ", "    ") if line else say()
    if found.shortened:
        _tell("… and more, up to the agent's limit.", "  ")


def _ask(question: str, *, default: Literal["yes", "no"]) -> Answer:
    """One question. The end of the input ends the asking, as `q` does."""
    yes, no = ("[y]es (Enter)", "[n]o") if default == "yes" else ("[y]es", "[n]o (Enter)")
    while True:
        sys.stdout.write(f"{question} {yes}, {no}, [q]uit: ")
        sys.stdout.flush()
        line = sys.stdin.readline()
        if not line:
            say()
            return "quit"
        word = line.strip().lower()
        if not word:
            return default
        known: dict[str, Answer] = {"y": "yes", "yes": "yes", "n": "no", "no": "no", "q": "quit", "quit": "quit"}
        if word in known:
            return known[word]


def _code(wired: Integrated | None) -> int:
    return 0 if wired is None or wired.is_clean else 1


def _tell(text: str, indent: str = "", further: str | None = None) -> None:
    """A paragraph, as wide as the terminal."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns or _WIDTH
    except (OSError, ValueError):
        columns = _WIDTH
    lines = textwrap.wrap(
        text,
        max(_LEAST, min(columns, _MOST)),
        initial_indent=indent,
        subsequent_indent=indent if further is None else further,
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in lines:
        say(line)
