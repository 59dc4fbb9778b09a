"""`memory completion`"""

from __future__ import annotations

import click

_EPILOG = """\b
Examples:
  memory completion bash > ~/.local/share/bash-completion/completions/memory
  memory completion zsh > "${fpath[1]}/_memory"
  memory completion fish > ~/.config/fish/completions/memory.fish
"""


@click.command(epilog=_EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script for your shell."""
    from click.shell_completion import get_completion_class

    from quire.surfaces.cli.main import cli

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"There is no completion for {shell}.")
    script = found(cli, {}, "memory", "_MEMORY_COMPLETE")
    # The template alone: `source()` would run the shell to ask for its version.
    click.echo(script.source_template % script.source_vars())
