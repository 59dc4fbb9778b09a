"""What a call can cost at most, before it, and what it cost, after it, in millionths of a dollar."""

from __future__ import annotations

from typing import Any

from quire.capture.providers.settings import EndpointSettings, ProgramSettings
from quire.capture.providers.spend_log import MICRO, micro

OVERHEAD_TOKENS = {"claude": 8_000, "codex": 40_000, "openai": 200}
"""What a provider adds to our words: instructions of its own, and for a program that works in steps, the steps."""
_COST_MOST = 10_000.0


def most_it_costs(
    provider: str, settings: ProgramSettings | EndpointSettings, prompt_bytes: int, answer_tokens: int
) -> int:
    """The upper bound: no tokenizer makes more tokens than there are bytes."""
    return cost_of_tokens(settings, prompt_bytes + OVERHEAD_TOKENS[provider], answer_tokens)


def cost_of_tokens(settings: ProgramSettings | EndpointSettings, read: int, written: int) -> int:
    usd = read * settings.input_per_million_usd + written * settings.output_per_million_usd
    return micro(usd / MICRO)


def reported_cost(value: Any) -> int | None:
    """A cost in dollars as a provider reports it; None where it is none to believe."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _COST_MOST:
        return None
    return micro(value)
