"""Standing rules: what the user says about how to work, now and the next time: `always use uv`, `never push to main`.

A rule about what is built is a decision. One of these must say that it holds from now on, be given as an order or as a
preference, and speak of the work itself: of tools, of commits and branches, of tests that are to be run, of how the
agent answers. So few sentences pass, and hardly one by mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from quire.capture.signals.choices import is_question, with_reason
from quire.capture.signals.confirmed import quotable
from quire.capture.signals.cues import cue
from quire.capture.signals.witness import Quote, Witness
from quire.capture.signals.wording import capped, is_safe, stems, tidy

RULE_WORDS = 30
"""A longer sentence tells more than a rule."""
_SPEECH_CHARS = 1_500
"""In a longer message, rules are most often those of a document."""

_TOOLS = (
    r"uv|uvx|pip|pipx|poetry|conda|npm|npx|pnpm|yarn|bun|deno|cargo|gradle|maven|mvn|docker|podman|kubectl"
    r"|helm|terraform|pytest|tox|nox|jest|vitest|ruff|mypy|pyright|eslint|prettier|biome|gofmt|rustfmt|clippy"
    r"|tsc|git|gh|pre-commit|ripgrep|rg|jq|curl|sed|bash|zsh|powershell|vim|tmux|venv|virtualenv|nix|brew|apt"
)
_TOOL = re.compile(rf"(?<![\w./-])(?:{_TOOLS})(?![\w/]|\.\w|-\w)")
_GIT = re.compile(
    r"\b(?:commit(?:s|ting)?|commit messages?|(?:force[- ])?push(?:es|ing)?|branch(?:es)?|merge commits?|rebas(?:e|ing)"
    r"|squash(?:ing)?|pull requests?|prs?|co-authored-by)\b",
    re.I,
)
_TALK = re.compile(
    r"\b(?:ask (?:me|first|before)|tell me|show me|explain\w*|answers?|repl(?:y|ies)|respond|responses?|summar(?:y|ies)"
    r"|emojis?|(?:in|use) (?:english|german|spanish|french|chinese|japanese|portuguese)|apologi[sz]\w*|be (?:brief"
    r"|terse|concise)|keep (?:it|them|answers|replies|explanations) (?:short|brief))\b",
    re.I,
)
_WORK = re.compile(
    r"\b(?:run (?:the |all |our )?(?:\w+ )?(?:tests?|test suite|linters?|formatters?|type ?checks?|checks?|build)"
    r"|write (?:a |the )?(?:\w+ )?tests?(?: first)?|tests? first|type hints?|docstrings?|(?:code )?comments?"
    r"|install (?:\w+ )?(?:packages?|dependencies|globally)|(?:add|new) dependenc(?:y|ies)|edit (?:the )?generated"
    r"|changelog|lockfiles?|tabs|spaces|line length)\b",
    re.I,
)
_LEAD = (
    r"\W*(?:(?:ok(?:ay)?|and|also|but|so|btw|fyi|oh|yes|no|hey|please|one (?:more )?thing|remember|note|reminder"
    r"|important|for (?:next time|the record))[,:;.!\s–—-]+){0,3}"
)
_ORDERED = re.compile(
    rf"{_LEAD}(?:(?:please |you (?:should|must) |make sure (?:to |you )?|remember to )?(?:always|never)"
    r"(?! (?:been|had|was|were|is|are|works?|worked|mind|seen|got|did|happens?|again|could|would|understood))"
    r" (?!.{0,30}\b(?:fails?|failed|breaks?|worked)\b)\w+"
    r"|(?:from now on|going forward|from here on|in (?:the )?future|as a (?:general )?rule|by default|in this (?:repo"
    r"|repository|project)|ab (?:jetzt|sofort)|künftig|a partir de ahora|à partir de maintenant|désormais)\b"
    r"|stop (?:using|adding|writing|committing|pushing|running|asking|explaining|apologi[sz]ing)\b"
    r"|do(?:n['’]t| not) ever\b)",
    re.I,
)
_PREFERRED = re.compile(
    rf"{_LEAD}(?:i|we)(?: strongly| really| generally| usually| much)? (?:(?:always|never)"
    r"(?! (?:get|got|had|have|has|see|saw|seen|did|was|were|been|thought|know|knew|wanted))|prefer"
    r"|don['’]t (?:use|like)|do not (?:use|like)|hate|only (?:use|run|commit))\b",
    re.I,
)
_LASTS = re.compile(
    r"\b(?:always|every time|from now on|going forward|before (?:each|every|any) (?:commit|push|change|pr|merge)"
    r"|after (?:each|every|any) (?:change|edit|commit)|for every (?:commit|change|pr))\W*$",
    re.I,
)
_IMPERATIVE = re.compile(rf"{_LEAD}(?:use|run|write|keep|ask|add|put|commit|push|rebase|squash|format|lint)\b", re.I)
_OF_THIS = re.compile(
    r"\b(?:option|approach|(?:first|second|third|other|former|latter)(?: one)?|this time|for now|until|today|yet"
    r"|that one|should we|if we)\b",
    re.I,
)

Category = Literal["user", "tools", "learnings"]


class Rule(Struct, frozen=True):
    """A rule as it may be kept, and the sentence that gave it."""

    text: str
    category: Category
    quote: Quote


def standing_rules(witness: Witness) -> Iterator[Rule]:
    """The rules that the user gave, each once: a later one that says the same takes its place."""
    found: dict[frozenset[str], Rule] = {}
    for speech in witness.speeches:
        if speech.by != "user" or len(speech.text) > _SPEECH_CHARS or not quotable(speech):
            continue
        for place, said in enumerate(speech.sentences):
            category = _category(said.text)
            if category is None or not is_safe(said.text):
                continue
            following = speech.sentences[place + 1].text if place + 1 < len(speech.sentences) else ""
            text = capped(tidy(with_reason(tidy(said.text), following)))
            found.pop(said.stems, None)
            found[said.stems] = Rule(text, category, Quote(speech, place, said))
    yield from found.values()


def _category(text: str) -> Category | None:
    """Where a rule belongs; None where a sentence is none."""
    if is_question(text) or len(text.split()) > RULE_WORDS or len(stems(text)) < 2:
        return None
    if (
        cue("problem").search(text)
        or cue("quoted").search(text)
        or cue("undecided").search(text)
        or _OF_THIS.search(text)
    ):
        return None
    is_liked = bool(_PREFERRED.match(text))
    if not is_liked and not _ORDERED.match(text) and not (_IMPERATIVE.match(text) and _LASTS.search(text)):
        return None
    if _TALK.search(text):
        return "user"
    if _TOOL.search(text):
        return "tools"
    if _GIT.search(text) or _WORK.search(text):
        return "user" if is_liked else "learnings"
    return None
