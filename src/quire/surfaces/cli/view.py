"""`memory view`: start, stop or export the local web page."""

from __future__ import annotations

from quire.model.errors import UsageError
from quire.surfaces.cli.commands import CliOption, Command, Session
from quire.surfaces.cli.input import number

_EXAMPLES = """Examples:
  memory view                      print a link; Ctrl-C ends the page
  memory view --open               open it in your browser
  memory view --write              let the page change records, with undo
  memory view --detach             run in the background; stop it with `memory view --stop`
  memory view --export site        write it into a folder, to publish or attach
"""
_LAST_PORT = 65535


def run(
    session: Session,
    open_browser: bool,
    port: str | None,
    write: bool,
    detach: bool,
    stop: bool,
    export: str | None,
    private: bool,
    force: bool,
    no_token: bool,
) -> None:
    """Open the memory in your browser: projects, today, map, records, graph, search, timeline, health, inbox.

    The page is served on this machine only. Its link holds a new token for each run; the page needs no other machine.
    It shows changes on disk as they happen, and changes nothing without --write. --export writes the same page into a
    folder instead, without private records of the profile, notes, pins, proposals and receipts, unless you add
    --private.
    """
    if no_token:
        raise UsageError(
            "The page is never served without a token.",
            hint="Without a token any page in your browser could read it. The link that `memory view` prints holds "
            "the token.",
        )
    given = {"detach": detach, "write": write, "open": open_browser, "port": port is not None}
    _refuse_together(stop=stop, export=export is not None, **given)
    if export is None and (private or force):
        raise UsageError("--private and --force belong to --export.", hint="Use them together with --export FOLDER.")
    wanted = number("port", port) or 0
    if not 0 <= wanted <= _LAST_PORT:
        raise UsageError(f"{wanted} is not a port.", hint="Ports are 0 to 65535; 0 takes any free one.")
    from quire.files.programs import become_page

    become_page(
        {
            "start": session.start or "",
            "port": wanted,
            "write": write,
            "open_browser": open_browser,
            "detach": detach,
            "stop": stop,
            "export": export,
            "private": private,
            "force": force,
            "as_json": session.as_json,
        }
    )


def _refuse_together(**given: bool) -> None:
    """--stop and --export do one thing and end."""
    for alone in ("stop", "export"):
        others = [name for name, is_given in given.items() if is_given and name != alone]
        if given[alone] and others:
            said = " or ".join(f"--{name}" for name in others)
            raise UsageError(f"--{alone} does not go with {said}.", hint=f"Give --{alone} alone.")


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    options=(
        CliOption(name="--open", into="open_browser", help="Open the page in your browser."),
        CliOption(name="--port", into="port", metavar="PORT", help="The port to listen on; any free one by default."),
        CliOption(name="--write", into="write", help="Let the page change records, with undo."),
        CliOption(name="--detach", into="detach", help="Run in the background."),
        CliOption(name="--stop", into="stop", help="Stop the page of this project that runs in the background."),
        CliOption(name="--export", into="export", metavar="FOLDER", help="Write the page into a new folder instead."),
        CliOption(name="--private", into="private", help="Also export your private records."),
        CliOption(name="--force", into="force", help="Replace an existing export."),
        CliOption(name="--no-token", into="no_token", help="Refused: the page is never served without a token."),
    ),
    paths=("export",),
)
