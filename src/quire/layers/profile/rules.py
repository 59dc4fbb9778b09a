"""Rules for profile values: categories, keys, values, tags, numbers and closed word lists."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from quire.guard.admission import admit
from quire.layers.profile.entries import split_name
from quire.layers.profile.layout import (
    CATEGORIES,
    DETAIL_CHARS,
    IMPORTANCE_LEAST,
    IMPORTANCE_MOST,
    KEY_CHARS,
    LONG_VALUE_CHARS,
    RELATIONS,
    SOURCES,
    STATUSES,
    TAG_CHARS,
    VALUE_CHARS,
)
from quire.model import limits
from quire.model.errors import InputError
from quire.model.records import Problem, warning_at
from quire.model.text import cut

_KEY = re.compile(r"[a-z0-9_-]+")
_NOT_KEY = re.compile(r"[^a-z0-9_-]+")
_TAG_GAP = re.compile(r"[\s_,]+")


def allowed_category(text: str) -> str:
    return _one_of(text, "category", CATEGORIES)


def allowed_status(text: str, *others: str) -> str:
    return _one_of(text, "status", (*STATUSES, *others))


def allowed_source(text: str) -> str:
    return _one_of(text, "source", SOURCES)


def allowed_relation(text: str) -> str:
    return _one_of(text, "relation", RELATIONS)


def _one_of(text: str, field: str, allowed: Sequence[str]) -> str:
    if text not in allowed:
        close = text.strip().lower().replace("_", "-").replace(" ", "-")
        meant = f"Did you mean `{close}`? " if close in allowed else ""
        raise InputError(
            f"Unknown {field} `{cut(text, 40)}`.",
            hint=f"{meant}Use one of {', '.join(allowed)}.",
            details={"field": field, "allowed": list(allowed)},
        )
    return text


def allowed_key(text: str) -> str:
    """A new key: an old one of another form is found as it is."""
    if not text:
        raise InputError(
            "`key` is empty.", hint="Give a short name, such as package_manager.", details={"field": "key"}
        )
    if len(text) > KEY_CHARS:
        raise InputError(
            f"`key` has {len(text):,} characters; the limit is {KEY_CHARS}.",
            hint="Give a short name; put details into the value.",
            details={"field": "key", "maximum": KEY_CHARS},
        )
    if not _KEY.fullmatch(text):
        close = _NOT_KEY.sub("_", text.lower()).strip("_")
        raise InputError(
            f"`{cut(text, 60)}` cannot be a key: lowercase letters, digits, `_` and `-` only.",
            hint=f"Write it as `{close}`." if close else "Give a name in such letters, such as package_manager.",
            details={"field": "key", "pattern": _KEY.pattern},
        )
    return admit(text, "key", most=KEY_CHARS, single_line=True)[0]


def allowed_name(text: str, field: str) -> tuple[str, str]:
    """`category.key`, also as the ref `profile:category.key`."""
    category, key = split_name(text.strip().removeprefix("profile:"))
    if not category or not key:
        raise InputError(
            f"`{cut(text, 60)}` is not the name of a record.",
            hint="A record is named category.key, such as user.timezone.",
            details={"field": field},
        )
    return category, key


def allowed_value(text: str) -> tuple[str, list[Problem]]:
    value, warnings = admit(text, "value", most=VALUE_CHARS)
    if len(value) > LONG_VALUE_CHARS:
        said = f"The value has {len(value):,} characters; under {LONG_VALUE_CHARS} is better remembered."
        hint = "Split it into several records, and link them."
        warnings = [*warnings, warning_at("ProfileValueLong", "", said, hint, field="value")]
    return value, warnings


def allowed_detail(text: str) -> tuple[str, list[Problem]]:
    return admit(text, "detail", most=DETAIL_CHARS, single_line=True)


def allowed_tags(tags: Iterable[str]) -> list[str]:
    """Tags, each once, in the order of the alphabet."""
    found = {_allowed_tag(tag) for tag in tags}
    if len(found) > limits.TAGS:
        raise InputError(
            f"{len(found)} tags are given; the limit is {limits.TAGS}.",
            hint="Keep the ones useful for searching.",
            details={"field": "tags", "maximum": limits.TAGS},
        )
    return sorted(found)


def _allowed_tag(tag: str) -> str:
    close = _TAG_GAP.sub("-", tag.strip().lower()).strip("-")
    fault = None
    if not tag:
        fault = "is empty"
    elif len(tag) > TAG_CHARS:
        fault = f"has {len(tag)} characters; the limit is {TAG_CHARS}"
    elif tag != close:
        fault = "must be lowercase, its words joined by hyphens"
    if fault:
        hint = f"Write it as `{close}`." if close and len(close) <= TAG_CHARS else "Give a short word."
        if "," in tag:
            hint = "Give several tags one by one."
        raise InputError(f"The tag `{cut(tag, 60)}` {fault}.", hint=hint, details={"field": "tags"})
    admit(tag, "tags", most=TAG_CHARS, single_line=True)
    return tag


def allowed_importance(number: int) -> int:
    return limits.within(number, "importance", IMPORTANCE_LEAST, IMPORTANCE_MOST)


def allowed_confidence(number: float) -> float:
    if not math.isfinite(number) or not 0.0 <= number <= 1.0:
        raise InputError(
            f"The confidence must be a number from 0 to 1, not {number}.",
            hint="0.3 for a first impression, 0.9 for what was confirmed; leave it out for what was stated.",
            details={"field": "confidence", "minimum": 0, "maximum": 1},
        )
    return float(number)
