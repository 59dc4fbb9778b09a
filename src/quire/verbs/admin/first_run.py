"""Find what a new memory could import and connect on this machine, and show a first answer."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from quire.capture.history.commits import commit_ids
from quire.capture.hosts.types import KINDS
from quire.clients.integration.client_status import connected_clients, look_at_clients
from quire.clients.integration.engine import integrate_clients
from quire.clients.integration.places import detect
from quire.clients.integration.types import CLIENTS, Integrated
from quire.model.errors import GitRequired, not_one_of
from quire.model.text import cut
from quire.project import Project
from quire.verbs.agents.connections import client_surroundings, connect_clients, integration_manifests
from quire.verbs.agents.session_brief import hook_start
from quire.verbs.inbox.history_import import HISTORY, known_origins, wish_of
from quire.verbs.inbox.host_import import (
    ImportedHosts,
    found_host_sources,
    found_in_source,
    import_hosts,
    read_host_source,
)

FOUND, ALL, NONE = "found", "all", "none"
_TOKENS, _CHARS = 400, 4_000
"""Of what a session starts with, so much is shown."""
_COMMITS_LEAST = 20
"""A shorter history says too little to offer reading it."""
_ANYBODY = "codex"
"""A client that reads the product map from AGENTS.md, as most do: what it is handed beside that is worth seeing."""


class FirstOffers(msgspec.Struct, frozen=True, kw_only=True):
    """What could be done now, and is not done yet. Where there is nothing to do, a part is None."""

    wiring: Integrated | None = None
    """What wiring the clients that are found would change, as a dry run tells it."""
    imports: ImportedHosts | None = None
    """What would wait in the inbox."""
    commits: int = 0
    """How long the history is, where it is worth reading and was not read."""


class FirstAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is reported when its next session starts; empty where the memory holds nothing yet."""

    text: str
    shortened: bool = False


def first_offers(project: Project, *, agents: Sequence[str] = (FOUND,)) -> FirstOffers:
    """What wiring these agents and importing all that is found would do; nothing is written.

    An agent that is wired already, here or in the user's own configuration, is not offered; neither is what was
    imported before. It can be asked before there is a memory.
    """
    clients = _named_agents(project, agents)
    wiring = _would_wire(project, clients) if clients else None
    imports = _would_import(project, ())
    commits = _commits_unread(project)
    return FirstOffers(wiring=wiring, imports=imports if imports.proposals else None, commits=commits)


def refuse_unknown(project: Project, agents: Sequence[str], kinds: Sequence[str]) -> None:
    """Names that mean nothing are refused before anything is written."""
    _named_agents(project, agents)
    _named_kinds([name for name in kinds if name != NONE])


def take_agents(project: Project, agents: Sequence[str], *, dry_run: bool = False) -> Integrated | None:
    """Wire these agents in this project; None where `found` finds none, or `none` was said."""
    clients = _named_agents(project, agents)
    if not clients:
        return None
    if dry_run:
        return _wiring_planned(project, clients)
    return connect_clients(project, clients)


def take_imports(project: Project, kinds: Sequence[str], *, dry_run: bool = False) -> ImportedHosts | None:
    """Propose what these kinds of sources say; None where `none` was said."""
    if not kinds or NONE in kinds:
        return None
    named = _named_kinds(kinds)
    return _would_import(project, named) if dry_run else import_hosts(project, named, wish=wish_of())


def first_answer(project: Project, client: str = "") -> FirstAnswer:
    """What this client will be told at the start of its next session, cut to what fits on a screen."""
    handed = hook_start(project, client=client or _ANYBODY, session="", tokens=_TOKENS, chars=_CHARS)
    if not any(fate.outcome == "included" for fate in handed.fates):
        return FirstAnswer(text="")
    return FirstAnswer(text=handed.text, shortened=any(fate.outcome == "trimmed" for fate in handed.fates))


# -- agents -------------------------------------------------------------------------------


def _named_agents(project: Project, agents: Sequence[str]) -> list[str]:
    words = [FOUND, ALL, NONE]
    for name in agents:
        if name not in CLIENTS and name not in words:
            hint = f"Use any of {', '.join(CLIENTS)}; or found, all or none."
            raise not_one_of(f"Unknown client `{cut(name, 40)}`.", "agents", [*CLIENTS, *words], hint)
    if NONE in agents:
        return []
    here = {*detect(client_surroundings(project, "project"))} - _wired_at_home(project) if FOUND in agents else set()
    return [client for client in CLIENTS if ALL in agents or client in agents or client in here]


def _wired_at_home(project: Project) -> set[str]:
    """Clients that have all of it in the user's own configuration: here, they would have it twice."""
    if not project.world.home:
        return set()
    around, manifests = client_surroundings(project, "user"), integration_manifests(project, "user")
    wired = connected_clients("user", around, manifests)
    seen = look_at_clients(wired, around, {"user": manifests}) if wired else []
    return {one.client for one in seen if all(part.state == "present" for part in one.parts)}


def _would_wire(project: Project, clients: Sequence[str]) -> Integrated | None:
    planned = _wiring_planned(project, clients)
    to_do = {part.client for part in planned.parts if part.status in ("created", "updated")}
    return _wiring_planned(project, [client for client in clients if client in to_do]) if to_do else None


def _wiring_planned(project: Project, clients: Sequence[str]) -> Integrated:
    """A dry run that needs no memory, and leaves the guidance to `init`, which brings it anyway."""
    around, manifests = client_surroundings(project, "project"), integration_manifests(project, "project")
    return integrate_clients(clients, around, project.world, manifests, scope="project", dry_run=True)


# -- the history --------------------------------------------------------------------------


def _commits_unread(project: Project) -> int:
    """How many commits there are to read, at most as many as are read; 0 where it was done or would not be worth it."""
    try:
        count = len(commit_ids(project.git, "")) if project.git.available and not known_origins(project) else 0
    except GitRequired:
        return 0
    return count if count >= _COMMITS_LEAST else 0


def read_history_now(project: Project) -> ImportedHosts:
    """Propose what the history says."""
    return import_hosts(project, (HISTORY,), wish=wish_of())


# -- imports ------------------------------------------------------------------------------


def _would_import(project: Project, kinds: Sequence[str]) -> ImportedHosts:
    if project.graph.exists():
        return import_hosts(project, kinds, dry_run=True)
    # Before there is a memory, everything is new that two files do not both say.
    reads = [
        read_host_source(project, source) for source in found_host_sources(project, kinds) if source.kind != HISTORY
    ]
    fresh = {item.id: item for read in reversed(reads) for item in reversed(read.proposals)}
    said = sum(len(read.proposals) for read in reads)
    return ImportedHosts(
        sources=[found_in_source(read, fresh, fresh) for read in reads],
        proposals=[item for read in reads for item in read.proposals if fresh.get(item.id) is item],
        known=said - len(fresh),
        dry_run=True,
        warnings=[problem for read in reads for problem in read.problems],
    )


def _named_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """Kinds of sources as `import_hosts` takes them: none of them means all."""
    for name in kinds:
        if name not in KINDS and name != ALL:
            hint = f"Use any of {', '.join(KINDS)}; or all or none."
            raise not_one_of(f"Unknown kind of source `{cut(name, 40)}`.", "import", [*KINDS, ALL, NONE], hint)
    return () if ALL in kinds else tuple(kinds)
