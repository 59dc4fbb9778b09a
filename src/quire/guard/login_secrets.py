"""Find logins: `Authorization` headers, URLs, command lines, password files."""

import functools
import re
from collections.abc import Iterator

from quire.guard import placeholders
from quire.guard.encoded_secrets import plain_of
from quire.guard.patterns import pattern
from quire.guard.secret_rules import SecretHit, hidden

_REACH = 320
_SCHEMES = {
    "bearer ": "(?P<v>[A-Za-z0-9._~+/-]{20,2000}={0,2})",
    "basic ": "(?P<v>[A-Za-z0-9+/]{8,400}={0,2})",
}
# Programs, and how the option begins after which they take a password.
_GLUED = r"\s-p(?=\S)"
_PROGRAMS = {
    "curl": r"\s(?:-u\s?|--user[ =])",
    "mysql": _GLUED,
    "mariadb": _GLUED,
    "sshpass": r"\s-p\s?",
    "redis-cli": r"\s-a\s",
    "docker login": r"\s-p\s?",
    "podman login": r"\s-p\s?",
    "registry login": r"\s-p\s?",
    "mongo": r"\s-p\s",
    "az login": r"\s-p\s",
    "sqlcmd": r"\s-P\s?",
    "ldap": r"\s-w\s",
    "smbclient": r"\s-U\s?[\w.\\-]{1,60}%",
    "htpasswd": r"\s-\w*b\w*\s[^\n]{1,100}\s(?=\S+$)",
    "keytool": r"\s-(?:store|key|dest?store|src?store)pass\s",
    "openssl": r"pass:",
    "requirepass": r"\s",
    "masterauth": r"\s",
}
_AUTH_NAMES = ('"auth"', "_auth")
_PGPASS_COLONS = 4
_STANDARD_EXAMPLES = ("open sesame",)
_NAME = r"[\w*][\w.*-]{0,80}+"
_PGPASS = rf"(?<![\w:.-]){_NAME}:(?:\d{{2,5}}|\*):{_NAME}:" + (
    r"(?P<user>[A-Za-z_*][\w.*-]{0,60}):(?P<v>[^\s:\"'`]{6,100})"
)
_AUTH = r"[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?P<v>[A-Za-z0-9+/]{8,400}={0,2})"
_USER = r"(?P<user>[^\s:/?#@\"'`<>\\]{0,100}+)"
_USERINFO = rf"://{_USER}:(?P<v>[^\s/\"'`<>\\]{{4,150}})@(?P<host>[^\s/:@\"'`<>\\?#]{{1,100}})"


def authorization_hits(text: str, lowered: str) -> Iterator[SecretHit]:
    """Yield credentials of `Authorization` headers and of the bearer scheme."""
    for scheme, form in _SCHEMES.items():
        position = lowered.find(scheme)
        while position >= 0:
            after = position + len(scheme)
            match = pattern(form).match(text, after)
            if match is not None:
                named = "authorization" in lowered[max(0, position - 24) : position]
                value = match.group("v")
                verdict = _bearer(value, named) if scheme == "bearer " else _basic(value)
                if verdict is not None:
                    what = "authorization header"
                    yield SecretHit(*match.span("v"), "authorization-header", what, hidden(value), verdict, 1)
                after = match.end()
            position = lowered.find(scheme, after)


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


def url_hits(text: str) -> Iterator[SecretHit]:
    """Yield passwords inside addresses."""
    position = text.find("://") if "@" in text else -1
    while position >= 0:
        match = pattern(_USERINFO).match(text, position, position + _REACH)
        if match is not None:
            user, password, host = match.group("user", "v", "host")
            # image:tag@sha256:… pins an image, it is no login.
            if host.lower() not in ("sha256", "sha512") and not _is_open(user, password):
                certain = len(password) >= 8 or not password.isalpha()
                yield SecretHit(*match.span("v"), "url-password", "password in a URL", hidden(password), certain, 1)
        position = text.find("://", position + 3)


def command_hits(text: str) -> Iterator[SecretHit]:
    """Yield passwords on the command lines of programs that take them there."""
    for program, options in _PROGRAMS.items():
        position = text.find(program)
        while position >= 0:
            after = position + len(program)
            end = _line_end(text, after)
            for match in _options(options).finditer(text, after, end):
                user, password = match["user"] or "", match["v"]
                if not _is_open(user, password) and _is_chosen(password):
                    what = "password on a command line"
                    yield SecretHit(*match.span("v"), "command-password", what, hidden(password), True, 1)
            position = text.find(program, end)


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start, start + _REACH)
    return min(len(text), start + _REACH) if end < 0 else end


@functools.cache
def _options(options: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{options})(?P<q>[\"']?)(?:(?P<user>[\w.@+-]{{1,60}}+):)?(?P<v>[^\s\"'`\\;|]{{6,150}})")


def _is_chosen(password: str) -> bool:
    """Say whether it is no word and no number, but what a person or a program chose."""
    return not placeholders.is_wordy(password, strict=True) and any(char.isalpha() for char in password)


def file_hits(text: str) -> Iterator[SecretHit]:
    """Yield passwords in files that have their place for them: `.pgpass`, `config.json` of Docker, `.npmrc`."""
    if text.count(":") >= _PGPASS_COLONS:
        start = 0
        for line in text.split("\n"):
            if line.count(":") >= _PGPASS_COLONS and (match := pattern(_PGPASS).search(line)) is not None:
                password = match["v"]
                if not _is_open(match["user"], password) and _is_chosen(password):
                    begin, end = match.span("v")
                    yield SecretHit(start + begin, start + end, "file-password", "password", hidden(password), True, 1)
            start += len(line) + 1
    for name in _AUTH_NAMES:
        position = text.find(name)
        while position >= 0:
            after = position + len(name)
            found = pattern(_AUTH).match(text, after, after + _REACH)
            if found is not None and _basic(found["v"]):
                yield SecretHit(*found.span("v"), "file-password", "login", hidden(found["v"]), True, 1)
            position = text.find(name, after)


def _is_open(user: str, password: str) -> bool:
    if password[0] in "${<[*%:" or password.startswith("..."):
        return not password[1:2].isalnum() or placeholders.is_reference(password, quoted=True)
    return placeholders.is_reference(password, quoted=True) or is_open_login(user, password)
