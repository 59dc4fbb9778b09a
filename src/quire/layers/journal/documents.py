"""Convert journal files to records and back; unknown keys are kept."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, get_args, get_origin

import msgspec

from quire.layers.journal.canonical import content_hash, decode_json
from quire.layers.journal.layout import CHECKPOINTS, DAEMON, DAEMON_LOCK, FOLDER, LATEST_RUN, SCHEMA_VERSION, STATE
from quire.layers.journal.shapes import CHECKPOINT
from quire.layers.journal.types import (
    ArchiveManifest,
    Bundle,
    Checkpoint,
    Daemon,
    DaemonLock,
    Fields,
    Maintenance,
    Provider,
    Run,
    State,
)
from quire.layers.journal.value_shapes import Object, find_faults, shape_of
from quire.model.contested import IN_CONFLICT
from quire.model.errors import InvalidStore, UnsupportedVersion
from quire.model.text import cut

_BY_HAND = "Correct it by hand, or restore an earlier version from git. It was not changed."
RecordT = TypeVar("RecordT", bound=msgspec.Struct)


def parse_document(data: bytes, where: str) -> Any:
    """The value in a file; InvalidStore that says where it stops being one."""
    if not data.strip():
        raise damaged(where, "it is empty")
    try:
        return decode_json(data)
    except ValueError as error:
        if b"<<<<<<<" in data:
            raise damaged(where, "it holds merge conflict marks", hint=IN_CONFLICT) from None
        raise damaged(where, f"it is not JSON: {error}") from None


def read_state(value: Any, where: str = f"{FOLDER}/{STATE}") -> State:
    version = value.get("schemaVersion", SCHEMA_VERSION) if isinstance(value, dict) else SCHEMA_VERSION
    if isinstance(version, int | str) and not isinstance(version, bool) and version != SCHEMA_VERSION:
        raise UnsupportedVersion(
            f"`{where}` has schema version `{cut(str(version), 40)}`; this program reads and writes {SCHEMA_VERSION}.",
            hint="Use a program of that version, or create the memory again with `memory journal init`.",
            details={"path": where, "version": version, "supported": SCHEMA_VERSION},
        )
    return _read(State, value, "state", where)


def read_checkpoint(value: Any, where: str = f"{FOLDER}/{CHECKPOINTS}") -> Checkpoint:
    return _read(Checkpoint, value, "checkpoint", where, CHECKPOINT)


def read_manifest(value: Any, where: str) -> ArchiveManifest:
    return _read(ArchiveManifest, value, "manifest", where)


def read_daemon(value: Any, where: str = f"{FOLDER}/{DAEMON}") -> Daemon:
    return _read(Daemon, value, "daemon", where)


def read_daemon_lock(value: Any, where: str = f"{FOLDER}/{DAEMON_LOCK}") -> DaemonLock:
    return _read(DaemonLock, value, "lock", where)


def read_run(value: Any, where: str = f"{FOLDER}/{LATEST_RUN}") -> Run:
    return _read(Run, value, "run", where)


def new_state(
    bundle: Bundle, *, provider: Provider, generated_at: str, maintenance: Maintenance, extra: Fields | None = None
) -> State:
    """A state whose hash is that of its bundle."""
    return State(
        provider=provider,
        generated_at=generated_at,
        bundle_hash=content_hash(bundle),
        bundle=bundle,
        maintenance=maintenance,
        extra=extra or {},
    )


def new_checkpoint(
    bundle: Bundle, *, checkpoint_id: str, created_at: str, event_id: str | None, summary: str
) -> Checkpoint:
    return Checkpoint(
        id=checkpoint_id,
        created_at=created_at,
        event_id=event_id,
        bundle_hash=content_hash(bundle),
        bundle=bundle,
        summary=summary,
    )


def damaged(where: str, reason: str, faults: list[str] | None = None, hint: str = _BY_HAND) -> InvalidStore:
    return InvalidStore(
        f"`{where}` cannot be used: {reason.removesuffix('.')}.",
        hint=hint,
        details={"path": where, **({"problems": faults} if faults else {})},
    )


def _read(kind: type[RecordT], value: Any, name: str, where: str, shape: Object | None = None) -> RecordT:
    faults = find_faults(shape or shape_of(kind), value, name)
    if faults:
        raise damaged(where, " ".join(faults), faults)
    return record_from(kind, value)


def record_from(kind: type[RecordT], value: Fields) -> RecordT:
    """The record that an object of the right shape describes."""
    known: Fields = {}
    extra = dict(value)
    for name, stored, convert in _fields(kind):
        if stored in extra:
            item = extra.pop(stored)
            known[name] = convert(item) if convert else item
    if extra:
        known["extra"] = extra
    return kind(**known)


def value_of(record: msgspec.Struct) -> Fields:
    """The object that is stored for a record: known keys in their order, then the others in theirs."""
    value: Fields = {}
    for name, stored, _ in _fields(type(record)):
        value[stored] = _stored(getattr(record, name))
    for name, item in getattr(record, "extra", {}).items():
        value.setdefault(name, item)
    return value


def _stored(item: Any) -> Any:
    if isinstance(item, msgspec.Struct):
        return value_of(item)
    return [_stored(one) for one in item] if isinstance(item, tuple) else item


@functools.cache
def _fields(kind: type[msgspec.Struct]) -> list[tuple[str, str, Callable[[Any], Any] | None]]:
    """Our name, the stored name, and what makes a record of what is stored there."""
    return [
        (field.name, field.encode_name, _converter(field.type))
        for field in msgspec.structs.fields(kind)
        if field.name != "extra"
    ]


def _converter(kind: Any) -> Callable[[Any], Any] | None:
    kind = getattr(kind, "__origin__", kind) if hasattr(kind, "__metadata__") else kind
    if get_origin(kind) is tuple:
        inner = _converter(get_args(kind)[0])
        return tuple if inner is None else lambda items: tuple(map(inner, items))
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return functools.partial(record_from, kind)
    return None
