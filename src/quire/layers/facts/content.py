"""Compare the content of facts: normal form, digest, and normal names of subjects."""

from __future__ import annotations

import re

from quire.files.digests import hex_digest
from quire.model.text import trim

# JavaScript's white space, which the stored digests were made with. Python's differs: it holds U+001C to U+001F and
# U+0085, and lacks U+FEFF.
_BLANK = "[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
_DASH = re.compile(f"-{_BLANK}*")
_BLANKS = re.compile(f"{_BLANK}+")
_SEPARATORS = re.compile(r"[\s\-_\ufeff]+")
_HASH_DIGITS = 16


def clean_content(text: str) -> str:
    """The content as it is stored: without the dash of a list and without blanks around it."""
    # A key begins with dashes that are none of a list. Without one of them nobody would know it for what it is.
    return trim(text if text.startswith("-----BEGIN ") else _without_dash(text))


def normal_text(text: str) -> str:
    """What the digest is made of. The dash goes first: one that blanks precede stays, as in the original program."""
    bare = trim(_without_dash(text)).lower()
    # Nearly all are like this already: the only blank that counts as printable is the plain space.
    return bare if bare.isprintable() and "  " not in bare else _BLANKS.sub(" ", bare)


def content_hash(text: str) -> str:
    return hex_digest(normal_text(text))[:_HASH_DIGITS]


def normal_relation(text: str) -> str:
    """`Depends on`, `depends-on` and `DEPENDS_ON` are one relation. Empty where nothing is named."""
    return _SEPARATORS.sub("_", text.lower()).strip("_")


def _without_dash(text: str) -> str:
    return _DASH.sub("", text, count=1) if text.startswith("-") else text
