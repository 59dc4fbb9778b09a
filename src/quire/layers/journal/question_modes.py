"""Classify a question about the journal: next steps, gotchas, changes, or a plain answer.
answer.

A question says so in phrases, which are looked for in six languages besides English: whole words where a script has
spaces between them. What only names the kind of answer is no word to search for, and is taken out of the question.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Literal

Mode = Literal["answer", "changes", "next", "traps"]

# Lower case, without accents. The first that is found wins, in this order.
_SPACED: dict[Mode, tuple[str, ...]] = {
    "next": (
        r"what should (?:i|we) do next",
        r"what(?: is|'s|s| comes| to do)? next",
        r"next steps?|to-?dos?|follow[ -]?ups?",
        r"what (?:still )?remains|what now|what(?: is|'s|s) left(?: to do)?|(?:open|remaining) (?:tasks|work)",
        # German
        r"nae?chste[rn]? schritte?n?",
        r"was (?:kommt|ist|steht|soll(?:en|te|ten)?|machen?)(?: (?:ich|wir))?(?: als)? nae?chstes(?: tun| an)?",
        r"wie geht(?: e)?'?s weiter|wie weiter|was (?:ist|bleibt)(?: noch)? (?:zu tun|offen|ue?brig)",
        r"offene (?:aufgaben|punkte)",
        # French
        r"prochaines? etapes?|(?:quelle est|et) la suite(?! d)|(?:que|quoi) faire (?:ensuite|maintenant)",
        r"que (?:dois-je|devons-nous|faut-il) faire(?: ensuite| maintenant)?",
        r"(?:que|qu'est-ce qui|qu'est-ce qu'il) reste(?:-t-il)?(?: a faire)?",
        # Spanish
        r"(?:proximos?|siguientes?) pasos?|(?:tareas )?pendientes?",
        r"que (?:debo|debemos|tengo que|tenemos que|hay que) hacer(?: ahora| despues| a continuacion)?",
        r"que (?:sigue|falta|queda)(?: por hacer)?",
        # Portuguese
        r"proximos? passos?|proximas? etapas?|pendencias?",
        r"o que (?:devo|devemos|temos que|tenho que) fazer(?: agora| depois| a seguir)?",
        r"o que (?:falta|resta|vem a seguir)(?: fazer)?",
    ),
    "traps": (
        r"gotchas?|traps?|pitfalls?|known (?:issues?|problems?|bugs?)|caveats?",
        r"(?:to )?watch out(?: for)?|what breaks|what (?:can|could|might) (?:go wrong|break)",
        # German
        r"fallstricke?n?|stolperfallen?|stolpersteine?n?|tue?cken|(?:welche|bekannte|typische) fallen",
        r"bekannten? (?:probleme?|fehler)|worauf (?:muss|mue?ssen|soll(?:te|ten)?)(?: (?:ich|wir|man))? achten",
        r"was (?:geht|kann)(?: leicht| dabei)? (?:kaputt|schief|schiefgehen|schief gehen)(?: gehen)?",
        # French
        r"pieges?|ecueils?|problemes? connus?|(?:a quoi )?faire attention|mises? en garde",
        r"qu'est-ce qui (?:casse|peut casser)",
        # Spanish
        r"trampas?|escollos?|(?:problemas?|errores?|fallos?) conocidos?|cuidado con",
        r"que (?:se rompe|puede (?:fallar|salir mal))",
        # Portuguese
        r"armadilhas?|pegadinhas?|(?:problemas?|erros?) conhecidos?|cuidado com",
        r"o que (?:quebra|pode (?:quebrar|dar errado))",
    ),
    "changes": (
        r"what(?: has| have)? changed|what did (?:i|we|you) change|what(?:'s|s| is)? new",
        r"(?:recent|latest|last|newest) changes|recently changed",
        r"what happened (?:recently|lately|last|yesterday|today)",
        r"since",
        # German
        r"was (?:hat|haben|ist|wurde)(?: sich)?(?=.{0,80}\b(?:ver|ge)ae?ndert)",
        r"was gibt(?: e)?'?s neues|was ist neu|(?:letzten?|neuesten?|jue?ngsten?) ae?nderungen|seit",
        # French
        r"qu'est-ce qui a(?: \w+)? change|quoi de (?:neuf|nouveau)|qu'y a-t-il de nouveau",
        r"(?:changements?|modifications?) recente?s?|derniere?s (?:changements?|modifications?)|depuis",
        # Spanish
        r"que (?:ha |se ha |han )?cambi(?:o|ado|aron)|que hay de nuevo|novedades|cambios recientes|ultimos cambios",
        # Portuguese
        r"o que (?:mudou|foi alterado|(?:ha|tem) de novo)|novidades",
        r"(?:mudancas|alteracoes) recentes|ultimas (?:mudancas|alteracoes)",
        # Spanish and Portuguese: before a place, the word means `from`.
        r"desde(?= (?:ayer|anteayer|ontem|hace|ha|el|la|o|a|segunda|terca|quarta|quinta|sexta|sabado|domingo|\d+)\b)",
    ),
}
# Chinese and Japanese, which have no spaces.
_UNSPACED: dict[Mode, str] = {
    "next": (
        "下一步(?:是什[么麼]|做什[么麼])?|接下[来來](?:做什[么麼])?|待[办辦]|[还還](?:要|需要|剩)做?什[么麼]|[现現]在[该該]做什[么麼]|[后後][续續]"
        "|次の(?:ステップ|作業|一手|タスク)|次[はに](?:何を?|なにを?|やる)|やること|残(?:りの(?:作業|タスク)|っている|タスク)|これから何"
    ),
    "traps": (
        "陷阱|踩坑|坑|(?:需?要|应?[该該]|應該)?注意(?:事[项項]|什[么麼]|哪些)|已知的?[问問][题題]|容易出[错錯]"
        "|落とし穴|罠|[ハは][マま]りどころ|注意(?:点|すべき)|既知の(?:問題|不具合)|気を(?:つけ|付け)|何が壊れ"
    ),
    "changes": (
        "(?:有|[发發]生了)?什[么麼](?:[变變]化|改[动動]|[变變]更|新)|最近.{0,3}(?:[变變]化|改[动動]|[变變]更|更新|修改)"
        "|(?:改|[变變]|更新|修改)了什[么麼]|自[从從]|以[来來]"
        "|何が(?:変わ(?:った|りました)?|変更)|変更点|最近の(?:変更|変化|更新)|何か新しい|新しいこと|更新内容|最近変わ(?:った)?"
    ),
}
_FILLING = frozenset(
    (  # noqa: SIM905
        "recently recent lately latest last newest new news change changes changed file files thing things please list "
        "show tell give known current currently now today still item items project repo repository codebase code us me "
        "must next first step steps work need needs want know watch happened "
        "zuletzt kurzlich kuerzlich geandert geaendert verandert veraendert neu neues projekt bitte noch "
        "recemment dernierement projet recientemente ultimamente proyecto recentemente projeto"
    ).split()
)
"""What a question after traps, changes or next steps may hold besides its topic."""


def query_mode(question: str) -> Mode:
    """The kind of answer that a question wants."""
    text = folded(question)
    for mode in ("next", "traps", "changes"):
        if _pattern(mode).search(text):
            return mode
    return "answer"


def without_phrases(question: str) -> str:
    """A question without the phrases that name a kind of answer, whichever it is; the rest stands as it was."""
    question = unicodedata.normalize("NFC", question)
    kept, text = list(question), folded(question)
    for mode in _SPACED:
        for found in _pattern(mode).finditer(text):
            kept[found.start() : found.end()] = " " * (found.end() - found.start())
    return "".join(kept)


def is_filling(word: str) -> bool:
    """Whether a word beside such a phrase names no topic."""
    return folded(word) in _FILLING


def folded(text: str) -> str:
    """Lower case without accents, character for character, so that places in it are places in the text as NFC."""
    text = unicodedata.normalize("NFC", text).replace("’", "'")
    return text.lower() if text.isascii() else "".join(map(_plain, text))


def _plain(char: str) -> str:
    parts = unicodedata.normalize("NFD", char)
    # Only the accents of Latin, Greek and Cyrillic: elsewhere a mark makes another letter.
    return parts[0].lower()[0] if all("\u0300" <= mark <= "\u036f" for mark in parts[1:]) else char


@cache
def _pattern(mode: Mode) -> re.Pattern[str]:
    # `next.js` and `docs/todo.md` are names.
    return re.compile(rf"(?<![\w/.])(?:{'|'.join(_SPACED[mode])})(?![\w/]|\.\w)|{_UNSPACED[mode]}")
