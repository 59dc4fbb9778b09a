"""Find characters that lie to the reader or break the file, and show foreign text without them.

Hostile is what changes how the surrounding text is read without being seen: controls, terminal escapes,
bidirectional overrides, invisible tag characters. Joiners, variation selectors and soft hyphens stay, because
emoji, Persian and many other scripts need them.
"""

import functools
import re

import msgspec

MAX_FINDINGS = 10

_LINE_BREAKS = "\n\r\v\f\u2028\u2029"
_BIDI = "\u202a-\u202e\u2066-\u2069"
_TAGS = "\U000e0000-\U000e007f"
_NONCHARACTERS = "\ufdd0-\ufdef" + "".join(
    f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
)
# Everything that is never allowed; \t, \n and \r are not in it.
_HOSTILE = f"\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\ud800-\udfff{_BIDI}{_TAGS}{_NONCHARACTERS}"
# The flags of England, Scotland, Wales and other regions spell their code in tag characters. The code has 3 to 6
# letters or digits; without that limit a flag could carry a whole hidden sentence.
_FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"


class TextFinding(msgspec.Struct, frozen=True):
    """One hostile character: what kind, where, and a notation that is safe to print."""

    code: str
    index: int
    shown: str


def find_hostile(text: str, *, single_line: bool = False) -> list[TextFinding]:
    """Return the first ten hostile characters of `text`; with `single_line`, line breaks are hostile too."""
    if _is_plain(text, single_line=single_line):
        return []
    findings: list[TextFinding] = []
    for match in _pattern(single_line=single_line).finditer(text):
        char = match.group("bad")
        if char is None:
            continue
        code = "line-break" if single_line and char in _LINE_BREAKS else _code_of(ord(char))
        findings.append(TextFinding(code, match.start(), f"U+{ord(char):04X}"))
        if len(findings) == MAX_FINDINGS:
            break
    return findings


def make_safe(text: str) -> str:
    r"""Return `text` with each hostile character written as \u{XX}; line feeds and tabs stay.

    A carriage return lets later text overwrite earlier text in a terminal, so only the one in a Windows line
    ending disappears and any other is written out.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\\u{D}")
    if _is_plain(text, single_line=False):
        return text
    return _pattern(single_line=False).sub(_written_out, text)


def _is_plain(text: str, *, single_line: bool) -> bool:
    """Say quickly that there is nothing to find: every hostile character is unprintable for Python too."""
    return (text if single_line else text.replace("\n", "")).replace("\t", "").isprintable()


def _written_out(match: re.Match[str]) -> str:
    char = match.group("bad")
    return match.group() if char is None else f"\\u{{{ord(char):X}}}"


@functools.cache
def _pattern(*, single_line: bool) -> re.Pattern[str]:
    """Compile on first use: most texts never get here."""
    breaks = "\\n\\r\u2028\u2029" if single_line else ""
    return re.compile(f"{_FLAG}|(?P<bad>[{_HOSTILE}{breaks}])")


def _code_of(point: int) -> str:
    if point < 0xA0:
        return "control-character"
    if 0xD800 <= point <= 0xDFFF:
        return "lone-surrogate"
    if 0x202A <= point <= 0x2069:
        return "bidi-override"
    if 0xE0000 <= point <= 0xE007F:
        return "tag-character"
    return "noncharacter"
