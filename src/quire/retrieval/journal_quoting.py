"""Evidence put into words: its own sentences, quoted, a line for each source, within some hundred words."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from quire.layers.journal import normal_text
from quire.model import cut
from quire.retrieval.journal_evidence import Evidence, plain_line
from quire.retrieval.journal_matching import Match
from quire.retrieval.journal_modes import Mode

_WORDS = 120
_CHARS = 900
"""Where words are long, or not set apart."""
_LINE_CHARS = 260
_ANSWERS, _LISTED = 4, 8
_SENTENCES = 2
_WHOLE = ("gotcha", "next-step")
"""What is quoted as a whole: the title alone helps nobody."""

__all__ = ["Quoted", "quoted"]


class Quoted(msgspec.Struct, frozen=True):
    """An answer, what of the evidence is in it, and how that was chosen."""

    text: str
    used: tuple[Match, ...]
    why: str


def quoted(matches: Sequence[Match], mode: Mode) -> Quoted:
    """The best of the matches in their own words; what others said before them is not said again."""
    used: list[Match] = []
    lines: list[str] = []
    heard: list[str] = []
    words = chars = 0
    for match in matches:
        sentences = _new(match, mode, heard)
        if not sentences:
            continue
        text = cut("; ".join(sentences), _LINE_CHARS)
        line = f'- {plain_line(match.evidence.source_id)}: "{text}"'
        words, chars = words + len(line.split()), chars + len(line)
        if lines and (words > _WORDS or chars > _CHARS):
            break
        lines.append(line)
        used.append(match)
        heard += [normal_text(sentence) for sentence in sentences]
        if len(lines) == (_ANSWERS if mode == "answer" else _LISTED):
            break
    return Quoted("\n".join(lines), tuple(used), _why(used, len(matches), mode))


def _new(match: Match, mode: Mode, heard: list[str]) -> list[str]:
    """What it says that was not heard yet: the best sentence, and a second one where it adds words of the question."""
    evidence = match.evidence
    if evidence.category in _WHOLE:
        said = [line for line in map(plain_line, evidence.lines) if line]
        return said if not _is_heard(said[0], heard) else []
    most = _SENTENCES if mode != "changes" else 1
    said = list(match.said[:most]) if match.found or mode != "answer" else [plain_line(evidence.summary)]
    if mode == "changes" and not match.found:
        said = [plain_line(evidence.summary)]
    fresh: list[str] = []
    for sentence in said:
        if not _is_heard(sentence, [*heard, *map(normal_text, fresh)]):
            fresh.append(sentence)
    return fresh


def _is_heard(sentence: str, heard: list[str]) -> bool:
    """Whether this was said already, by itself or within something longer."""
    own = normal_text(sentence)
    return any(own in other or other in own for other in heard if other)


def _why(used: Sequence[Match], total: int, mode: Mode) -> str:
    if mode == "answer":
        reasons = "; ".join(f"{plain_line(match.evidence.source_id)} ({_reason(match)})" for match in used)
        return f"{len(used)} of {total} that match, the best first: {reasons}."
    kinds: dict[str, int] = {}
    for match in used:
        kinds[_kind(match.evidence)] = kinds.get(_kind(match.evidence), 0) + 1
    counted = ", ".join(f"{number} {name}" for name, number in kinds.items())
    order = "the latest first" if mode == "changes" else "what the bundle holds first"
    found = {word for match in used for word in match.found}
    if found:
        order = f"about {', '.join(plain_line(word) for word in sorted(found))}, " + (
            "the latest first" if mode == "changes" else "the best match first"
        )
    return f"{len(used)} of {total}, {order}: {counted}."


def _reason(match: Match) -> str:
    if match.named:
        return "named in the question"
    words = ", ".join(plain_line(word) for word in match.found)
    return f"words: {words}" if words else f"meaning: {match.nearness:.2f}"


def _kind(evidence: Evidence) -> str:
    return f"{evidence.category} of {'the bundle' if evidence.source_type == 'bundle' else 'the history'}"
