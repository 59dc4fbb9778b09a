"""The full parser: click commands built from declarations, for help, completion and mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from quire import __version__
from quire.surfaces.cli.commands import JOURNAL_PROGRAM, JSON, PROGRAM, CliOption, Command, Session, as_called

_INTRODUCTION = """Project memory for AI coding agents and the people who run them.

Keeps what the code cannot say (decisions, known traps, what is shipped) as plain files in
.memory/ inside your repository, reviewed and merged like code.

\b
Start here:
  memory init                             create the memory in this repository
  memory add decision "…" --why "…"       record something
  memory query "…"                        ask for it
  memory help COMMAND                     learn more about a command
"""
_JOURNAL_INTRODUCTION = """The journal of a project: what happened in its sessions, and what was learned.

Kept in .agent-memory/ inside your repository, with pages to read in docs/agent-memory/. `memory journal` is the same
command.

\b
Start here:
  agent-memory init                         create the journal from the project's files
  agent-memory add claude-local ~/.claude   where an agent keeps its sessions
  agent-memory sync --all                   import what is new in them
  agent-memory recall                       merge it into the memory
  agent-memory query "what changed?"        ask
"""


class _Suggesting(click.Group):
    """A group that names the nearest of its commands where it has none of that name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            close = get_close_matches(args[0], self.list_commands(ctx), n=1)
            if not close:
                raise
            raise click.UsageError(f"{error.message} Did you mean '{close[0]}'?", ctx=ctx) from None


class _Verbs(_Suggesting):
    """A group whose commands are built when they are asked for."""

    def __init__(
        self, sections: dict[str, dict[str, str]], find: Callable[[str], Command | None], **settings: Any
    ) -> None:
        super().__init__(**settings)
        self._sections = sections
        self._table = [name for verbs in sections.values() for name in verbs]
        self._find = find

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return self._table

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        found = self._find(cmd_name)
        return None if found is None else _build(cmd_name, found, self.name or PROGRAM)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        # The table knows the one-line descriptions: help loads no command.
        width = max(map(len, self._table))
        for title, verbs in self._sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in verbs.items()])


class _Subverbs(_Suggesting):
    """Verbs of a verb, in the order in which they are declared, each built when it is asked for."""

    def __init__(self, verbs: Mapping[str, Command], program: str, **settings: Any) -> None:
        super().__init__(**settings)
        self._verbs = verbs
        self._program = program

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self._verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self.commands and cmd_name in self._verbs:
            command = self._verbs[cmd_name]
            made = _build(cmd_name, command, self._program)
            made.hidden = command.hidden
            self.add_command(made)
        return self.commands.get(cmd_name)


def build_group(
    sections: dict[str, dict[str, str]], find: Callable[[str], Command | None], program: str = PROGRAM
) -> click.Group:
    """The whole command, as click sees it, under the name it was called by."""

    def begin(as_json: bool, start: str | None) -> None:
        ctx = click.get_current_context()
        ctx.obj = Session(as_json=as_json, start=start, program=program)
        if ctx.invoked_subcommand is None:
            click.echo(ctx.get_help())

    return _Verbs(
        sections,
        find,
        name=program,
        help=_JOURNAL_INTRODUCTION if program == JOURNAL_PROGRAM else _INTRODUCTION,
        callback=begin,
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        params=[
            click.Option([JSON.name, JSON.into], is_flag=True, help=JSON.help),
            click.Option(
                ["-C", "--project", "start"], metavar="FOLDER", help="Work on the project that holds this folder."
            ),
            _version_option(program),
        ],
    )


def invoke(group: click.Group, arguments: list[str]) -> int:
    """Parse and run; the exit code. Mistakes are raised, for the one place that prints errors."""
    try:
        code: Any = group.main(args=arguments, prog_name=group.name, standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    return code if isinstance(code, int) else 0


def _version_option(program: str) -> click.Option:
    def show(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            click.echo(f"{program}, version {__version__}")
            ctx.exit()

    return click.Option(
        ["-V", "--version"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=show,
        help="Show the version and exit.",
    )


def _build(name: str, command: Command, program: str) -> click.Command:
    text = as_called(command.run.__doc__ or "", program)
    epilog = as_called(f"\b\n{command.examples}", program)
    if command.subcommands:
        return _build_group(name, command, text, epilog, program)

    def callback(as_json: bool, **values: Any) -> int | None:
        session: Session = click.get_current_context().ensure_object(Session)
        session.as_json = session.as_json or as_json
        return command.call(session, values)

    params: list[click.Parameter] = [
        click.Argument(
            [argument.name],
            required=argument.required,
            type=_choice(argument.choices),
            nargs=-1 if argument.many else 1,
            metavar=argument.metavar,
        )
        for argument in command.arguments
    ]
    params += map(_option, (*command.options, JSON))
    return click.Command(name=name, help=text, epilog=epilog, params=params, callback=callback)


def _build_group(name: str, command: Command, text: str, epilog: str, program: str) -> click.Group:
    """A verb with verbs of its own, which may also do something where none of them is named."""

    def alone(as_json: bool = False, **values: Any) -> int | None:
        ctx = click.get_current_context()
        session: Session = ctx.ensure_object(Session)
        session.as_json = session.as_json or as_json
        return None if ctx.invoked_subcommand is not None else command.call(session, values)

    return _Subverbs(
        command.subcommands,
        program,
        name=name,
        help=text,
        epilog=epilog,
        callback=alone if command.alone else None,
        invoke_without_command=command.alone,
        params=list(map(_option, (*command.options, JSON))) if command.alone else [],
    )


def _option(option: CliOption) -> click.Option:
    names = [name for name in (option.short, option.name, *option.also, option.into) if name]
    if option.metavar is None:
        return click.Option(names, is_flag=True, help=option.help)
    alone: dict[str, Any] = {"is_flag": False, "flag_value": option.bare} if option.bare is not None else {}
    return click.Option(
        names,
        **alone,
        metavar=None if option.choices else option.metavar,
        type=_choice(option.choices),
        default=option.default,
        show_default=option.default is not None,
        multiple=option.many,
        help=option.help,
    )


def _choice(choices: tuple[str, ...]) -> click.Choice[str] | None:
    return click.Choice(choices) if choices else None
