"""How choices are put together from what was said: an answer without its agreement, an offer with its argument."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quire.capture.signals.choices import LEAST_STEMS, has_reason, is_proposal, is_question, without_agreement
from quire.capture.signals.picks import agrees_in, points_at
from quire.capture.signals.sentences import Block, Sentence
from quire.capture.signals.wording import share, stems

_PROPOSAL_CHARS = 200
_SAME_TEXT = 0.8
_AGAINST = re.compile(r"\b(?:against|not|n['’]t|push back)\b", re.I)
_NO = re.compile(
    r"\W*(?:god,? |hell,? |oh,? |lol,? )?(?:no(?: way| thanks)?|nope|nah|nein|nee|non|não|いいえ"
    r"|不用)(?!\w)(?=\s*[,.!;:—–]|\s+(?:leave|keep|just"
    r"|we|that|the|it)\b|\W*$)[\s,.!;:—–]*",
    re.I,
)
_REFUSED = re.compile(
    r"\W*(?:(?:no|nope|nah|nein|nee|nö|non|não)\b[\s,.!;:—–]*)?(?:please |bitte |por favor,? )?"
    r"(?:do(?:n['’]t| not)(?: do (?:that|it|this))?|(?:i['’]?d |i would )?rather not"
    r"|let['’]?s not(?: do (?:that|it|this))?(?: now)?|that['’]?s wrong|bitte nicht|lieber nicht"
    r"|(?:mach|tu) (?:das|es) (?:bitte )?nicht|auf keinen fall|das ist falsch|mejor no|(?:no )?lo hagas"
    r"|de ninguna manera|eso está mal|surtout pas|plutôt pas|melhor não|não faça isso)"
    r"(?=\s*[,.;:!—–]|\W*$)[\s,.!;:—–]*",
    re.I,
)
_INSTEAD = re.compile(r"\b(?:instead|stattdessen|en su lugar|en vez de eso|à la place|em vez disso)\b", re.I)
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*\d|(?<![\w.])\d")
_REASON = re.compile(r"\W*(?:reason|because|since|that|this|it|they|otherwise|so|weil|denn|porque|car)\b", re.I)


def after_agreement(text: str) -> tuple[str, bool]:
    """A sentence without the words that only agree, and whether there were any."""
    agreed = agrees_in(text)
    rest, also = without_agreement(text if agreed is None else agreed)
    again = agrees_in(rest) if also else None
    return rest if again is None else again, also or agreed is not None


def join(picks: list[str], pick: str, *, is_apart: bool) -> None:
    """Add a pick, or go on with the one before: `that topic. name it like the others`."""
    if picks and not (is_apart and not points_at(pick)):
        picks[-1] = f"{picks[-1].rstrip('.。')}; {pick[:1].lower()}{pick[1:]}"
    else:
        picks.append(pick)


def with_next_sentence(text: str, following: str) -> str:
    """A proposal with what is said right after it, which most often is its reason."""
    if not following or has_reason(text) or is_question(following) or len(text) + len(following) > _PROPOSAL_CHARS:
        return text
    if is_proposal(following) or text.endswith(following) or (": " in text and not _AGAINST.search(text)):
        return text
    return f"{text.rstrip('.。')}: {following}"


def statements(block: Block) -> list[str]:
    """The sentences of a paragraph, each with the reason that follows it."""
    found: list[str] = []
    for sentence in block.sentences:
        if found and (_REASON.match(sentence.text) or len(sentence.text.split()) < LEAST_STEMS):
            found[-1] = f"{found[-1].rstrip('.。')}: {sentence.text}"
        else:
            found.append(sentence.text)
    return found


def others(said: list[str], text: str) -> list[str]:
    """What was said beside a text."""
    return [one for one in said if share(stems(one), stems(text)) < _SAME_TEXT]


def with_next(sentences: tuple[Sentence, ...]) -> Iterator[tuple[Sentence, str]]:
    for index, sentence in enumerate(sentences):
        yield sentence, sentences[index + 1].text if index + 1 < len(sentences) else ""


def whole(block: Block) -> str:
    """A list item in one sentence: its title or first sentence, and what follows it as the reason."""
    parts = [part for part in (block.title, *(sentence.text for sentence in block.sentences)) if part]
    first, rest = parts[0].rstrip(".。"), parts[1:]
    return f"{first}: {rest[0]}" if rest else first


def after_refusal(text: str) -> tuple[str, bool]:
    """A sentence without the `no` that it begins with, and whether there was one."""
    found = _NO.match(text)
    return (text[found.end() :], True) if found else (text, False)


def refused(text: str, *, asked: bool) -> tuple[str, bool]:
    """A sentence without the words that only refuse what was said before, and whether it is refused.

    Where something was `asked`, a mere `no` answers that.
    """
    found = _REFUSED.match(text)
    if found:
        return text[found.end() :], True
    return text, bool(_NO.match(text)) and (not asked or bool(_INSTEAD.search(text)))


def with_amount(offer: str, amount: str) -> str:
    """An offer with the number that the user names instead of its own; both where it has none or several."""
    numbers = _NUMBER.findall(offer)
    named = _NUMBER.search(amount)
    if len(numbers) == 1 and named:
        return _NUMBER.sub(lambda _: named[0], offer)
    return f"{offer.rstrip('.。')}; {amount}"
