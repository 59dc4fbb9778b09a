"""Connect or disconnect clients: each file they share is planned once, for all that need it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from quire.clients.integration.catalogue import parts_of
from quire.clients.integration.file_plan import FilePlan, plan_install, plan_remove
from quire.clients.integration.file_writer import WrittenFile
from quire.clients.integration.manifest import Manifest, Manifests
from quire.clients.integration.recorded_writer import RecordedWriter
from quire.clients.integration.types import TARGETS, Action, FileDone, Integrated, Part, PartDone, Scope, Surroundings
from quire.files.world import World


def integrate_clients(
    clients: Sequence[str],
    around: Surroundings,
    world: World,
    manifests: Manifests,
    *,
    scope: Scope,
    action: Action = "install",
    dry_run: bool = False,
    force: bool = False,
) -> Integrated:
    """Connect these clients, or disconnect them. A file that cannot be changed is reported, and stops no other."""
    asked = tuple(client for client in TARGETS if client in clients)
    writer = RecordedWriter(scope, around, world, manifests, dry_run)
    files: dict[str, list[Part]] = {}
    for client in asked:
        for part in parts_of(client, scope, around, possible=action == "remove"):
            files.setdefault(part.path, []).append(part)
    parts: list[PartDone] = []
    done: list[FileDone] = []
    for path, found in files.items():
        written = _write_one(writer, path, found, asked, action, force=force)
        done += [written.file] if written.file and (written.outcomes or written.fault) else []
        parts += [_told(part, written) for part in found if _name(part) in written.outcomes or written.fault]
    if action == "remove" and not dry_run:
        manifests.tidy()
        # A run that was killed may have left something for a client that was never wired.
        possible = (parts_of(client, scope, around, possible=True) for client in TARGETS)
        writer.sweep({os.path.dirname(part.path) for found in possible for part in found})
    parts.sort(key=lambda item: TARGETS.index(item.client))
    return Integrated(
        action=action,
        scope=scope,
        dry_run=dry_run,
        clients=asked,
        parts=tuple(parts),
        files=tuple(done),
        warnings=tuple(manifests.problems),
    )


def _write_one(
    writer: RecordedWriter, path: str, found: list[Part], asked: tuple[str, ...], action: Action, *, force: bool
) -> WrittenFile:
    known = writer.manifests.get(writer.key(path))
    others = _others(writer, path, known, asked)
    involved = tuple(dict.fromkeys(part.client for part in found))
    if action == "remove":
        remaining = tuple(dict.fromkeys(part.client for part in others))

        def removing(current: bytes | None, manifest: Manifest | None) -> FilePlan | None:
            return plan_remove(current, manifest, found, others, is_own=writer.manifests.vouches(manifest))

        return writer.record(path, found[0].shown, involved, remaining, removing)

    wanted = sorted([*others, *found], key=lambda part: TARGETS.index(part.client))
    clients = tuple(dict.fromkeys(part.client for part in wanted))

    def installing(current: bytes | None, manifest: Manifest | None) -> FilePlan:
        is_own = writer.manifests.vouches(manifest)
        return plan_install(current, manifest, wanted, force=force, anew=action == "repair", is_own=is_own)

    return writer.record(path, found[0].shown, involved, clients, installing)


def _others(writer: RecordedWriter, path: str, known: Manifest | None, asked: tuple[str, ...]) -> list[Part]:
    """What other clients, that were wired before, need in this file."""
    return [
        part
        for client in TARGETS
        if known is not None and client in known.clients and client not in asked
        for part in parts_of(client, writer.scope, writer.around, possible=True)
        if part.path == path
    ]


def _told(part: Part, written: WrittenFile) -> PartDone:
    outcome = written.fault or written.outcomes[_name(part)]
    return PartDone(
        client=part.client,
        part=part.name,
        scope=part.scope,
        path=part.shown,
        status=outcome.status,
        reason=outcome.reason,
    )


def _name(part: Part) -> tuple[str, str]:
    return part.client, part.name
