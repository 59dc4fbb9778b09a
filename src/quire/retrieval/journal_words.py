"""The words of a question that are worth searching for, and how much of a text they cover.

The index leaves out the stop words of English; a question may be asked in another language, and in words that any
question may hold. Words that say nothing of the subject are no match, and no miss either.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

import msgspec

from quire.index.search import Question, Searcher
from quire.retrieval.journal_modes import folded, is_filling, without_phrases

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
_SAYING_LITTLE = frozenset(
    (  # noqa: SIM905
        "work works working handle handles use uses used using happen happens happened mean means know explain "
        "describe tell show give say says said get gets make makes made need needs want please way thing things kind "
        "many much exactly actually currently must need supposed go goes going come comes let find look see question "
        "answer long often right now anything something everything reason decide decided"
    ).split()
)
"""What a question about anything may hold: that a text does not say it means nothing."""
_ROOT, _ROOT_ELSEWHERE = 5, 3
_ENDING, _ENDING_ELSEWHERE = 2, 3
"""Where a word is another with an ending: how long it must be, and how long the ending may be, in ASCII and not."""
_COMPOUND = 6
"""From so many letters on, in other languages than English, a word may begin a longer one."""


class Wanted(msgspec.Struct, frozen=True):
    """The words of a question that must be there, with their stems and what each counts."""

    question: Question
    stems: dict[str, frozenset[str]]
    weights: dict[str, float]
    has_compounds: bool = False

    def found_in(self, stems: Iterable[str]) -> tuple[str, ...]:
        """Which of the words a text has, given its stems."""
        held = frozenset(stems)
        return tuple(word for word, own in self.stems.items() if own & held or self._has_root(own, held))

    def _has_root(self, wanted: frozenset[str], held: frozenset[str]) -> bool:
        """Whether a text has a word in another form, which the stems of English do not bring together."""
        return any(
            _is_form(first, second) or (self.has_compounds and len(first) >= _COMPOUND and second.startswith(first))
            for first in wanted
            for second in held
        )

    def share(self, words: Iterable[str]) -> float:
        """How many of the words these are, as a share."""
        return len(tuple(words)) / len(self.stems) if self.stems else 0.0

    def weight(self, words: Iterable[str]) -> float:
        """What these words count, as a share of all that can be found at all."""
        total = sum(self.weights.values())
        return sum(self.weights[word] for word in words if word in self.weights) / total if total else 0.0


def sought_text(question: str, part: str | None = None) -> str:
    """The question as it is searched for, or a part of it: without what only makes it a question, in its language."""
    text = question if part is None else part
    text = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())
    if not text.isascii():
        text = _ALONE.sub(" ", _PARTICLES.sub(" ", _UNSPACED_ASKING.sub(" ", text)))
    stopped = _stop_words(question)
    return _WORD.sub(lambda found: "" if folded(found.group()) in stopped else found.group(), text)


def topic_text(question: str, part: str | None = None) -> str:
    """What a question after changes, next steps or traps is about; blank where it is about everything."""
    text = sought_text(question, without_phrases(question if part is None else part))
    return _WORD.sub(lambda found: "" if is_filling(found.group()) else found.group(), text)


def _stop_words(question: str) -> frozenset[str]:
    """Those of the language that the question is in; none where that is English, or hard to say."""
    words = [folded(word) for word in _WORD.findall(question)]
    counts = {language: sum(word in stopped for word in words) for language, stopped in _STOPPED.items()}
    language = max(counts, key=lambda name: counts[name])
    asked = counts[language]
    return _STOPPED[language] if asked > max(1, sum(word in _ENGLISH for word in words)) else frozenset()


def wanted_words(searcher: Searcher, text: str, question: str = "") -> Wanted:
    """The words of a text that a record must hold to be about it; the whole question tells the language."""
    found = searcher.question(text)
    telling = [word for word in found.words if word not in _SAYING_LITTLE and not _is_letter(word)]
    telling = [] if found.is_plain else telling or found.words
    stems = {word: frozenset(searcher.stems(word)) for word in telling}
    weights = {word: max((found.rarity.get(stem, 0.0) for stem in own), default=0.0) for word, own in stems.items()}
    has_compounds = bool(_stop_words(question))
    return Wanted(found, {word: own for word, own in stems.items() if own}, weights, has_compounds)


def _is_letter(word: str) -> bool:
    """A single letter is no word, unless the script writes words so."""
    return len(word) == 1 and word.isalpha() and word < "\u0e00"


def _is_form(first: str, second: str) -> bool:
    short, long = (first, second) if len(first) <= len(second) else (second, first)
    if not long.startswith(short):
        return False  # as nearly always
    root, ending = (_ROOT, _ENDING) if short.isascii() else (_ROOT_ELSEWHERE, _ENDING_ELSEWHERE)
    return len(short) >= root and len(long) - len(short) <= ending
