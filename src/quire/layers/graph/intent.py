"""Parse a save intent and report all problems of shape and text at once, each with its field path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from quire.files.json_files import input_text, parse_strict
from quire.guard.admission import text_problems
from quire.guard.secrets import find_secrets
from quire.layers.graph.types import ConfirmIn, DeleteIn, Intent, NodeIn, StaleIn, SupersedeIn
from quire.model import limits
from quire.model.anchors import anchor_fault
from quire.model.errors import InputError, NotFound, SecretDetected
from quire.model.records import Problem
from quire.model.text import cut, plain_newlines, trim

_LISTS: dict[str, type] = {
    "nodes": NodeIn,
    "stale": StaleIn,
    "supersede": SupersedeIn,
    "delete": DeleteIn,
    "confirm": ConfirmIn,
}
_MULTILINE = ("body", "reason", "task")
CORRECT_FIELDS = "Nothing was written. Correct these fields and send the whole input again."


class ParsedIntent(msgspec.Struct, frozen=True):
    """An intent as far as it could be understood, and what was wrong with the rest."""

    intent: Intent
    problems: list[Problem]
    warnings: list[Problem]
    positions: dict[str, list[int]] = {}
    """Where the entries of each list stood in the input, when some of them could not be read."""

    def place(self, name: str, number: int, *rest: str | int) -> str:
        """The field path of an entry, as the sender counts them."""
        positions = self.positions.get(name)
        return field_path((name, positions[number] if positions else number, *rest))


def parse_intent(data: bytes, source: str) -> Any:
    """The intent's JSON value, from the bytes that came in."""
    long = "Save a summary and name the source in `origin`."
    empty = "Send one JSON object with a `task`; `memory save --help` shows an example."
    text = input_text(data, source, too_long=long, empty=empty)
    return parse_strict(text, source)


def read_intent(value: Any) -> ParsedIntent:
    """The intent, with its strings trimmed, and everything that is wrong with its shape and its text."""
    if not isinstance(value, dict):
        raise InputError(
            "The save input must be a JSON object.",
            hint='Send {"task": "…", "nodes": […]}; `memory save --help` shows an example.',
            details={"field": "<input>"},
        )
    value = _trimmed(value)
    problems: list[Problem] = []
    warnings: list[Problem] = []
    positions: dict[str, list[int]] = {}
    for place, text in _texts(value, ()):
        if len(text) <= limits.BODY_CHARS:  # else it is refused for its length, and not worth reading
            errors, notes = text_problems(text, field_path(place), single_line=place[-1] not in _MULTILINE)
            problems += errors
            warnings += notes
    named = {problem.field for problem in problems}
    problems += [problem for problem in _anchor_problems(value) if problem.field not in named]
    try:
        intent = msgspec.convert(value, Intent)
    except UnicodeEncodeError:
        raise InputError(
            "A key of the save input holds a lone surrogate.", hint=CORRECT_FIELDS, details={"field": "<input>"}
        ) from None
    except msgspec.ValidationError as error:
        shape = _shape_problems(value, str(error))
        problems += shape
        intent, positions = _salvage(value, {problem.field or "" for problem in shape})
    if not any(getattr(intent, name) for name in _LISTS) and not problems:
        problems.append(
            Problem(
                code="SchemaMinItems",
                field="|".join(_LISTS),
                message=f"nothing to save: give at least one of {', '.join(_LISTS)}",
            )
        )
    return ParsedIntent(intent, problems, warnings, positions)


def refuse(problems: list[Problem]) -> InputError:
    """The one error that carries every problem."""
    secret = [problem for problem in problems if problem.code == "MemorySecretDetected"]
    missing = [problem for problem in problems if problem.code == "MemoryObjectNotFound"]
    details: dict[str, Any] = {"issues": [msgspec.to_builtins(problem) for problem in problems]}
    if len(problems) == 1:
        only = problems[0]
        message = f"{only.field}: {only.message}." if only.field else f"{only.message}."
        details["field"] = only.field
        if only.allowed:
            details["allowed"] = list(only.allowed)
    else:
        message = f"{len(problems)} problems in the save input."
    if secret:
        return SecretDetected(
            message,
            hint="Nothing was written. Replace the credential with the place where it is kept. If it was real, treat "
            "it as leaked.",
            details=details,
        )
    error = InputError(message, hint=CORRECT_FIELDS, details=details)
    if missing and len(missing) == len(problems):
        return NotFound(message, hint=problems[0].hint or CORRECT_FIELDS, details=details)
    return error


def field_path(place: tuple[str | int, ...]) -> str:
    return ".".join(map(_shown, place)) or "<input>"


def _shown(part: str | int) -> str:
    """A step of a path. What is no ordinary key is cut, and not repeated at all where it is a credential."""
    text = str(part)
    if len(text) <= 24 and (text.isidentifier() or text.isdecimal()):
        return text
    found = find_secrets(text)
    return found[0].masked if found else cut(text, 80)


def _trimmed(value: Any) -> Any:
    if isinstance(value, str):
        return trim(plain_newlines(value))
    if isinstance(value, list):
        return [_trimmed(item) for item in value]
    if isinstance(value, dict):
        return {name: _trimmed(item) for name, item in value.items()}
    return value


def _texts(value: Any, place: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _texts(item, (*place, number))
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(item, (*place, name))


def _anchor_problems(value: dict[str, Any]) -> list[Problem]:
    problems = []
    for place, text in _texts(value.get("nodes"), ("nodes",)):
        if len(place) == 4 and place[2] == "anchors" and text:
            fault = anchor_fault(text)
            if fault:
                shown = f"`{text[:120]}` {fault}"
                problems.append(Problem(code="AnchorNotAllowed", field=field_path(place), message=shown))
    return problems


def _shape_problems(value: Any, fallback: str) -> list[Problem]:
    from quire.layers.graph.schemas import faults_of

    problems = [
        Problem(code=fault.code, field=field_path(fault.place), message=fault.message, allowed=fault.allowed)
        for fault in faults_of(value, Intent)
    ]
    return problems or [Problem(code="SchemaValidationFailed", field="<input>", message=fallback)]


def _salvage(value: dict[str, Any], faulty: set[str]) -> tuple[Intent, dict[str, list[int]]]:
    """What is left of the intent without its faulty parts, so that the rest is checked in the same run."""
    lists: dict[str, list[Any]] = {}
    positions: dict[str, list[int]] = {}
    # Every place that is faulty, or that has something faulty in it.
    spoiled = {field[:end] for field in faulty for end in (*_dots(field), len(field))}
    for name, shape in _LISTS.items():
        items = value.get(name)
        lists[name], positions[name] = [], []
        for number, item in enumerate(items if isinstance(items, list) else ()):
            if not isinstance(item, dict):
                continue
            kept = {key: part for key, part in item.items() if f"{name}.{number}.{key}" not in spoiled}
            try:
                lists[name].append(msgspec.convert(kept, shape))
            except msgspec.ValidationError:
                continue
            positions[name].append(number)
    return Intent(task=str(value.get("task") or "-"), **lists), positions


def _dots(field: str) -> list[int]:
    return [place for place, char in enumerate(field) if char == "."]
