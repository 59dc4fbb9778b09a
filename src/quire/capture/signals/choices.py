"""Which sentences choose something: rules, choices, agreement, proposals, and what an agent repeats as agreed."""

from __future__ import annotations

import re

from quire.capture.signals.cues import cue
from quire.capture.signals.wording import opened, stems

SHORT_WORDS = 14
LEAST_STEMS = 3
_PROPOSED_AT = 30
"""A sentence proposes something if it says so soon."""
_CHOSEN_AT = 12
_REASON_AT = 60
_JOINED_CHARS = 230
_TAKEN_BACK_AT = 60

_QUESTION = re.compile(
    r"[?？]\W*$|^\W*(?:(?:should|can|could|would|do|does|did|is|are|wo)(?:n['’]?t)?|can['’]?t|shall|what(?:['’]?s)?"
    r"|why|how|which"
    r"|who|where)\s+(?:we|you|i|it|the|there|that|this|about)\b"
    r"|^\W*(?:how|why) (?:\w+ )?(?:is|are|was|do|does|did|can|could|would|should|many|much)\b",
    re.I,
)
_NO_X = re.compile(
    r"\W*(?:no|kein|keine|keinen|sin|pas de)\s+(?!prob|worr|idea|need|doubt|way|one|open|matter|longer|more|further"
    r"|point|reason|sense|rush|hurry|harm|surpr|chang|clue|wait|that|it\b)"
    r"\w{3}",
    re.I,
)
_BUT_AT = re.compile(r"^|\b(?:but|aber|pero|mais|mas)\s+", re.I)
_NOT_Y = re.compile(r",\s*not (?:the|a|an|in|on|by|from|with)\b", re.I)
_BOUND = re.compile(
    r"instead of|rather than|statt |anstatt |en lugar de|en vez de|au lieu de|plutôt que|而不是|ではなく", re.I
)
_CHOSEN = re.compile(
    r"let['’]?s (?:go|use|stay|stick|keep|drop|move|switch|take|leave|merge|not)|go with|instead of|rather than"
    r"|stay with|stick (?:with|to)|\bit is\W*$|\bentirely\b|\bfor now\b|decided"
    r"|^(?!\W*(?:oh|that|this|it|what|so)\b)(?:\S+\s+){1,5}then\W*$|nehmen wir|machen wir|(?:nos quedamos|seguimos"
    r"|ficamos) co[mn]"
    r"|on (?:garde|prend|part sur)|那就|就用|改用|にしましょう",
    re.I,
)
_CLAUSE = re.compile(
    r"^|[,;:—–-]\s+(?:and |but |und |aber |y |et )?|\b(?:please|bitte|por favor|but|aber|pero|mais|mas)\s+"
)
_KEEP_UP = re.compile(
    r"\W*(?:keep (?:me|up|going|it up|in touch|on|trying|an eye)|stay (?:safe|in touch|tuned))\b", re.I
)
_LIKE_TO = re.compile(r"(?:i['’]d|i would) (?:like|love|not|rather not|need)\b|i wouldn['’]t", re.I)
_OTHERWISE = re.compile(
    r"^\W*(?:if|unless)\b|\b(?:if (?:you|we|it) (?:were|had)|would(?: not|n['’]t) (?:worry|bother|mind)"
    r"|would consider)\b",
    re.I,
)
_BUT = re.compile(r"^(?:but|aber|pero|mais)\s+", re.I)
_WEIGHED = re.compile(
    r"\b(?:considered|looked at|thought about|tried|evaluated)\b.{3,120}\b(?:i|we) (?:kept|chose|picked|went|took"
    r"|stayed|used|decided|dropped)\b|\bis (?:the|a) (?:better|best|right|safer|simpler) (?:choice|option|fit)\b",
    re.I,
)
_MODAL = re.compile(r"\b(?:could|might|may|would|maybe|perhaps|should we|if (?:we|you|i))\b", re.I)
_DONE = re.compile(
    r"^\W*(?:\w+ ){0,2}(?:done|fixed|added|renamed|ported|removed|updated|moved|deployed|merged|finished)\b"
    r"|\b(?:all (?:\d+ )?"
    r"(?:tests|files|specs|green|of them)|pass(?:es)? now|are in place|is in place|works? now|is in\W*$|now (?:passes"
    r"|works))"
    r"|^\W*(?:erledigt|fertig|hecho|listo|fait|terminé|pronto|feito)\b|完成|通过了|しました",
    re.I,
)
# What the agent says it did or does that chooses between ways: to fix, add or write something does not.
_ACTS = re.compile(
    r"\b(?:i|we)(?:['’]m|['’]ve|['’]re| am| are| have)? (?:also |now |just |therefore |instead )?(?:replac|stream|pin"
    r"|switch"
    r"|chose|choos|kept|keep|put|mov|stor|dropp|split|merg|cach|batch|wrap|limit|capp|default|treat|pick|prefer|skipp"
    r"|pass"
    r"|went|mak|made|us(?:e|ing)\b|inlin|mask|round|hash|lock|queue|set)\w*(?! (?:up|on|out)\b)",
    re.I,
)
_KEPT = re.compile(
    r"\bkeep\b.{3,60}\b(?:as (?:it|they|that|is)(?: is| are)?|unchanged|untouched|compatible|intact|working)\b"
    r"|(?:^|[:：] )\W*(?:(?:y |and |und |et )?(?:recuerda|remember|denk daran|rappel)\W+)?(?:nada de|no more|plus de"
    r"|kein\w* \w+ mehr"
    r"|chega de)\s+\w{3}",
    re.I,
)
_TESTS = re.compile(r"\b(?:tests?|specs?|checks?|examples|build|pruebas|testes)\b|测试|テスト", re.I)
# `cursor based please, offsets are slow`: a wish that names no work.
_WISH = re.compile(
    r"\W*(?!(?:add|fix|write|run|make|show|check|look|explain|open|test|update|rename|do|go|try|find|tell|can|could)\b)"
    r"(?:[\w'-]+ ){1,5}please\s*[,;:–—-]\s*(?:\S+ ){1,4}(?:is|are|was|were|has|have|does|do|gets?|takes?)\b",
    re.I,
)
_AGREED = re.compile(r"\W*(?:agreed|settled|decided)\b", re.I)
_SO_I = re.compile(r"\bso (?:i|we)(?:['’]ll|['’]m|['’]ve| will| am| have)?\b", re.I)
_ENDS = " ,.!;:。，！—-"


def is_question(text: str) -> bool:
    return bool(_QUESTION.search(text))


def is_done(text: str) -> bool:
    """Whether a sentence tells that a piece of work is through."""
    return bool(_DONE.search(text))


def is_no_statement(text: str) -> bool:
    return is_question(text) or bool(cue("undecided").search(text) or cue("polite", at_start=True).match(text))


def has_reason(text: str) -> bool:
    return bool(cue("reason").search(text))


# -- the user -------------------------------------------------------------------------------------


def without_agreement(text: str) -> tuple[str, bool]:
    """A sentence without the words that only agree, and whether there were any."""
    agreed = False
    for _ in range(3):
        found = cue("accept", at_start=True).match(text)
        if not found:
            break
        rest = text[found.end() :]
        is_apart = not rest.strip(_ENDS) or re.match(r"\s*[,.!;:。，—-]", rest) or len(found[0]) <= 4
        if not is_apart and not cue("chosen", at_start=True).match(rest.lstrip()):
            break
        text, agreed = _BUT.sub("", rest.lstrip(_ENDS)), True
    return text, agreed


def is_rule(text: str, *, is_request: bool = False) -> bool:
    """Whether a sentence says what is to be done from now on, or never. At the end of a request it only says how."""
    if cue("quoted").search(text) or len(stems(text)) < 2:
        return False
    if _KEPT.search(text) or cue("rule").search(text):
        return True
    if is_request:
        return any(cue("order").match(text, clause.end()) for clause in _BUT_AT.finditer(text))
    return any(cue("order").match(text, clause.end()) for clause in _CLAUSE.finditer(text))


def is_refusal(text: str, *, discussed: bool) -> bool:
    """Whether a few words say how something is not to be. A bare `no X` needs something to refuse."""
    if cue("quoted").search(text) or len(stems(text)) < 2 or _WISH.match(text):
        return bool(_WISH.match(text))
    refuses = _NO_X.match(text) and (discussed or "please" in text.lower())
    return len(text.split()) <= SHORT_WORDS and bool(refuses or _NOT_Y.search(text))


def is_choice(text: str, *, discussed: bool = False) -> bool:
    """Whether a sentence picks something. An order to do a piece of work is a choice only if there was one to make."""
    if _KEEP_UP.match(text) or (cue("hypothetical").search(text) and not cue("choice_end").search(text)):
        return False
    if _CHOSEN.search(text):
        return True
    found = cue("chosen").search(text)
    is_early = found is not None and found.start() <= _CHOSEN_AT and len(text.split()) <= 2 * SHORT_WORDS
    return is_early and (discussed or bool(_BOUND.search(text)) or has_reason(text))


# -- the agent ------------------------------------------------------------------------------------


def is_unreal(text: str) -> bool:
    """Whether a sentence tells what would be done if things were otherwise."""
    return bool(_OTHERWISE.search(text))


def is_proposal(text: str) -> bool:
    """Whether the agent says what it would do, here and now: not what it would do otherwise, nor this or that."""
    found = cue("proposal").search(text)
    if not found or found.start() > _PROPOSED_AT or is_question(text) or _LIKE_TO.search(text):
        return False
    return not is_unreal(text) and not cue("quoted").search(text) and not cue("open").search(text) and bool(stems(text))


def is_acknowledgement(text: str) -> bool:
    """Whether a sentence does nothing but acknowledge: `Understood.`"""
    is_short = len(text.split()) <= 4 and not cue("finished").search(text)
    return is_short and bool(cue("acknowledged", at_start=True).match(text))


def may_say(text: str, *, done: bool = False) -> bool:
    """Whether the agent may say with a sentence what was chosen: it neither asks, nor tells what it does next. With
    `done` it may tell that it is done."""
    bare = opened(text)
    if is_question(text) or _is_working(bare) or cue("did", at_start=True).match(bare):
        return False
    others = () if done else ("finished", "passed", "unfinished")
    return not any(cue(meaning).search(text) for meaning in ("hypothetical", "problem", *others))


def restates(text: str, *, acknowledged: bool) -> bool:
    """Whether the agent says again, in its own words, what the user chose."""
    rest = opened(text)
    if (
        cue("acknowledged", whole=True).fullmatch(text)
        or len(stems(rest)) < LEAST_STEMS
        or is_question(text)
        or _is_working(rest)
        or cue("open").search(text)
        or (cue("passed").search(text) and _TESTS.search(text))
    ):
        return False
    if cue("did", at_start=True).match(rest) or (cue("deferred").search(rest) and len(stems(rest)) <= LEAST_STEMS):
        return False
    if acknowledged or cue("decided").search(text) or cue("acknowledged", at_start=True).match(text):
        return True
    return bool(
        any(cue(meaning).search(text) for meaning in ("commit", "fixed", "settled"))
        and not cue("hypothetical").search(text)
    )


def decides(text: str) -> bool:
    """Whether a sentence tells a decision without anybody having asked for one."""
    if is_no_statement(text) or _is_working(text) or cue("quoted").search(text) or len(stems(text)) < 2:
        return False
    chosen, doubted = cue("decided").search(text), cue("hypothetical").search(text)
    if _WEIGHED.search(text) and not _MODAL.search(text):
        return bool(has_reason(text) or cue("therefore").search(text))
    if chosen and not (doubted and doubted.start() < chosen.start()):
        return len(stems(text)) >= LEAST_STEMS or not _AGREED.match(text)
    if len(stems(text)) < LEAST_STEMS:
        return False
    if cue("fixed").search(text) and not _MODAL.search(text):
        return len(stems(text)) >= LEAST_STEMS
    if doubted:
        return False
    is_bound = bool(_BOUND.search(text) or _SO_I.search(text)) or has_reason(text)
    is_said = _commits(text) or cue("settled").search(text) or cue("rule").search(text) or _ACTS.search(text)
    return is_bound and bool(is_said)


def _commits(text: str) -> bool:
    """Whether a clause of a sentence begins by saying what will be done."""
    return any(cue("commit").match(text, clause.end()) for clause in _CLAUSE.finditer(text))


def takes_back(text: str) -> bool:
    """Whether the agent says that something is not to be done after all."""
    commits = cue("commit", at_start=True).match(text)
    return bool(commits and cue("taken_back").search(text[:_TAKEN_BACK_AT])) and not is_no_statement(text)


def _is_working(text: str) -> bool:
    """Whether it only tells what the agent does next."""
    found = cue("commit", at_start=True).match(text) or cue("immediate", at_start=True).match(text)
    return bool(found and cue("working", at_start=True).match(text[found.end() :].lstrip()))


def with_reason(text: str, following: str) -> str:
    """A decision with its reason, where the next sentence gives one; or with the short order that goes with it."""
    if not following or len(text) + len(following) > _JOINED_CHARS:
        return text
    if len(following.split()) <= 4 and cue("chosen", at_start=True).match(following):
        return f"{text.rstrip('.。')}; {following}"
    if has_reason(text) or not cue("reason").search(following[:_REASON_AT]):
        return text
    return f"{text.rstrip('.。')}: {following}"
