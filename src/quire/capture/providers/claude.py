"""Ask Claude Code: prompt on standard input, no tools, one JSON object back."""

from __future__ import annotations

from typing import Any

from quire.capture.providers.call import (
    ProviderCall,
    ProviderReply,
    decoded,
    ended_badly,
    program_for,
    reported_cost,
    run_in_room,
    value_in,
)
from quire.files.json_files import compact

NAME = "claude"
# The answer itself is passed on in a turn of its own, and one that misses the schema is put right in another.
_TURNS = "3"
_SYSTEM = "You turn data about a software project into one JSON object. You have no tools and ask no questions."
_NO_HOOKS = '{"disableAllHooks":true}'
_DEPTH = 3


def ask_claude(call: ProviderCall) -> ProviderReply:
    path, settings = program_for(NAME, call)
    argv = [path, "-p", "--output-format", "json", "--json-schema", compact(call.schema).decode("utf-8")]
    argv += ["--tools", "", "--max-turns", _TURNS, "--max-budget-usd", call.allowed_usd, "--system-prompt", _SYSTEM]
    argv += ["--no-session-persistence", "--permission-mode", "dontAsk", "--strict-mcp-config"]
    argv += ["--setting-sources", "user", "--settings", _NO_HOOKS]
    argv += ["--model", settings.model] if settings.model else []
    limit = {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(call.answer_tokens)}
    done = run_in_room(NAME, argv, call, settings.timeout_seconds, **limit)
    text = done.out.decode("utf-8", "replace")
    envelope = _envelope(decoded(text.strip()))
    if envelope is None:
        if done.code:
            raise ended_badly(NAME, done)
        return ProviderReply(value=value_in(text), cost=None)
    cost = reported_cost(envelope.get("total_cost_usd"))
    if done.code or envelope.get("is_error") is True:
        said = envelope.get("result") or envelope.get("subtype")
        raise ended_badly(NAME, done, said if isinstance(said, str) else "", cost)
    return ProviderReply(value=_unwrapped(envelope), cost=cost)


def _envelope(value: Any) -> dict[str, Any] | None:
    """The report around an answer. With a verbose setting it is the last of a list."""
    if isinstance(value, list):
        found = [item for item in value if isinstance(item, dict) and item.get("type") == "result"]
        return found[-1] if found else None
    if not isinstance(value, dict):
        return None
    marks = value.get("type") == "result" or "structured_output" in value
    return value if marks or ("result" in value and "total_cost_usd" in value) else None


def _unwrapped(envelope: dict[str, Any]) -> Any:
    """The answer in an envelope, or in one that was put into it once more."""
    inside: Any = envelope
    for _ in range(_DEPTH):
        structured, result = inside.get("structured_output"), inside.get("result")
        inside = structured if isinstance(structured, dict) else value_in(result) if isinstance(result, str) else result
        if not isinstance(inside, dict) or _envelope(inside) is None:
            return inside if isinstance(inside, dict) else None
    return None
