"""Parse plain command lines without importing click.

Agents send a few kinds of line, over and over: a verb, its words, long options. Such a line is answered from the
command's declaration alone. Whatever is not plain (help, short options, mistakes of any kind) is left to click.
"""

from __future__ import annotations

from collections.abc import Callable

from quire.surfaces.cli.commands import JSON, CliOption, Command, Session

Values = dict[str, str | bool | tuple[str, ...] | None]
Call = tuple[Command, Session, Values]


def read_plain(arguments: list[str], find: Callable[[str], Command | None]) -> Call | None:
    """The command, the session and the values that a plain line names; None where it is not plain."""
    session = Session()
    words = list(arguments)
    while words and words[0] == JSON.name:
        session.as_json = True
        words.pop(0)
    command = find(words.pop(0)) if words and not words[0].startswith("-") else None
    while command is not None and command.subcommands:
        if words and not words[0].startswith("-"):
            command = command.subcommands.get(words.pop(0))
        elif command.alone:
            break
        else:
            return None
    if command is None:
        return None
    values = _values(command, words, session)
    return None if values is None else (command, session, values)


def _values(command: Command, words: list[str], session: Session) -> Values | None:
    options = {name: option for option in command.options for name in (option.name, *option.also)}
    values: Values = {option.into: _unset(option) for option in command.options}
    given: list[str] = []
    while words:
        word = words.pop(0)
        if not word.startswith("-") or word == "-" or word.startswith("- "):
            given.append(word)  # a dash and a blank begin a text, as in a list
        elif word == JSON.name:
            session.as_json = True
        elif word not in options or not _take(options[word], words, values):
            return None
    for argument in command.arguments:
        if argument.many:
            if argument.required and not given:
                return None
            values[argument.name], given = tuple(given), []
            continue
        value = given.pop(0) if given else None
        if (value is None and argument.required) or (argument.choices and value not in argument.choices):
            return None
        values[argument.name] = value
    return None if given else values


def _take(option: CliOption, words: list[str], values: Values) -> bool:
    if not option.metavar:
        values[option.into] = True
        return True
    if option.bare is not None and (not words or words[0].startswith("-")):
        values[option.into] = option.bare
        return True
    if not words or words[0].startswith("-") or (option.choices and words[0] not in option.choices):
        return False
    word = words.pop(0)
    before = values[option.into]
    values[option.into] = (*before, word) if isinstance(before, tuple) else word
    return True


def _unset(option: CliOption) -> str | bool | tuple[str, ...] | None:
    if option.many:
        return ()
    return option.default if option.metavar else False
