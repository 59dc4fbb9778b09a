"""Write the summary of a compaction with a provider."""

from __future__ import annotations

from typing import Any

from quire.capture.providers.ask import ask
from quire.capture.providers.fit_prompt import PromptBlock, Trim
from quire.capture.providers.requests import Task
from quire.capture.providers.settings import ProviderSettings
from quire.capture.summariser import ANSWER_CHARS, SummaryRequest
from quire.files.world import World

_WORDS = (
    "You summarise the part of a conversation with a coding agent that is about to be forgotten.",
    "Write Markdown with the headings Goal, Constraints & Preferences, Done, In Progress, Blocked, Key Decisions, Next "
    "Steps, Critical Context, each `## `, one bullet an entry; leave out a heading with nothing to say.",
    "PREVIOUS_SUMMARY and PINS_JSON are kept as they are whatever you write: repeat neither.",
    "SUMMARY_INSTRUCTIONS, where it is not empty, is what the user wants the summary to dwell on.",
)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["markdown"],
    "properties": {"markdown": {"type": "string"}},
}


class ProviderSummariser:
    """What `compact` may be given as a summariser. Where the provider fails, the error says why."""

    def __init__(self, provider: str, *, settings: ProviderSettings, world: World, root: str) -> None:
        self.name = provider
        self._settings, self._world, self._root = settings, world, root

    def __call__(self, request: SummaryRequest) -> str:
        task = _task(request)
        found = ask(task, provider=self.name, settings=self._settings, world=self._world, root=self._root)
        return str(found.value["markdown"])


def _task(request: SummaryRequest) -> Task:
    return Task(
        name="summary",
        words=_WORDS,
        blocks=(
            PromptBlock("SUMMARY_INSTRUCTIONS", request.instructions),
            PromptBlock("PREVIOUS_SUMMARY", request.previous),
            PromptBlock("PINS_JSON", [{"id": pin.id, "content": pin.content} for pin in request.pins]),
            PromptBlock("CONVERSATION", request.evicted),
        ),
        # Most of the room is the conversation's, but not all of it: its latest words matter more than an old summary.
        trims=(
            Trim("PINS_JSON", "", "items"),
            Trim("PREVIOUS_SUMMARY", "", "start"),
            Trim("CONVERSATION", "", "start"),
        ),
        schema=_SCHEMA,
        problems=_problems,
        answer_tokens=4_000,
    )


def _problems(value: Any) -> list[str]:
    text = value.get("markdown")
    if not isinstance(text, str) or not text.strip():
        return ["markdown must be a non-empty string."]
    return [f"markdown must have at most {ANSWER_CHARS:,} characters."] if len(text) > ANSWER_CHARS else []
