"""Which sentences tell why something goes wrong or warn of it, and how such a sentence becomes `effect: cause`."""

from __future__ import annotations

import re

from quire.capture.signals.cues import cue
from quire.capture.signals.wording import opened, pair, stems, tidy

LEAST_STEMS = 4
_CLAUSE = 8
_SHORT = 6
_SYMPTOM_WORDS = 16
_CAUSE_CHARS = 220

_FOUND_OUT = re.compile(
    r"\W*(?:(?:i )?found (?:it|the (?:problem|issue|bug|cause|culprit))|i see the (?:issue|problem)|that explains it"
    r"|(?:that|this|here)['’]?s (?:it|the (?:problem|cause|bug|issue))|gefunden|ich hab['’]s|lo encontré|trouvé|找到了"
    r"|見つかりました)",
    re.I,
)
_THAT_WAS_IT = re.compile(r"\W*(?:(?:that|this)(?:['’]s| is) (?:the|why)|das ist|これが|这就是)", re.I)
_STATUS = re.compile(
    r"\W*有?\S?个?测试(?:没过|失败)\W*$|\W*(?:(?:the|a|one|two|three|four|five|\d+|ein|eine|zwei|drei|una?|dos|un"
    r"|une|deux) )?(?:tests?|errors?|failures?"
    r"|checks?|fehler|pruebas?|builds?|links?)(?: is| are)?(?: still)?(?: fail(?:s|ed|ing)?| hangs?| schlägt fehl"
    r"| schlagen fehl| fallan?| échoue(?:nt)?| broken)?\W*$",
    re.I,
)
_OTHERWISE = re.compile(r"[,;]\s+(?:otherwise|or else|sonst|sinon|de lo contrario)\s+|[,，]?(?:否则|さもないと)", re.I)
_STRONG = re.compile(
    r"otherwise|or else|keep in mind|beware|careful|watch out|must never|the hard way"
    r"|^\W*before (?:\w+ing|you|the)\b|[,;] sonst|sinon|de lo contrario|否则",
    re.I,
)
_THEN = re.compile(
    r"(?:^\W*|, |; |\band )(?:which is why|that is why|that['’]s why|this is why)\b|^\W*(?:deshalb|daher|darum|por eso"
    r"|c['’]est pourquoi|du coup|因此|所以|そのため)",
    re.I,
)
_RELATIVE = re.compile(
    r",\s+which\s+(?=(?:\S+\s+){0,5}(?:cannot|can['’]t|does(?: not|n['’]t)|do(?: not|n['’]t)|never|is(?: not"
    r"|n['’]t))\b)",
    re.I,
)
_WITHOUT = re.compile(
    r"\W*(?:without (?:it|that|this|them|these)|ohne (?:das|sie|ihn)|sin (?:eso|ello)|sans (?:ça|cela))\b", re.I
)
_THROWS = re.compile(r"\b(?:throws?|raises?|returns? \d{3}|destroys?|deletes?|ignores?|skips?)\b", re.I)
_NOTE = re.compile(r"\W*(?:(?:please )?(?:note|remember)|keep in mind|be aware),? that\s+", re.I)
_OF_A_KIND = re.compile(r"\b(?:that|which|who) (?:fail|crash|time out|hang|break|died|were lost)s?\b", re.I)
_UNTIL = re.compile(r"\b(?:until|before|unless|because|since|or|otherwise|bis|bevor|sonst|hasta|avant)\b|[;:]", re.I)
_BREAKS = re.compile(
    r"\b(?:fail(?:s|ed|ing)?|hangs?|crash\w*|panic\w*|breaks?|broken|times? out|timeout|fehl\w*|schl(?:ägt|agen) fehl"
    r"|falla\w*|échoue\w*)\b|失败|失敗|エラー|错误",
    re.I,
)
_RULED_OUT = re.compile(
    r"\b(?:(?:this|that|it)(?:['’]s| is|['’]s| was)(?:n['’]t| not) (?:a|an|the|it)\b|ruled? out|not the (?:cause"
    r"|culprit"
    r"|problem|issue)|das ist es nicht|daran liegt es nicht|ce n['’]est (?:donc )?pas|no es (?:eso|el problema)"
    r"|não é isso)|不是这个原因|ではありません",
    re.I,
)
_REASON_OF = re.compile(
    r"\W*the reason (?:why |that |for )?(?P<title>.{5,90}?)(?: is(?: that)?|:)\s+(?P<cause>\S.+)", re.I
)
_LIMIT = re.compile(
    r"\W*(?:i|we) (?:did not|didn['’]t|have not|haven['’]t) (?:yet )?(?:add|added|build|built|write|written|include"
    r"|included) (?:an? |any )?",
    re.I,
)
_POINTS_AT = re.compile(r"\W*(?:that|this|it|they|those|these|das|dies|eso|esto|cela|ça|isso)(?:['’]\w+)?\b", re.I)
_DOING = re.compile(r"\W*(?-i:[A-Z])\w+ing (?:that|this|it|the|them|now|both|all)\b", re.I)
_PARTS = re.compile(r"[;:：]\s*")
_MARKS = (",", ";", ":", "，", "、")


def is_symptom(text: str) -> bool:
    return bool(cue("problem").search(text)) and len(text.split()) <= _SYMPTOM_WORDS and not _is_own_work(text)


def breaks(symptom: str) -> bool:
    """Whether a symptom is a failure: what is said right after it is its cause, even without saying so."""
    return bool(_BREAKS.search(symptom))


def is_status(text: str) -> bool:
    """`Two tests fail`: how many, and nothing more."""
    return bool(_STATUS.match(text))


def bare_symptom(symptom: str) -> str:
    """A symptom without the count of tests before it: `One test fails: tenants …`."""
    head, colon, rest = symptom.partition(": ")
    return rest if colon and is_status(head) else symptom


def is_discovery(text: str) -> bool:
    """`Found it.`: what follows is the cause."""
    return bool(_FOUND_OUT.match(text)) and len(text.split()) <= _SHORT


def points_at(text: str) -> bool:
    """Whether a sentence begins with what was named before: `That skips …`, `It's recreated …`."""
    return bool(_POINTS_AT.match(text))


def points_back(text: str, *, failed: bool) -> bool:
    """`That's the cycle.`: what went before was the cause."""
    if not _THAT_WAS_IT.match(text) or len(text.split()) > _SHORT:
        return False
    return failed or bool(cue("cause_head").search(text))


def effect_of(text: str) -> str:
    """What a sentence that begins with `that is why` tells; empty where it begins otherwise."""
    found = _THEN.match(text)
    return text[found.end() :].strip(" ,，") if found else ""


def tells_what_is_lost(text: str) -> bool:
    """`Without it the service throws …`: what went before is needed."""
    return bool(_WITHOUT.match(text) and (cue("problem").search(text) or _THROWS.search(text)))


def has_problem(text: str) -> bool:
    """Whether a sentence tells of something that goes wrong; `jobs that fail` only names a kind of jobs."""
    return bool(cue("problem").search(_OF_A_KIND.sub(" ", text)))


def explains(text: str) -> bool:
    """Whether a sentence says by itself that it explains something."""
    return bool(_THEN.search(text))


def is_clause(text: str) -> bool:
    """Whether a text tells something, rather than listing names."""
    return len(text.split()) >= _SHORT - 1 or not text.isascii()


def says_nothing(text: str) -> bool:
    """Whether a sentence cannot tell of a trap: a question, a courtesy, the agent's own work, a guess, a step."""
    if text.endswith(("?", "？", ":", "：")) or cue("polite", at_start=True).match(text) or cue("aside").search(text):
        return True
    if is_ruled_out(text) or _is_own_work(text) or (cue("open").search(text) and not _STRONG.search(text)):
        return True
    is_known = _STRONG.search(text) or (cue("problem").search(text) and _cut_at(text, "because"))
    return bool(cue("hypothetical").search(text) and not is_known)


def _is_own_work(text: str) -> bool:
    """Whether the agent tells what it does or did."""
    return bool(_DOING.match(text)) or any(
        cue(meaning, at_start=True).match(text) for meaning in ("commit", "immediate", "did")
    )


def without_own_work(text: str) -> str:
    """`I'll correct the file: it lacks …` without what the agent does."""
    doing, colon, rest = text.partition(": ")
    return rest if colon and _is_own_work(opened(doing)) and has_cause(rest) else text


def is_ruled_out(text: str) -> bool:
    """Whether a sentence says what it is not."""
    return bool(_RULED_OUT.search(text))


def has_cause(text: str) -> bool:
    return bool(_cut_at(text, "therefore") or _cut_at(text, "because"))


def _cut_at(text: str, meaning: str) -> tuple[str, str] | None:
    """The two sides of a connector that stands between two clauses."""
    if meaning == "because" and (found := _RELATIVE.search(text)) and found.start() >= _CLAUSE:
        return text[: found.start()], text[found.end() :]
    for found in cue(meaning).finditer(text):
        if text.count("(", 0, found.start()) > text.count(")", 0, found.start()):
            continue
        before, after = text[: found.start()].rstrip(" ,;，、"), text[found.end() :].lstrip(" ,，、:：")
        # `as` and `so` also stand within a clause.
        is_apart = text[: found.start()].rstrip().endswith(_MARKS) or len(found[0]) > 2 or not found[0].isascii()
        if is_apart and all(len(side) >= (_CLAUSE if side.isascii() else _CLAUSE // 2) for side in (before, after)):
            return before, after
    return None


def split_cause(text: str) -> str:
    """A sentence as `effect: cause` where it tells both, else as it is."""
    text = _NOTE.sub("", opened(text))
    if sides := _cut_at(text, "therefore"):
        if warns(sides[1]) or cue("trap", at_start=True).match(sides[1]):
            # `X slips through, so be careful with Y` warns of X.
            return pair(sides[0], sides[1])
        return pair(sides[1], sides[0])
    if sides := _cut_at(text, "because"):
        return pair(sides[0], sides[1])
    for mark in (_OTHERWISE, _PARTS):
        parts = mark.split(text, maxsplit=1)
        if len(parts) == 2 and min(map(len, parts)) >= _CLAUSE // 2:
            return pair(parts[0], parts[1])
    return tidy(text)


def warns(text: str) -> bool:
    if cue("order", at_start=True).match(text):
        return bool(_UNTIL.search(text))
    return bool(cue("trap").search(text)) and bool(_STRONG.search(text) or cue("problem").search(text))


def reason_of(text: str) -> tuple[str, str] | None:
    """`The reason it compiles is that …` as what is explained, and why."""
    found = _REASON_OF.match(text)
    return (found["title"], found["cause"]) if found else None


def titled(text: str, *, failed: bool) -> str:
    """A sentence that names a problem, and after a colon its cause; empty where it is none."""
    title, colon, cause = text.partition(": ")
    if not colon:
        return ""
    if (failed or has_problem(text)) and _LIMIT.match(title):
        return pair(_LIMIT.sub("No ", title), cause)
    is_named = bool(cue("problem").search(title)) or failed
    return (
        pair(title, cause) if is_named and not is_status(title) and len(stems(cause)) >= 3 and is_clause(cause) else ""
    )


def fullest(texts: list[str]) -> str:
    """The sentence that tells the most and is not too long."""
    fitting = [text for text in texts if len(text) <= _CAUSE_CHARS and not says_nothing(text)]
    return max(fitting, key=lambda text: len(stems(text)), default="")
