"""Two readers of one declaration: the plain one and click agree on every line that the plain one accepts."""

from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.surfaces.cli.commands import Command
from quire.surfaces.cli.main import COMMANDS, find_command, group
from quire.surfaces.cli.plain import read_plain

WORDS = [
    *COMMANDS,
    "list",
    "add",
    "remove",
    "prune",
    "--json",
    "--all",
    "--dry-run",
    "--stdin",
    "--file",
    "x.json",
    "--actor",
    "user",
    "nobody",
    "--name",
    "Harbor",
    "feature.x",
    "bash",
    "--yes",
    "--help",
    "-h",
    "--",
    "-C",
    "..",
    "--destroy",
    "--brief",
    "",
]


def parsed(arguments: list[str]) -> tuple[str, bool, dict[str, Any]] | None:
    """What click makes of a line, without running it."""
    seen: list[tuple[str, bool, dict[str, Any]]] = []

    def noting(name: str) -> Command | None:
        return _noted(name, find_command(name), seen)

    from quire.surfaces.cli.parser import build_group

    try:
        build_group(COMMANDS, noting).main(args=arguments, prog_name="memory", standalone_mode=False)
    except (click.ClickException, click.exceptions.Exit):
        return None
    return seen[0] if seen else None


def _noted(name: str, command: Command | None, seen: list[Any]) -> Command | None:
    if command is None:
        return None

    def run(session: Any, /, **values: Any) -> None:
        seen.append((name, session.as_json, values))

    subcommands = {verb: _noted(f"{name} {verb}", found, seen) for verb, found in command.subcommands.items()}
    return Command(
        run=run,
        examples=command.examples,
        options=command.options,
        arguments=command.arguments,
        subcommands=subcommands,  # type: ignore[arg-type]
        alone=command.alone,
    )


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))
def test_what_the_plain_reader_accepts_click_reads_the_same(arguments: list[str]) -> None:
    plain = read_plain(arguments, find_command)
    if plain is not None:
        found = parsed(arguments)
        assert found is not None, arguments
        assert (found[1], found[2]) == (plain[1].as_json, plain[2])


@pytest.mark.parametrize(
    "arguments",
    [
        ["inspect", "feature.x"],
        ["inspect", "feature.x", "--json"],
        ["--json", "status", "--all"],
        ["save", "--stdin", "--dry-run", "--actor", "user"],
        ["projects", "list", "--json"],
        ["init", "--name", "Harbor"],
    ],
)
def test_the_lines_that_agents_send_are_plain(arguments: list[str]) -> None:
    assert read_plain(arguments, find_command) is not None


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--help"],
        ["bogus"],
        ["inspect"],
        ["inspect", "a", "b"],
        ["status", "-h"],
        ["save", "--actor", "nobody"],
        ["-C", ".", "status"],
    ],
)
def test_everything_else_is_left_to_the_parser(arguments: list[str]) -> None:
    assert read_plain(arguments, find_command) is None


def test_every_verb_has_help_of_its_own() -> None:
    ctx = click.Context(group())
    for name in COMMANDS:
        command = group().get_command(ctx, name)
        assert command is not None
        assert command.help
