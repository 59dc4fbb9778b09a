"""Find secrets without a name: random runs, Discord tokens, and what encodings hide.

Decoded pieces are joined and scanned once, with a map back to where they came from, so a text full of encoded
runs costs no more than its own length.
"""

import re
from collections.abc import Iterator

from quire.guard import named_secrets, placeholders
from quire.guard.patterns import pattern
from quire.guard.secret_rules import SecretHit, hidden

SHORTEST_WORD = 14
SHORTEST_RUN = 40
_LONGEST_RUN = 65536
_MOST_RUNS = 20000
_ENTROPY = 4.0
_DISCORD_LENGTH = 57
# Public by nature although random: digests, SSH public keys and fonts, images in place, module checksums.
_PUBLIC_STARTS = ("AAAA", "sha1-", "sha256-", "sha384-", "sha512-", "iVBOR", "d09GM", "R0lGOD", "age1")
_PUBLIC_BEFORE = (
    *("base64,", "sha256:", "sha384:", "sha512:", "h1:", "integrity=", "nonce-", "pk_live_", "pk_test_", "pk."),
    *("site_key=", "sitekey="),
)
# How the stored forms of passwords name the function that made them.
_HASHED = ("$2a$", "$2b$", "$2y$", "$argon2", "$1$", "$5$", "$6$", "$y$", "$apr1$", "$scrypt$", "$pbkdf2")
_CREDENTIALS = (
    "password",
    "secret",
    "token",
    "api key",
    "api_key",
    "apikey",
    "credential",
    "private key",
    "access key",
)
_WORD = rf"\S{{{SHORTEST_WORD},}}+"
_RUN = rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{SHORTEST_RUN},}}+={{0,2}}"
_DISCORD = r"(?<![A-Za-z0-9])(?P<user>[MNO][A-Za-z0-9_-]{22,27}+)\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}"
_ENTITY = r"&\#(?:x(?:H{1,6})|\d{1,7});"
_ESCAPE = r"\\{1,4}+(?:u\{H{1,6}\}|uH{4}|UH{8}|xH{2})"
_CHARACTER = f"(?:{_ENTITY}|{_ESCAPE})".replace("H", "[0-9A-Fa-f]")
_ESCAPES = f"(?:%[0-9A-Fa-f]{{2}})+|{_CHARACTER}+|[\u2460-\u24ff\uff01-\uff5e\U0001d400-\U0001d7ff]+"
_SPELLED = r"(?:&\#x|\\[uUx]\{?)(?P<hex>[0-9A-Fa-f]+)|&\#(?P<decimal>\d+)"
# Runs that can stand for ASCII text: the first six bits of three bytes, or the first four of one, say so.
_DIGITS = r"(?<![0-9A-Za-z])(?:0x)?(?P<hex>[2-7][0-9A-Fa-f](?::?+[2-7][0-9A-Fa-f]){9,}+)"
_FIRST, _OTHER = "[A-Za-f]", "[A-Za-z0-9+/_-]"
_PACKED = f"{_DIGITS}|(?<!{_OTHER})(?=(?:{_FIRST}{_OTHER}{{3}}){{4}}){_OTHER}{{16,}}+={{0,2}}"


class Decoded:
    """Text hidden in another text, and where each part of it came from."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.starts: list[int] = []
        self.spans: list[tuple[int, int]] = []
        self._size = 0

    def add(self, part: str, start: int, end: int) -> None:
        """Append a part that was decoded from the span `start:end`."""
        self.parts.append(part)
        self.starts.append(self._size)
        self.spans.append((start, end))
        self._size += len(part)

    def keep(self, text: str, start: int, end: int) -> None:
        """Append a part of the source as it is."""
        if start < end:
            self.add(text[start:end], start, end)

    def span_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the source that holds `start:end` of the joined parts."""
        return self._place(start)[0], self._place(max(start, end - 1))[1]

    def _place(self, index: int) -> tuple[int, int]:
        """Return the source of one character: its own place in a part left as it was, else the whole encoded run."""
        from bisect import bisect_right  # not at import: most texts hide nothing

        number = bisect_right(self.starts, index) - 1
        start, end = self.spans[number]
        if len(self.parts[number]) < end - start:
            return start, end
        start = min(start + index - self.starts[number], end - 1)
        return start, start + 1


def long_words(text: str) -> list[tuple[int, int]]:
    """Return the spans of words that are long enough to hold a secret of a known form; most texts have few."""
    if len(text) < SHORTEST_WORD or max(map(len, text.split()), default=0) < SHORTEST_WORD:
        return []
    return [match.span() for match in pattern(_WORD).finditer(text)]


def runs(text: str, words: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans of long unbroken runs of base64 characters."""
    spans: list[tuple[int, int]] = []
    for start, end in words:
        if end - start >= SHORTEST_RUN:
            spans += (match.span() for match in pattern(_RUN).finditer(text, start, end))
        if len(spans) >= _MOST_RUNS:
            break
    return spans[:_MOST_RUNS]


def random_hits(text: str, lowered: str, spans: list[tuple[int, int]]) -> Iterator[SecretHit]:
    """Yield runs that look drawn by a machine: a suspicion, or certain right after a credential's name."""
    for start, end in spans:
        run = text[start : min(end, start + 512)]
        if _is_mailgun_key(run):
            yield SecretHit(start, end, "mailgun-key", "Mailgun API key", hidden(run), True, 0)
            continue
        before = lowered[max(0, start - 24) : start].rpartition("\n")[2]
        if not _is_random(run) or _is_public(text, start, run, before):
            continue
        named = text[start - len(before) : start]
        if named_secrets.is_harmless(named, "token"):
            continue
        certain = any(name in before and named_secrets.announces(named, name) for name in _CREDENTIALS)
        size = f"… ({end - start} characters)"
        yield SecretHit(start, end, "random-string", "random-looking string", size, certain, 2)


def _is_mailgun_key(run: str) -> bool:
    """Say whether it has that key's form, which no other id has: digests of 32, 8 and 8 digits."""
    return [len(part) for part in run.split("-")] == [32, 8, 8] and not run.strip("0123456789abcdef-")


def _is_random(run: str) -> bool:
    shape = placeholders.shape_of(run)
    if "d" not in shape or "l" not in shape or max(map(len, shape.split("-"))) < 16:
        return False
    is_digest = not run.strip("0123456789abcdefABCDEF-")
    if is_digest or any(len(name) >= 4 and name.islower() and name.isalpha() for name in run.split("/")):
        return False  # a path has whole words between its slashes
    turns = placeholders.digit_turns(shape)
    if turns * 10 < len(shape) or placeholders.is_sample(run) or not placeholders.looks_random(run):
        return False
    return placeholders.entropy_above(run, _ENTROPY)


def _is_public(text: str, start: int, run: str, before: str) -> bool:
    if run.startswith(_PUBLIC_STARTS) or before.endswith(_PUBLIC_BEFORE) or "public" in before:
        return True
    if plain_of(run):
        return True  # readable once decoded, and then scanned as what it says
    # An address without a login is public: document ids, signed assets, video links.
    head = text[max(0, start - 200) : start]
    word = head[max(head.rfind(" "), head.rfind("\n"), head.rfind('"'), head.rfind("(")) + 1 :]
    return "://" in word or any(mark in word for mark in _HASHED) or _in_public_block(text, start)


def _in_public_block(text: str, start: int) -> bool:
    """Say whether the run is a line of a certificate or a public key."""
    begin = text.rfind("-----BEGIN ", max(0, start - 8000), start)
    if begin < 0 or text.find("-----END", begin, start) >= 0:
        return False
    title = text[begin : begin + 60]
    return "CERTIFICATE" in title or "PUBLIC KEY" in title or "SIGNATURE" in title or "MESSAGE" in title


def discord_hits(text: str, words: list[tuple[int, int]]) -> Iterator[SecretHit]:
    """Yield Discord bot tokens: a user id in base64, a time and a signature."""
    for start, end in words:
        if end - start < _DISCORD_LENGTH or text.count(".", start, end) < 2:
            continue
        for match in pattern(_DISCORD).finditer(text, start, end):
            if plain_of(match.group("user")).isdigit() and not placeholders.is_sample(match.group()):
                yield SecretHit(*match.span(), "discord-token", "Discord token", hidden(match.group()), True, 0)


def unwrapped(text: str) -> Decoded | None:
    """Return the lines in which characters are written in another way, with these as they are meant.

    Percent signs, entities, escapes, wide letters.
    """
    if text.isascii() and "%" not in text and "&#" not in text and "\\" not in text:
        return None
    decoded, rest = Decoded(), 0
    for match in pattern(_ESCAPES).finditer(text):
        start, end = match.span()
        line = text.rfind("\n", rest, start)
        if line >= 0:
            if rest:
                decoded.keep(text, rest, text.find("\n", rest) + 1)
            rest = line + 1  # lines without any are left out
        decoded.keep(text, rest, start)
        decoded.add(_meant(match.group()), start, end)
        rest = end
    if rest == 0:
        return None
    stop = text.find("\n", rest)
    decoded.keep(text, rest, len(text) if stop < 0 else stop)
    return decoded


def _meant(run: str) -> str:
    if run[0] == "%":
        return bytes.fromhex(run.replace("%", "")).decode("utf-8", "replace")
    if run[0] in "&\\":
        return "".join(_character(match) for match in pattern(_SPELLED).finditer(run))
    from unicodedata import normalize

    return normalize("NFKC", run)


def _character(match: re.Match[str]) -> str:
    number = int(match["decimal"]) if match["decimal"] else int(match["hex"], 16)
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"


def unpacked(text: str) -> Decoded | None:
    """Return what runs of base64 and of hexadecimal digits say, where they stand for text."""
    decoded = Decoded()
    for first, last in long_words(text)[:_MOST_RUNS]:
        for match in pattern(_PACKED).finditer(text, first, last):
            start, end = match.span()
            run = text[start : min(end, start + _LONGEST_RUN)]
            plain = _of_hex(run) if match["hex"] else plain_of(run)
            if plain:
                decoded.add(plain + "\n", start, end)
    return decoded if decoded.parts else None


def _of_hex(run: str) -> str:
    digits = run.removeprefix("0x").replace(":", "")
    return bytes.fromhex(digits[: len(digits) & ~1]).decode("ascii", "replace")


def plain_of(run: str) -> str:
    """Return the text that a base64 run stands for, or nothing when it stands for none."""
    from binascii import Error, a2b_base64  # not at import: a shared library most texts do not need

    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    body = body[: len(body) - (len(body) % 4 == 1)]
    try:
        plain = a2b_base64(body + "=" * (-len(body) % 4)).decode()
    except (Error, UnicodeDecodeError):
        return ""
    return plain if plain.replace("\n", "").replace("\t", "").replace("\r", "").isprintable() else ""
