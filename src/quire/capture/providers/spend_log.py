"""What was spent on models, by UTC day: `spend.json` in the memory home.

Before a call its upper bound is set aside under a lock; after it the real cost takes its place. Whoever dies in between
leaves what was set aside, and it counts: the file may say too much, never too little. Amounts are whole millionths of a
dollar.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from datetime import UTC
from typing import Annotated, Any, Literal

import msgspec

from quire.capture.providers.failures import SpendRefused
from quire.capture.providers.settings import CEILING_VARIABLE, settings_path
from quire.files.durable_write import ensure_folder, write_file
from quire.files.file_lock import Holder, held
from quire.files.json_files import decode_object, pretty
from quire.files.paths import read_bytes, storage_failed
from quire.files.world import World
from quire.model.errors import InvalidStore
from quire.model.times import timestamp

FILE = "spend.json"
LOCK = "spend.lock"
DAYS = 31
"""How many days are kept."""
MICRO = 1_000_000
_FILE_BYTES = 8 << 20
_LOCK_SECONDS = 10.0

_Amount = Annotated[int, msgspec.Meta(ge=0, le=10**15)]


class Reservation(msgspec.Struct, frozen=True):
    """What is set aside for one call, and where it stands in the file."""

    day: str
    token: str
    amount: int


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """One day: what calls cost, and what is set aside for calls that are under way or never came back."""

    day: str
    spent_usd: float
    open_usd: float
    calls: int


class _Open(msgspec.Struct):
    amount: _Amount
    provider: str
    since: str


class _Day(msgspec.Struct):
    spent: _Amount = 0
    calls: _Amount = 0
    open: dict[str, _Open] = {}

    @property
    def taken(self) -> int:
        return self.spent + sum(item.amount for item in self.open.values())


class _File(msgspec.Struct):
    version: Literal[1] = 1
    unit: Literal["microUsd"] = "microUsd"
    days: dict[Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")], _Day] = {}


def micro(usd: float) -> int:
    """Dollars as whole millionths, rounded up."""
    return math.ceil(round(usd * MICRO, 3))


def reserve(world: World, *, ceiling_usd: float, needed: int, provider: str) -> Reservation:
    """Set an amount aside, if today's ceiling allows it; SpendRefused, and nothing changed, where it does not."""
    ceiling = math.floor(round(ceiling_usd * MICRO, 3))
    if ceiling <= 0:
        raise _refused(provider, 0, 0, needed)
    day = _today(world)
    with _changing(world, day) as file:
        found = file.days.setdefault(day, _Day())
        if found.taken + needed > ceiling:
            raise _refused(provider, ceiling, found.taken, needed)
        token = world.token()
        found.open[token] = _Open(amount=needed, provider=provider, since=timestamp(world.now()))
    return Reservation(day, token, needed)


def settle(world: World, reservation: Reservation, cost: int | None) -> int:
    """Put the real cost in the place of what was set aside; None stands for an unknown one, and takes all of it."""
    charged = reservation.amount if cost is None else max(cost, 0)
    with _changing(world, reservation.day) as file:
        # The day may be gone from the file, or never have been there for whoever moved it away: the cost is kept.
        found = file.days.setdefault(reservation.day, _Day())
        found.open.pop(reservation.token, None)
        found.spent += charged
        found.calls += 1
    return charged


def spent_today(world: World) -> Spent:
    """What of today's ceiling is taken."""
    day = _today(world)
    found = _read(os.path.join(os.path.dirname(settings_path(world)), FILE))[0].days.get(day, _Day())
    waiting = found.taken - found.spent
    return Spent(day=day, spent_usd=found.spent / MICRO, open_usd=waiting / MICRO, calls=found.calls)


def _today(world: World) -> str:
    return world.now().astimezone(UTC).date().isoformat()


@contextlib.contextmanager
def _changing(world: World, day: str) -> Iterator[_File]:
    folder = os.path.dirname(settings_path(world))
    path = os.path.join(folder, FILE)
    try:
        ensure_folder(folder)
        holder = Holder(pid=world.pid, operation="spend", created_at=timestamp(world.now()))
        with held(os.path.join(folder, LOCK), holder, _LOCK_SECONDS, world.sleep):
            file, unknown = _read(path)
            yield file
            # Days of a clock that once went ahead must not push out the one that is counted.
            kept = sorted({*sorted(file.days)[-DAYS:], day} & file.days.keys())
            fields = {**unknown, **msgspec.to_builtins(file), "days": {name: file.days[name] for name in kept}}
            write_file(path, pretty(fields), world.token())
    except OSError as error:
        raise storage_failed(error, "note what is spent on models") from error


def _read(path: str) -> tuple[_File, dict[str, Any]]:
    """The file and all its top-level keys. What cannot be read is no empty file: that would spend everything again."""
    try:
        stored = decode_object(read_bytes(os.path.realpath(path), _FILE_BYTES))
        return msgspec.convert(stored, _File), stored
    except FileNotFoundError:
        return _File(), {}
    except OSError as error:
        raise storage_failed(error, "read what was spent on models") from error
    except (ValueError, msgspec.ValidationError) as error:
        raise InvalidStore(
            f"What was spent on models cannot be read: {error}.",
            hint=f"Nothing is spent until you correct or move `{FILE}` in the memory home. It was not changed.",
            details={"path": path},
        ) from None


def _refused(provider: str, ceiling: int, spent: int, needed: int) -> SpendRefused:
    if ceiling <= 0:
        message = f"No money may be spent on models: the daily ceiling is 0, so {provider} was not asked."
    else:
        message = (
            f"{provider} was not asked: the call could cost up to {needed / MICRO:.4f} USD, and "
            f"{spent / MICRO:.4f} of the {ceiling / MICRO:.2f} USD for today are taken."
        )
    return SpendRefused(
        message,
        provider=provider,
        hint=f"`memory journal providers --ceiling 2` allows two dollars a day, or set {CEILING_VARIABLE}. "
        "Everything also works without a model.",
        details={"ceiling": ceiling / MICRO, "spent": spent / MICRO, "needed": needed / MICRO},
        charge=0,
    )
