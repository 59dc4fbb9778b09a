"""The summary of a session: what was asked for first, and how it ended, in one or two sentences."""

from __future__ import annotations

from quire.capture.quotable_text import quote
from quire.capture.signals.speeches import Speech
from quire.capture.signals.words import is_safe, tidy

_REQUEST_CHARS = _RESULT_CHARS = 200
_NOTHING = "Nothing was said in this session."
_ENDS = (".", "!", "?", "…", "。", "！", "？")
_NO_RESULT = frozenset(("plan", "maybe"))


class Story:
    """What a session was about, as far as it was heard."""

    def __init__(self) -> None:
        self._request = self._stand_in = self._result = ""

    def hear(self, speech: Speech) -> None:
        if speech.is_summary:
            self._stand_in = self._stand_in or _wanted(speech)
        elif speech.by == "user":
            self._request = self._request or _request(speech)
        else:
            self._result = tidy(_result(speech)) or self._result

    def text(self, checks: tuple[str, ...]) -> str:
        request, result = self._request or self._stand_in, self._result or (checks[-1] if checks else "")
        parts = (("Asked", quote(tidy(request), _REQUEST_CHARS)), ("Result", quote(result, _RESULT_CHARS)))
        told = " ".join(f"{name}: {_ended(text)}" for name, text in parts if text)
        return told if is_safe(told) else _NOTHING


def _request(speech: Speech) -> str:
    """The first sentence that asks for something, with the next one where both are short."""
    safe = [one for one in speech.sentences if one.stems and is_safe(one.text)]
    first = next((at for at, one in enumerate(safe) if len(one.stems) > 1), len(safe))
    both = " ".join(one.text for one in safe[first : first + 2])
    return both if len(both) < _REQUEST_CHARS else safe[first].text


def _wanted(speech: Speech) -> str:
    """What a summary of an older part says was wanted."""
    told = (one.text.partition(": ") for one in speech.sentences)
    wanted = (rest for lead, _, rest in told if any(word in lead.lower() for word in ("request", "goal", "intent")))
    return next(filter(is_safe, wanted), "")


def _result(speech: Speech) -> str:
    """The first statement of the agent that is neither a plan nor a step that is left."""
    for one in speech.sentences:
        is_left = "label_next" in (one.heading or ()) or "says_next" in one.label
        is_open = one.marks & {"question", "announces"} or one.opens & _NO_RESULT or "polite" in one.cues
        if not is_left and not is_open and len(one.stems) > 1 and is_safe(one.text):
            return one.text
    return ""


def _ended(text: str) -> str:
    end = "" if text.endswith(_ENDS) else "。" if "\u3040" <= text[-1:] <= "\u9fff" else "."
    return text + end
