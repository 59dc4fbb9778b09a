"""Report how clients are connected, without changing anything."""

from __future__ import annotations

import os
from collections.abc import Sequence

from quire.clients.integration.catalogue import parts_of
from quire.clients.integration.manifest import Manifests
from quire.clients.integration.places import has_signs, is_installed
from quire.clients.integration.types import TARGETS, ClientStatus, Part, PartSeen, Scope, State, Surroundings
from quire.files.paths import follow_inside, read_if_there
from quire.model.errors import OutsideProject


def look_at_clients(
    clients: Sequence[str], around: Surroundings, manifests: dict[Scope, Manifests]
) -> list[ClientStatus]:
    """Each of these clients, in the scopes that are asked about."""
    wired = {scope: connected_clients(scope, around, found) for scope, found in manifests.items()}
    return [
        ClientStatus(
            client=client,
            installed=is_installed(client, around),
            in_project=has_signs(client, around),
            wired=any(client in found for found in wired.values()),
            parts=tuple(_seen(part, around)[0] for scope in manifests for part in parts_of(client, scope, around)),
        )
        for client in TARGETS
        if client in clients
    ]


def connected_clients(scope: Scope, around: Surroundings, manifests: Manifests) -> tuple[str, ...]:
    """Clients of which a record tells, or of which something is there that no record explains."""
    recorded = {manifest.path: manifest.clients for manifest in manifests.all()}
    named = {client for clients in recorded.values() for client in clients}
    found = []
    for client in TARGETS:
        if client in named or any(
            _seen(part, around)[1] for part in parts_of(client, scope, around) if _key(part, around) not in recorded
        ):
            found.append(client)
    return tuple(found)


def _seen(part: Part, around: Surroundings) -> tuple[PartSeen, bool]:
    """What a part is now, and whether it is ours."""
    state: State = "missing"
    reason, ours = "", False
    try:
        real = (
            os.path.realpath(part.path)
            if part.scope == "user"
            else follow_inside(around.root, os.path.relpath(part.path, around.root))
        )
        seen = part.look(read_if_there(real))
        state, ours = seen.state, seen.ours
        reason = "another program has the entry `quire`" if seen.foreign and part.name == "mcp" else ""
    except OutsideProject as error:
        state, reason = "unreadable", error.message.rstrip(".")
    except ValueError as error:
        state, reason = "unreadable", f"{error}".rstrip(".")
    except OSError as error:
        state, reason = "unreadable", f"it cannot be read ({error.strerror or error})"
    return PartSeen(part=part.name, scope=part.scope, path=part.shown, state=state, reason=reason), ours


def _key(part: Part, around: Surroundings) -> str:
    return part.path if part.scope == "user" else os.path.relpath(part.path, around.root)
