"""Apply what a project wants of a review: the level of each code, and what commits waive."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

import msgspec

from quire.model.config import ReviewLevel
from quire.model.errors import InvalidConfig
from quire.model.records import Problem
from quire.model.text import cut
from quire.upkeep.review.findings import CODES, LEVELS, ReviewFinding, Waiver

_TRAILER = re.compile(r"(?im)^[ \t]*Memory-Exempt:[ \t]*(\S*)[ \t]*(.*)$")
_REASON_CHARS = 300


class _Held(msgspec.Struct, frozen=True):
    review: dict[str, str] = {}


def levels_of(before: bytes | None, after: bytes | None, config: str) -> dict[str, ReviewLevel]:
    """The level of each code. Of two configurations the stricter level counts: a change cannot excuse itself."""
    sides = [_named(data, config) for data in (before, after) if data is not None] or [{}]
    usual = {code: kind.level for code, kind in CODES.items()}
    return {code: max((side.get(code, level) for side in sides), key=LEVELS.index) for code, level in usual.items()}


def _named(data: bytes, config: str) -> dict[str, ReviewLevel]:
    try:
        named = msgspec.json.decode(data, type=_Held).review
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidConfig(
            f"`review` in `{config}` cannot be read: {error}.",
            hint='It holds levels by code, such as {"M203": "block"}.',
            details={"path": config, "field": "review"},
        ) from None
    found: dict[str, ReviewLevel] = {}
    for code, level in named.items():
        fault = "is not a code of a review" if code not in CODES else "has no such level" if level not in LEVELS else ""
        if fault:
            what = f"`{cut(code, 40)}`" if code not in CODES else f"`{code}`: `{cut(level, 40)}`"
            raise InvalidConfig(
                f"`review` in `{config}`: {what} {fault}.",
                hint=f"The codes are {', '.join(CODES)}; the levels are {', '.join(LEVELS)}.",
                details={"path": config, "field": f"review/{cut(code, 40)}", "allowed": [*CODES, *LEVELS]},
            )
        found[code] = LEVELS[LEVELS.index(level)]
    return found


def stricter(levels: dict[str, ReviewLevel], also: Collection[str]) -> dict[str, ReviewLevel]:
    """The levels where these codes, and whatever has one of these levels or a stricter one, block."""
    least = min((LEVELS.index(level) for level in LEVELS[1:] if level in also), default=len(LEVELS))
    return {code: "block" if code in also or LEVELS.index(level) >= least else level for code, level in levels.items()}


def waivers_in(messages: Iterable[tuple[str, str]]) -> tuple[list[Waiver], list[Problem]]:
    """The waivers that commits give in lines `Memory-Exempt: CODE reason`, and those that cannot be used."""
    found: list[Waiver] = []
    problems: list[Problem] = []
    for commit, text in messages:
        for match in _TRAILER.finditer(text):
            code, reason = match[1].upper(), cut(match[2].strip(), _REASON_CHARS)
            if code in CODES and reason:
                found.append(Waiver(code, reason, commit))
                continue
            why = "gives no reason" if code in CODES else "names no code of a review"
            problems.append(
                Problem(
                    code="ReviewWaiverUnused",
                    severity="warning",
                    message=f"The line `Memory-Exempt: {cut(match[1], 40)}` of commit {commit[:9]} {why}.",
                    hint="Write `Memory-Exempt: M201 REASON`.",
                )
            )
    return found, problems


def judged(
    findings: Iterable[ReviewFinding], levels: dict[str, ReviewLevel], waivers: list[Waiver]
) -> tuple[list[ReviewFinding], list[Waiver]]:
    """The findings with their levels and waivers, the strictest first, without what is off; and the waivers used."""
    reasons = {waiver.code: waiver for waiver in reversed(waivers)}
    kept = [
        msgspec.structs.replace(
            finding,
            level=levels[finding.code],
            waived=reasons[finding.code].reason if finding.code in reasons else "",
        )
        for finding in findings
        if levels[finding.code] != "off"
    ]
    order = list(CODES)
    kept.sort(
        key=lambda one: (-LEVELS.index(one.level), bool(one.waived), order.index(one.code), one.path, one.line, one.ref)
    )
    used = [
        msgspec.structs.replace(waiver, used=sum(one.code == waiver.code for one in kept))
        for waiver in reasons.values()
    ]
    return kept, used
