"""How clients are wired to the memory: their configuration changed in place, and taken back byte for byte."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.clients.wiring.diffs import unified
    from quire.clients.wiring.engine import integrate_clients
    from quire.clients.wiring.looking import look_at_clients, wired_clients
    from quire.clients.wiring.manifest import FOLDER, Manifest, Manifests, known_base, make_manifest
    from quire.clients.wiring.places import detect
    from quire.clients.wiring.types import (
        CLIENTS,
        ClientStatus,
        FileDone,
        Integrated,
        IntegrationStatus,
        PartDone,
        PartSeen,
        Scope,
        Status,
        Surroundings,
    )

__all__ = [
    "CLIENTS",
    "FOLDER",
    "ClientStatus",
    "FileDone",
    "Integrated",
    "IntegrationStatus",
    "Manifest",
    "Manifests",
    "PartDone",
    "PartSeen",
    "Scope",
    "Status",
    "Surroundings",
    "detect",
    "integrate_clients",
    "known_base",
    "look_at_clients",
    "make_manifest",
    "unified",
    "wired_clients",
]

# Which module holds what.
_HOMES = {
    "CLIENTS": "types",
    "FOLDER": "manifest",
    "ClientStatus": "types",
    "FileDone": "types",
    "Integrated": "types",
    "IntegrationStatus": "types",
    "Manifest": "manifest",
    "Manifests": "manifest",
    "PartDone": "types",
    "PartSeen": "types",
    "Scope": "types",
    "Status": "types",
    "Surroundings": "types",
    "detect": "places",
    "integrate_clients": "engine",
    "known_base": "manifest",
    "look_at_clients": "looking",
    "make_manifest": "manifest",
    "unified": "diffs",
    "wired_clients": "looking",
}

__getattr__ = loader(__name__, _HOMES)
