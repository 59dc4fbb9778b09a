"""Which sentences say that something is left: the agent's when it ends its turn, the user's who puts it off."""

from __future__ import annotations

import re

from quire.capture.signals.cues import cue
from quire.capture.signals.symptoms import asks_for
from quire.capture.signals.wording import opened, stems

_LATER = (
    r"tomorrow|later|eventually|soon|one day|some ?day|at some point|another (?:day|time|pr|round|session)|next (?:week"
    r"|sprint|release|time|quarter|month|version|session|iteration|year|round|pr)|this (?:sprint|week|evening)|tonight"
    r"|not today|over the weekend|(?:on|by|until|next) (?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day(?=[\s.!]*$)|after (?:the|this|that|we|it|vacation|lunch)\b"
    r"|before (?:the|this|that|we|it|it['’]s|any)\b|once (?:the|this|that|we|it|all|every)"
    r"|when(?:ever)? (?:i|we|you|the|it|there)\b(?!['’]?s? (?:was|were|had|did))"
    r"|in (?:a|the) (?:next|separate|follow-?up|later|long)"
    r"|in (?:january|february|march|april|may|june|july|august|september|october|november|december|q[1-4])\b"
    r"|(?:after|in|nach|in|dans|après|en|dentro de|después de|em|depois de) (?:\d+|an?|two|three|four|ein\w*|zwei|drei"
    r"|vier|une?|deux|trois|quatre|una?|dos|tres|cuatro|duas|três|quatro) (?:days?|weeks?|months?|tagen?|wochen?"
    r"|monate?n?|jours?|semaines?|mois|días?|semanas?|mes(?:es)?|dias?)"
    r"|morgen|später|nächste\w* (?:woche|mal|version|release|sprint|monat)|am (?:montag|dienstag|mittwoch|donnerstag"
    r"|freitag)|irgendwann|mañana|más (?:tarde|adelante)|esta (?:noche|tarde|semana)|próxim[oa] \w+"
    r"|el (?:lunes|martes|miércoles|jueves|viernes)|demain|plus tard|prochaine? \w+|(?:lundi|mardi|mercredi|jeudi"
    r"|vendredi)|amanhã|mais tarde|depois(?=\W*$)|domani|più tardi"
)
_LATER_SIGNS = "明天|以后再|下周|稍后|之后再|下次|下个|明日|来週|後で|今度|次回"
# What is said to be open, whatever else the sentence tells.
_REMAINS = re.compile(
    r"\b(?:remain(?:s|ing)?(?! (?:the same|unchanged|as))|left (?:to|over|undone|for)|(?:is|are|be) left(?=\W*$)"
    r"|to go(?=\W*$)|loose ends?|outstanding|unfinished|pending|follow-?ups?|to-do"
    r"|still (?:open|fail(?:s|ing)?|broken|to (?:do|be)|missing|needs?|ha(?:s|ve) to|to be|lacks?|complains?)"
    r"|yet to (?:be|do)|(?:not|n['’]t)(?: \S+){0,6} yet|did(?: not|n['’]t) get to|ran out of time"
    r"|(?:not|n['’]t) (?:done|started|covered|included|wired|tested|implemented|migrated|part of)"
    r"|out of scope|waiting (?:for|on)|blocked (?:on|by)|until some(?:one|body)"
    r"|needs? (?:a |an )?(?:closer|second|another|proper|human|manual)"
    r"|has the same (?:gap|bug|problem|issue|flaw|mistake|weakness))\b"
    r"|\b(?:noch (?:nicht|offen|zu|aus|übersetzt|\w+t werden|fehl\w+|\w+en)|fehlt noch|es fehlt|steht aus|offen (?:ist"
    r"|bleibt|sind)|bleibt (?:noch|zu))\b"
    r"|\b(?:(?<!hace )(?<!haría )falta[n]?|queda[n]?(?! para)|(?:aún|todavía) (?:no|falta|hay que)|pendientes?"
    r"|sin hacer|habrá que"
    r"|tendremos que)\b"
    r"|\b(?:il reste|reste(?:nt)? (?:à|encore)|pas encore|n['’]est pas encore|à faire|il manque|pense[zr]? à"
    r"|(?:il )?faudra)\b"
    r"|\b(?:faltam|ainda (?:não|falta)|pendentes?|resta[m]?|lembre de|manca|non ancora|resta da)\b"
    r"|还没|尚未|未完成|还需要|还要|剩下|待处理|没做|未実施|未対応|未着手|まだ.{0,20}(?:ません|ない|残って)|残って"
    r"|必要があります|これから",
    re.I,
)
# `drop them once it has run for a week`: an order for later.
_ORDERED = re.compile(
    r"(?:^|[;:–—]|\. )\W*(?!if\b|when|once|after|before|the\b|an?\b|i\b|we\b|it\b|that\b|this\b|which\b|then\b)"
    r"(?-i:[a-z]\w+) (?:it|them|that|those|these|the|both|all)\b[^;:]{0,60}\b(?:once|after|when|before)\b",
    re.I,
)
# Work that the agent says it has not done; to have touched nothing is none.
_OMITTED = re.compile(
    r"\b(?:(?:i|we)(?: have|['’]ve)? (?:not|never)|(?:i|we) (?:have|did)(?:n['’]t| not)|(?:has|have)(?:n['’]t"
    r"| not) been)"
    r" (?:yet )?(?:run|test(?:ed)?|tr(?:y|ied)|verif(?:y|ied)|check(?:ed)?|measured?|migrated?|convert(?:ed)?|updated?"
    r"|document(?:ed)?|cover(?:ed)?|port(?:ed)?|deploy(?:ed)?)\b(?! (?:anything|any)\b)",
    re.I,
)
_OUGHT = re.compile(
    r"\b(?:should|ought to|needs? (?:to|an?|one)|ha(?:s|ve) to|must|would need|will need|is worth|worth \w+ing"
    r"|sollten?|müssen|muss|debería\w*|habría que|hay que|il faudr\w+|devrai\w+|deveria\w*|seria bom|dovrebbe)\b"
    r"|应该|需要|必要",
    re.I,
)
_SOMEONE = re.compile(
    r"\W*(?:\w[^,.;]{0,60}, )?(?:some(?:one|body)|you|whoever|the \w+ team|ops|we)(?: \S+){0,5}? (?:should|ought"
    r"|needs? to"
    r"|has to|have to|must)\b(?! (?:now|see|be able|have|get|notice|find|hear|also see))",
    re.I,
)
_CONTINUES = re.compile(
    r"\b(?:natural (?:continuation|follow-?up|next)|(?:good|logical|obvious|real|proper|sensible) (?:next step"
    r"|follow-?up"
    r"|fix) (?:would|is|might)|(?:would|could) be (?:a|the) (?:good |natural |logical |next )+(?:step|continuation"
    r"|thing"
    r"|move)|for (?:a|an) (?:calmer|other|another|later|quiet\w*) (?:day|time|moment|pr)|has the same (?:bug|problem"
    r"|issue)"
    r"|(?:i['’]d|i would) (?:tackle|do|look at|go for) .{0,30}next|next (?:i['’]d|i would|we (?:should|could|need)))\b",
    re.I,
)
_NOTHING = re.compile(
    r"\b(?:nothing|no (?:one|open|further|more|other|\w+ (?:remain|are left|is left))|none|nichts|nada|rien"
    r"|niente)\b(?! (?:is"
    r"|are)? ?(?:committed|pushed|deployed|merged))|没有(?:遗留|剩)|ありません",
    re.I,
)
_PUT_OFF = re.compile(
    rf"\b(?:{_LATER}|can wait|could wait|remind me|(?:on|to) (?:my|the|our) (?:list|board|backlog|agenda)|backlog"
    r"|follow-?up|get to (?:it|that|this|them)"
    r"|(?:make|open|file|create|write) (?:a|an|me a) (?:ticket|issue|card)|for now just note|pick (?:that|it"
    r"|this)"
    r"|do(?:n['’]?t| not) (?:fix|do|touch|change|bother with) (?:it|that|this|them) (?:now|yet)|park (?:it|that|this)"
    r"|leave (?:it|that|this|those|them) (?:to|for) me|i['’]ll (?:do|take|handle|look at|take care of|answer) (?:it"
    r"|that|this|those"
    r"|them))\b"
    rf"|{_LATER_SIGNS}",
    re.I,
)
_REMIND = re.compile(
    r"\W*(?:and |but |also |please |ok(?:ay)?,? |great,? |good,? )*(?:remind me (?:to|about)|remember to"
    r"|don['’]t forget to"
    r"|note to self:?|denk(?:e)? daran,?|recuérdame|rappelle-moi d[e'’]|lembre-me de)\s*",
    re.I,
)
_REFERS = re.compile(
    r"\b(?:that|it|this|them|these|those|das|es|eso|lo|ça|cela|le|isso)\b|^\W*(?:\w+,? ){0,3}$|那个|这个|それ|これ",
    re.I,
)
_DECLINED = re.compile(
    r"\W*(?:(?:ok|okay|fine|no|nah|nope|that['’]s fine|all good|thanks)[,.!]? ?)*(?:no need|not needed|don['’]t bother"
    r"|nobody (?:\w+ )?(?:looks|cares|uses|needs)|never mind|nevermind|doesn['’]t matter|does not matter"
    r"|won['’]t (?:need"
    r"|fix)|leave it (?:as it is|alone|like that)|that['’]s (?:fine|ok|okay|on purpose|intended)|we don['’]t need)\b",
    re.I,
)
# An order with a date settles what happens and when.
_DATED = re.compile(
    r"\W*(?:(?:and|but|so|then|also|just|please|let['’]?s) )*(?:deprecate|remove|drop|delete|retire|sunset|switch|move"
    r"|migrate|freeze|release|ship|keep|use|disable|enable|stop|end)\b",
    re.I,
)
_YES = re.compile(
    r"^\W*(?:yes|yeah|ok(?:ay)?|sure|ja|sí|vale|oui|sim|ok|好的?|はい)\W+(?:(?:but|aber|pero|mais|mas)\s+)?", re.I
)
_IDLE = re.compile(
    r"\b(?:maybe|perhaps|vielleicht|quizás?|tal vez|peut-être|talvez|see you|talk to you|bis (?:morgen|dann|später)"
    r"|hasta|à (?:demain|bientôt)|até)\b|\b(?:was|were|had|went|used to)\b",
    re.I,
)
_REFUSES = re.compile(r"\W*(?:no|nope|nah|nein|non|não)\b(?! (?:se olvid|olvid))", re.I)
_NEEDS = re.compile(
    r"\W*(?:(?:and|also|oh|but|then|und|y|et|e)[, ]+)*(?:(?:i|we|some(?:one|body)|[A-Z]\w+) (?:still )?(?:need|needs"
    r"|want|wants|have to|has to|should|must)\b(?! (?:it|that|this|you)\b)|don['’]?t let me forget"
    r"|(?:wir|ich) (?:müssen|muss|brauche\w*)\b|(?:falta|queda|hay que|tengo que|tenemos que|necesito)\b"
    r"|(?:il (?:faut|reste)|je dois|on doit)\b|(?:preciso|precisamos|temos que|tenho que)\b)",
    re.I,
)
_THEN = re.compile(
    r";\s+(?:and |then )*|,\s+(?:and )?then\s+|\s+and then\s+|(?<=[^,]),\s+and\s+(?=\w)|[；]"
    r"|,\s+(?:y luego|y después|und dann|et (?:puis|ensuite)|e depois)\s+"
)
_TELLING = re.compile(r"\b(?:is|are|was|were|does|do|has|have|will|would|which|that|it|they)\b", re.I)
_LEAST_STEMS = 2
_OWN_STEMS = 3


def is_left(text: str) -> bool:
    """Whether the agent says that something is left to do, or ought to be done later. How things are is no step."""
    if text.endswith(("?", "？", ":", "：")) or cue("polite", at_start=True).match(text) or _NOTHING.search(text):
        return False
    if cue("aside").search(text) or len(stems(text)) < _LEAST_STEMS:
        return False
    if cue("immediate", at_start=True).match(opened(text)) and not _OMITTED.search(text):
        return False
    if _SOMEONE.match(text) or _CONTINUES.search(text) or _OMITTED.search(text) or _ORDERED.search(text):
        return True
    if _REMAINS.search(text) or cue("open").search(text):
        return True
    return bool(_OUGHT.search(text) and re.search(rf"\b(?:{_LATER})", text, re.I))


def left_part(text: str) -> str:
    """Of a sentence the order for later that it ends with, where it has one."""
    found = _ORDERED.search(text)
    return text[found.start() :].lstrip(" ;:–—.") if found else text


def puts_off(text: str) -> bool:
    """Whether the user says that something is for later."""
    return bool(_PUT_OFF.search(text) or cue("deferred").search(text) or _REMIND.match(text))


def is_later(text: str) -> bool:
    """Whether the user puts something off and says nothing else: `that for now, the rest next week` chooses as well."""
    if not puts_off(text):
        return False
    if _DATED.match(text) and len(stems(_PUT_OFF.sub(" ", text))) >= _OWN_STEMS:
        return False
    first, _, rest = re.split(r"([,，])", text, maxsplit=1) if re.search("[,，]", text) else (text, "", "")
    return puts_off(first) or not rest or len(stems(first)) < _LEAST_STEMS


def own_words(text: str) -> str:
    """What the user puts off, if the sentence itself says so; empty where it refers to what was said before."""
    if found := _REMIND.match(text):
        text = text[found.end() :]
    text = _YES.sub("", text)
    first = re.split("[,，]", text, maxsplit=1)[0]
    if first != text and _PUT_OFF.search(first) and len(stems(_PUT_OFF.sub(" ", first))) < _LEAST_STEMS:
        # `Later, I have to run`: the rest says why.
        return ""
    rest = stems(_PUT_OFF.sub(" ", text))
    least = _LEAST_STEMS if not _REFERS.search(_PUT_OFF.sub(" ", text)) else _OWN_STEMS + 1
    return text if len(rest) >= least else ""


def is_wish(text: str) -> bool:
    """Whether a sentence that puts something off names no step: a refusal, a perhaps, a goodbye, or what once was."""
    return bool(_IDLE.search(text) or _REFUSES.match(text))


def needs(text: str) -> bool:
    """Whether the user says that something is needed, without saying when."""
    return bool(_NEEDS.match(text)) and not text.endswith(("?", "？")) and len(stems(text)) > _LEAST_STEMS


def declines(text: str) -> bool:
    """Whether the user says that what is left need not be done."""
    return bool(_DECLINED.match(text))


def split_steps(text: str) -> list[str]:
    """The steps that a text names one after the other: `the other services, then delete the template`."""
    parts = [part.strip(" ,;") for part in _THEN.split(text)]
    is_list = len(parts) > 1 and all(len(stems(part)) >= _LEAST_STEMS for part in parts)
    if not is_list or any(_TELLING.search(part) for part in parts[1:]):
        return [text]
    return parts if all(asks_for(part) or len(part.split()) <= 12 for part in parts) else [text]
