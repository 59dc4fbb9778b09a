"""`memory export`"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from quire.model.errors import UsageError
from quire.model.text import counted
from quire.model.vocabulary import LAYER_NAMES
from quire.surfaces.cli.commands import Command, Option, Session
from quire.surfaces.cli.output import answer, say, warn

if TYPE_CHECKING:
    from quire.upkeep.export_formats import ExportText

_EXAMPLES = """Examples:
  memory export > memory.md
  memory export --format json --all --output memory.json
  memory export --layer graph,facts --output handbook.md --force
  memory export --format mcp > memory.jsonl
"""
_LEFT_OUT = {
    "not_current": ("not current", "--all"),
    "events": ("of the journal's history", "--all"),
    "private": ("private", "--private"),
}
_STDOUT = "-"
_JSON = ("json", "mcp")


def run(
    session: Session,
    output_format: str,
    layer: str | None,
    everything: bool,
    private: bool,
    output: str | None,
    force: bool,
) -> None:
    """Print everything that the memory holds: for people, for programs, or for another server.

    As Markdown one document to read; as json every record and relation with its fields; as mcp the file of the
    reference memory server for MCP. What is retired, the journal's history and private entries are left out unless
    they are asked for.
    """
    from quire.verbs.admin.export import export

    project = session.project()
    target = None if output == _STDOUT else output
    done = export(
        project,
        output_format,
        layers=_layers(layer),
        everything=everything,
        private=private,
        output=target,
        force=force,
    )
    if session.as_json:
        from quire.fields.graph import exported_fields

        answer(project, exported_fields(done), done.warnings)
        return
    if done.path:
        say(f"Wrote {done.path}: {_counts(done)}.")
    elif done.text:
        _print(done)
    warn(done.warnings)
    _tell(done)


def _print(done: ExportText) -> None:
    """Nothing in it that a terminal would act on, wherever the pipe ends; and JSON stays JSON."""
    if sys.stdout.isatty() or done.format not in _JSON:
        say(done.text.rstrip("\n"))
        return
    from quire.guard.hostile_text import escape_controls

    sys.stdout.flush()
    sys.stdout.buffer.write(escape_controls(done.text).encode("utf-8"))
    sys.stdout.buffer.flush()


def _tell(done: ExportText) -> None:
    """What whoever reads the text does not see; beside it, so that the text stays what it is."""
    left = [
        f"{done.left_out[name]:,} {said} ({option})"
        for name, (said, option) in _LEFT_OUT.items()
        if done.left_out[name]
    ]
    if not done.records:
        sys.stderr.write("Nothing to export.\n")
    if left:
        sys.stderr.write(f"Left out: {', '.join(left)}.\n")


def _counts(done: ExportText) -> str:
    return f"{counted(done.records, 'record')}, {counted(done.edges, 'relation')}"


def _layers(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    unknown = next((word for word in words if word not in LAYER_NAMES), None)
    if unknown is not None or not words:
        said = f"--layer does not know `{unknown[:40]}`." if unknown else "--layer names no layer."
        raise UsageError(said, hint=f"It takes any of {', '.join(LAYER_NAMES)}.")
    return words


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    options=(
        Option(
            name="--format",
            into="output_format",
            metavar="FORMAT",
            choices=("markdown", "json", "mcp"),
            default="markdown",
            help="markdown (by default), json or mcp.",
        ),
        Option(name="--layer", into="layer", metavar="LAYERS", help="Only these layers, separated by commas."),
        Option(name="--all", into="everything", help="Also what is retired, and the journal's history."),
        Option(name="--private", into="private", help="Also the entries of the profile that only you have."),
        Option(name="--output", into="output", metavar="FILE", help="Write it to this file."),
        Option(name="--force", into="force", help="Replace the file that is there."),
    ),
    paths=("output",),
)
