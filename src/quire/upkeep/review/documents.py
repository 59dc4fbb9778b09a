"""Write a review for other programs: SARIF 2.1.0, GitLab's code quality, reviewdog's lines."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import quote

import msgspec

from quire import __version__
from quire.files.digests import hex_digest
from quire.model.text import one_line
from quire.model.untyped import with_texts
from quire.upkeep.review.findings import CODES, Review, ReviewFinding, quoted

_SARIF_LEVELS = {"block": "error", "warn": "warning", "note": "note"}
_SARIF_MOST = 5_000
"""GitHub shows no more of a run."""
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_GITLAB_LEVELS = {"block": "blocker", "warn": "major", "note": "info"}
_RDF_LEVELS = {"block": "ERROR", "warn": "WARNING", "note": "INFO"}


def sarif_of(review: Review) -> str:
    """One run with a rule for each code that was found, and a fingerprint that lines do not change."""
    codes = list(review.counts())
    rules = [
        {
            "id": code,
            "name": "".join(map(str.capitalize, CODES[code].name.split("-"))),
            "shortDescription": {"text": CODES[code].title},
            "fullDescription": {"text": f"{CODES[code].title}."},
            "help": {"text": CODES[code].help, "markdown": CODES[code].help},
            "defaultConfiguration": {"level": _SARIF_LEVELS[CODES[code].level]},
        }
        for code in codes
    ]
    driver = {"name": "Quire", "semanticVersion": __version__, "rules": rules}
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "automationDetails": {"id": "memory-review/"},
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The root of the repository."}}},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(finding, codes) for finding in review.findings[:_SARIF_MOST]],
        "invocations": [_invocation(review)],
    }
    return _json({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def _invocation(review: Review) -> dict[str, Any]:
    notes = [problem.message for problem in review.warnings]
    notes += [f"Not checked. {review.not_checked}"] if review.not_checked else []
    told = [{"level": "warning", "message": {"text": note}} for note in notes]
    return {"executionSuccessful": not review.not_checked, **({"toolExecutionNotifications": told} if told else {})}


def _sarif_result(finding: ReviewFinding, codes: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": _SARIF_LEVELS[finding.level],
        "message": {"text": _told(finding)},
        "partialFingerprints": {
            "memoryRecord/v1": finding.fingerprint,
            "primaryLocationLineHash": f"{finding.fingerprint[:16]}:1",
        },
        "properties": {"ref": finding.ref, "owners": list(finding.owners)},
    }
    if finding.path:
        place = {"uri": quote(os.fsencode(finding.path)), "uriBaseId": "%SRCROOT%"}
        found["locations"] = [{"physicalLocation": {"artifactLocation": place, "region": {"startLine": finding.line}}}]
    if finding.waived:
        found["suppressions"] = [{"kind": "external", "justification": finding.waived}]
    return found


def code_quality_of(review: Review) -> str:
    """GitLab's list. A fingerprint that comes twice is shown once, so that of a later one is another."""
    found, seen = [], set()
    for finding in review.findings:
        mark = hex_digest(f"{finding.fingerprint}\0{finding.path}")
        if mark in seen:
            continue
        seen.add(mark)
        found.append(
            {
                "type": "issue",
                "check_name": finding.code,
                "description": _told(finding),
                "categories": ["Clarity"],
                "severity": "info" if finding.waived else _GITLAB_LEVELS[finding.level],
                "fingerprint": mark,
                "location": {"path": finding.path or ".memory/config.json", "lines": {"begin": finding.line}},
            }
        )
    return _json(found)


def rdjsonl_of(review: Review) -> list[str]:
    """reviewdog's form, a finding in a line."""
    return [
        _json(
            {
                "message": _told(finding),
                "location": {"path": finding.path, "range": {"start": {"line": finding.line}}},
                "severity": "INFO" if finding.waived else _RDF_LEVELS[finding.level],
                "source": {"name": "memory-review"},
                "code": {"value": finding.code},
            }
        )
        for finding in review.findings
    ]


def _told(finding: ReviewFinding) -> str:
    """A finding in a sentence or two, title and owners as code: nobody is notified by them."""
    title = f" {quoted(finding.title)}" if finding.title else ""
    owners = f" Owners: {', '.join(map(quoted, finding.owners))}." if finding.owners else ""
    waived = f" Waived: {one_line(finding.waived)}" if finding.waived else ""
    return f"{finding.message}{title}{owners} {CODES[finding.code].help}{waived}"


def _json(value: Any) -> str:
    from quire.guard.boundary import safe_values

    # What is no text, as names of files may be, is written out.
    told = with_texts(value, lambda text: text.encode("utf-8", "backslashreplace").decode())
    return msgspec.json.encode(safe_values(told)).decode()
