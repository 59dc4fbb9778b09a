"""Connect and disconnect clients, in the project or in the user's home; list connections."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence

import msgspec

from quire.clients.integration.client_status import connected_clients, look_at_clients
from quire.clients.integration.engine import integrate_clients
from quire.clients.integration.forge_parts import written_source
from quire.clients.integration.manifest import FOLDER as INTEGRATIONS
from quire.clients.integration.manifest import Manifests
from quire.clients.integration.places import detect
from quire.clients.integration.types import CLIENTS, FORGES, TARGETS, Integrated, IntegrationStatus, Scope, Surroundings
from quire.clients.texts.forges import read_source
from quire.files.write_access import write_access
from quire.layers.graph.layout import FOLDER
from quire.model.errors import InputError, not_one_of
from quire.model.records import Problem
from quire.model.text import cut
from quire.project import Project
from quire.upkeep.installation import reach_hint, unreachable
from quire.upkeep.upgrade_command import installed_source
from quire.verbs.graph.guidance_undo import guidance_seen, with_guidance, without_guidance

_ALL = "all"
_EXAMPLE = "https://github.com/OWNER/quire@COMMIT"
STARTED = (("quire", "Hooks"), ("memory-mcp", "The entries of the server"))
"""What the files of a project start by name, and which parts of them."""


def connect_clients(
    project: Project,
    clients: Sequence[str] = (),
    *,
    user: bool = False,
    dry_run: bool = False,
    repair: bool = False,
    force: bool = False,
    source: str = "",
) -> Integrated:
    """Wire these clients; without any, those that are in use here. With `repair`, those that are wired already.

    Files of ours that someone changed are written anew only with `repair`; an entry of someone else under our
    name is replaced only with `force`.
    """
    scope: Scope = "user" if user else "project"
    named = _named(clients)
    around = client_surroundings(project, scope)
    if named and not repair:
        around = _with_source(project, around, named, source)
    with _wiring(project, scope, dry_run) as manifests:
        wired = connected_clients(scope, around, manifests)
        if repair:
            asked = [client for client in named or wired if client in wired]
            if named and not asked:
                hint = f"`memory integrate {' '.join(named)}` does it."
                raise InputError(f"Not connected here: {', '.join(named)}.", hint=hint)
        else:
            asked = list(named or dict.fromkeys([*detect(around), *wired]))
            if not asked:
                raise InputError(
                    "No client was found here or in your home folder.",
                    hint=f"Name those that you use: any of {', '.join(CLIENTS)}, or all.",
                )
        done = integrate_clients(
            asked,
            around,
            project.world,
            manifests,
            scope=scope,
            action="repair" if repair else "install",
            dry_run=dry_run,
            force=force,
        )
        if scope == "user" or not asked:
            return done
        done = with_guidance(project, done, manifests)
    unreachable = _unreachable(project) if set(asked) - {*FORGES} else []
    return msgspec.structs.replace(done, warnings=(*done.warnings, *unreachable))


def _with_source(project: Project, around: Surroundings, named: Sequence[str], source: str) -> Surroundings:
    """With where forges get Quire from: what was named, else what the files say, else where this copy came from."""
    forges = [name for name in named if name in FORGES]
    if not source and (not forges or all(written_source(project.root, name) for name in forges)):
        return around
    found = read_source(source or installed_source(project.world.env))
    if found is None or ("github" in forges and not found.action):
        said = f"`{cut(source, 80)}` is no" if source else "It is not known where this copy of Quire came from: name a"
        raise InputError(
            f"{said} git repository and commit that {' and '.join(forges) or 'a forge'} can install Quire from.",
            hint=f"Repeat the command with --from {_EXAMPLE}",
            details={"field": "from"},
        )
    return msgspec.structs.replace(around, source=str(found))


def _unreachable(project: Project) -> list[Problem]:
    """That agents will not find what the files of the project start by name."""
    reasons: dict[str, list[str]] = {}
    for name, _ in STARTED:
        reasons.setdefault(unreachable(name, project.world.env), []).append(f"`{name}`")
    return [
        Problem(
            code="CommandUnreachable",
            severity="warning",
            message=f"Agents start {' and '.join(names)} by name. {'They are' if names[1:] else 'It is'} {why}, so "
            "agents get no memory.",
            hint=reach_hint(project.world.env),
        )
        for why, names in reasons.items()
        if why
    ]


def disconnect_clients(
    project: Project, clients: Sequence[str] = (), *, user: bool = False, dry_run: bool = False
) -> Integrated:
    """Take the wiring of these clients back; without any, of all that are wired. What others wrote stays."""
    scope: Scope = "user" if user else "project"
    around = client_surroundings(project, scope)
    with _wiring(project, scope, dry_run) as manifests:
        asked = list(_named(clients) or connected_clients(scope, around, manifests))
        guided = without_guidance(project, asked, manifests, dry_run=dry_run) if scope == "project" else ([], [])
        done = integrate_clients(asked, around, project.world, manifests, scope=scope, action="remove", dry_run=dry_run)
    parts, files = guided
    return msgspec.structs.replace(done, parts=(*done.parts, *parts), files=(*done.files, *files))


def connection_status(project: Project, clients: Sequence[str] = (), *, user: bool | None = None) -> IntegrationStatus:
    """How these clients are wired, or all of them: here, in the home, or by default in both."""
    scopes: list[Scope] = ["project", "user"] if user is None else ["user" if user else "project"]
    if not project.world.home and user is None:
        scopes.remove("user")
    around = client_surroundings(project, scopes[-1])
    found = {scope: integration_manifests(project, scope) for scope in scopes}
    told = look_at_clients(_named(clients) or TARGETS, around, found)
    # A forge is listed by its name, or where something of it is here.
    told = [one for one in told if clients or one.client not in FORGES or one.in_project or one.wired]
    if "project" in scopes:
        told = [msgspec.structs.replace(one, parts=guidance_seen(project, one)) for one in told]
    problems = [problem for manifests in found.values() for problem in manifests.problems]
    return IntegrationStatus(clients=tuple(told), warnings=tuple(problems))


def client_surroundings(project: Project, scope: Scope) -> Surroundings:
    if scope == "user" and not (project.world.home and os.path.isabs(project.world.home)):
        raise InputError("There is no home folder to look for clients in.", hint="Set HOME, or leave out --user.")
    return Surroundings(root=project.root, home=project.world.home, env=project.world.env)


def integration_manifests(project: Project, scope: Scope) -> Manifests:
    top = project.world.memory_home if scope == "user" else os.path.join(project.root, FOLDER)
    return Manifests(os.path.join(top, INTEGRATIONS), project.world, private=scope == "user")


@contextlib.contextmanager
def _wiring(project: Project, scope: Scope, dry_run: bool) -> Iterator[Manifests]:
    """The records of a scope, with the right to change them."""
    if scope == "project":
        project.recover()
        project.graph.config()
    integration_manifests(project, scope).refuse_newer()
    if dry_run:
        yield integration_manifests(project, scope)
    elif scope == "project":
        with write_access(project.root, FOLDER, project.world, "integrate", written=(INTEGRATIONS,)):
            yield integration_manifests(project, scope)
    else:
        with write_access(project.world.memory_home, INTEGRATIONS, project.world, "integrate"):
            yield integration_manifests(project, scope)


def _named(clients: Sequence[str]) -> tuple[str, ...]:
    if _ALL in clients:
        clients = [*CLIENTS, *clients]
    for name in clients:
        if name not in TARGETS and name != _ALL:
            hint = f"Use any of {', '.join(CLIENTS)}, or all of these; or {', '.join(FORGES)}, git."
            raise not_one_of(f"Unknown client `{cut(name, 40)}`.", "client", [*TARGETS, "git", _ALL], hint)
    return tuple(client for client in TARGETS if client in clients)
