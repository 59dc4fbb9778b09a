"""The form of a secret's rule and how it is matched; `token_formats` holds the rules."""

import functools
import re

import msgspec

NOT_GLUED = "(?![A-Za-z0-9])"


class SecretRule(msgspec.Struct, frozen=True):
    """One token format: where to look, what it looks like, and which check tells it from ordinary words."""

    id: str
    what: str
    starts: tuple[str, ...]
    prefix: str
    body: str
    check: str = ""
    back: tuple[int, ...] = (0,)  # how far before the literal the match may begin
    reach: int = 400  # how far after it the match may end; bounds the work per occurrence
    end: str = NOT_GLUED


class NearRule(msgspec.Struct, frozen=True):
    """A format without a prefix, recognised by the name of its service and a word such as "token" before it."""

    id: str
    what: str
    words: tuple[str, ...]  # lower case
    body: str


class SecretHit(msgspec.Struct, frozen=True):
    """A place where a rule fired. `rank` settles overlaps: formats (0), names (1), randomness (2), decoded (3)."""

    start: int
    end: int
    rule: str
    what: str
    masked: str
    certain: bool
    rank: int


def hidden(value: str) -> str:
    """Show nothing of a value that has no public prefix but how long it is."""
    return f"… ({len(value)} characters)"


# Between the service and its token stands a word such as "token", and at most a sign or "is" after it.
_NEAR_GAP = (
    r"[\w .\-\"'`]{0,30}?(?:key|token|secret|auth|password)\w{0,10}[\"'`\])]{0,2}"
    r"(?:\s{0,3}(?:=>|:=|=|:|\bis\b)\s{0,3}|\s)[\"'`(]{0,2}"
)


@functools.cache
def compiled(prefix: str, body: str, end: str) -> re.Pattern[str]:
    """Compile a rule on first need; a cold process pays only for the formats that occur in its text."""
    return re.compile(f"(?P<p>{prefix})(?P<b>{body}){end}")


@functools.cache
def compiled_near(body: str) -> re.Pattern[str]:
    """Compile the pattern that starts right after the service's name."""
    return re.compile(f"(?i:{_NEAR_GAP})(?P<b>{body}){NOT_GLUED}")
