"""Find text that tries to steer the model which reads it, also where it is disguised.

A memory is full of orders: run this, never do that. Those are meant for whoever works on the project, and none of
them is looked for. What is looked for speaks to the model about itself: what it was told, who it is, what it must keep
from its user; or it poses as something that memory never holds, such as a turn of the conversation.

Simple disguises do not help: case, accents, wide and lookalike letters, unseen characters, blanks between letters,
base64.
"""

from __future__ import annotations

import functools
import re

from quire.guard.attack_rule import SPACE
from quire.guard.attack_rules_deception import PEOPLE
from quire.guard.attack_rules_languages import LATIN, NATIVE
from quire.guard.attack_rules_markup import command_flags, mark_flags
from quire.guard.attack_rules_override import ORDERS, SQUASHED
from quire.guard.hostile_text import without_unseen
from quire.guard.lookalike_letters import folded_seen
from quire.guard.patterns import pattern
from quire.model.text import one_line

_WORDS = re.compile(r"[a-z]+")
_SHORTEST = 40
"""Of a word that may be an encoded text."""
_RULES = (*ORDERS, *PEOPLE, *LATIN)
_SQUASHED = {code: None for code in range(128) if not chr(code).isalpha()} | {
    ord(digit): letter for digit, letter in zip("013457@$", "oieastas", strict=True)
}
_JOINED = tuple((phrase.replace(" ", ""), phrase, flag) for phrase, flag in SQUASHED)


def find_instructions(text: str) -> tuple[str, ...]:
    """Short words for what the text tries, in order; none for ordinary text, however imperative."""
    found = _tried(text)
    if len(text) >= _SHORTEST and max(map(len, text.split()), default=0) >= _SHORTEST:
        found |= _tried(_encoded(text))
    return tuple(sorted(found))


def _encoded(text: str) -> str:
    """What the text hides in base64."""
    from quire.guard.encoded_secrets import unpacked  # not at import: most texts hide nothing

    plain = unpacked(text)
    return "" if plain is None else "".join(plain.parts)


def _tried(text: str) -> set[str]:
    found = set[str]()
    if not text.isascii():
        text = without_unseen(text)
        found = _native(text.lower(), set(text))
    plain = folded_seen(text)
    found.update(mark_flags(plain), command_flags(plain), _worded(plain.replace("'", "")), _squashed(plain))
    return found


def _worded(text: str) -> set[str]:
    """The flags of the rules that have a word they need in the text, and match it."""
    words = set(_WORDS.findall(text))
    found: set[str] = set()
    looked = {first for needs, firsts in _gates() if not needs.isdisjoint(words) for first in firsts}
    for word in looked & words:
        flags = _flags_of(word)
        for match in _pattern(word).finditer(text):
            if match.lastgroup is not None:
                found.add(match.lastgroup.partition("__")[0].replace("_", " "))
            if flags <= found:
                break
    return found


@functools.cache
def _gates() -> list[tuple[frozenset[str], frozenset[str]]]:
    """By the words that a rule needs, the words that it begins with."""
    found: dict[frozenset[str], frozenset[str]] = {}
    for rule in _RULES:
        needs = frozenset(rule.needs.split())
        found[needs] = found.get(needs, frozenset()) | {start.split()[0] for start in rule.starts}
    return list(found.items())


@functools.cache
def _pattern(word: str) -> re.Pattern[str]:
    """What all rules with this first word look for. It begins with the word itself, to which the engine can jump."""
    parts: list[str] = []
    for number, rule in enumerate(_RULES):
        for start in rule.starts:
            first, *more = start.split()
            if first == word:
                follow = "".join(SPACE + other for other in more)
                parts.append(f"(?P<{_group(rule.flag, number, len(parts))}>{follow}{rule.rest})")
    return re.compile(f"{word}(?<![a-z0-9]{word})(?:{'|'.join(parts)})")


@functools.cache
def _flags_of(word: str) -> set[str]:
    return {rule.flag for rule in _RULES if any(start.split()[0] == word for start in rule.starts)}


def _group(flag: str, rule: int, number: int) -> str:
    return f"{flag.replace(' ', '_')}__{rule}_{number}"


def _native(text: str, chars: set[str]) -> set[str]:
    return {
        rule.flag
        for rule in NATIVE
        for start in rule.starts
        if (start[-1] in chars or start[-1].upper() in chars)
        and start in text
        and pattern(re.escape(start) + rule.rest).search(text)
    }


def _squashed(text: str) -> set[str]:
    """The flags of phrases that are there only without blanks; those in plain sight are judged with what follows."""
    plain = text if text.isascii() else text.encode("ascii", "ignore").decode()
    squashed = plain.translate(_SQUASHED)
    hits = [(phrase, flag) for joined, phrase, flag in _JOINED if joined in squashed]
    if not hits:
        return set()
    seen = one_line(text.replace("'", ""))
    return {flag for phrase, flag in hits if phrase not in seen}
