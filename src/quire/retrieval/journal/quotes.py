"""Quote evidence in its own sentences, one line per source, within about a hundred words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from quire.guard.hostile_text import safe_line
from quire.layers.journal.question import Mode
from quire.layers.journal.text_match import normal_text
from quire.model.text import cut
from quire.retrieval.journal.evidence import unlabelled
from quire.retrieval.journal.matches import JournalMatch, ScoredSentence

_WORDS = 120
_CHARS = 900
"""Where words are long, or not set apart."""
_LINE_CHARS = 260
_ANSWERS, _LISTED = 4, 8
_SENTENCES = 2
_PATHS = "Paths: "
_NEARLY = 0.75
"""How well another sentence must match, and another source, against the best."""
_NAMES = {
    "checkpoint": ("checkpoint", "checkpoints"),
    "current-focus": ("part of the current focus", "parts of the current focus"),
    "event": ("event", "events"),
    "gotcha": ("gotcha", "gotchas"),
    "next-step": ("next step", "next steps"),
    "suggested-action": ("suggested action", "suggested actions"),
}
_WHOLE = ("gotcha", "next-step")
"""What is quoted as a whole: the title alone helps nobody."""


class Quoted(msgspec.Struct, frozen=True):
    """An answer, what of the evidence is in it, and how that was chosen."""

    text: str
    used: tuple[JournalMatch, ...]
    why: str


def quoted(matches: Sequence[JournalMatch], mode: Mode) -> Quoted:
    """The best of the matches in their own words; what others said before them is not said again."""
    used: list[JournalMatch] = []
    lines: list[str] = []
    heard: list[str] = []
    words = chars = 0
    floor = _NEARLY * matches[0].score if mode == "answer" and not matches[0].named else 0.0
    for match in matches:
        if match.score < floor:
            continue
        sentences = _new(match, mode, heard)
        if not sentences:
            continue
        text = cut("; ".join(sentences), _LINE_CHARS)
        note = f" ({safe_line(match.evidence.note)})" if match.evidence.note else ""
        line = f'- {safe_line(match.evidence.source_id)}: "{text}"{note}'
        words, chars = words + len(line.split()), chars + len(line)
        if lines and (words > _WORDS or chars > _CHARS):
            break
        lines.append(line)
        used.append(match)
        heard += map(_bare, sentences)
        if len(lines) == (_ANSWERS if mode == "answer" else _LISTED):
            break
    return Quoted("\n".join(lines), tuple(used), _why(used, len(matches), mode))


def _new(match: JournalMatch, mode: Mode, heard: list[str]) -> list[str]:
    """What it says that was not heard yet: the best sentence, and another that matches nearly as well."""
    evidence = match.evidence
    if evidence.category in _WHOLE:
        lines = [line for line in map(safe_line, evidence.lines) if line] or [safe_line(evidence.summary)]
        return lines if mode != "answer" or not match.said or not _is_heard(match.said[0].text, heard) else []
    said = list(match.said)
    if not match.found and mode in ("answer", "changes"):
        said = [ScoredSentence(safe_line(evidence.summary), 0.0)]
    if not said or _is_heard(said[0].text, heard):
        return []
    first, *others = said if mode == "answer" or not match.found else [one for one in said if one.weight] or said
    fresh = [first.text]
    for other in others if mode != "changes" else []:
        if len(fresh) < _SENTENCES and other.weight >= _NEARLY * first.weight and not other.text.startswith(_PATHS):
            fresh += [] if _is_heard(other.text, [*heard, *map(_bare, fresh)]) else [other.text]
    return fresh


def _is_heard(sentence: str, heard: list[str]) -> bool:
    """Whether this was said already: in the same words, or the one is a part of the other."""
    own = f" {_bare(sentence)} "
    return any(own in other or other in own for other in (f" {text} " for text in heard if text))


def _bare(sentence: str) -> str:
    return normal_text(unlabelled(sentence))


def _why(used: Sequence[JournalMatch], total: int, mode: Mode) -> str:
    if mode == "answer":
        reasons = "; ".join(f"{safe_line(match.evidence.source_id)} ({_reason(match)})" for match in used)
        return f"{len(used)} of {total} that match, the best first: {reasons}."
    kinds = Counter(match.evidence.category for match in used)
    counted = ", ".join(f"{number} {_NAMES[name][number > 1]}" for name, number in kinds.items())
    words = shown_words(list(dict.fromkeys(word for match in used for word in match.found)))
    order = "the latest first" if mode == "changes" else "the best match first" if words else "the bundle first"
    return f"{counted}{f' about {words}' if words else ''}, {order}."


def _reason(match: JournalMatch) -> str:
    if match.named:
        return "named in the question"
    return f"words: {shown_words(match.found)}" if match.found else f"meaning: {match.nearness:.2f}"


def shown_words(words: Sequence[str]) -> str:
    """Words of a question as they were asked: where a script has no spaces, the index knows pairs of characters."""
    shown: list[str] = []
    for word in map(safe_line, words):
        if shown and len(word) == 2 and not word.isascii() and shown[-1][-1] == word[0] and word[0] >= "\u0e00":
            shown[-1] += word[1]
        else:
            shown.append(word)
    return ", ".join(shown)
