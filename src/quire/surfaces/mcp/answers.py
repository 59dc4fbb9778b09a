"""Make the result of a tool call: fields for programs, text for readers, recalled words marked as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from quire.guard.boundary import Boundary, safe_values
from quire.guard.effects import flags_of, shown_flags
from quire.guard.hostile_text import make_safe
from quire.model.errors import QuireError
from quire.model.records import Problem
from quire.model.text import one_line
from quire.verbs.envelope import failed, succeeded
from quire.verbs.plain import flag_fields

if TYPE_CHECKING:
    from quire.project import Project
    from quire.surfaces.mcp.tool import Given

_SHOWN_ISSUES = 20


def success(project: Project | None, given: Given, fence: Boundary) -> dict[str, Any]:
    """The result of a call that did what it was asked."""
    warnings = [_as_tools_say(problem) for problem in given.warnings]
    envelope = succeeded(project, _flagged(given.fields), warnings)
    envelope["meta"] = {**envelope["meta"], "boundary": fence.boundary, "notice": fence.notice()}
    told = [given.text.rstrip("\n"), _warnings(warnings, fence)]
    return _result(envelope, "\n".join(part for part in told if part), is_error=given.failed)


def failure(error: QuireError, fence: Boundary) -> dict[str, Any]:
    """The result of a call that could not be done: what is wrong, and what to do about it."""
    from quire.guard.prompt_attacks import find_instructions

    lines = [error.message]
    issues = error.details.get("issues", [])
    for issue in issues[:_SHOWN_ISSUES] if len(issues) > 1 else ():
        place = f"{issue['field']}: " if issue.get("field") else ""
        lines.append(f"- {place}{issue['message']}" + (f" {issue['hint']}" if issue.get("hint") else ""))
    hints = [error.hint, *(issue.get("hint") for issue in issues if len(issues) == 1)]
    lines += [f"hint: {hint}" for hint in dict.fromkeys(hint for hint in hints if hint)]
    flags = [flag for line in lines for flag in find_instructions(line)]
    envelope = failed(error)
    if not flags:
        return _result(envelope, make_safe(f"{error.code}: " + "\n".join(lines)), is_error=True)
    # An error names what was asked for and what there is. Where that reads like instructions, it is marked as data.
    envelope["meta"] = {"boundary": fence.boundary, "notice": fence.notice()}
    told = fence.wrap("\n".join(lines), origin="quire", flags=sorted(set(flags)))
    return _result(envelope, f"{error.code}\n{fence.notice()}\n{told}", is_error=True)


def _result(envelope: Mapping[str, Any], text: str, *, is_error: bool) -> dict[str, Any]:
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": safe_values(envelope),
        "isError": is_error,
    }


def fenced_text(text: str, fence: Boundary, origin: str) -> str:
    """One recalled text between its marks, flagged where it reads like instructions."""
    return fence.wrap(text, origin=origin, flags=shown_flags(flags_of(text)))


def _flagged(value: Any) -> Any:
    """The fields, and with each record that reads like instructions, that it does."""
    if isinstance(value, Mapping):
        found = {name: _flagged(item) for name, item in value.items()}
        if "ref" in found and not found.get("flags"):
            return {**found, **flag_fields(_flags(value))}
        return found
    return [_flagged(item) for item in value] if isinstance(value, list | tuple) else value


def _flags(value: Any) -> list[str]:
    """What reads like instructions in any text of a value; not in how we put it together, `user: 1` being a count."""
    return sorted({flag for text in _texts(value) for flag in flags_of(text)})


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield str(name)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _as_tools_say(problem: Problem) -> Problem:
    """A warning about a record that is said already, with the tool that supersedes instead of the command."""
    if problem.code not in ("SaysNearlyTheSame", "SaysTheOpposite"):
        return problem
    ref = problem.message.split("`")[1]
    layer = ref.partition(":")[0]
    tools = {
        "fact": f"memory_supersede with fact_id {ref} and the new text",
        "profile": f"add_link with relation supersedes, from the new record to {ref.partition(':')[2]}",
    }
    tool = tools.get(layer, f"save_memory with supersede: id {ref}, superseded_by the id of the new record")
    return msgspec.structs.replace(problem, hint=f"If the new one replaces it: {tool}.")


def _warnings(problems: Iterable[Problem], fence: Boundary) -> str:
    """What is to be heeded; it names files and records, so it stands between marks too."""
    told = []
    for problem in problems:
        where = problem.path or problem.field
        text = f"warning: {f'{where}: ' if where else ''}{problem.message}"
        told.append(one_line(f"{text} {problem.hint}" if problem.hint else text))
    return fence.wrap("\n".join(told), origin="quire", flags=_flags(told)) if told else ""
