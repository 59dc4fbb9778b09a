"""`memory completion`: print a completion script for a shell."""

from __future__ import annotations

from quire.model.errors import UsageError
from quire.surfaces.cli.commands import Argument, Command, Session
from quire.surfaces.cli.main import group
from quire.surfaces.cli.output import say

_EXAMPLES = """Examples:
  memory completion bash > ~/.local/share/bash-completion/completions/memory
  memory completion zsh > "${fpath[1]}/_memory"
  memory completion fish > ~/.config/fish/completions/memory.fish
"""


def run(_session: Session, shell: str) -> None:
    """Print the completion script for your shell."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is None:
        raise UsageError(f"There is no completion for {shell}.")
    script = found(group(), {}, "memory", "_MEMORY_COMPLETE")
    # The template alone: `source()` would run the shell to ask for its version.
    say(script.source_template % script.source_vars())


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    arguments=(Argument(name="shell", choices=("bash", "zsh", "fish")),),
)
