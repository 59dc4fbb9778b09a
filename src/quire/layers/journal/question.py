"""What a question about the journal asks for: the kind of answer, the words to search for, the time it names.

A question says so in phrases, which are looked for in six languages besides English: whole words where a script has
spaces between them. What only names the kind of answer is no word to search for, and is taken out of the question.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime, time, timedelta
from functools import cache
from typing import Literal

import msgspec

from quire.model.times import instant

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


# Lower case, without accents.
_STOP_WORDS = {
    "de": "der die das den dem des ein eine einen einem einer und oder aber wie was wer wo wann warum wieso weshalb "
    "welche welcher welches ist sind war waren wird werden wurde wurden hat haben hatte kann konnen muss mussen soll "
    "sollen sollte sollten ich wir ihr sie er es man mir mich uns nicht kein keine auf in im an am zu zum zur von vom "
    "ins mit bei beim fur uber nach aus vor seit durch ohne um als auch noch nur so dass wenn dann da hier dort gibt "
    "es sich mein unser unsere dieser diese dieses funktioniert geht macht machen tun",
    "fr": "le la les l un une des du de d et ou mais comment que quoi qui ou quand pourquoi quel quelle quels quelles "
    "est sont etait etre a ai as avons avez ont peut doit faut je tu il elle on nous vous ils elles ne n pas plus dans "
    "en au aux a pour par sur avec sans sous chez ce cet cette ces se s y qu c est-ce mon notre nos son sa ses leur "
    "faire fait marche fonctionne depuis",
    "es": "el la los las un una unos unas de del y o pero como que quien donde cuando por para cual cuales es son era "
    "fue ser esta estan hay ha han puede debe yo nosotros ellos me nos se no en al a con sin sobre entre desde lo le "
    "les su sus mi nuestro nuestra este esta esto estos estas ese eso hace hacer funciona tiene",
    "pt": "o a os as um uma uns umas de do da dos das e ou mas como que quem onde quando por para porque qual quais e "
    "sao era foi ser esta estao ha tem pode deve eu nos eles me nos se nao em no na nos nas ao aos com sem sobre entre "
    "desde lhe seu sua meu nosso nossa este esta isto esse isso faz fazer funciona",
}
_STOPPED = {language: frozenset(words.split()) for language, words in _STOP_WORDS.items()}
_ENGLISH = frozenset("the a an of in is are was do does did how what why when where which who to for with and".split())  # noqa: SIM905
_UNSPACED_ASKING = re.compile(
    "[为為]什[么麼]|有?什[么麼](?:时候|時候|地方)?|怎[么麼][样樣]?|如何|多[久少]|[几幾][个個次]?|哪[里裡些个個]|是否|有[没沒]有|[请請][问問]?|[吗嗎呢吧啊]|我[们們]"
    "|最近|目前|[现現]在|的"
    "|どうやって|どのように|どうして|どう|なぜ|何故|どこ|いつ|どれ|どの|誰|何|なに|ですか|ますか|でしたか|ましたか|とは|について|教えて|ください"
)
_PARTICLES = re.compile(
    "(?<=[\u30a0-\u30ff\u3400-\u9fff])[のはがをにでともへや](?=[\\s?？。、\u30a0-\u30ff\u3400-\u9fff]|$)"
)
_ALONE = re.compile("(?<!\\w)[\u3040-\u309f有是了在](?!\\w)")
"""A single character that says how words belong together: the index knows pairs of them."""
_WORD = re.compile(r"[^\W_]+")


def sought_text(question: str, part: str | None = None) -> str:
    """The question as it is searched for, or a part of it: without what only makes it a question, in its language."""
    text = question if part is None else part
    text = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())
    if not text.isascii():
        text = _ALONE.sub(" ", _PARTICLES.sub(" ", _UNSPACED_ASKING.sub(" ", text)))
    stopped = stop_words(question)
    return _WORD.sub(lambda found: "" if folded(found.group()) in stopped else found.group(), text)


def topic_text(question: str, part: str | None = None) -> str:
    """What a question after changes, next steps or traps is about; blank where it is about everything."""
    text = sought_text(question, without_phrases(question if part is None else part))
    return _WORD.sub(lambda found: "" if is_filling(found.group()) else found.group(), text)


def stop_words(question: str) -> frozenset[str]:
    """Those of the language that the question is in; none where that is English, or hard to say."""
    words = [folded(word) for word in _WORD.findall(question)]
    counts = {language: sum(word in stopped for word in words) for language, stopped in _STOPPED.items()}
    language = max(counts, key=lambda name: counts[name])
    asked = counts[language]
    return _STOPPED[language] if asked > max(1, sum(word in _ENGLISH for word in words)) else frozenset()


# Without accents, Monday first: English, German, French, Spanish, Portuguese.
_WEEKDAYS = (
    ("monday", "montag", "lundi", "lunes", "segunda"),
    ("tuesday", "dienstag", "mardi", "martes", "terca"),
    ("wednesday", "mittwoch", "mercredi", "miercoles", "quarta"),
    ("thursday", "donnerstag", "jeudi", "jueves", "quinta"),
    ("friday", "freitag", "vendredi", "viernes", "sexta"),
    ("saturday", "samstag", "samedi", "sabado"),
    ("sunday", "sonntag", "dimanche", "domingo"),
)
_DAYS_BACK = {
    0: "today|heute|aujourd'hui|hoy|hoje|今天|今日",
    1: "yesterday|gestern|(?<=depuis )hier|ayer|ontem|昨天|昨日",
    7: "last week|letzter? woche|(?:la )?semaine derniere|(?:la )?semana pasada|(?:a )?semana passada|上[周週]|先週",
    30: "last month|letzten monat|(?:le )?mois dernier|(?:el )?mes pasado|(?:o )?mes passado|上个月|上個月|先月",
}
_UNITS = {
    "hour": "hours?|stunden?|heures?|horas?|小时|小時|時間",
    "day": "days?|tage?n?|jours?|dias?|天|日",
    "week": "weeks?|wochen?|semaines?|semanas?|周|週間?|星期",
    "month": "months?|monate?n?|mois|mes(?:es)?|个月|個月|ヶ月|か月",
}
_LENGTHS = {"hour": 1, "day": 24, "week": 7 * 24, "month": 30 * 24}
_DATE = re.compile(
    r"(?<![\w-])(\d{4}-\d{2}-\d{2}(?:t\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:z|[+-]\d{2}:\d{2})?)?)(?![\w-])"
)
_LEAD = "last|past|previous|since|vor|letzten?|seit|il y a|derniere?s?|depuis|hace|ultim[oa]s?|ha|过去|過去|最近|ここ"
_TAIL = "ago|atras|以前|前|以来|以內|以内|内"
_AMOUNT = re.compile(
    rf"(?:(?<![a-z])(?P<lead>{_LEAD})\s*)?(?<![\d.])(?P<number>\d{{1,3}})\s*"
    rf"(?:{'|'.join(f'(?P<{name}>{words})' for name, words in _UNITS.items())})(?![a-z0-9])(?:\s*(?P<tail>{_TAIL}))?"
)
_WEEKDAY = re.compile(
    "(?<![a-z])(?:since|on|last|seit|am|letzten|depuis|desde)(?: (?:last|letztem|le|el|o|a))? (?:"
    + "|".join(f"(?P<d{day}>{'|'.join(names)})" for day, names in enumerate(_WEEKDAYS))
    + ")(?:-feira)?(?![a-z])"
)
_BACK = re.compile("|".join(f"(?<![a-z])(?P<b{days}>{words})(?![a-z])" for days, words in _DAYS_BACK.items()))


class Since(msgspec.Struct, frozen=True):
    """A moment, and the question without the words that name it."""

    moment: datetime | None
    rest: str


def since_when(question: str, now: datetime) -> Since:
    """The moment that a question names, if it names one. A day begins at midnight, where `now` is."""
    question = unicodedata.normalize("NFC", question)
    text = folded(question)
    for pattern, moment_in in ((_DATE, _date), (_AMOUNT, _amount), (_WEEKDAY, _weekday), (_BACK, _back)):
        for found in pattern.finditer(text):
            moment = moment_in(found, now)
            if moment is not None:
                return Since(moment, f"{question[: found.start()]} {question[found.end() :]}")
    return Since(None, question)


def _date(found: re.Match[str], now: datetime) -> datetime | None:
    written = found[1].upper()
    moment = instant(written)
    if moment is not None and len(written) <= len("2026-03-02T11:19:00") and "Z" not in written:
        moment = moment.replace(tzinfo=now.tzinfo)
    return moment


def _amount(found: re.Match[str], now: datetime) -> datetime | None:
    if not found["lead"] and not found["tail"]:
        return None  # `the 30 day retention` is no time ago
    unit = next(name for name in _UNITS if found[name])
    return now - timedelta(hours=int(found["number"]) * _LENGTHS[unit])


def _weekday(found: re.Match[str], now: datetime) -> datetime | None:
    day = next(day for day in range(len(_WEEKDAYS)) if found[f"d{day}"])
    # Asked on a Monday, `since Monday` is a week and no moment ago.
    back = (now.weekday() - day) % 7 or 7
    return _midnight(now, back)


def _back(found: re.Match[str], now: datetime) -> datetime | None:
    days = next(days for days in _DAYS_BACK if found[f"b{days}"])
    return _midnight(now, days)


def _midnight(now: datetime, days: int) -> datetime:
    return datetime.combine((now - timedelta(days=days)).date(), time(), now.tzinfo)
