"""Convert the journal to records of the index: parts of the bundle, events, checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from quire.files.digests import hex_digest
from quire.files.json_files import json_value
from quire.layers.journal.bundles import known, labelled, objects_at, shown, texts_at
from quire.layers.journal.canonical import line_bytes
from quire.layers.journal.layout import FOLDER, SECTION_KEYS, STATE, TOOL_RUN
from quire.layers.journal.numbered_ids import moment_of
from quire.layers.journal.types import Bundle, Checkpoint, Fields, JournalEvent, State
from quire.layers.record_details import As, RecordDetails, line_revision, told_fields
from quire.model.ids import slugify
from quire.model.records import Record
from quire.model.text import cut, one_line, whole
from quire.model.times import timestamp

ACTIVE, ARCHIVED = "active", "archived"
_TITLE_CHARS = 80
_EVENT_WEIGHT = 0.8
"""A session tells of many things: where the bundle says it, the bundle comes first."""
_REPEATING_WEIGHT = 0.3
"""A checkpoint, and the event of a run of ours, repeat what the bundle said then."""
_GOTCHA = (("", "title"), ("Symptom", "symptom"), ("Cause", "cause"), ("Correct path", "correctPath"))
_STEP = (("", "title"), ("Why", "why"), ("Start", "start"), ("Done when", "done"))


def event_ref(event_id: str) -> str:
    return f"event:{event_id}"


def checkpoint_ref(checkpoint_id: str) -> str:
    return f"checkpoint:{checkpoint_id}"


def bundle_records(state: State) -> Iterator[Record]:
    """One for each section; of gotchas and next steps one for each item."""
    bundle = state.bundle
    name = shown(bundle, "project", "name")
    yield _part(state, "project", name or "Project", _project(bundle), bundle.get("project"))
    yield _part(state, "project-map", f"Project map of {name}", _project_map(bundle), bundle.get("projectMap"))
    focus = shown(bundle, "currentFocus", "summary")
    yield _part(state, "current-focus", focus or "Current focus", _focus(bundle), bundle.get("currentFocus"))
    yield from _items(state, "gotchas", _GOTCHA)
    yield from _items(state, "next-steps", _STEP)
    commands = objects_at(bundle, "validationCommands")
    if commands:
        said = (labelled(" ".join(texts_at(item, "command")), known(item, "purpose")) for item in commands)
        yield _part(state, "validation-commands", "Validation commands", said, commands)


def _part(
    state: State, name: str, title: str, lines: Iterable[str], raw: Any, section: str = "", number: int = 0
) -> Record:
    texts = [line for line in lines if line.strip()]
    held = {"at": state.generated_at, "value": raw} | ({"number": number} if number else {})
    return Record(
        ref=f"bundle:{name}",
        layer="journal",
        kind="bundle",
        title=cut(one_line(whole(title)), _TITLE_CHARS) or name,
        text=whole("\n".join(texts)),
        status=ACTIVE,
        path=STATE,
        section=section or name,
        created_at=_time(state.generated_at),
        updated_at=_time(state.generated_at),
        origin=whole(state.provider.name),
        raw=line_bytes(held),
    )


def _items(state: State, section: str, fields: tuple[tuple[str, str], ...]) -> Iterator[Record]:
    taken: dict[str, int] = {}
    for number, item in enumerate(objects_at(state.bundle, SECTION_KEYS[section]), start=1):
        title = shown(item, "title")
        slug = slugify(title, hex_digest)
        taken[slug] = taken.get(slug, 0) + 1
        name = f"{section}.{slug}" + (f"-{taken[slug]}" if taken[slug] > 1 else "")
        yield _part(state, name, title, _said(item, fields), item, section, number)


def _said(item: Fields, fields: tuple[tuple[str, str], ...]) -> Iterator[str]:
    for label, key in fields:
        text = known(item, key)
        if text.strip():
            yield f"{label}: {text}" if label else text


def _project(bundle: Bundle) -> Iterator[str]:
    yield known(bundle, "project", "summary")
    facts = (
        ("Ecosystem", "primaryEcosystem"),
        ("Package manager", "packageManager"),
        ("Workspace", "workspaceManager"),
    )
    yield from _said(bundle.get("project") or {}, facts)
    yield _listed("Key paths", texts_at(bundle, "project", "keyPaths"))


def _project_map(bundle: Bundle) -> Iterator[str]:
    yield from texts_at(bundle, "projectMap", "architectureNotes")
    for key, said in (("modules", "responsibility"), ("entrypoints", "role"), ("denseSourceAreas", "note")):
        yield from (labelled(shown(item, "path"), known(item, said)) for item in objects_at(bundle, "projectMap", key))
    yield _listed("Read first", texts_at(bundle, "projectMap", "firstFilesToRead"))


def _focus(bundle: Bundle) -> Iterator[str]:
    yield known(bundle, "currentFocus", "summary")
    yield from texts_at(bundle, "currentFocus", "currentState")
    yield from (f"Risk: {text}" for text in texts_at(bundle, "currentFocus", "knownRisks"))
    snapshot = ("currentFocus", "validationSnapshot")
    yield shown(bundle, *snapshot, "summary")
    for item in objects_at(bundle, *snapshot, "results"):
        yield f"{shown(item, 'command')} {shown(item, 'status')}: {shown(item, 'summary')}"
    yield from (f"Next: {text}" for text in texts_at(bundle, *snapshot, "suggestedNextActions"))


def _listed(label: str, texts: list[str]) -> str:
    return f"{label}: {', '.join(texts)}" if texts else ""


def event_record(event: JournalEvent, raw: bytes, path: str, ref: str = "", *, archived: bool = False) -> Record:
    created = _time(event.created_at)
    return Record(
        ref=whole(ref or event_ref(event.id)),
        layer="journal",
        kind="event",
        title=cut(one_line(whole(event.summary)), _TITLE_CHARS),
        text=whole("\n".join([event.summary, *signal_lines(event)])),
        status=ARCHIVED if archived else ACTIVE,
        path=path,
        section=event.kind,
        weight=_EVENT_WEIGHT if event.kind != TOOL_RUN else _REPEATING_WEIGHT,
        created_at=created,
        updated_at=created,
        tags=(whole(event.source_id),),
        origin=whole(event.source_id),
        names=tuple(whole(name) for name in (event.external_item_id,) if name),
        # The index keeps what is held as it was: what moved to the archive is not.
        raw=b" " + raw if archived else raw,
    )


def signal_lines(event: JournalEvent) -> list[str]:
    """What an event leaves behind, a line each."""
    signals = event.signals
    return [
        *(f"Decision: {text}" for text in signals.decisions),
        *(f"Gotcha: {text}" for text in signals.gotchas),
        *(f"Step: {text}" for text in signals.next_step_hints),
        *(f"Check: {text}" for text in signals.validation_observations),
        *([f"Paths: {', '.join(signals.key_paths)}"] if signals.key_paths else []),
    ]


def checkpoint_record(checkpoint: Checkpoint, path: str, *, archived: bool = False) -> Record:
    created = _time(checkpoint.created_at)
    bundle = checkpoint.bundle
    titles = [shown(item, "title") for key in ("gotchas", "nextSteps") for item in objects_at(bundle, key)]
    texts = [checkpoint.summary, shown(bundle, "currentFocus", "summary"), *(f"Title: {title}" for title in titles)]
    about: Fields = {
        "eventId": checkpoint.event_id,
        "bundleHash": checkpoint.bundle_hash,
        "summary": checkpoint.summary,
    }
    about |= {"archived": True} if archived else {}
    return Record(
        ref=checkpoint_ref(checkpoint.id),
        layer="journal",
        kind="checkpoint",
        title=cut(one_line(whole(checkpoint.summary)), _TITLE_CHARS),
        text=whole("\n".join(dict.fromkeys(text for text in texts if text.strip()))),
        status=ARCHIVED if archived else ACTIVE,
        path=path,
        section="checkpoint",
        weight=_REPEATING_WEIGHT,
        created_at=created,
        updated_at=created,
        raw=line_bytes(about),
    )


def _time(created_at: str) -> str:
    """A time as the index compares it; empty where it names none."""
    moment = moment_of(created_at)
    return timestamp(moment) if moment else ""


def journal_details(record: Record) -> RecordDetails:
    """A part of the bundle, an event or a checkpoint."""
    held = json_value(record.raw) or {}
    about: list[tuple[str, Any, As]] = [("section", record.section, "text")]
    if record.kind == "event":
        names = (("kind", "kind"), ("source", "sourceId"), ("session", "externalItemId"), ("from", "sourceRef"))
        about = [(name, held.get(key), "text") for name, key in names]
        about.append(("content", held.get("contentHash"), "code"))
    elif record.kind == "checkpoint":
        event = held.get("eventId")
        about = [("event", f"event:{event}" if event else "", "ref"), ("content", held.get("bundleHash"), "code")]
    return RecordDetails(
        path=f"{FOLDER}/{record.path}",
        body=record.text,
        provenance=told_fields(("created", record.created_at, "time"), ("written by", record.origin, "text")),
        fields=told_fields(*about),
        revision=line_revision(record.raw or record.text.encode("utf-8", "replace")),
    )
