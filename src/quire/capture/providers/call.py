"""One call to a provider: its input, its answer, its cost, and what an exit of the program means."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from quire.capture.providers.availability import child_environment, find_program
from quire.capture.providers.failures import (
    BadAnswer,
    ProgramMissing,
    ProviderFailed,
    SignedOut,
    TimedOut,
    last_words,
    says_signed_out,
)
from quire.capture.providers.settings import EndpointSettings, ProgramSettings, ProviderSettings
from quire.capture.providers.spend_log import MICRO, micro
from quire.files.durable_write import ensure_folder
from quire.files.paths import storage_failed
from quire.files.programs import Finished, run_program
from quire.files.world import World
from quire.layers.journal.canonical import decode_json
from quire.model.untyped import as_dict

_FENCE = re.compile(r"\A\s*(?:```|~~~)[\w-]*[ \t]*\n(.*)\n[ \t]*(?:```|~~~)\s*\Z", re.S)

OVERHEAD_TOKENS = {"claude": 8_000, "codex": 40_000, "openai": 200}
"""What a provider adds to our words: instructions of its own, and for a program that works in steps, the steps."""
_COST_MOST = 10_000.0

ROOM = "provider-room"
"""An empty folder in the memory home in which the programs run.

Never the project: they would read its settings, and with them start programs and follow orders that a clone brought
along.
"""
ANSWER_BYTES = 4 * 1024 * 1024
_SIGN_IN = {"claude": "Run `claude` once and sign in.", "codex": "Run `codex login`."}


class ProviderCall(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for, once. `allowed` is what is set aside for it, in millionths of a dollar."""

    name: str
    prompt: str
    schema: dict[str, Any]
    answer_tokens: int
    settings: ProviderSettings
    world: World
    root: str
    allowed: int = 0

    @property
    def allowed_usd(self) -> str:
        return f"{self.allowed / MICRO:.6f}"


class ProviderReply(msgspec.Struct, frozen=True, kw_only=True):
    """What came back. Without a value there was no JSON object in it; a cost of None is one that nobody reported."""

    value: Any
    cost: int | None


def program_for(provider: str, call: ProviderCall) -> tuple[str, ProgramSettings]:
    """The program and its settings; ProgramMissing where there is none."""
    settings: ProgramSettings = getattr(call.settings, provider)
    return find_program(provider, call.settings, call.world, call.root), settings


def room_of(world: World) -> str:
    path = os.path.join(world.memory_home, ROOM)
    try:
        ensure_folder(path)
    except OSError as error:
        raise storage_failed(error, "make a folder for the provider to run in") from error
    return path


def run_in_room(provider: str, argv: Sequence[str], call: ProviderCall, seconds: float, **more: str) -> Finished:
    """Run a provider's program on the prompt. What did not start, or took too long, is an error already."""
    done = run_program(
        argv,
        cwd=room_of(call.world),
        env=child_environment(call.world, **more),
        stdin=call.prompt.encode("utf-8"),
        seconds=seconds,
        most=ANSWER_BYTES,
        end_when_long=True,
    )
    if done.missing:
        raise ProgramMissing(
            f"{provider} could not be started: {done.missing}.",
            provider=provider,
            hint=f"Run `{os.path.basename(argv[0])} --version` to see what is wrong with it.",
            charge=0,
        )
    if done.timed_out:
        raise TimedOut(
            f"{provider} did not answer within {seconds:g} s and was stopped.",
            provider=provider,
            hint=f"Try again later, or raise `{provider}.timeoutSeconds` in `providers.json` in the memory home.",
            details={"seconds": seconds},
        )
    if done.too_long:
        raise answered_too_much(provider)
    return done


def answered_too_much(provider: str) -> BadAnswer:
    return BadAnswer(
        f"{provider} answered more than {ANSWER_BYTES // (1024 * 1024)} MiB, which is too much for an answer.",
        provider=provider,
        hint="Nothing was changed. Try again, or use no model.",
        details={"limit": ANSWER_BYTES},
    )


def ended_badly(provider: str, done: Finished, said: str = "", charge: int | None = None) -> ProviderFailed:
    """The error of a program that ended with a failure; `said` is its own account of it, where it gave one."""
    streams = (said.encode("utf-8", "replace"), done.err, done.out)
    if says_signed_out(*streams):
        return SignedOut(
            f"{provider} is not signed in.", provider=provider, hint=_SIGN_IN[provider], charge=charge or 0
        )
    words = last_words(*streams)
    return ProviderFailed(
        f"{provider} failed{f' with exit code {done.code}' if done.code else ''}{f': {words}' if words else '.'}",
        provider=provider,
        hint="Nothing was changed. Try again later, or use no model.",
        details={"exit_code": done.code},
        charge=charge,
    )


def cost_of_tokens(settings: ProgramSettings | EndpointSettings, read: int, written: int) -> int:
    usd = read * settings.input_per_million_usd + written * settings.output_per_million_usd
    return micro(usd / MICRO)


def cost_of_usage(settings: ProgramSettings | EndpointSettings, usage: Any, read: str, written: str) -> int | None:
    """The cost of the tokens that a provider counts under these names; None where it counts none to believe."""
    counts: list[Any] = [as_dict(usage).get(name) for name in (read, written)]
    known = all(isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in counts)
    return cost_of_tokens(settings, *counts) if known else None


def reported_cost(value: Any) -> int | None:
    """A cost in dollars as a provider reports it; None where it is none to believe."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _COST_MOST:
        return None
    return micro(value)


def value_in(text: str) -> Any:
    """The JSON object in a text, or None."""
    fenced = _FENCE.match(text)
    text = (fenced[1] if fenced else text).strip()
    found = decoded(text)
    if found is None:
        start, end = text.find("{"), text.rfind("}")
        found = decoded(text[start : end + 1]) if 0 <= start < end else None
    return found if isinstance(found, dict) else None


def decoded(text: str) -> Any:
    """A JSON value, or None where the text is none."""
    try:
        return decode_json(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return None
