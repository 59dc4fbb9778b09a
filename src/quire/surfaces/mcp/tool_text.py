"""Read the lines of a verb out to an agent: recalled text between marks, tools named in place of commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from quire.guard.boundary import Boundary
from quire.guard.effects import flags_of, shown_flags
from quire.guard.hostile_text import make_safe
from quire.model.records import Problem
from quire.model.text import cut
from quire.surfaces.mcp.answers import fenced_text
from quire.verbs.table import load, module_of, tool_for
from quire.verbs.verb import Aside, LaidOut, Line, Option, Output, Recalled, Row, Styled, Verb, cli_marks

_OPTION = re.compile(r"(?<![`\w-])--([a-z][a-z-]+)(?![^`]*`[^`]*$)")
_RECALLED_CHARS = 200_000
"""No more recalled text is read out in one answer, but for a single one that is longer."""
_ANY_OPTION = re.compile(r"--[a-z][a-z-]+")
_COMMAND = re.compile(r"`memory ([a-z]+(?: [a-z-]+)?)(?: [^`]*)?`")


def text_of(lines: Iterable[Line], fence: Boundary, options: Mapping[str, str]) -> str:
    """The lines of a result: what is recalled between marks, and tools named in place of commands."""
    parts: list[str] = []
    group: list[Recalled] = []

    def close() -> None:
        if group:
            first = group[0]
            text = "\n".join(map(_read_out, group))
            flags = shown_flags(flags_of(f"{first.origin}\n{text}"))
            parts.append(fence.wrap(text, ref=first.ref, origin=first.origin, verdict=first.verdict, flags=flags))
            group.clear()

    has_notice, room, left = False, _RECALLED_CHARS, 0
    for line in lines:
        if isinstance(line, Output):
            continue
        if isinstance(line, LaidOut):
            close()
            # It has the notice of its own; one is enough.
            parts.append(line.text.replace(f"{fence.notice()}\n", "", 1) if has_notice else line.text)
            has_notice = True
            continue
        if isinstance(line, str | Aside | Styled):
            close()
            text = line if isinstance(line, str) else line.text
            parts += [_own_words(in_tools_words(text, options), fence)] if text else []
            continue
        if isinstance(line, Row):
            line = Recalled(text="  ".join(filter(None, line.cells)), origin="memory")
        if not line.is_news:
            close()
            parts += [line.lead.strip()] if any(map(str.isalpha, line.lead)) else []
            continue
        room -= len(_read_out(line))
        if room < 0 and has_notice:
            left += 1
            continue
        lead = line.lead.strip() if any(map(str.isalpha, line.lead)) else ""
        if (
            not group
            or lead
            or (line.ref, line.origin, line.verdict) != (group[0].ref, group[0].origin, group[0].verdict)
        ):
            close()
            parts += [lead] if lead else []
            parts += [] if has_notice else [fence.notice()]
            has_notice = True
        group.append(line)
    close()
    parts += [f"Lines not shown: {left}."] if left else []
    return "\n".join(parts)


def _read_out(line: Recalled) -> str:
    return cut(line.text, line.most) if line.most else line.text


def _own_words(text: str, fence: Boundary) -> str:
    """A line of our own; where it repeats something that looks like a mark or an instruction, it is marked as data."""
    safe = make_safe(text)
    return fenced_text(safe, fence, "quire") if "<" in safe or flags_of(safe) else safe


def in_tools_words(text: str, options: Mapping[str, str]) -> str:
    """A text of ours with the names of tools and arguments in place of commands and options, where there are such."""
    named = _COMMAND.sub(lambda found: _tool_like(found[0], found[1]) or found[0], text)
    return _OPTION.sub(lambda found: f"`{options[found[0]]}`" if found[0] in options else found[0], named)


def tool_options(verb: Verb) -> dict[str, str]:
    """The options that the tool of a verb takes, too, each with the name of its argument."""
    marks = cli_marks(verb.takes).items()
    return {
        mark.name or f"--{name.replace('_', '-')}": name
        for name, (mark, _) in marks
        if isinstance(mark, Option) and mark.tool and not (verb.tool and name in verb.tool.given)
    }


def _tool_like(command: str, words: str) -> str:
    """The tool for a command; none where the command has an option that the tool does not take."""
    tool = tool_for(words)
    options = _ANY_OPTION.findall(command) if tool else ()
    return tool if not options or tool_options(load(module_of(words))).keys() >= set(options) else ""


def problem_for_tools(problem: Problem, options: Mapping[str, str]) -> Problem:
    hint = in_tools_words(problem.hint, options) if problem.hint else problem.hint
    return msgspec.structs.replace(problem, message=in_tools_words(problem.message, options), hint=hint)
