"""Detect what following a text would do: run a download, send a secret, switch off a check.

A project's memory rightly holds such commands, so none is refused for it: the effects stand beside the record wherever
it is shown. They come from what commands do (`commands`) and from verbs with their objects (`orders`), not from
sentences; a command that the text forbids, or says is gone, has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from quire.guard.lookalike_letters import folded
from quire.guard.patterns import pattern
from quire.model.text import one_line

EFFECTS = {
    "downloads-and-runs": "runs a downloaded program",
    "runs-package": "installs or runs a package that is not pinned, or from another source",
    "privileged": "takes full rights on the machine",
    "disables-check": "switches off a safety check",
    "sends-secret": "sends secrets to another place",
    "gives-access": "gives another machine access",
    "persists": "changes what starts automatically or who can log in",
    "destroys": "deletes or overwrites data for good",
    "hides": "says that no person needs to be asked or informed",
}
"""By its code, what an effect is in plain words."""

_SAID_TOO = {
    "download and run": "downloads-and-runs",
    "exfiltration": "sends-secret",
    "hidden from user": "hides",
    "claimed approval": "hides",
}
_CLAUSE = 160
_BETWEEN = 6
# A ban or a report just before: at most a few words further comes what it is about.
_NOT = (
    r"\b(?:never|do not|does not|dont|don't|not to|must not|mustn't|should not|shouldn't|may not|cannot|can't|avoid\w*|"
    r"instead of|rather than|without|no longer|not allow\w*|stop(?:ped|s)?|remov(?:ed?|es)|replac(?:ed?|es)|"
    r"dropp?(?:ed)?|refus\w+|reject\w*|forbid\w*|forbidden|bann?(?:ed|s)?|block(?:s|ed)?|prevent\w*|prohibit\w*|disallow\w*|against|"
    r"detects?|flags|finds|reports|warns? (?:about|of)|catch(?:es)?|why not|there (?:is|are) no|used to|ran|was|"
    r"(?:with|needs?|requires?|takes?) no|"
    r"niemals|nie|nicht|keine?n?|statt|anstatt|anstelle von|vermeide\w*|verbot\w*|verbiet\w*|"
    r"nunca|jamas|evit\w+|en (?:lugar|vez) de|prohib\w+|"
    r"no (?:se )?(?:debe\w*|us\w{1,3}|ejecut\w+|instal\w+|envi\w+|descarg\w+|desactiv\w+|borr\w+|hag\w+)|"
    r"ne (?:pas|jamais)|jamais|pas de|au lieu de|plutot que|interdi\w+|n'?\w+ (?:pas|jamais))\b"
    r"|不要|禁止|切勿|请勿|不得|不能|不应|别再|而不是|の代わり"
)
# Words after which a ban has turned into its opposite, or is about something else.
_TURN = (
    r"\b(?:forget|hesitate|skip|fail|miss|omit|until|unless|before|but|and|then|except|only|always|otherwise|bother|"
    r"vergiss|vergessen|bevor|sondern|und|sino|pero|antes|olvid\w+|oubli\w+|mais|avant|puis)\b|忘|之前|そして|然后"
)
# A ban or a report that follows in the same clause.
_SAME = r"(?:(?!\b(?:and|but|then|or|und|aber|y|pero|et|mais)\b)[^.;,!?\n。，、—]){0,80}?"
_GONE = (
    rf"^{_SAME}(?:\b(?:is|are|was|were|be|been|gets?|stays?)\b[^.;,!?\n]{{0,24}}?\b"
    r"(?:not allowed|not permitted|not used|not needed|forbidden|banned|blocked|removed|refused|rejected|prohibited|"
    r"disallowed|deprecated|disabled|replaced|gone|flagged|verboten)\b"
    r"|\b(?:must|should|may|do|does|can) ?not\b|\bno longer\b|\bnever\b|\bnicht\b(?! vergessen)|\bist verboten\b|"
    r"\besta prohibido\b|\best interdit\b|しない|せず|禁止|ないで|使わない|不允许)"
)
_BOUND = re.compile(r"[.!?;,](?=\s|$)|[。！？，、；]|\n|\s[-–—]\s|:(?=\s*\S)")
_LEAD = re.compile(r"[\s`'\"*:(]+(?:```\w*\s*)?$")


def effects_of(text: str) -> tuple[str, ...]:
    """The codes of what the text would do, each once, in the order of `EFFECTS`; none for ordinary text."""
    plain = folded(text)
    from quire.guard.harmful_orders import order_effects
    from quire.guard.shell_commands import command_effects

    found: set[str] = set()
    for source in (command_effects, order_effects):
        for effect, starts, end in source(plain):
            # Who says that nobody is to be told words it as a ban.
            if effect not in found and (effect == "hides" or not is_denied(plain, starts, end)):
                found.add(effect)
    return tuple(code for code in EFFECTS if code in found)


def flags_of(text: str) -> tuple[str, ...]:
    """What the text tries with the model that reads it, and then what doing as it says could do."""
    from quire.guard.prompt_attacks import find_instructions

    return *find_instructions(text), *effects_of(text)


def shown_flags(flags: Iterable[str]) -> list[str]:
    """Flags for a reader: effects in plain words, none that another flag says already."""
    given = list(flags)
    said = {_SAID_TOO.get(flag) for flag in given}
    return [EFFECTS.get(flag, flag) for flag in given if flag not in said]


def words_of(effects: Iterable[str]) -> str:
    """The effects in plain words, on one line; what is no effect is left out."""
    return one_line("; ".join(EFFECTS[code] for code in effects if code in EFFECTS))


def is_denied(text: str, starts: Sequence[int], end: int) -> bool:
    """Whether what begins there is forbidden by its clause, or said to be gone."""
    return (
        any(_is_forbidden(text, start) for start in starts)
        or pattern(_GONE).search(text[end : end + _CLAUSE]) is not None
    )


def _is_forbidden(text: str, start: int) -> bool:
    before = _BOUND.split(_LEAD.sub("", text[max(0, start - _CLAUSE) : start]))[-1]
    denials = list(pattern(_NOT).finditer(before))
    if not denials:
        return False
    between = before[denials[-1].end() :]
    return len(between.split()) <= _BETWEEN and not pattern(_TURN).search(between)
