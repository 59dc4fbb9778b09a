"""Remove the guidance from instruction files together with the connection that added it."""

from __future__ import annotations

import os
from collections.abc import Sequence

import msgspec

from quire.clients.integration.diffs import unified
from quire.clients.integration.manifest import Manifests, known_base, make_manifest
from quire.clients.integration.types import ClientStatus, FileDone, Integrated, PartDone, PartSeen, Status
from quire.files import disk
from quire.files.durable_write import write_file
from quire.files.marked_sections import find_section
from quire.files.paths import follow_inside, read_if_there
from quire.model.errors import OutsideProject
from quire.project import Project
from quire.upkeep.guidance import GUIDANCE, GuidanceFile, install_guidance
from quire.verbs.ask.product_map import product_map

_PART = "guidance"
_READS = {
    "claude": "CLAUDE.md",
    "codex": "AGENTS.md",
    "cursor": "AGENTS.md",
    "opencode": "AGENTS.md",
    "copilot": "AGENTS.md",
    "cline": "AGENTS.md",
}
"""Which instruction file a client reads by itself; Gemini CLI has a section of its own."""
_FILES = ("AGENTS.md", "CLAUDE.md")
_WRITTEN: dict[str, Status] = {"created": "created", "updated": "updated"}


def with_guidance(project: Project, done: Integrated, manifests: Manifests) -> Integrated:
    """Install the guidance as `init` does, and note what came with it."""
    readers = {client: _READS[client] for client in done.clients if client in _READS}
    if not readers:
        return done
    before = {name: _held(project, name) for name in _FILES}
    world = project.world
    if "claude" in readers:
        # Its folder may be there only since a moment, or in a dry run not yet.
        world = msgspec.structs.replace(world, env={**world.env, "CLAUDECODE": "1"})
    map_text = product_map(project)
    targets, problems = install_guidance(project.root, world, map_text, dry_run=True)
    if not done.dry_run:
        # Noted before as well: if we die in between, it is known that the sections came with us.
        _note_all(project, targets, before, readers, manifests)
        targets, problems = install_guidance(project.root, world, map_text)
        _note_all(project, targets, before, readers, manifests)
    found = {target.path: target for target in targets}
    parts = [
        PartDone(
            client=client,
            part=_PART,
            scope="project",
            path=path,
            status=_WRITTEN.get(found[path].status, "unchanged"),
            reason=found[path].reason,
        )
        for client, path in readers.items()
        if path in found
    ]
    files = [
        FileDone(
            path=target.path,
            scope="project",
            status=_WRITTEN[target.status],
            clients=tuple(client for client, path in readers.items() if path == target.path),
            diff=unified(before[target.path], target.after, target.path) if done.dry_run else "",
        )
        for target in targets
        if target.status in _WRITTEN
    ]
    return msgspec.structs.replace(
        done,
        parts=(*done.parts, *parts),
        files=(*done.files, *files),
        warnings=(*done.warnings, *problems),
    )


def without_guidance(
    project: Project, clients: Sequence[str], manifests: Manifests, *, dry_run: bool
) -> tuple[list[PartDone], list[FileDone]]:
    """Take out what came with wiring, once no wired client needs it; what `init` put there stays."""
    from quire.upkeep.guidance import without_guidance

    parts: list[PartDone] = []
    files: list[FileDone] = []
    for name in _FILES:
        manifest = manifests.get(name)
        gone = tuple(client for client in clients if manifest and client in manifest.clients)
        if manifest is None or not gone:
            continue
        rest = tuple(client for client in manifest.clients if client not in clients)
        current = _held(project, name)
        base, is_known = known_base(manifest, current)
        if rest:
            if not dry_run:
                manifests.put(msgspec.structs.replace(manifest, clients=rest))
            continue
        if not is_known and current is not None:
            base = without_guidance(current)
            base = None if manifest.before is None and not base.strip() else base
        if not dry_run:
            _put(project, name, current, base)
            manifests.remove(name)
        if base == current:
            continue
        status: Status = "removed" if base is None else "updated"
        diff = unified(current, base, name) if dry_run else ""
        files.append(FileDone(path=name, scope="project", status=status, clients=gone, diff=diff))
        parts += [PartDone(client=client, part=_PART, scope="project", path=name, status="removed") for client in gone]
    return parts, files


def guidance_seen(project: Project, one: ClientStatus) -> tuple[PartSeen, ...]:
    """The parts of a client with the guidance among them."""
    name = _READS.get(one.client)
    if name is None:
        return one.parts
    data = _held(project, name)
    if name == "CLAUDE.md" and data is not None and b"@AGENTS.md" in data:
        name, data = "AGENTS.md", _held(project, "AGENTS.md")
    found = find_section(data or b"", GUIDANCE).state
    state = "unreadable" if found == "damaged" else found
    reason = "its markers are damaged" if found == "damaged" else ""
    seen = PartSeen(part=_PART, scope="project", path=name, state=state, reason=reason)
    here = [part for part in one.parts if part.scope == "project"]
    return (*here, seen, *one.parts[len(here) :])


def _note_all(
    project: Project,
    targets: Sequence[GuidanceFile],
    before: dict[str, bytes | None],
    readers: dict[str, str],
    manifests: Manifests,
) -> None:
    for target in targets:
        own = tuple(client for client, path in readers.items() if path == target.path)
        _note(project, target, before[target.path], own or tuple(readers), manifests)


def _note(
    project: Project, target: GuidanceFile, before: bytes | None, clients: tuple[str, ...], manifests: Manifests
) -> None:
    """What came into an instruction file with us; sections that were there already are those of `init`."""
    known = manifests.get(target.path)
    current = _held(project, target.path)
    had = before is not None and find_section(before, GUIDANCE).state != "missing"
    writes = target.status in _WRITTEN
    if known is None and (had or not writes):
        return
    joined = tuple(dict.fromkeys((*(known.clients if known else ()), *clients)))
    found = known
    if known is None or (writes and not had):
        # Before it is written, what is planned: whoever dies in between leaves the way back from either.
        after = target.after if current == before else current
        found = make_manifest(target.path, "project", joined, before, after or b"")
    found = msgspec.structs.replace(found, clients=joined) if found else None
    if found is not None and found != known:
        manifests.put(found)


def _held(project: Project, name: str) -> bytes | None:
    """An instruction file's bytes; a link is followed only inside the project."""
    try:
        return read_if_there(follow_inside(project.root, name))
    except (OutsideProject, OSError):
        return None


def _put(project: Project, name: str, current: bytes | None, base: bytes | None) -> None:
    if base == current:
        return
    real = follow_inside(project.root, name)
    if base is not None:
        write_file(real, base, project.world.token(), expects=current)
    else:
        disk.remove(real)
        disk.sync_folder(os.path.dirname(real))
