"""How the user picks: by an order that settles how something is, by a few words that answer an offer, by agreeing.

Such words mean little without what they answer, so a pick is told with the sentence of the talk that it belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from quire.capture.signals.choices import is_question
from quire.capture.signals.cues import cue
from quire.capture.signals.symptoms import asks_for
from quire.capture.signals.wording import is_alike, stems, tidy

_FEW_STEMS = 6
"""A pick of fewer words is told with what it answers."""
_TEXT_CHARS = 230
_ANSWER_WORDS = 14
_COMMENT_WORDS = 24
_BRIEF_CHARS = 60

# Orders that settle how something is. To add, write, fix, run or look at something is work, and settles nothing.
_SETTLES = re.compile(
    r"\W*(?:(?:and|but|so|then|also|just|simply|please|rather|maybe not, |instead,?|ok(?:ay)?,?|let['’]?s|we(?:['’]ll"
    r"| will"
    r"| can| should)?)\s+)*(?:accept|allow|always|ask for|avoid|base|block|bring|bump|cache|call|cap|combine|count|cut"
    r"|deduplicate|default|deny|deprecate|disable|do (?:it|that|this|both)|double|drop|enable|encrypt|exclude|expose"
    r"|fall back|flip|force|freeze|give|go|hash|hide|hold|ignore|include|inline|keep|leave|limit|lock|log|lower|make"
    r"(?! (?:a|an|sure|me|some)\b)|mark|mask|merge|move|name|never|omit|only|order by|pin|prefer|put|queue|raise|record"
    r"|redirect|refuse|reject|remove|replace|require|restrict|retry|return|reuse|roll back (?:after|to|on|when)|round"
    r"|send"
    r"|serve|set|share|shard|skip(?! (?:that|this) one)|sort|split|squash|start with|stay|stick|store|strip|switch|take"
    r"|target|throttle|treat|truncate|turn (?:off|on|it)|use|wait|warn|wrap"
    r"|que (?:(?:lo|la|se|los|las) )?\w+(?:en?|an?)|nimm|nehmt|behalte|lass|verwende|benutze|setze|speicher\w*"
    r"|begrenze|verschiebe|entferne|beschränke"
    r"|usa|usad|deja|dejad|mantén|guarda|limita|quita|pon|mueve|cambia a|elimina"
    r"|garde|gardez|utilise|mets|limite|enlève|supprime|passe à|remplace|désactive"
    r"|use|mantenha|deixe|guarde|limite|remova|coloque|troque)(?![\w-])(?!\s*(?:\?|your|on with|ahead|for it))",
    re.I,
)
_SETTLED = re.compile(
    r"\b(?:(?:it|that|this)(?:['’]ll| will| shall) be|it is\W*$|is (?:enough|plenty|fine|ok|okay|out|in|the one"
    r"|worth more"
    r"|a must|sufficient)|are (?:ok|okay|fine|enough|out)|wins|will do|then|does the job|for now|at (?:most|least)"
    r"|stays|is gone|max(?:imum)?|minimum|not within|no more than|as (?:well|before|everywhere)|like (?:the"
    r"|everywhere|we)|instead"
    r"|(?<!\bi )(?:must|has to)|sounds (?:good|great|right|fine)|for the (?:moment|time being)|usemos|dejemos"
    r"|de momento"
    r"|por ahora|por enquanto|erstmal|vorerst"
    r"|rather|only|we(?:['’]ll| will)? (?:stay|keep|stick|go|use|take|leave)|we stay"
    r"|reicht|genügt|lieber|dann|nur|bleibt|bleiben|statt|basta|entonces|mejor|solo|sólo|se queda|nos quedamos"
    r"|suffit|alors|plutôt|juste|on (?:garde|reste|prend|passe|part)|pour l['’]instant|então|melhor|fica|só)\b"
    r"|就(?:用|这样|行|够)|够了|那就|(?<!不行)(?<!是)吧(?=\W|$)|先不|改成|换成|不用|のまま|にして|で十分|でいい|だけ"
    r"|まとめて|ましょう",
    re.I,
)
_AGREES = re.compile(
    r"\W*(?:(?:oh|ah|wow|hm+|well|ok(?:ay)?|yes|yeah|yep|cool|nice|great)[,.! ]+){0,2}(?:sold|deal|(?:fine|good"
    r"|ok(?:ay)?)"
    r" (?:by|with|for) me|works for me|(?:you|that) (?:have )?convinced me|(?:i['’]m )?convinced|i(?:['’]m| am) (?:in"
    r"|fine"
    r"|ok(?:ay)?|good|happy) (?:with|for)?|i (?:like|love|agree|buy)(?: (?:that|it|this|the idea|with (?:that|you)))?"
    r"|love it|go for (?:it|that)|so be it|fair enough|good (?:idea|plan|point|call)|great (?:idea|plan)|\+1|yes please"
    r"|let['’]?s (?:do|try) (?:it|that|this)|do (?:it|that|this|so)(?: (?:like )?that| this way)?|sounds (?:good|great"
    r"|right"
    r"|reasonable|like a plan)|cool|agreed|approved|absolutely|definitely|exactly|please do|ship it"
    r"|überzeugt|gute idee|so machen(?: wir)?(?: (?:es|das))?|machen wir(?: (?:so|das|es))*|mach (?:das|es) so"
    r"|klingt gut"
    r"|in ordnung|von mir aus|me gusta|dale|hazlo(?: así)?|me parece bien|buena idea|trato hecho|faisons (?:comme )?ça"
    r"|ça me va|bonne idée|allons-y|pode ser|fechado|beleza|boa ideia|pode fazer|sim|faz(?: isso| assim)?"
    r"|va bene)(?![\w-])"
    r"|\W*(?:没问题|就这么办|听你的|いいですね|それで(?:お願いします|いきましょう|いい)|賛成)",
    re.I,
)
_POINTS_AT = re.compile(r"\b(?:it|that|them|this|those|these|one|ones|es|das|eso|lo|le|ça|isso)\b|那|それ|これ", re.I)
_REMARK = re.compile(
    r"\W*(?:oh|wow|ugh|hm+|huh|that['’]?s|this is|it['’]s|nice|thanks|thank|interesting|weird|strange|same|works|looks"
    r"|maybe|perhaps|not now|whatever|up to you|just (?:wanted|asking|curious|checking)|i (?:don['’]t|think|guess"
    r"|thought|see)|das ist|es |c['’]est|es un|ah)(?![\w])",
    re.I,
)
_WORK = re.compile(
    r"\W*(?:(?:and|then|now|please|also|ok) )*(?:add|write|fix|run|open|look|check|show|explain|test|continue|measure"
    r"|try"
    r"|update|rename|revert|commit|push|deploy|document|verify|review|carry|go on|tell|list|find|read|implement|do the"
    r"|start|finish|benchmark|profile|prüf\w*|mach weiter|miss|schreib\w*|añade|prueba|ajoute|teste|vérifie)\b",
    re.I,
)
_AND_MAKE = re.compile(r"(?: and|[,;]) (?=make (?!a\b|an\b|sure\b))", re.I)
_OFFERS = re.compile(
    r"\b(?:(?:two|three|zwei|drei|dos|tres|deux|trois|duas|três) (?:ways|options|approaches|possibilities|wege"
    r"|varianten"
    r"|möglichkeiten|opciones|formas|caminos|façons|solutions|opções|maneiras)|would (?:be|do|give|keep|cover|let|make"
    r"|mean|solve|avoid|go)|better|best|cleanest|simplest|easiest|safest"
    r"|i['’]d(?! like| love)|i would(?! like| love)|we (?:can|could|should)|i can(?!['’]t|not)|i could|suffices?"
    r"|is (?:enough"
    r"|plenty|obvious)|does the job"
    r"|wir (?:könnten|sollten|können)|besser|am (?:einfachsten|besten)|reicht|ich würde"
    r"|podr[ií]a\w*|lo (?:mejor|más)|propongo|sugiero|mejor|bastar[ií]a"
    r"|on (?:pourrait|peut)|mieux|suffit|le plus simple|je propose|poderia\w*|o melhor|dá para|podemos|sugiro)\b"
    r"|可以|建议|更(?!新)|办法|够了|ほうが|できます|良い|いいと思",
    re.I,
)

_CHOOSE = re.compile(
    r"\b(?:should|shall|want|prefer|which|would you|or|soll\w*|oder|möchte\w*|willst|quieres|prefieres|debo|veux|voulez"
    r"|ou|quer|prefere|devo|seria|sería|serait)\b|还是|要不要|どうしますか|ましょうか|好吗",
    re.I,
)
_SO = re.compile(r"\W*(?:\w+ )?(?:so|also|entonces|donc|alors|então|所以|では)\s*[:：]", re.I)


def agrees_in(text: str) -> str | None:
    """What is left of a sentence after the words that agree; nothing where it does not begin with such words."""
    found = _AGREES.match(text)
    if not found:
        return None
    rest = text[found.end() :]
    if rest.strip() and not re.match(r"\s*[,.!;:，。、—–-]|\s+(?:but|and|then|with|on|for|to)\b", rest):
        return None
    return re.sub(r"^[\s,.!;:，。、—–-]+(?:but |and )?", "", rest)


def settles(text: str) -> bool:
    """Whether an order of the user says how something is to be, rather than what to do next."""
    return bool(_SETTLES.match(text) or _AND_MAKE.search(text))


def settled_part(text: str) -> str:
    """Of `revert that and make CI build both` what settles something."""
    found = None if _SETTLES.match(text) else _AND_MAKE.search(text)
    return text[found.end() :] if found else text


def is_remark(text: str) -> bool:
    """Whether the user only says how something strikes them."""
    return bool(_REMARK.match(text))


def is_comment(text: str) -> bool:
    """Whether a sentence after a pick only says more about it."""
    is_short = len(text.split()) <= _COMMENT_WORDS and not text.endswith(("?", "？"))
    return is_short and not _WORK.match(text) and not _REMARK.match(text) and not cue("polite").search(text)


def is_brief(text: str) -> bool:
    """Whether a text can be the answer to a question: a few words that order no work."""
    is_short = len(stems(text)) > 1 and len(text.split()) <= _ANSWER_WORDS
    is_work = _WORK.match(text) or asks_for(text)
    return is_short and not is_work and not cue("polite").search(text) and not is_question(text)


def lets_choose(question: str) -> bool:
    """Whether a question asks what is to be, rather than what is."""
    return bool(_CHOOSE.search(question))


def points_at(text: str) -> bool:
    """Whether a text needs the one before it to be understood."""
    return bool(_POINTS_AT.search(text))


def answers(text: str, said: Iterable[str], *, is_open: bool) -> bool:
    """Whether a few words answer what was said: they settle it or, where something is open, name something of it."""
    if len(text.split()) > _ANSWER_WORDS or text.endswith(("?", "？")) or _WORK.match(text):
        return False
    if cue("hypothetical").search(text) and not _SETTLED.search(text):
        return False
    named = stems(text)
    if _SETTLED.search(text):
        return bool(named)
    known = frozenset().union(*(stems(one) for one in said))
    return is_open and bool(named) and len(named & known) >= max(1, len(named) // 2)


def offers(text: str) -> bool:
    """Whether a sentence of the agent says what could be done."""
    return bool(_OFFERS.search(text)) and not text.endswith(("?", "？"))


def is_open(text: str) -> bool:
    """Whether a sentence of the agent leaves something to choose."""
    return is_question(text) or bool(cue("hypothetical").search(text)) or offers(text)


def with_context(pick: str, said: Sequence[str], question: str) -> str:
    """A pick with the sentence that it belongs to, where it says little by itself."""
    head = re.split("[;:：；]", pick, maxsplit=1)[0]
    mine = stems(head)
    if len(mine) > (_FEW_STEMS if _POINTS_AT.search(head) else _FEW_STEMS // 2):
        return pick
    context = _closest(pick, said)
    if (
        not context
        and question
        and (mine & stems(question) or (_POINTS_AT.search(head) and len(mine) <= _FEW_STEMS // 2))
    ):
        context = question
    context = tidy(context)
    if (
        not context
        or stems(context) <= stems(pick)
        or len(pick) + len(context) > _TEXT_CHARS
        or (is_alike(mine, stems(context), 1.0) and len(mine) > 4)
    ):
        return pick
    return f"{pick} ({context})"


def with_question(pick: str, question: str) -> str:
    """A refusal with the question that it answers."""
    asked = tidy(question)
    return f"{pick.rstrip('.。')} ({asked})" if asked and len(pick) + len(asked) <= _TEXT_CHARS else pick


def sums_up(text: str) -> bool:
    """`So: one database, …`: the user says what came out."""
    return bool(_SO.match(text)) and len(stems(text)) > _FEW_STEMS // 2


def _closest(pick: str, said: Sequence[str]) -> str:
    # What only says that it is a choice is not what it is about.
    mine = stems(_SETTLED.sub(" ", pick)) or stems(pick)
    ranked = [(len(mine & stems(text)), offers(text), index, text) for index, text in enumerate(said)]
    best = max(ranked, default=(0, False, 0, ""))
    if not mine or best[0] < max(1, (len(mine) + 1) // 2):
        return ""
    # A short sentence goes with the one before it: `A cannot do that. B can.`
    before = said[best[2] - 1] if best[2] and len(best[3]) <= _BRIEF_CHARS else ""
    is_beside = 0 < len(before) <= _BRIEF_CHARS and not is_alike(stems(before), stems(best[3]), 1.0)
    return f"{before} {best[3]}" if is_beside else best[3]
