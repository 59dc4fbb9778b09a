"""Which models may be asked, and for how much a day: `providers.json` in the memory home, and the environment.

Nothing of this is ever read from a repository: a clone must not be able to spend money or to name a program to run.
"""

from __future__ import annotations

import math
import os
from typing import Annotated, Any, Literal

import msgspec

from quire.files.durable_write import ensure_folder, write_file
from quire.files.file_lock import Holder, held
from quire.files.json_files import decode_object, pretty
from quire.files.paths import read_bytes, storage_failed
from quire.files.world import World
from quire.model.errors import InputError, InvalidStore, NotReady, UnsupportedVersion
from quire.model.times import timestamp

FILE = "providers.json"
LOCK = "providers.lock"
VERSION = 1
CEILING_VARIABLE = "AGENT_MEMORY_SPEND_CEILING"
BINARY_VARIABLES = {"claude": "AGENT_MEMORY_CLAUDE_BIN", "codex": "AGENT_MEMORY_CODEX_BIN"}
PROVIDERS = ("claude", "codex", "openai")
_FILE_BYTES = 1 << 20
_LOCK_SECONDS = 5.0

_Price = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]
_Seconds = Annotated[float, msgspec.Meta(gt=0, le=3_600)]
_Name = Annotated[str, msgspec.Meta(max_length=1_000, pattern=r"^[^\x00-\x1f]*$")]


class ProgramSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A program that asks a model. An empty binary is its usual name on the path; an empty model, its own choice."""

    binary: _Name = ""
    model: _Name = ""
    timeout_seconds: _Seconds = 300.0
    input_per_million_usd: _Price = 15.0
    output_per_million_usd: _Price = 75.0


class EndpointSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An endpoint that speaks the chat protocol of OpenAI. The key stands in the environment, under this name."""

    base_url: _Name = "https://api.openai.com/v1"
    model: _Name = ""
    key_variable: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")] = "OPENAI_API_KEY"
    timeout_seconds: _Seconds = 120.0
    input_per_million_usd: _Price = 15.0
    output_per_million_usd: _Price = 75.0


class ProviderSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The settings as the file has them; with a ceiling of zero, which is the usual one, no model is ever asked."""

    daily_ceiling_usd: _Price = 0.0
    claude: ProgramSettings = ProgramSettings()
    codex: ProgramSettings = ProgramSettings()
    openai: EndpointSettings = EndpointSettings()


class _Version(msgspec.Struct, frozen=True):
    version: Literal[1]


def settings_path(world: World) -> str:
    return os.path.join(_home(world), FILE)


def read_settings(world: World) -> ProviderSettings:
    """What the user allows; where there is no file, nothing. A damaged file is an error, never a default."""
    if not world.memory_home:
        return ProviderSettings()
    return _settings(_stored(settings_path(world)))


def write_settings(world: World, settings: ProviderSettings) -> None:
    """Put the settings into the file. What others wrote there stays; a damaged file is not touched."""
    path = settings_path(world)
    folder = os.path.dirname(path)
    try:
        ensure_folder(folder)
        holder = Holder(pid=world.pid, operation="providers", created_at=timestamp(world.now()))
        with held(os.path.join(folder, LOCK), holder, _LOCK_SECONDS, world.sleep):
            stored = _stored(path)
            _settings(stored)
            write_file(path, settings_bytes(settings, stored), world.token())
    except OSError as error:
        raise storage_failed(error, "write the settings of the providers") from error


def settings_bytes(settings: ProviderSettings, stored: dict[str, Any] | None = None) -> bytes:
    """The file. Values that are the usual ones are written only where `stored`, the file so far, names them."""
    wanted, usual = msgspec.to_builtins(settings), msgspec.to_builtins(ProviderSettings())
    try:
        msgspec.convert(wanted, ProviderSettings)
    except msgspec.ValidationError as error:
        raise InputError(
            f"These settings of providers cannot be used: {error}.", hint="Nothing was written; correct the value."
        ) from None
    merged: dict[str, Any] = {"version": VERSION, **_merged(stored or {}, wanted, usual)}
    merged["dailyCeilingUsd"] = settings.daily_ceiling_usd
    return pretty(merged)


def ceiling_of(settings: ProviderSettings, world: World) -> float:
    """How many dollars may be spent on one day: what the environment says, else the settings."""
    named = world.env.get(CEILING_VARIABLE, "").strip()
    if not named:
        return settings.daily_ceiling_usd
    try:
        ceiling = float(named)
    except ValueError:
        ceiling = math.nan
    if not 0 <= ceiling <= 1_000_000:
        raise InputError(
            f"{CEILING_VARIABLE} is `{named[:40]}`, which is not an amount of dollars.",
            hint="Give a number such as 2.50, or unset it. Nothing was spent.",
            details={"field": CEILING_VARIABLE},
        )
    return ceiling


def binary_of(provider: str, settings: ProviderSettings, world: World) -> str:
    """The name or the path of a provider's program."""
    found: ProgramSettings = getattr(settings, provider)
    return world.env.get(BINARY_VARIABLES[provider], "").strip() or found.binary.strip() or provider


def _home(world: World) -> str:
    if not world.memory_home:
        raise NotReady("There is no home folder for the settings.", hint="Set MEMORY_HOME to a folder of yours.")
    named = world.env.get("MEMORY_HOME", "")
    if named and not os.path.isabs(named):
        # Else the folder one happens to stand in, a clone perhaps, would say what may be spent.
        raise NotReady(
            f"MEMORY_HOME is `{named[:200]}`, a relative path: the settings of the providers are not looked for there.",
            hint="Set MEMORY_HOME to an absolute path.",
        )
    return world.memory_home


def _stored(path: str) -> dict[str, Any]:
    """The file as it stands; a link is followed, since people keep such files elsewhere."""
    try:
        return decode_object(read_bytes(os.path.realpath(path), _FILE_BYTES))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise storage_failed(error, "read the settings of the providers") from error
    except ValueError as error:
        raise _damaged(path, str(error)) from None


def _settings(stored: dict[str, Any]) -> ProviderSettings:
    if not stored:
        return ProviderSettings()
    version = stored.get("version")
    if isinstance(version, int) and version > VERSION:
        raise UnsupportedVersion(
            f"`{FILE}` has version {version}; this program knows version {VERSION}.",
            hint="Use the program that wrote it, or move the file away. It was not changed.",
            details={"version": version},
        )
    try:
        msgspec.convert(stored, _Version)
        return msgspec.convert(stored, ProviderSettings)
    except msgspec.ValidationError as error:
        raise _damaged(FILE, str(error)) from None


def _damaged(path: str, reason: str) -> InvalidStore:
    return InvalidStore(
        f"The settings of the providers cannot be read: {reason}.",
        hint=f"Correct `{os.path.basename(path)}` in the memory home, or move it away. It was not changed.",
        details={"path": path},
    )


def _merged(stored: dict[str, Any], wanted: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    found = dict(stored)
    for name, value in wanted.items():
        if isinstance(value, dict):
            before = stored.get(name)
            inner = _merged(before if isinstance(before, dict) else {}, value, usual[name])
            if inner or name in stored:
                found[name] = inner
        elif name in stored or value != usual[name]:
            found[name] = value
    return found
