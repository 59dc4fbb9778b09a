"""Find secrets without a name: random runs, Discord tokens, and what one layer of encoding hides.

Decoded pieces are joined and scanned once, with a map back to where they came from, so a text full of encoded
runs costs no more than its own length.
"""

import functools
import re
from collections.abc import Iterator

from quire.guard import placeholders
from quire.guard.rules import Hit, hidden

SHORTEST_RUN = 40
_LONGEST_RUN = 65536
_MOST_RUNS = 20000
_ENTROPY = 4.0
_DISCORD_LENGTH = 57
# Public by nature although random: digests, SSH public keys and fonts, images in place, module checksums.
_PUBLIC_STARTS = ("AAAA", "sha1-", "sha256-", "sha384-", "sha512-", "iVBOR", "d09GM", "R0lGOD")
_PUBLIC_BEFORE = ("base64,", "sha256:", "sha384:", "sha512:", "h1:", "integrity=", "nonce-", "pk_live_", "pk_test_")
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
        start += index - self.starts[number]
        return start, start + 1


def has_long_word(text: str) -> bool:
    """Say whether any word is long enough for this module, before a pattern is compiled."""
    return len(text) >= SHORTEST_RUN and max(map(len, text.split()), default=0) >= SHORTEST_RUN


def runs(text: str) -> list[tuple[int, int]]:
    """Return the spans of long unbroken runs of base64 characters."""
    spans: list[tuple[int, int]] = []
    if not has_long_word(text):
        return spans
    for match in _run().finditer(text):
        spans.append(match.span())
        if len(spans) == _MOST_RUNS:
            break
    return spans


@functools.cache
def _run() -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{SHORTEST_RUN},}}+={{0,2}}")


def random_hits(text: str, lowered: str, spans: list[tuple[int, int]]) -> Iterator[Hit]:
    """Yield runs that look drawn by a machine: a suspicion, or certain right after a credential's name."""
    for start, end in spans:
        run = text[start : min(end, start + 512)]
        before = lowered[max(0, start - 24) : start].rpartition("\n")[2]
        if not _is_random(run) or _is_public(text, start, run, before):
            continue
        certain = any(name in before for name in _CREDENTIALS)
        size = f"… ({end - start} characters)"
        yield Hit(start, end, "random-string", "random-looking string", size, certain, 2)


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
    return "://" in word or _in_public_block(text, start)


def _in_public_block(text: str, start: int) -> bool:
    """Say whether the run is a line of a certificate or a public key."""
    begin = text.rfind("-----BEGIN ", max(0, start - 8000), start)
    if begin < 0 or text.find("-----END", begin, start) >= 0:
        return False
    title = text[begin : begin + 60]
    return "CERTIFICATE" in title or "PUBLIC KEY" in title or "SIGNATURE" in title or "MESSAGE" in title


def discord_hits(text: str) -> Iterator[Hit]:
    """Yield Discord bot tokens: a user id in base64, a time and a signature."""
    if not any(len(word) >= _DISCORD_LENGTH and word.count(".") >= 2 for word in text.split()):
        return
    for match in _discord().finditer(text):
        if plain_of(match.group("user")).isdigit() and not placeholders.is_sample(match.group()):
            yield Hit(*match.span(), "discord-token", "Discord token", hidden(match.group()), True, 0)


@functools.cache
def _discord() -> re.Pattern[str]:
    return re.compile(r"(?<![A-Za-z0-9])(?P<user>[MNO][A-Za-z0-9_-]{22,27}+)\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}")


def decode_base64(text: str, spans: list[tuple[int, int]]) -> Decoded | None:
    """Return what the runs say when they are base64 of text."""
    decoded = Decoded()
    for start, end in spans:
        plain = plain_of(text[start : min(end, start + _LONGEST_RUN)])
        if plain:
            decoded.add(plain + "\n", start, end)
    return decoded if decoded.parts else None


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


def decode_percent(text: str) -> Decoded | None:
    """Return the text with percent-encoding undone, when there is any."""
    if "%" not in text:
        return None
    decoded, rest = Decoded(), 0
    for match in _percent().finditer(text):
        plain = bytes.fromhex(match.group().replace("%", "")).decode("utf-8", "replace")
        _add_plain(decoded, text, rest, match.start())
        decoded.add(plain, *match.span())
        rest = match.end()
    if rest == 0:
        return None
    _add_plain(decoded, text, rest, len(text))
    return decoded


def _add_plain(decoded: Decoded, text: str, start: int, end: int) -> None:
    if start < end:
        decoded.add(text[start:end], start, end)


@functools.cache
def _percent() -> re.Pattern[str]:
    return re.compile("(?:%[0-9A-Fa-f]{2})+")
