"""Which sentences of an agent explain what went wrong, or warn of it, told by how many signs of that they show.

Right after somebody reported trouble, or a command failed, what the agent states is most likely its cause: then few
signs are enough. Where nothing is known to be wrong, a sentence must show many.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from quire.capture.signals.causes import has_cause, has_problem, is_ruled_out
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

STRONG, LIKELY, WEAK = 3, 2, 1
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
    r"|podr[ií]a\w*|se puede)(?![\w])|.*[,;] (?:but )?(?:i|we) (?:left|skipped|did|have|haven|won)\b|\W*(?:我先|我来"
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
    r"|seria|melhor)\b|更|不如|方が",
    re.I,
)
_ASKED_WHY = re.compile(
    r"\W*(?:why|how come|what['’]?s (?:wrong|causing|eating)|where (?:is|does|do) .{3,40}(?:go|going|come from)|warum"
    r"|wieso|weshalb|por qué|¿por qué|pourquoi|por que|perché)\b|.*(?:为什么|为何|怎么回事|なぜ|どうして)",
    re.I,
)
_MEND = re.compile(
    r"\W*(?:please |can you |could you )?(?:fix|debug|investigate|find out|figure out|look into|speed up|optimi[sz]e"
    r"|track down|diagnose|reproduce|repair|solve|make .{3,40} (?:faster|quicker|work again|stable|reliable))\b",
    re.I,
)
# What a request begins with. Whoever begins otherwise and asks nothing tells how things are.
_WANTED = re.compile(
    r"\W*(?:please|pls|can|could|would|will|should|let['’]?s|i(?:['’]d| want| need| would| wanna|['’]m| am| have"
    r"|['’]ll)"
    r"|we (?:need|want|should|have|could|must|would|['’]ll)|we['’]\w+|my plan|here(?:['’]s| is| are)|add|allow|apply"
    r"|ask"
    r"|automate|backport|build|bump|change|check|clean|compare|configure|connect|continue|convert|copy|create|cut"
    r"|define|delete|deploy|design|describe|disable|document|does|do|draft|drop|enable|ensure|evaluate|explain|export"
    r"|expose|extend|extract|finish|format|generate|get|give|go|handle|help|hide|hook|how|implement|import|improve"
    r"|increase|install|integrate|introduce|is|are|keep|list|load|look|make|merge|migrate|move|open|package|parse|patch"
    r"|plan|port|prepare|provide|publish|pull|push|put|read|rebase|reduce|refactor|release|remove|rename|render|replace"
    r"|review|rewrite|rotate|run|save|send|set|ship|show|sketch|sort|split|start|stop|store|summari[sz]e|support|swap"
    r"|switch|tell|test|think|trace|translate|try|tune|turn|unify|update|upgrade|use|validate|verify|version|what|where"
    r"|which|who|wire|wrap|write|bitte|kannst|füge|baue?|mach|erstelle|schreib\w*|prüfe|ergänze|ersetze|wir (?:brauchen"
    r"|müssen|wollen)|por favor|puedes|añade|agrega|haz|crea|escribe|cambia|quiero|necesit\w+|ajoute|peux|fais|crée"
    r"|écris|remplace|il (?:me|nous) faut|je veux|on (?:fait|veut)|adicion\w+|cri[ae]|preciso|pode|quero)(?![\w])"
    r"|(?:请|帮我|给我|加|添加|写|把|我想|我要|实现|更新|升级)|.*(?:ください|したい|お願いします)\W*$",
    re.I,
)

_LEAD = re.compile(
    r"\W*(?:(?:i )?(?:found|see|got) (?:it|the \w+|what['’]?s \w+)|there it is|here['’]s (?:the|why)[^:]{0,30}|aha"
    r"|interesting"
    r"|that explains it|bingo|gefunden|lo encontré|trouvé|achei|找到了|見つかりました)\s*[:：,—–-]\s*",
    re.I,
)
_SIGN = re.compile("[\u3040-\u9fff]")
# What a statement begins with: an order begins with a verb, and there are too many of those to know them all.
_SUBJECT = re.compile(
    r"\W*(?:(?:the|our|my|some|all|every|each|users?|customers?|people|when(?:ever)?|since|after|for|on|in|at|with"
    r"|there|an?"
    r"|no|nobody|half|most|many|these|those|i (?:get|see|can)|we (?:get|see|lose|are|can)|der|die|das|unsere?|seit"
    r"|wenn|bei"
    r"|beim|ein|eine|nach|im|el|la|los|las|nuestr\w+|cuando|al|un|una|desde|le|les|notre|nos|depuis|quand|une|des|chez"
    r"|o|a|os|as|noss[oa]s?|quando|desde|um|uma)\b|l['’]|\w+ (?:is|are|was|were|has|have|does|do|keeps?|don['’]t"
    r"|doesn['’]t)\b"
    r"|\w+(?:tion|ity|ness|ance)\b|\w+s (?:from|in|on|of|for|to|with|that|are|have|do|get)\b"
    r"|(?-i:[A-Z]\w*[A-Z_.]\w*)|[^\x00-\x7f]|\w+[./_]\w+|\w+ \w+ (?:is|are|has|have|does|do|keeps?|shows?|takes?"
    r"|returns?|gets?)\b)",
    re.I,
)
# `deploy is stuck`: what could be an order is a noun.
_NOUN = re.compile(
    r"\W*\w+ (?:is|are|was|were|has|keeps?|fails?|takes?|breaks?|hangs?|crash(?:es)?|stopped|broke|does|never|still"
    r"|dies"
    r"|returns?|shows?|gets?)\b",
    re.I,
)
_SHOULD = re.compile(r"\b(?:should|would be (?:nice|good|great)|soll(?:te)?n?|debería|devrait|deveria)\b", re.I)

__all__ = [
    "LIKELY",
    "STRONG",
    "WEAK",
    "Explanation",
    "asks_for",
    "explanation",
    "is_warning",
    "points",
    "states",
    "trouble",
    "without_lead",
]


class Explanation(Struct, frozen=True):
    """What explains something, and how many signs it shows."""

    text: str
    points: int


def trouble(text: str) -> int:
    """How surely a sentence of the user tells of something that goes wrong; 0 where it does not."""
    if re.match(r"\W*(?:oh|that|this|it|so)\b", text, re.I) or len(stems(text)) < 2:
        return 0
    if _ASKED_WHY.match(text):
        return STRONG
    if _MEND.match(text):
        return LIKELY
    signs = signs_of(text)
    if text.endswith(("?", "？")):
        return 0
    if asks_for(text):
        return STRONG if PROBLEM in signs and _SIGN.search(text) else 0
    if PROBLEM in signs:
        return STRONG
    if not _SUBJECT.match(text):
        return 0
    return LIKELY if signs & {LIMIT, AGAIN, SILENT, NAME} else WEAK


def asks_for(text: str) -> bool:
    """Whether a sentence of the user asks for a piece of work."""
    if _MEND.match(text):
        return False
    return bool(_WANTED.match(text) and not _NOUN.match(text)) or bool(_SHOULD.search(text))


def states(text: str) -> bool:
    """Whether a sentence states how things are, rather than what the agent does, offers, asks or has finished."""
    bare = opened(text)
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
            count = points(text) + _FOUND * (text != paragraphs[number][index]) if states(text) else 0
            # The first statement is most often the cause; what follows explains it further.
            if count >= least and (best is None or count > best[0] + 1):
                best = (count, number, index)
    if best is None:
        return None
    count, number, index = best
    texts = parts[number]
    chosen = [texts[index]]
    for beside, place in ((index + 1, 1), (index - 1, 0)):
        if len(chosen) == 1 and 0 <= beside < len(texts) and _goes_with(texts[beside], chosen[0]):
            chosen.insert(place, texts[beside])
    return Explanation(" ".join(chosen), count)


def without_lead(text: str) -> str:
    """`Found the difference: the page …` without what only says that something was found."""
    found = _LEAD.match(text)
    return text[found.end() :] if found else text


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
