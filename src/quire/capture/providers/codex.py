"""Ask Codex: prompt on standard input, read-only sandbox, answer in a file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from quire.capture.providers.call import (
    ANSWER_BYTES,
    ProviderCall,
    ProviderReply,
    answered_too_much,
    cost_of_usage,
    decoded,
    ended_badly,
    program_for,
    room_of,
    run_in_room,
    value_in,
)
from quire.capture.providers.settings import ProgramSettings
from quire.files import disk
from quire.files.json_files import compact
from quire.files.paths import read_bytes, storage_failed
from quire.files.world import World
from quire.model.untyped import as_dict

NAME = "codex"
_SCHEMA, _ANSWER = "schema.json", "answer.json"
_PREFIX = "codex-"
_LEFT_SECONDS = 86_400


def ask_codex(call: ProviderCall) -> ProviderReply:
    path, settings = program_for(NAME, call)
    room = room_of(call.world)
    with _folder(call.world, room, compact(call.schema)) as folder:
        argv = [path, "exec", "-C", room, "--skip-git-repo-check", "--ephemeral", "--sandbox", "read-only", "--json"]
        argv += ["--output-schema", os.path.join(folder, _SCHEMA), "-o", os.path.join(folder, _ANSWER)]
        argv += ["--model", settings.model] if settings.model else []
        done = run_in_room(NAME, [*argv, "-"], call, settings.timeout_seconds)
        events = _events(done.out)
        cost = _cost(events, settings)
        if done.code:
            raise ended_badly(NAME, done, _complaint(events), cost)
        text = _answer(os.path.join(folder, _ANSWER))
    return ProviderReply(
        value=value_in(text or _last_message(events) or done.out.decode("utf-8", "replace")), cost=cost
    )


@contextlib.contextmanager
def _folder(world: World, room: str, schema: bytes) -> Iterator[str]:
    """A folder for the files of one call. What a killed one left a day ago goes, too."""
    folder = os.path.join(room, f"{_PREFIX}{world.pid}-{world.token()}")
    try:
        for name in os.listdir(room):
            old = os.path.join(room, name)
            if name.startswith(_PREFIX) and world.now().timestamp() - os.lstat(old).st_mtime > _LEFT_SECONDS:
                _remove(old)
        disk.make_folder(folder)
        disk.create(os.path.join(folder, _SCHEMA), schema)
    except OSError as error:
        raise storage_failed(error, "write the schema for codex") from error
    try:
        yield folder
    finally:
        _remove(folder)


def _remove(folder: str) -> None:
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            disk.remove(os.path.join(folder, name))
        disk.remove_folder(folder)


def _answer(path: str) -> str:
    try:
        if os.lstat(path).st_size > ANSWER_BYTES:
            raise answered_too_much(NAME)
        return read_bytes(path, ANSWER_BYTES).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _events(out: bytes) -> list[dict[str, Any]]:
    """What it reported while it worked, one JSON object a line; other lines are none of it."""
    found = (decoded(line) for line in out.decode("utf-8", "replace").splitlines() if line.startswith("{"))
    return [event for event in found if isinstance(event, dict) and isinstance(event.get("type"), str)]


def _cost(events: list[dict[str, Any]], settings: ProgramSettings) -> int | None:
    """What the turns took, at our prices; what came from a cache counts in full."""
    used = [event.get("usage") for event in events if event["type"] == "turn.completed"]
    costs = [cost_of_usage(settings, usage, "input_tokens", "output_tokens") for usage in used]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if used and len(known) == len(used) else None


def _last_message(events: list[dict[str, Any]]) -> str:
    for event in reversed(events):
        item = as_dict(event.get("item"))
        if event["type"] == "item.completed" and item.get("type") == "agent_message":
            return str(item.get("text") or "")
    return ""


def _complaint(events: list[dict[str, Any]]) -> str:
    for event in reversed(events):
        error = event.get("error")
        said = error.get("message") if isinstance(error, dict) else event.get("message")
        if event["type"] in ("error", "turn.failed") and isinstance(said, str):
            return said
    return ""
