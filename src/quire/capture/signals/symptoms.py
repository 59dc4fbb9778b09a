"""What the user says goes wrong: which of their sentences names it, and whether a cause belongs to it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quire.capture.signals.signs import AGAIN, CONTRAST, HEDGE, LIMIT, PROBLEM, SILENT, signs_of
from quire.capture.signals.wording import stems

QUOTED, STRONG, LIKELY, WEAK = 4, 3, 2, 1
"""How surely a sentence tells of trouble: it quotes a message, names a problem, restricts something, only states."""

_ASKED_WHY = re.compile(
    r"\W*(?:why|how come|what['’]?s (?:wrong|causing|eating)|where (?:is|does|do) .{3,40}(?:go|going|come from)|warum"
    r"|wieso|weshalb|por qué|¿por qué|pourquoi|por que|perché)\b|.*(?:为什么|为何|怎么回事|なぜ|どうして)",
    re.I,
)
_REPAIR = re.compile(
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

# `deploy is stuck`: what could be an order is a noun.
_NOUN = re.compile(
    r"\W*\w+ (?:(?:on|in|of|for|to|with|from) \S+ )?(?:is|are|was|were|has|keeps?|fails?|takes?|breaks?|hangs?"
    r"|crash(?:es)?|stopped|broke|does|never|still"
    r"|dies"
    r"|returns?|shows?|gets?)\b",
    re.I,
)
_ASKED = re.compile(
    r"\b(?:please|pls|bitte|por favor|should|would be (?:nice|good|great)|soll(?:te)?n?|debería|devrait|deveria)\b",
    re.I,
)
# A remark on what was said, or what the user did or thinks: that is nothing that goes wrong.
_REMARK = re.compile(
    r"\W*(?:(?:oh|ah|hm+|ugh|lol|wow)\b|(?:that|this|it)(?:['’]?s)?\b|(?:i|we) (?:did|had|was|were|went|thought|think"
    r"|guess|tried|remember|like|don['’]?t like|know)\b|(?:ich|wir) (?:hatte\w*|war\w*|denke|glaube)\b"
    r"|\w+ing (?:our|the|my|a|an)\b|(?:das|es) (?:ist|war)\b|c['’](?:est|était)\b|eso\b|isso\b)",
    re.I,
)
_LEAD = re.compile(r"^\W*(?:(?:so|but|and|und|y|et|e|hey|hi|hello|hallo|hola|oye|salut|oi|btw)[,! ]+)+", re.I)
# A message in quotation marks: two words or more, or a name from code.
_MESSAGE = re.compile(r"(?<!\w)(?P<mark>['\"`“‘])(?=[^'\"`“”‘’]*[ _.:])[^'\"`“”‘’]{6,}['\"`”’](?!\w)")
_QUESTION = re.compile(r"[?？]\W*$")
_IS = re.compile(r"\b(?:is|are|has|have|does|do|ist|sind|hat|es|está|están|est|sont|são)\b", re.I)
_MENTION = re.compile(r"^@\S+\s+")
_COMMAND_CHARS = 80
_CJK = re.compile("[\u3040-\u9fff]")


def trouble(text: str) -> int:
    """How surely a sentence of the user tells of something that goes wrong; 0 where it does not."""
    bare = _LEAD.sub("", text)
    signs = signs_of(text)
    if _REPAIR.match(bare):
        return LIKELY
    if _REMARK.match(bare) or len(stems(text)) < (2 if PROBLEM in signs or _IS.search(text) else 3):
        return 0
    if _ASKED_WHY.match(bare):
        return STRONG
    if _QUESTION.search(text) or HEDGE in signs:
        return 0
    if asks_for(bare):
        return STRONG if PROBLEM in signs and _CJK.search(text) else 0
    if _MESSAGE.search(text):
        return QUOTED
    if PROBLEM in signs:
        return STRONG
    return LIKELY if signs & {LIMIT, AGAIN, SILENT, CONTRAST} else WEAK


def symptom(told: Sequence[str], *, is_first: bool) -> tuple[str, int]:
    """The sentence that names what goes wrong, and how surely something does.

    Whoever begins with it says first what it is, and then more about it. Later on, only what is clearly wrong counts.
    """
    told = [_LEAD.sub("", text) for text in told]
    counts = [trouble(text) for text in told]
    best = max(counts, default=0)
    if best < (LIKELY if not is_first or any(map(asks_for, told)) else WEAK):
        return "", 0
    # Who asks why has most often said before what it is about.
    stated = [(text, count) for text, count in zip(told, counts, strict=True) if count and not _ASKED_WHY.match(text)]
    surest = max((count for _, count in stated), default=0)
    least = surest if surest >= STRONG else WEAK if is_first else LIKELY
    return next((text for text, count in stated if count >= least), told[counts.index(best)]), best


def belongs(report: str, cause: str, *, is_near: bool) -> bool:
    """Whether a cause may be told under what was reported: right after it, or if both speak of the same thing."""
    return bool(report) and (is_near or bool(stems(report) & stems(cause)))


def failure_of(command: str) -> str:
    """How a command that failed is named."""
    line = command.strip().split("\n")[0]
    return f"{line} fails" if 0 < len(line) <= _COMMAND_CHARS else "It fails"


def without_mention(text: str) -> str:
    """A sentence without the file that it begins by pointing at: `@review.rb …`"""
    return _MENTION.sub("", text)


def asks_for(text: str) -> bool:
    """Whether a sentence of the user asks for a piece of work."""
    if _REPAIR.match(text):
        return False
    return bool(_WANTED.match(text) and not _NOUN.match(text)) or bool(_ASKED.search(text))
