"""Ask a model within the spending limit; check the answer, and ask once more if it does not fit.

Nothing is tried out beforehand and nothing is remembered between commands. At most two calls are made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from quire.capture.providers.availability import INSIDE_VARIABLE, belongs_to
from quire.capture.providers.call import OVERHEAD_TOKENS, ProviderCall, ProviderReply, cost_of_tokens, program_for
from quire.capture.providers.failures import BadAnswer, ProviderFailed, SpendRefused
from quire.capture.providers.prompts import PROMPT_BYTES, Prompt, build_prompt
from quire.capture.providers.requests import Task
from quire.capture.providers.settings import PROVIDERS, ProviderSettings, ceiling_of, settings_path
from quire.capture.providers.spend_log import MICRO, Reservation, reserve, settle
from quire.files.world import World
from quire.model.errors import InputError, NotReady, QuireError


class ProviderAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A value that fits, and what it took. `left_out` tells by place what of the request did not fit the prompt."""

    value: dict[str, Any]
    provider: str
    cost_usd: float
    calls: int
    warnings: tuple[str, ...] = ()
    left_out: dict[str, int] = {}


def ask(
    task: Task, *, provider: str, settings: ProviderSettings, world: World, root: str, prompt_bytes: int = PROMPT_BYTES
) -> ProviderAnswer:
    """Ask a provider. Every way it can fail is a ProviderFailed, and leaves nothing but a note of what was spent."""
    if provider not in PROVIDERS:
        raise InputError(
            f"Unknown provider `{provider[:40]}`.",
            hint=f"Name one of {', '.join(PROVIDERS)}.",
            details={"field": "provider"},
        )
    asking = _Asking(task, provider, settings, world, root, prompt_bytes)
    asking.refuse_unasked()
    return asking.answer()


class _Asking:
    """One request on its way: the calls so far, what they cost, what is to be told of them."""

    def __init__(
        self, task: Task, provider: str, settings: ProviderSettings, world: World, root: str, prompt_bytes: int
    ) -> None:
        self._task, self._provider, self._settings = task, provider, settings
        self._world, self._root, self._most = world, root, prompt_bytes
        self._ceiling = ceiling_of(settings, world)
        self._calls = self._cost = 0
        self._warnings: list[str] = []

    def refuse_unasked(self) -> None:
        """What no ceiling allows: to be asked by what we asked ourselves, or with settings that a project holds."""
        if self._ceiling <= 0:
            reserve(self._world, ceiling_usd=0, needed=0, provider=self._provider)
        if self._world.env.get(INSIDE_VARIABLE):
            raise NotReady(
                "A provider must not call another provider.", hint="Run the command outside of the provider."
            )
        if belongs_to(settings_path(self._world), self._root, self._world):
            raise NotReady(
                "The memory home is inside the project, and a project must not set the spending limit.",
                hint="Set MEMORY_HOME to a folder outside of the project.",
            )

    def answer(self) -> ProviderAnswer:
        faults: list[str] = []
        prompt = self._prompt(faults)
        while self._calls < 2:
            reply = self._call(prompt)
            if reply is None:
                break
            faults = _faults(self._task, reply)
            if not faults:
                return ProviderAnswer(
                    value=reply.value,
                    provider=self._provider,
                    cost_usd=self._cost / MICRO,
                    calls=self._calls,
                    warnings=(*self._told_of(prompt), *self._warnings),
                    left_out=prompt.left_out,
                )
            prompt = self._prompt(faults)
        raise BadAnswer(
            f"{self._provider} gave an unusable answer: {faults[0]}",
            provider=self._provider,
            hint="Nothing was changed. Try another model, or none.",
            details={"faults": faults[:20], "calls": self._calls, "cost": self._cost / MICRO},
        )

    def _prompt(self, faults: list[str]) -> Prompt:
        return build_prompt(self._task, self._world.token(), most=self._most, faults=faults)

    def _call(self, prompt: Prompt) -> ProviderReply | None:
        """One call; None where the ceiling does not allow a second one."""
        call = ProviderCall(
            name=self._task.name,
            prompt=prompt.text,
            schema=self._task.schema,
            answer_tokens=self._task.answer_tokens,
            settings=self._settings,
            world=self._world,
            root=self._root,
        )
        make = self._ready(call)
        # The upper bound: no tokenizer makes more tokens than there are bytes.
        read = prompt.size + len(msgspec.json.encode(call.schema)) + OVERHEAD_TOKENS[self._provider]
        needed = cost_of_tokens(getattr(self._settings, self._provider), read, call.answer_tokens)
        try:
            aside = reserve(self._world, ceiling_usd=self._ceiling, needed=needed, provider=self._provider)
        except SpendRefused:
            if self._calls:
                return None
            raise
        self._calls += 1
        try:
            reply = make(msgspec.structs.replace(call, allowed=needed))
        except ProviderFailed as failure:
            self._settle(aside, failure.charge)
            failure.details.update(calls=self._calls, cost=self._cost / MICRO)
            raise
        self._settle(aside, reply.cost)
        return reply

    def _ready(self, call: ProviderCall) -> Callable[[ProviderCall], ProviderReply]:
        """The provider's way to be asked, once all is there: what is missing is reported before money is set aside."""
        if self._provider == "openai":
            from quire.capture.providers.openai import ask_openai, endpoint_of

            endpoint_of(call.settings.openai, call.world)
            return ask_openai
        program_for(self._provider, call)
        if self._provider == "claude":
            from quire.capture.providers.claude import ask_claude

            return ask_claude
        from quire.capture.providers.codex import ask_codex

        return ask_codex

    def _settle(self, aside: Reservation, cost: int | None) -> None:
        """Where this cannot be written, what was set aside stays counted; the answer is not lost for it."""
        self._cost += aside.amount if cost is None else cost
        if cost is None:
            self._warnings.append(
                f"{self._provider} did not report its cost; the {aside.amount / MICRO:.4f} USD set aside count."
            )
        elif cost > aside.amount:
            self._warnings.append(
                f"{self._provider} cost {cost / MICRO:.4f} USD, more than the {aside.amount / MICRO:.4f} expected."
            )
        try:
            settle(self._world, aside, cost)
        except QuireError as error:
            said = f"The cost could not be recorded, so the reserved amount stays counted: {error.message}"
            self._warnings.append(said)

    def _told_of(self, prompt: Prompt) -> list[str]:
        told = [
            f"{place} was shortened for the provider ({count:,} left out)." for place, count in prompt.left_out.items()
        ]
        return [*told, *([f"{prompt.secrets} secrets were removed from the prompt."] if prompt.secrets else [])]


def _faults(task: Task, reply: ProviderReply) -> list[str]:
    if reply.value is None:
        return ["The answer must be one JSON object."]
    return task.problems(reply.value)
