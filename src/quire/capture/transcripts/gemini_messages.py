"""What the messages of the Gemini CLI say: those of recorded chats, and those that its model is sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quire.capture.transcripts.lenient_json import moment
from quire.capture.transcripts.parser import Parser
from quire.capture.transcripts.types import Turn
from quire.model.untyped import as_dict, as_list, as_text

_ROLES = {"user": "user", "gemini": "assistant", "model": "assistant"}
_TOLD = ("info", "warning", "error")
_SNAPSHOT = "<state_snapshot>"
"""How the text begins that takes the place of a compacted conversation."""


class GeminiParser(Parser):
    """Messages of recorded chats, and those that the model is sent, which saved conversations hold."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._is_subagent = False

    def turns(self, record: dict[str, Any]) -> Iterator[Turn]:
        kind = as_text(record.get("type")) or as_text(record.get("role"))
        if not kind:
            self._begin(record)
        elif kind in _TOLD:
            text, at = _text(record.get("content")), moment(record.get("timestamp"))
            yield Turn(role="system", text=text, at=at, is_error=kind == "error", is_subagent=self._is_subagent)
        elif kind in _ROLES:
            yield from self._message(record, _ROLES[kind])

    def _begin(self, record: dict[str, Any]) -> None:
        self.noted("", record.get("summary"))
        if record.get("kind") == "subagent":
            self._is_subagent = True
            self.agent(record.get("sessionId"))

    def _message(self, record: dict[str, Any], role: str) -> Iterator[Turn]:
        at = record.get("timestamp")
        content = record.get("parts") if "parts" in record else record.get("displayContent") or record.get("content")
        for answer in _parts(content, "functionResponse"):
            text, failed = _answer(answer.get("response"))
            yield from self._result(as_text(answer.get("id")), as_text(answer.get("name")), text, at, failed=failed)
        text = _text(content)
        if text.lstrip().startswith(_SNAPSHOT):
            self.compactions += 1
            yield Turn(role="system", text=text, at=moment(at), is_subagent=self._is_subagent, is_summary=True)
        elif text:
            yield Turn(role=role, text=text, at=moment(at), is_subagent=self._is_subagent)
        for call in _parts(content, "functionCall"):
            yield from self._call(call, at)
        for call in map(as_dict, as_list(record.get("toolCalls"))):
            yield from self._call(call, call.get("timestamp") or at)
            if call.get("status") in ("success", "error", "cancelled"):
                text, failed = _result_text(call)
                when = call.get("timestamp") or at
                yield from self._result(as_text(call.get("id")), as_text(call.get("name")), text, when, failed=failed)

    def _call(self, call: dict[str, Any], at: Any) -> Iterator[Turn]:
        name, tool = as_text(call.get("id")), as_text(call.get("name"))
        yield from self.called(name, tool, as_dict(call.get("args")), at, subagent=self._is_subagent)

    def _result(self, name: str, tool: str, text: str, at: Any, *, failed: bool) -> Iterator[Turn]:
        yield from self.answered(name, text, at, failed=failed, subagent=self._is_subagent, tool=tool)


def _parts(content: Any, key: str) -> Iterator[dict[str, Any]]:
    for part in content if isinstance(content, list) else (content,):
        found = as_dict(as_dict(part).get(key))
        if found:
            yield found


def _text(content: Any) -> str:
    """The texts of a content, which is a text, a part, or a list of both. Thoughts are not said."""
    parts = content if isinstance(content, list) else [content]
    texts = (
        as_text(part) or ("" if as_dict(part).get("thought") else as_text(as_dict(part).get("text"))) for part in parts
    )
    return "\n".join(text for text in texts if text)


def _answer(response: Any) -> tuple[str, bool]:
    told = as_dict(response)
    error = as_text(told.get("error"))
    return (error, True) if error else (as_text(told.get("output")) or as_text(response), False)


def _result_text(call: dict[str, Any]) -> tuple[str, bool]:
    answers = [_answer(part.get("response")) for part in _parts(call.get("result"), "functionResponse")]
    text = "\n".join(text for text, _ in answers if text) or _text(call.get("result"))
    failed = call.get("status") == "error" or any(failed for _, failed in answers)
    return text or as_text(call.get("resultDisplay")), failed
