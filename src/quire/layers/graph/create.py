"""Create a store: configuration, schemas, the project node, an event log, git settings."""

from __future__ import annotations

import os

from quire.files.digests import hex_digest
from quire.files.json_files import decode_object, pretty
from quire.files.paths import read_if_there
from quire.files.transaction import FileUpdate, apply_changes, update_of
from quire.files.world import World
from quire.guard.hostile_text import find_hostile
from quire.guard.secrets import find_secrets
from quire.layers.graph.codec import body_hash, encode_event, encode_fields
from quire.layers.graph.layout import CONFIG, EVENTS, NO_DESCRIPTION, NODES, SCHEMA
from quire.layers.graph.lock import write_access
from quire.layers.graph.schemas import SCHEMA_NAMES, schema
from quire.layers.graph.store import GraphStore
from quire.layers.graph.types import Event
from quire.model import limits
from quire.model.config import STORAGE_VERSION
from quire.model.errors import InputError
from quire.model.ids import file_stems, slugify, title_from_slug
from quire.model.times import timestamp

ATTRIBUTES = ".gitattributes"
_ATTRIBUTES_TEXT = (
    "# The event log only ever grows: a merge keeps the lines of both sides.\nevents.jsonl merge=union text eol=lf\n"
)


def project_identity(root: str, name: str | None, declared: str = "") -> tuple[str, str]:
    """The project's id and name, from the name given; else the folder's id, and the name that a manifest declares.

    Without a manifest the folder's name is taken as it is written, unless it is several words joined by hyphens.
    """
    if name is not None:
        if fault := _fault(name):
            raise InputError(f"The project's name {fault}.", hint="Give a short name.", details={"field": "name"})
        return f"project.{slugify(name.strip(), hex_digest)}", name.strip()
    folder = os.path.basename(root) or "project"
    slug = slugify(folder, hex_digest)
    joined = "" if folder == slug and "-" in slug else folder
    named = next((text.strip() for text in (declared, joined) if text and not _fault(text)), "")
    return f"project.{slug}", named or title_from_slug(slug)


def _fault(name: str) -> str:
    """Why a name may not stand in files and on terminals."""
    if not name.strip() or len(name) > limits.TITLE_CHARS:
        return f"must have 1 to {limits.TITLE_CHARS} characters"
    if find_hostile(name.strip(), single_line=True):
        return "holds characters that a name cannot have"
    return "looks like a credential" if any(found.certain for found in find_secrets(name)) else ""


def planned_files(root: str, name: str | None, now: str, declared: str = "") -> dict[str, bytes]:
    """The files of a new store, by their paths below the memory folder."""
    project_id, title = project_identity(root, name, declared)
    stem = file_stems(project_id)[0]
    body = f"# {title}\n\n{title} {NO_DESCRIPTION}: describe in one or two sentences what it is and for whom."
    node = {
        "id": project_id,
        "type": "project",
        "status": "active",
        "title": title,
        "body_path": f"{NODES}/{stem}.md",
        "tags": [],
        "evidence": [],
        "source": {"kind": "system"},
        "content_hash": body_hash(body),
        "created_at": now,
        "updated_at": now,
    }
    config = {
        "version": STORAGE_VERSION,
        "project": {"id": project_id, "name": title},
        "memory": {"defaultTokenBudget": 2000, "autoIndex": True},
    }
    created = Event(
        event="memory.created", actor="system", timestamp=now, id=project_id, payload={"task": "memory init"}
    )
    files = {f"{SCHEMA}/{name}.schema.json": encode_fields(schema(name)) for name in SCHEMA_NAMES}
    files[f"{NODES}/{stem}.md"] = body.encode()
    files[f"{NODES}/{stem}.json"] = encode_fields(node)
    files[EVENTS] = encode_event(created)
    files[ATTRIBUTES] = _ATTRIBUTES_TEXT.encode()
    # The configuration comes last: a store without it does not exist yet.
    files[CONFIG] = pretty(config)
    return files


def create_store(store: GraphStore, world: World, name: str | None, declared: str = "") -> list[str]:
    """Make the store in one transaction; the paths that were written. What already exists stays."""
    with write_access(store, world, "init"):
        changes = [
            FileUpdate(path=path, data=data, planned=None)
            for path, data in planned_files(store.root, name, timestamp(world.now()), declared).items()
            if not os.path.lexists(store.path(path))
        ]
        apply_changes(store.folder, changes, [], world.token())
    return [change.path for change in changes]


def refresh_schemas(store: GraphStore, world: World) -> list[str]:
    """Bring back schema files that are missing or broken; good ones, whoever wrote them, stay as they are."""
    with write_access(store, world, "init"):
        changes = []
        for name in SCHEMA_NAMES:
            path = f"{SCHEMA}/{name}.schema.json"
            data = read_if_there(store.path(path))
            if data is None or not _is_object(data):
                changes.append(update_of(path, data, encode_fields(schema(name))))
        if changes:
            apply_changes(store.folder, changes, [], world.token())
    return [change.path for change in changes]


def _is_object(data: bytes) -> bool:
    try:
        decode_object(data)
    except ValueError:
        return False
    return True
