"""Detect prompts that give nothing to search for, such as `ok, go on`.

A prompt counts as an acknowledgement only when there is nothing else in it. Taking one for a question costs some room;
taking a question for one would cost the agent what it needed to know.
"""

from __future__ import annotations

import re
import unicodedata

# Without capitals and accents, an apostrophe as a space.
_ENGLISH = (
    "ok, okay, okey, okey dokey, k, kk, y, yes, yep, yup, yeah, ya, sure, sure thing, of course, certainly, "
    "absolutely, definitely, indeed, exactly, right, correct, agreed, i agree, understood, i understand, i see, "
    "noted, roger, ack, lgtm, sgtm, approved, confirmed, got it, fine, good, very good, all good, good job, "
    "good work, well done, great, great job, great work, nice, nice work, cool, perfect, excellent, awesome, amazing, "
    "wonderful, brilliant, super, alright, all right, done, thanks, many thanks, thanks a lot, thank you, "
    "thank you very much, thank you so much, thx, ty, cheers, please, pls, continue, proceed, go, go on, go ahead, "
    "go for it, carry on, keep going, do it, do that, do so, let s go, let s do it, next, makes sense, "
    "that makes sense, sounds good, looks good, looks good to me, looks right, that works, works for me, that s fine, "
    "that s good, that s right, it s fine, no problem, no worries, you re welcome, n, no, nope, nah, not now, hi, "
    "hello, hey, hm, hmm, hmmm, mhm, ah, aha, oh, and, so, then"
)
_GERMAN = (
    "ja, jo, jap, jep, jawohl, nein, nee, klar, na klar, alles klar, geht klar, sicher, naturlich, natuerlich, genau, "
    "richtig, stimmt, das stimmt, gut, sehr gut, alles gut, gut so, prima, toll, klasse, perfekt, wunderbar, "
    "ausgezeichnet, spitze, schon, sehr schon, schoen, sehr schoen, fein, passt, das passt, passt so, in ordnung, "
    "einverstanden, verstanden, danke, danke dir, danke sehr, danke schon, danke schoen, dankeschon, dankeschoen, "
    "vielen dank, besten dank, bitte, bitte sehr, gern, gerne, weiter, weiter so, mach weiter, weitermachen, "
    "weiter machen, fortfahren, fahr fort, fahre fort, los, los geht s, leg los, nur zu, mach, mach das, mach es, "
    "mach mal, tu es, fertig, kein problem, ach so, hallo, servus, und, also, dann"
)
_FRENCH = (
    "oui, ouais, non, si, d accord, daccord, dac, bien, tres bien, c est bien, c est bon, c est parfait, "
    "c est compris, c est note, bon, tres bon, parfait, genial, merci, merci beaucoup, merci bien, s il te plait, "
    "s il vous plait, stp, svp, continuez, continuer, poursuis, poursuivez, vas y, allez, allez y, allons y, on y va, "
    "suivant, la suite, exact, exactement, tout a fait, compris, j ai compris, bien sur, entendu, ca marche, ca va, "
    "ca me va, voila, pas de probleme, de rien, fais le, bonjour, salut, et, alors"
)
_SPANISH = (
    "vale, claro, claro que si, por supuesto, desde luego, de acuerdo, entendido, muy bien, esta bien, bueno, "
    "muy bueno, perfecto, excelente, estupendo, fantastico, gracias, muchas gracias, mil gracias, por favor, porfa, "
    "continua, continuar, sigue, siga, sigue asi, adelante, dale, venga, vamos, siguiente, hecho, listo, exacto, "
    "exactamente, correcto, hazlo, eso es, asi es, de nada, sin problema, me parece bien, hola, entonces, pues"
)
_PHRASES = frozenset(", ".join((_ENGLISH, _GERMAN, _FRENCH, _SPANISH)).split(", "))
_PHRASE_WORDS = 4
_MOST_PHRASES = 3

_WORD = re.compile(r"\w+")
# The marks of paths, names, options and code. Around no word at all they are punctuation like any other.
_CODE = re.compile(r"[/\\_`@#$%^&=+<>{}\[\]|~]|(?<!\.)\.(?=\w)|:(?=\w)|\w\(|(?<!\w)-+(?=\w)|[a-z][A-Z]")
_THUMB = "+1"


def is_low_signal(prompt: str) -> bool:
    """Whether a prompt is blank, only marks, or no more than a few words of agreement, thanks or greeting."""
    text = prompt if prompt.isascii() else _without_accents(prompt)
    words = _WORD.findall(text.casefold().replace("_", " "))
    if not words or text.strip(" :!.\n") == _THUMB:
        return True
    return len(words) <= _PHRASE_WORDS * _MOST_PHRASES and not _CODE.search(text) and _is_phrases(words)


def _is_phrases(words: list[str]) -> bool:
    reached = {0}
    for _ in range(_MOST_PHRASES):
        reached = {
            end
            for start in reached
            for end in range(start + 1, start + _PHRASE_WORDS + 1)
            if " ".join(words[start:end]) in _PHRASES
        }
        if len(words) in reached:
            return True
    return False


def _without_accents(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char))
