r"""Find characters that lie to the reader or break the file, and show foreign text without them.

Hostile is what changes how the surrounding text is read without being seen: controls, terminal escapes,
bidirectional overrides, invisible tag characters. Joiners, variation selectors and soft hyphens may be written down,
because emoji, Persian and many other scripts need them; shown they are only where such a script or emoji needs them,
since anywhere else they carry what nobody sees.
"""

import functools
import re

import msgspec

from quire.guard.patterns import pattern
from quire.model.text import one_line

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

# What has no width or no shape of its own, those that Python calls printable first.
_BLANKS = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
_UNSEEN = (
    f"{_BLANKS}\u00ad\u061c\u180e\u200b-\u200f\u2060-\u2065\u206a-\u206f\ufeff\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
)
_PRINTABLE_UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
_RIGHT_TO_LEFT = "\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc\U00010800-\U00010fff"
# Scripts whose letters join or stack, so that a joiner changes how they look.
_JOINED = (
    f"{_RIGHT_TO_LEFT}\u0900-\u109f\u1780-\u17b3\u17b6-\u17ff\u1810-\u18af\u1900-\u1cff\ua840-\ua87f\ua8e0-\ua8ff"
    "\ua980-\ua9df\uaa60-\uaa7f\uabc0-\uabff\U00011000-\U00011fff\U0001e900-\U0001e95f"
)
_SPACELESS = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff\u1950-\u19df\u1a20-\u1aaf\u3040-\u30ff\u4e00-\u9fff"
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_IDEOGRAPH = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_LETTER = "[^\\W\\d_\u115f\u1160\u3164\uffa0]"
# Where an unseen character belongs, one alternative for each reason. Around it only what is seen may count: what is
# written out itself would be gone the next time, and the answer another.
_BELONGS = "|".join(
    (
        _FLAG,
        f"[{_EMOJI}][\ufe0e\ufe0f]?(?:\u200d[{_EMOJI}][\ufe0e\ufe0f]?)*",
        "[0-9#*]\ufe0f\u20e3",
        f"[{_IDEOGRAPH}][\ufe00-\ufe02\U000e0100-\U000e011f]",
        f"[\u2200-\u22ff\u2a00-\u2aff\u3000-\u303f\uff01-\uff5e{_JOINED}]\ufe00",
        f"(?<=[{_JOINED}])[\u034f\u200c\u200d](?![{_UNSEEN}])",
        f"(?<![{_UNSEEN}])\u200d(?=[{_JOINED}])",
        "(?<=[\u0300-\u034e\u0350-\u036f])\u034f",
        f"(?<=[{_SPACELESS}])\u200b(?=[{_SPACELESS}])",
        "(?<=[\u1780-\u17b3])[\u17b4\u17b5]",
        "(?<=[\u1820-\u18aa])[\u180b-\u180f]",
        "\u115f(?=[\u1161-\u11ff])|(?<=[\u1100-\u115e])\u1160",
    )
)
# A mark of direction belongs where something is written from right to left.
_MARKS = f"(?<![{_UNSEEN}])[\u061c\u200e\u200f](?![{_UNSEEN}])"
# Where a word may be broken is no part of what it says.
_HYPHEN = f"(?<={_LETTER})\u00ad(?={_LETTER})"
_FOUND = f"{_FLAG}|(?P<bad>[{_HOSTILE}])"
_FOUND_IN_LINE = f"{_FLAG}|(?P<bad>[{_HOSTILE}\\n\\r\u2028\u2029])"
_BAD = f"{_HYPHEN}|(?P<bad>[{_HOSTILE}{_UNSEEN}]+)"
_SHOWN = f"{_BELONGS}|{_BAD}"
_SHOWN_BOTH_WAYS = f"{_BELONGS}|{_MARKS}|{_BAD}"
_SUSPECT = f"[{_HOSTILE}{_UNSEEN}]"
_NOT_SHOWN = f"[{_UNSEEN}{_BIDI}{_TAGS}]+"


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
    for match in pattern(_FOUND_IN_LINE if single_line else _FOUND).finditer(text):
        char = match.group("bad")
        if char is None:
            continue
        code = "line-break" if single_line and char in _LINE_BREAKS else _code_of(ord(char))
        findings.append(TextFinding(code, match.start(), f"U+{ord(char):04X}"))
        if len(findings) == MAX_FINDINGS:
            break
    return findings


def safe_line(text: str) -> str:
    """A foreign text on one line, with nothing in it that lies to the reader."""
    return one_line(make_safe(text))


def make_safe(text: str) -> str:
    r"""Return `text` with each hostile or misplaced unseen character written as \u{XX}; line feeds and tabs stay.

    A carriage return lets later text overwrite earlier text in a terminal, so only the one in a Windows line
    ending disappears and any other is written out. A soft hyphen within a word disappears, and so does a byte order
    mark at the beginning: neither is part of what the text says.
    """
    text = text.lstrip("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\\u{D}")
    if _is_plain(text, single_line=False) and (text.isascii() or _PRINTABLE_UNSEEN.isdisjoint(text)):
        return text
    if pattern(_SUSPECT).search(text) is None:
        return text
    return pattern(_SHOWN_BOTH_WAYS if _has_right_to_left(text) else _SHOWN).sub(_written_out, text)


def escape_controls(json: str) -> str:
    r"""Return JSON with the controls that JSON lets stand, U+007F to U+009F, written as \u009b: it says the same."""
    if json.isascii() and "\x7f" not in json:
        return json
    return pattern("[\x7f-\x9f]").sub(lambda match: f"\\u{ord(match.group()):04x}", json)


def without_unseen(text: str) -> str:
    """Return `text` without the characters that have no width or shape of their own, wherever they stand."""
    if text.isascii() or (text.isprintable() and _PRINTABLE_UNSEEN.isdisjoint(text)):
        return text
    return pattern(_NOT_SHOWN).sub("", text)


def _is_plain(text: str, *, single_line: bool) -> bool:
    """Say quickly that there is nothing to find: every hostile character is unprintable for Python too."""
    return (text if single_line else text.replace("\n", "")).replace("\t", "").isprintable()


def _written_out(match: re.Match[str]) -> str:
    bad = match.group("bad")
    if bad is not None:
        return "".join(map(_escape, bad))
    return "" if match.group() == "\u00ad" else match.group()


@functools.lru_cache(4096)
def _escape(char: str) -> str:
    return f"\\u{{{ord(char):X}}}"


def _has_right_to_left(text: str) -> bool:
    has_marks = any(mark in text for mark in "\u061c\u200e\u200f")
    return has_marks and pattern(f"[{_RIGHT_TO_LEFT}]").search(text) is not None


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
