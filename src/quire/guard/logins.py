"""Find logins as they are written: `Authorization` headers, `scheme://user:password@host`, `curl -u user:password`."""

import functools
import re
from collections.abc import Iterator

from quire.guard import placeholders
from quire.guard.encoded import plain_of
from quire.guard.rules import Hit, hidden

_REACH = 320
_SCHEMES = {
    "bearer ": "(?P<v>[A-Za-z0-9._~+/-]{20,2000}={0,2})",
    "basic ": "(?P<v>[A-Za-z0-9+/]{8,400}={0,2})",
}
_STANDARD_EXAMPLES = ("open sesame",)


def authorization_hits(text: str, lowered: str) -> Iterator[Hit]:
    """Yield credentials of `Authorization` headers and of the bearer scheme."""
    for scheme, pattern in _SCHEMES.items():
        position = lowered.find(scheme)
        while position >= 0:
            after = position + len(scheme)
            match = _compiled(pattern).match(text, after)
            if match is not None:
                named = "authorization" in lowered[max(0, position - 24) : position]
                value = match.group("v")
                verdict = _bearer(value, named) if scheme == "bearer " else _basic(value)
                if verdict is not None:
                    what = "authorization header"
                    yield Hit(*match.span("v"), "authorization-header", what, hidden(value), verdict, 1)
                after = match.end()
            position = lowered.find(scheme, after)


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _bearer(value: str, named: bool) -> bool | None:
    if placeholders.is_sample_password(value):
        return None
    if placeholders.looks_random(value):
        return True
    return False if named and value.isalnum() else None


def _basic(value: str) -> bool | None:
    user, colon, password = plain_of(value).partition(":")
    return True if colon and not is_open_login(user, password) else None


def is_open_login(user: str, password: str) -> bool:
    """Say whether a login is a stand-in, such as `user:pass`, `guest:guest` or the one in the HTTP standard."""
    if not password or password == user or password in _STANDARD_EXAMPLES:
        return True
    return placeholders.is_sample_password(password)


def url_hits(text: str) -> Iterator[Hit]:
    """Yield passwords inside addresses."""
    position = text.find("://") if "@" in text else -1
    while position >= 0:
        match = _userinfo().match(text, position, position + _REACH)
        if match is not None:
            user, password, host = match.group("user", "v", "host")
            # image:tag@sha256:… pins an image, it is no login.
            if host.lower() not in ("sha256", "sha512") and not _is_open(user, password):
                certain = len(password) >= 8 or not password.isalpha()
                yield Hit(*match.span("v"), "url-password", "password in a URL", hidden(password), certain, 1)
        position = text.find("://", position + 3)


def command_hits(text: str) -> Iterator[Hit]:
    """Yield passwords given to curl on its command line."""
    if "curl" not in text:
        return
    for flag in ("-u ", "--user "):
        position = text.find(flag)
        while position >= 0:
            after = position + len(flag)
            match = _login().match(text, after, after + _REACH)
            if match is not None and "curl" in text[max(0, position - 200) : position].rpartition("\n")[2]:
                user, password = match.group("user", "v")
                if not _is_open(user, password) and not placeholders.is_wordy(password):
                    what = "password on a command line"
                    yield Hit(*match.span("v"), "command-password", what, hidden(password), True, 1)
            position = text.find(flag, after)


@functools.cache
def _login() -> re.Pattern[str]:
    return re.compile(r"[\"']?(?P<user>[\w.@+-]{1,60}+):(?P<v>[^\s\"'`\\]{6,150})")


@functools.cache
def _userinfo() -> re.Pattern[str]:
    user = r"(?P<user>[^\s:/?#@\"'`<>\\]{0,100}+)"
    return re.compile(rf"://{user}:(?P<v>[^\s/\"'`<>\\]{{4,150}})@(?P<host>[^\s/:@\"'`<>\\?#]{{1,100}})")


def _is_open(user: str, password: str) -> bool:
    if password[0] in "${<[*%:" or password.startswith("..."):
        return not password[1:2].isalnum() or placeholders.is_reference(password, quoted=True)
    return placeholders.is_reference(password, quoted=True) or is_open_login(user, password)
