"""Make commands of declared verbs: options from the fields of the arguments, the call, the output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec

from quire.files.world import real_world
from quire.model import limits
from quire.model.errors import UsageError
from quire.model.records import Problem
from quire.surfaces.cli.commands import JOURNAL_PROGRAM, PROGRAM, Argument, CliOption, Command, Session, as_called
from quire.surfaces.cli.dialogs import DIALOGS, can_ask, dialog_of
from quire.surfaces.cli.input import number, read_hidden, read_input, read_offered, read_text, share
from quire.surfaces.cli.output import answer, aside, progress_bar, put, say, say_table, tell, warn
from quire.verbs.verb import (
    Arguments,
    Aside,
    Input,
    LaidOut,
    Line,
    Option,
    Output,
    Recalled,
    Result,
    Row,
    Styled,
    Verb,
    Word,
    cli_marks,
    defaults_of,
)

_NAME_COMMANDS = ("hint", "advice", "suggestedNextAction")
_STDIN, _FILE = "use_stdin", "file"
_COLOURS = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class Subcommands(Mapping[str, Command]):
    """The verbs of a group, each loaded when it is asked for."""

    def __init__(self, group: str, modules: Mapping[str, str]) -> None:
        self._group = group
        self._modules = modules

    def __getitem__(self, name: str) -> Command:
        return command_named(f"{self._group} {name}", self._modules[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


def command_named(words: str, module: str) -> Command:
    """The command of these words; one with verbs of its own also does something where none is named."""
    from quire.verbs.table import load, verbs_of

    command = command_of(load(module), words)
    verbs = verbs_of(words)
    return msgspec.structs.replace(command, subcommands=Subcommands(words, verbs), alone=True) if verbs else command


def command_of(verb: Verb, words: str = "") -> Command:
    """The command of a verb."""

    def run(session: Session, /, **values: Any) -> int | None:
        given = arguments_of(verb, values)
        if words in DIALOGS and not session.as_json and can_ask(words):
            code = dialog_of(words)(session, verb, given)
            if code is not None:
                return code
        return run_verb(session, verb, given)

    run.__doc__ = verb.run.__doc__
    options, arguments = _declared(verb.takes)
    return Command(
        run=run,
        examples=verb.examples,
        options=tuple(options),
        arguments=tuple(arguments),
        alone=verb.alone,
        hidden=verb.hidden,
        paths=_paths(verb.takes),
    )


def run_verb(session: Session, verb: Verb, given: Arguments) -> int | None:
    """Run a verb and print what came of it; the exit code."""
    project = session.project() if verb.over == "project" else None
    if project and not session.as_json:
        project.tell = tell
    if project and verb.counts and not session.as_json:
        with progress_bar(verb.counts) as project.progress:
            result = verb.run(project, given)
    else:
        result = verb.run(project or real_world(), given)
    warnings = result.warnings if isinstance(result, Result) else []
    if session.as_json:
        from quire.verbs.plain import plain

        about = result.about(project) if isinstance(result, Result) else project
        answer(about, _with_called(plain(result), session.program), _with_called(warnings, session.program))
    else:
        recorded = verb.recorded_lines if session.program == JOURNAL_PROGRAM else None
        say_lines((recorded or verb.lines)(result), session.program)
        say_warnings(warnings, session.program)
    return result.exit_code() if isinstance(result, Result) else None


def say_lines(lines: Iterable[Line], program: str = PROGRAM) -> None:
    """Print the lines of a result; rows that follow each other are one table."""
    for _, group in groupby(lines, lambda line: isinstance(line, Row)):
        together = list(group)
        if rows := [line for line in together if isinstance(line, Row)]:
            say_table([row.cells for row in rows])
        else:
            for line in together:
                _say(line, program)


def say_warnings(warnings: list[Problem], program: str = PROGRAM) -> None:
    """Print the warnings of a result, with commands named as they were called."""
    warn(_with_called(warnings, program))


def _paths(takes: type[Arguments]) -> tuple[str, ...]:
    """The values that are paths: they may hold bytes that are no text."""
    marks = cli_marks(takes).items()
    return (_FILE, *(mark.word if isinstance(mark, Input) else name for name, (mark, _) in marks if mark.is_path))


def _say(line: Line, program: str) -> None:
    match line:
        case Recalled(verbatim=True):
            put(line.text)
        case Recalled():
            say(line.lead + line.text, _COLOURS.get(line.style or ""))
        case Aside():
            aside(_own_words(line.text, program))
        case Output():
            put(line.text)
        case LaidOut():
            say(line.text)
        case Styled():
            say(_own_words(line.text, program), _COLOURS[line.style])
        case str():
            say(_own_words(line, program))


def _own_words(text: str, program: str) -> str:
    return text if program == PROGRAM else as_called(text, program)


def _with_called(value: Any, program: str) -> Any:
    """The same with hints that name commands as they were called."""
    if program == PROGRAM:
        return value
    if isinstance(value, list):
        return [_with_called(item, program) for item in value]
    if isinstance(value, Problem):
        return msgspec.structs.replace(value, hint=value.hint and as_called(value.hint, program))
    if isinstance(value, dict):
        found = {name: _with_called(item, program) for name, item in value.items()}
        own = {name: found[name] for name in _NAME_COMMANDS if isinstance(found.get(name), str)}
        return {**found, **{name: as_called(text, program) for name, text in own.items()}}
    return value


def _declared(takes: type[Arguments]) -> tuple[list[CliOption], list[Argument]]:
    options: list[CliOption] = []
    words: list[Argument] = []
    defaults = defaults_of(takes)
    for name, (mark, hint) in cli_marks(takes).items():
        if isinstance(mark, Word) and mark.secret:
            continue
        if isinstance(mark, Word):
            words.append(
                Argument(
                    name=name,
                    required=mark.required,
                    many=_kind(hint) is list or mark.joined,
                    metavar=_shown(mark, hint),
                )
            )
        elif isinstance(mark, Input):
            options += [CliOption(name="--stdin", into=_STDIN, help=mark.stdin)] if mark.stdin else []
            options += [CliOption(name="--file", into=_FILE, metavar="FILE", help=mark.file)] if mark.file else []
            words += [Argument(name=mark.word)] if mark.word else []
        else:
            kind = _kind(hint)
            options.append(
                CliOption(
                    name=mark.name or f"--{name.replace('_', '-')}",
                    into=name,
                    help=mark.help,
                    metavar=None if kind is bool else mark.metavar or name.upper(),
                    short=mark.short,
                    also=mark.also,
                    choices=() if mark.commas else mark.choices,
                    default=str(defaults[name]) if mark.show_default else None,
                    many=kind is list and not mark.commas,
                    bare=mark.bare,
                )
            )
    return options, words


def _shown(mark: Word, hint: Any) -> str | None:
    """What help calls a word that has another name than its field."""
    if not mark.name:
        return None
    name = f"{mark.name.upper()}" if mark.required else f"[{mark.name.upper()}]"
    return f"{name}..." if _kind(hint) is list else name


def arguments_of(verb: Verb, values: dict[str, Any]) -> Arguments:
    """The arguments that a command line names; what it does not name has its default."""
    given: dict[str, Any] = {}
    for name, (mark, hint) in cli_marks(verb.takes).items():
        if isinstance(mark, Input):
            given |= _input(name, mark, values)
            continue
        value = values.get(name)
        if isinstance(mark, Word) and mark.stdin and not values.get(mark.unless):
            if value == "-" or (value is None and not mark.only_dash):
                value = read_hidden(mark.stdin) if mark.secret else read_text(mark.stdin)
            elif value == ("-",):
                value = (read_text(mark.stdin),)
        if isinstance(mark, Word) and mark.joined and value is not None:
            value = " ".join(value)
        if value in (None, (), False):
            continue
        if isinstance(mark, Option) and isinstance(value, str) and value.strip().lower() in mark.clears:
            given[name] = None
            continue
        shown = mark.name.removeprefix("--") if mark.name else name.replace("_", "-")
        if not isinstance(mark, Word) and mark.commas:
            value = _words(shown, value, mark.choices)
        given[name] = _converted(_kind(hint), shown, value)
    return verb.takes(**given)


def _input(name: str, mark: Input, values: dict[str, Any]) -> dict[str, Any]:
    if mark.wait_seconds:
        return {name: read_offered(mark.wait_seconds, mark.most)}
    file = values.get(mark.word or _FILE)
    if mark.stdin and mark.file and bool(values.get(_STDIN)) == (file is not None):
        raise UsageError("Give either --stdin or --file.", hint="`--help` shows an example.")
    if file is None and not values.get(_STDIN):
        return {}
    data, source = read_input(file, mark.what, mark.most or limits.INPUT_BYTES)
    return {name: data, "source": source}


def _words(name: str, text: str, allowed: tuple[str, ...]) -> list[str]:
    """The words between commas."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    unknown = next((word for word in words if allowed and word not in allowed), None)
    if unknown is not None or not words:
        said = f"Unknown {name} `{unknown[:40]}`." if unknown else f"--{name} names no {name}."
        raise UsageError(said, hint=f"Allowed: {', '.join(allowed)}." if allowed else None)
    return words


def _converted(kind: Any, name: str, value: Any) -> Any:
    if kind is int:
        return number(name, value)
    if kind is float:
        return share(name, value)
    return list(value) if kind is list else value


def _kind(hint: Any) -> Any:
    """The type that decides how a value is read: bool, int, float, list, or str for everything else."""
    while hasattr(hint, "__metadata__"):
        hint = hint.__origin__
    if get_origin(hint) in (Union, UnionType):
        kinds = [_kind(part) for part in get_args(hint)]
        return next((kind for kind in (list, bool, int, float) if kind in kinds), str)
    kind = get_origin(hint) or hint
    return kind if kind in (bool, int, float, list) else str
