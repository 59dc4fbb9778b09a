"""Find passwords and keys by the names they are assigned to: `password = "…"`, `API_KEY=…`, `token: …`.

A value has no format of its own here, so the question is whether it is a value at all or a word, a type, a
variable or a stand-in. Quoted values and environment lines are strong evidence; `name: value` in prose is weak and
needs a value that looks random.
"""

import functools
import re
from collections.abc import Iterator

from quire.guard import placeholders
from quire.guard.secret_rules import SecretHit, hidden

_REACH = 320
_NEAR = 1000
_PATIENCE = 2000
# lower-case piece of a name -> the kind of secret it announces
_NAMES = {
    "pass": "password",
    "pwd": "password",
    "secret": "secret",
    "credential": "secret",
    "token": "token",
    "key": "key",
    "connectionstring": "secret",
    "connection_string": "secret",
    "connection string": "secret",
    "_auth": "secret",
    "identified by": "password",
}
# password, passwd, passphrase, passcode: first two letters after "pass" -> how many belong to the name
_PASS_ENDINGS = {"wo": 4, "wd": 2, "ph": 6, "co": 4}
# "key" alone is anything; with one of these before it, it opens something.
_KEY_OWNERS = placeholders.words(
    "api access private secret encryption decryption crypt signing master root auth account admin service storage "
    "shared deploy webhook app consumer hmac jwt session cookie subscription function license"
)
# Tokens that are no credentials: paging, parsing, styling, language models; and keys that are public.
_HARMLESS_OWNERS = placeholders.words(
    "page next last first cursor sync resume continuation cancel cancellation idempotency stop eos bos pad mask unk "
    "sep max min total input output prompt design theme css color syntax public publishable site"
)
# A name that ends like this says something about the secret and does not hold it.
_HARMLESS_ENDS = placeholders.words(
    "file path dir name id ids arn url uri type kind header field length len ttl expiry expires expiration count hash "
    "hashed digest policy env var ref label placeholder hint prompt column size limit regex pattern rule rules manager "
    "store version provider endpoint scope scopes format prefix reset rotation location salt algorithm alg class "
    "budget usage window status error message table index schema event required enabled strength cost "
    "rounds scheme at route form input mode source"
)


def assignment_hits(text: str, lowered: str) -> Iterator[SecretHit]:
    """Yield values that stand after a credential's name."""
    wrong = 0
    for piece, kind in _NAMES.items():
        position = lowered.find(piece)
        while position >= 0:
            after = position + len(piece)
            match = None
            if _may_be_name(text, lowered, position, kind):
                match = _assignment().match(text, after, after + _REACH)
            if match is not None:
                hit = None if _goes_on(match, kind) else _judge(match, kind, lowered[max(0, position - 60) : position])
                if hit is not None:
                    yield hit
                wrong += hit is None
                # The value may hold another name, as in `url=…?token=…`; but not forever.
                after = max(after, match.start("value") if wrong < _PATIENCE else match.end())
            position = lowered.find(piece, after)


def _may_be_name(text: str, lowered: str, position: int, kind: str) -> bool:
    owner = lowered[max(0, position - 14) : position].rstrip("_-. ")
    if kind == "key":
        return owner.endswith(_KEY_OWNERS)
    if kind == "token":
        return _last_word(text[max(0, position - 14) : position]) not in _HARMLESS_OWNERS
    before = text[position - 1 : position]
    # "compass", "bypass" hold no password; dbPass and DB_PASS do.
    return not (kind == "password" and before.isalpha() and before.islower() and text[position].islower())


def announces(before: str, name: str) -> bool:
    """Say whether a name in the text before a value announces a credential, and not only something about one."""
    rest = before[before.lower().rfind(name) + len(name) :]
    return _last_word(rest.rstrip("\"'`:= ")) not in _HARMLESS_ENDS


def is_harmless(before: str, name: str) -> bool:
    """Say whether the last such name in some text is of the kind that opens nothing: a cursor, a count."""
    position = before.lower().rfind(name)
    return position >= 0 and _last_word(before[:position]) in _HARMLESS_OWNERS


def _last_word(name: str) -> str:
    """Return the last word of a name in any of the usual spellings: max_length, maxLength, MAX-LENGTH."""
    name = name.rstrip("_-. ")
    word = name[max((i for i, char in enumerate(name, 1) if not char.isalnum()), default=0) :]
    if not word.isupper():
        word = word[max((i for i, char in enumerate(word) if char.isupper()), default=0) :]
    return word.lower()


def _goes_on(match: re.Match[str], kind: str) -> bool:
    """Say whether the name is only the beginning of another word: passed, keyboard, secretary, author."""
    rest = match.group("rest")
    if kind == "password":
        rest = rest[_PASS_ENDINGS.get(rest[:2].lower(), 0) :]
    if not rest[:1].isalpha() or rest.lower() == "s" or rest[:2].lower() in ("s_", "s-", "s."):
        return False
    return not (rest[0].isupper() and match.string[match.start() - 1].islower())


@functools.cache
def _assignment() -> re.Pattern[str]:
    """Compile the rest of a name, what it is for, the sign, an optional type, and the value."""
    rest = r"(?P<rest>[\w.\-]{0,40}+)[\"'`\])*\\]{0,4}"
    about = (
        r"(?:[ \t]\([^()\n]{1,30}\)|[ \t](?:for|of|to|on|in|at)[ \t][\w \t.\-]{1,30}?(?=[ \t]{0,3}(?:[=:]|is[ \t])))?"
    )
    sign = r"(?P<sign>[ \t]{0,4}(?:=>|:=|={1,3}|:)|[ \t]{1,4}(?:is|was|\|)(?=[ \t])|>|\((?=[\"'])|(?=[ \t]))[ \t*]{0,4}"
    typed = r"(?:&?(?:'static )?(?:[Ss]tr(?:ing)?|Optional\[str\]|SecretStr|text)(?: ?\| ?None)?[ \t]{0,2}=[ \t]{0,2})?"
    quoted = r"[rbuf]?(?:\"(?P<v1>[^\"\s\\]{8,200})\"|'(?P<v2>[^'\s\\]{8,200})'|`(?P<v3>[^`\s\\]{8,200})`"
    escaped = r"|\\+[\"'](?P<v4>[^\"'\s\\]{8,200})\\)"
    return re.compile(rf"{rest}{about}{sign}{typed}(?P<value>{quoted}{escaped}|(?P<v5>[^\s\"'`,;<>\\&|]{{8,200}}))")


def _judge(match: re.Match[str], kind: str, before: str) -> SecretHit | None:
    sign = match.group("sign").strip()
    group = next(name for name in ("v1", "v2", "v3", "v4", "v5") if match.group(name) is not None)
    value = match.group(group)
    quoted = group != "v5"
    # Without a sign only a quoted value, a command-line flag or a netrc line gives it to the name.
    given = sign or quoted or before.rpartition(" ")[2].startswith("--") or "login " in before
    if not given or _last_word(match.group("rest")) in _HARMLESS_ENDS:
        return None
    if not quoted:
        value = value.rstrip(".,;:)]}*_")
    if len(value) < 8 or placeholders.is_foreign(value):
        return None
    if placeholders.is_reference(value, quoted=quoted) or placeholders.is_sample_password(value):
        return None
    # DB_PASSWORD=abc on one line is how environment files look; prose puts spaces or a colon.
    strong = (quoted and sign not in ("", "is", "was", "|", "(")) or match.group("sign") == "="
    if kind == "key" and placeholders.is_path_of_ids(value):
        return None
    verdict = _weigh(value, kind, strong=strong, quoted=quoted)
    if verdict is None:
        return None
    start = match.start(group)
    if not strong and f"/{value}" in match.string[max(0, start - _NEAR) : start + _NEAR]:
        verdict = False  # an address beside it shows it, as it does the token of a public link
    return SecretHit(start, start + len(value), "assigned-" + kind, f"assigned {kind}", hidden(value), verdict, 1)


def _weigh(value: str, kind: str, *, strong: bool, quoted: bool) -> bool | None:
    """Return True for a secret, False for a suspicion, None for a word."""
    shape = placeholders.shape_of(value)
    letters, digits = "l" in shape or "u" in shape, "d" in shape
    marks = any(c not in "-_./:@+~^=%,#" and not c.isalnum() for c in value)
    classes = ("l" in shape) + ("u" in shape) + digits + marks
    is_password = strong and kind == "password"
    wordy = placeholders.is_wordy(value, strict=is_password) and not (marks and digits)
    if wordy and not (is_password and digits and "-" not in shape):
        # A passphrase of words cannot be distinguished from a label: say so and let the writer decide.
        is_phrase = is_password and quoted and len(value) >= 12 and "." not in value and "/" not in value
        return False if is_phrase else None
    if is_password:
        return True if (letters and digits) or marks or placeholders.looks_random(value, strict=True) else None
    turns = placeholders.digit_turns(shape)
    if len(value) >= 16 or (strong and len(value) >= 12):
        return True if (turns >= 2 and letters) or placeholders.looks_random(value) else None
    return True if (classes >= 3 and digits and (turns >= 2 or marks)) or (kind == "password" and turns >= 3) else None
