"""Remove from a question the words that only make it a question, in the language that it is asked in.

The index leaves out the stop words of English only.
"""

from __future__ import annotations

import re
import unicodedata

from quire.layers.journal.question_modes import folded, is_filling, without_phrases

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
