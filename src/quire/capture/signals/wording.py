"""How a signal is worded: one plain sentence, cut at a limit, without courtesies; and when two say the same."""

from __future__ import annotations

import functools
import re

from quire.capture.quotable_text import quote
from quire.capture.signals.cues import cue
from quire.guard.hostile_text import make_safe
from quire.guard.secrets import find_secrets
from quire.model.text import one_line

TEXT_CHARS = 240
"""How long a signal may be."""
_HALF_CHARS = 110

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_IDEOGRAPHS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_FILE = re.compile(r"(?<!\S)[(\[\"'`]?[\w.@+-]+/[\w./@+-]*\.\w{1,8}\b")
_ELISION = re.compile(r"^(?:[cdjlmnst]|qu)'(?=\w{3})")
_STEM = 6
_STOP_WORDS = (
    "a an and are as at be been but by can do does for from had has have i if in into is it its of on or our so such"
    " that the their them then there they this to too up was we were what when where which will with would you your not"
    " no now only let let's go going use using keep please i'll we'll i'd we're i'm ok okay"
    " der die das den dem des ein eine einen einem einer und oder ist sind war wird werden mit von zu zum zur im auf"
    " für als auch es er sie wir ich nicht nur dass bei aus am"
    " el la los las un una unos unas y o es son de del al en por para con que se lo su ya más"
    " le les du et ou est sont une dans sur pour avec qui ne pas plus au aux ce cette il elle"
)
_STOP = frozenset(_STOP_WORDS.split())
_PROGRAM_NAMES = (
    "bash bun cargo cmake composer ctest curl deno docker dotnet flutter gcc git gradle helm jest kubectl mvn mypy"
    " nginx node npm npx pip pnpm poetry psql pytest python ruff sh sqlite terraform tsc uv vite vitest yarn"
)
_PROGRAMS = frozenset(_PROGRAM_NAMES.split())
# Programs whose names are verbs too: `go build fails`, but `Go with moved blocks`.
_VERB_PROGRAM = re.compile(
    r"go (?:build|env|fmt|generate|get|install|list|mod|run|test|tool|version|vet|work)\b"
    r"|make(?: -\S+)*(?: [\w.:/-]+)? (?:breaks|exits|fails|hangs|passes|prints|succeeds)\b|make -"
)
_REDACTED = re.compile(r"\[(?:redacted|secret left out|text left out)\b", re.I)
_FIRST_PERSON = re.compile(
    r"(?:(?:i|we)['’]ll|(?:i|we) will|(?:i['’]m|i am|we['’]re|we are) going to|let['’]?s|you should|(?:i|we) need to"
    r"|(?:(?:i|we)['’]d|(?:i|we) (?:would|should))(?= (?:also )?(?:wait|go|use|keep"
    r"|take|make|add|put|move|redirect|drop|remove|store|split|start|rename"
    r"|replace|switch|leave|write|run|set)\b)"
    r"|vamos a(?= \w+r\b))\s+(?:also |now |just |then )?",
    re.I,
)
_PLEASE = re.compile(
    r"^(?:please|bitte|por favor|s['’]il (?:te|vous) plaît),?\s+|,?\s+(?:please|bitte|por favor|s['’]il (?:te"
    r"|vous) plaît)(?=\W*$)",
    re.I,
)
_JOINS = re.compile(r"(?:and|but|so|then|also|however|therefore|also,|und|aber|dann|y|pero|et|mais)\s*,?\s+", re.I)
_GONE = re.compile(r"^[\W_]*(?<![`(\"'“])[-–—,;:.!·…\s]+|\s*[.,;:。！!，；：\s]+$")


@functools.lru_cache(maxsize=4_096)
def stems(text: str) -> frozenset[str]:
    """The words that carry a text, cut so that their forms agree; pairs of signs where no spaces stand between words.

    Where a file is named, what is said of it counts, not its name: two texts about one file may say different things.
    """
    return _stems(_FILE.sub(" ", text)) or _stems(text)


def _stems(text: str) -> frozenset[str]:
    found: set[str] = set()
    for match in _WORD.finditer(text.lower()):
        word = match[0].replace("’", "'")
        for part in _IDEOGRAPHS.findall(word):
            found.update(part[index : index + 2] for index in range(max(1, len(part) - 1)))
        plain = _ELISION.sub("", _IDEOGRAPHS.sub("", word)).removesuffix("'s")
        if plain and plain not in _STOP and (len(plain) > 1 or plain.isnumeric()):
            found.add(plain.removesuffix("s")[:_STEM] if len(plain) > 3 else plain)
    return frozenset(found)


def share(part: frozenset[str], whole: frozenset[str]) -> float:
    """How much of the first is in the second."""
    return len(part & whole) / len(part) if part else 0.0


def is_alike(first: frozenset[str], second: frozenset[str], least: float) -> bool:
    """Whether the shorter of two texts is, for that share of its words, in the longer."""
    small, large = (first, second) if len(first) <= len(second) else (second, first)
    return share(small, large) >= least


def opened(text: str) -> str:
    """A sentence without what only answers the one before: `Okay, so …`, `Got it: …`."""
    for _ in range(3):
        found = cue("acknowledged", at_start=True).match(text)
        if not found or not re.match(r"\s*[,:.!;—–，：。、-]", text[found.end() :]):
            break
        rest = re.sub(r"^[\s,:.!;—–，：。、-]+", "", text[found.end() :])
        if not rest:
            break
        text = rest
    return text


def tidy(text: str, *, imperative: bool = False) -> str:
    """A sentence as it can stand alone: without its end mark, and with a capital letter."""
    text = opened(one_line(text))
    text = text[found.end() :] if (found := _JOINS.match(text)) else text
    if imperative and (found := _FIRST_PERSON.match(text)):
        text = text[found.end() :]
    text = _GONE.sub("", _PLEASE.sub("", text))
    return text[:1].upper() + text[1:] if text[:1].islower() and not _is_name(text) else text


def _is_name(text: str) -> bool:
    """Whether a text begins with a name from code, whose case matters."""
    word = text.split(maxsplit=1)[0]
    if _VERB_PROGRAM.match(text):
        return True
    return word in _PROGRAMS or any(char in word for char in "_./()<>=`$") or any(char.isupper() for char in word[1:])


def pair(title: str, rest: str) -> str:
    """`title: rest`, or one of them where the other is empty; both cut so that they fit."""
    title, rest = tidy(title), _GONE.sub("", one_line(rest))
    if not title or not rest:
        return capped(title or tidy(rest))
    title = quote(title.replace(": ", " – ").replace("：", " – "), _HALF_CHARS)
    return f"{title}: {quote(rest, TEXT_CHARS - len(title) - 2)}"


def capped(text: str) -> str:
    return quote(text, TEXT_CHARS)


def is_safe(text: str) -> bool:
    """Whether a text may be kept: nothing in it is a secret, was one, or is hostile."""
    if not text or _REDACTED.search(text) or make_safe(text) != text:
        return False
    return not any(finding.certain for finding in find_secrets(text))
