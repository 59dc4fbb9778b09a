"""The command's table of verbs: each is loaded only when it is called."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from quire import __version__
from quire.surfaces.cli.output import fail, usage_failed
from quire.surfaces.cli.session import Session

COMMANDS = {
    "init": "Create the memory and tell the agents about it.",
    "save": "Record what changed in the product.",
    "inspect": "Show one entry in full, with its relations.",
    "status": "Show features by stage, open questions, stale anchors.",
    "check": "Look for faults in the memory's files.",
    "diff": "Show what differs from the last commit.",
    "projects": "List, add and remove the projects on this machine.",
    "reset": "Archive the memory and start over.",
    "docs": "Read the documentation in the terminal.",
    "completion": "Print the completion script for your shell.",
    "upgrade": "Say whether the storage needs an upgrade.",
}

__all__ = ["COMMANDS", "Memory", "cli", "journal_main", "main"]


class Memory(click.Group):
    """A group whose commands live in modules of their own."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"quire.surfaces.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        # The table knows the one-line descriptions: help loads no command.
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            close = get_close_matches(args[0], COMMANDS, n=1)
            if not close:
                raise
            raise click.UsageError(f"{error.message} Did you mean '{close[0]}'?", ctx=ctx) from None


@click.group(
    cls=Memory,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
)
@click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")
@click.option("-C", "--project", "start", metavar="FOLDER", help="Work on the project that holds this folder.")
@click.version_option(__version__, "-V", "--version", prog_name="memory")
@click.pass_context
def cli(ctx: click.Context, as_json: bool, start: str | None) -> None:
    """Project memory for AI coding agents and the people who run them.

    What a product is, what was decided and why, which traps were found: kept as plain files in
    .memory/ inside your repository, reviewed and merged like code.

    \b
    Start here:
      memory init                    create the memory in this repository
      memory init --brief            what to tell your agent to fill it
      memory status                  what is in it
    """
    ctx.obj = Session(as_json=as_json, start=start)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; every way it can end has its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # `--json` may stand anywhere; an argument after `--` is not ours.
    as_json = "--json" in (arguments[: arguments.index("--")] if "--" in arguments else arguments)
    sys.exit(_run(arguments, as_json))


def _run(arguments: list[str], as_json: bool) -> int:
    from quire.model import QuireError

    try:
        code: Any = cli.main(args=arguments, prog_name="memory", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except click.UsageError as error:
        return usage_failed(error, as_json=as_json)
    except click.Abort:
        click.echo("Cancelled.", err=True)
        return 130
    except QuireError as error:
        return fail(error, as_json=as_json)
    except BrokenPipeError:
        _drop_stdout()
        return 141
    except (KeyboardInterrupt, EOFError):
        return 130
    except Exception as error:
        from quire.surfaces.cli.output import crashed

        return crashed(error, as_json=as_json)


def _drop_stdout() -> None:
    """The reader is gone: let the interpreter's own flush at exit go nowhere."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def journal_main() -> None:
    """`agent-memory` is the name of the journal, which is not here yet."""
    click.echo("agent-memory arrives with the journal layer in a later version of Quire.", err=True)
    sys.exit(3)
