"""Which sentences of an agent explain what went wrong, or warn of it, told by how many signs of that they show.

Right after somebody reported trouble, or a command failed, what the agent states is most likely its cause: then few
signs are enough. Where nothing is known to be wrong, a sentence must show many.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from quire.capture.signals.causes import has_cause, has_problem, is_ruled_out, is_status, points_at
from quire.capture.signals.cues import cue
from quire.capture.signals.signs import (
    AGAIN,
    CAUSE,
    CONDITION,
    CONTRAST,
    DUTY,
    HEDGE,
    LIMIT,
    NAME,
    PROBLEM,
    SILENT,
    SURPRISE,
    signs_of,
)
from quire.capture.signals.wording import opened, stems

_LEAST_STEMS = 4
_JOINED_CHARS = 230
_NEIGHBOUR = 1
"""A sentence beside the best one goes with it from so many points on."""
_WARNING = 4
_FOUND = 2
_POINTS = {
    CAUSE: 1,
    CONTRAST: 1,
    LIMIT: 1,
    AGAIN: 1,
    SILENT: 2,
    DUTY: 1,
    PROBLEM: 1,
    NAME: 1,
    CONDITION: 1,
    SURPRISE: 2,
}
_OWN = re.compile(
    r"\W*(?:(?:and |so |then |now |next |first )?(?:i|let me|let['’]s|i['’]\w+|ich|je|j['’]\w+|yo|eu|io|voy|vou|vamos)"
    r"|both|all (?:\d+|of them|tests|good|green|done|set)|everything|nothing (?:else|to)|here (?:is|are)|here['’]s"
    r"|(?:there are|i see|we have) (?:two|three|a few|several|some|a couple)|we (?:could|can|should|might|would)"
    r"|options?|you (?:can|could|should|may)|(?:dann|jetzt|zuerst) |wir (?:könnten|können|sollten)|on (?:pourrait|peut)"
    r"|podr[ií]a\w*|se puede|my (?:mistake|fault|bad)|what (?:i|we)|mein fehler|mon erreur|(?-i:[A-Z])\w+ing (?:that"
    r"|this"
    r"|it|the|them|now))(?![\w])|.*[,;] (?:but )?(?:i|we) (?:left|skipped|did|have|haven|won)\b|\W*(?:我先|我来"
    r"|我会|我把|现在我|可以|也可以|まず|今から)",
    re.I,
)
_RESULT = re.compile(
    r"^\W*\w+ed(?:[,.:;]| and\b)|^\W*(?:\w+ ){0,1}(?:fixed|done|resolved|renamed|ported|added|removed|replaced|updated"
    r"|erledigt|fertig|behoben"
    r"|hecho|listo|terminé|corrigé|pronto|feito)\b|\b(?:passes|pass|passing|green|works?|builds|in place"
    r"|(?:is|are|takes?|answers?|loads?) now|now (?:is|are|uses?|takes?|has|runs?|answers?|\w+ed))\b"
    r"|通过|完成|通りました|完了|しました",
    re.I,
)
# What would be, or is better, is weighed.
_WEIGHED = re.compile(
    r"\b(?:would(?! (?:send|mail|get|crash|fail|lose|break|throw|raise|delete|overwrite))|candidate|better|best"
    r"|simplest"
    r"|cleaner|cheaper|easier|wäre|würden?|besser|einfacher|sería\w*|habría|mejor|\w+erai(?:t|ent)|vaudrait|mieux"
    r"|seria|melhor)\b|更(?!新)|不如|方が|^[^:：]*\b(?:ways?(?: out)?|mitigations?|fix|solution|workaround"
    r"|options?)\s*[:：]",
    re.I,
)
_IS_CAUSE = re.compile(
    r"\b(?:is|was|are|were) (?:the|to) (?:culprit|(?:root )?cause|reason|problem|blame)\b|ist (?:die ursache"
    r"|der grund|schuld)"
    r"\b|es (?:la causa|el culpable)\b|est (?:la cause|le coupable)\b|é (?:a causa|o culpado)\b|原因です|就是原因",
    re.I,
)
_OLD = re.compile(
    r"\b(?:older than|pre-?existing|already (?:there|fail\w*|broken)|(?:it['’]s|is|are) on main|(?:was"
    r"|were) there before"
    r"|schon vorher|vorher schon|ya (?:fallaba|estaba)\w*|déjà (?:là|en échec)|já falhava\w*|todas? antigas?)\b"
    r"|以前就|元から",
    re.I,
)
_LEAD = re.compile(
    r"\W*(?:(?:i )?(?:found|see|got) (?:it|the \w+|what['’]?s \w+)|there it is|here['’]s (?:the|why)[^:]{0,30}|aha"
    r"|interesting|that explains it|bingo|as (?:feared|expected|suspected)|gefunden|lo encontré|trouvé|achei"
    r"|\w{0,4}找到了|見つかりました)\s*[:：,—–-]\s*",
    re.I,
)


class Explanation(Struct, frozen=True):
    """What explains something, and how many signs it shows."""

    text: str
    points: int


def is_dismissed(text: str) -> bool:
    """Whether a sentence says that a failure is an old one, or no matter of this work."""
    return bool(_OLD.search(text) or cue("aside").search(text))


def states(text: str) -> bool:
    """Whether a sentence states how things are, rather than what the agent does, offers, asks or has finished."""
    bare = opened(text)
    if is_status(re.split("[:：]", text, maxsplit=1)[0]):
        return False
    if text.endswith(("?", "？", ":", "：")) or cue("polite", at_start=True).match(text) or cue("aside").search(text):
        return False
    if (
        _OWN.match(bare)
        or is_ruled_out(text)
        or any(cue(meaning, at_start=True).match(bare) for meaning in ("commit", "immediate", "did"))
    ):
        return False
    signs = signs_of(text)
    if (_RESULT.search(bare) or _RESULT.match(text)) and not signs & {CAUSE, SILENT, SURPRISE}:
        return False
    if _WEIGHED.search(text) and not signs & {SILENT, SURPRISE}:
        return False
    return HEDGE not in signs and len(stems(text)) >= _LEAST_STEMS


def points(text: str) -> int:
    """How many signs of an explanation a sentence shows."""
    return sum(_POINTS[sign] for sign in signs_of(text) if sign in _POINTS) + has_cause(text)


def explanation(paragraphs: Sequence[Sequence[str]], least: int) -> Explanation | None:
    """The sentence that explains the most, with the one beside it if that explains too."""
    parts = [[without_lead(text) for text in texts] for texts in paragraphs]
    best: tuple[int, int, int] | None = None
    for number, texts in enumerate(parts):
        for index, text in enumerate(texts):
            is_found = text != paragraphs[number][index] or is_named_cause(text)
            count = points(text) + _FOUND * is_found if states(text) else 0
            # The first statement is most often the cause; what follows explains it further.
            if count >= least and (best is None or count > best[0] + 1):
                best = (count, number, index)
    if best is None:
        return None
    count, number, index = best
    texts = parts[number]
    chosen = [texts[index]]
    if index and points_at(chosen[0]) and len(texts[index - 1]) + len(chosen[0]) <= _JOINED_CHARS:
        # `That skips callbacks` says nothing without what does.
        chosen.insert(0, texts[index - 1])
    for beside, place in ((index + 1, 1), (index - 1, 0)):
        if len(chosen) == 1 and 0 <= beside < len(texts) and _goes_with(texts[beside], chosen[0]):
            chosen.insert(place, texts[beside])
    return Explanation(" ".join(chosen), count)


def without_lead(text: str) -> str:
    """`Found the difference: the page …` without what only says that something was found."""
    found = _LEAD.match(text)
    return text[found.end() :] if found else text


def is_named_cause(text: str) -> bool:
    """Whether a sentence calls what it tells the cause."""
    return bool(_IS_CAUSE.search(text))


def _goes_with(text: str, best: str) -> bool:
    return states(text) and points(text) >= _NEIGHBOUR and len(text) + len(best) <= _JOINED_CHARS


def is_warning(text: str) -> bool:
    """Whether a sentence warns, though nothing is known to be wrong."""
    signs = signs_of(text)
    if SURPRISE in signs:
        return len(stems(text)) >= _LEAST_STEMS and not text.endswith(("?", "？")) and points(text) >= _WARNING - 1
    if not states(text):
        return False
    is_bad = SILENT in signs or has_problem(text)
    return points(text) >= _WARNING + (0 if is_bad else 1 if LIMIT in signs else _WARNING)
