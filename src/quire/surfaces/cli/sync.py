"""`memory sync`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from quire.model.text import one_line
from quire.surfaces.cli.commands import Command, Option, Session
from quire.surfaces.cli.output import answer, say, warn

if TYPE_CHECKING:
    from quire.upkeep.coverage import Gap
    from quire.upkeep.sync import Synced

_LISTED, _NAMED = 10, 3
_EXAMPLES = """Examples:
  memory sync
  memory sync --dry-run
  memory sync --check        exit 1 when something needs a look, for CI
  memory sync --json

\b
What it finds goes to whoever reads it, as a prompt with a save that is ready but for its blanks.
It writes no node. Afterwards it notes the commit it looked at in .memory/sync-state.json.
"""


def run(session: Session, dry_run: bool, everything: bool, check: bool) -> int:
    """Find what changed in the code since the last sync, and which nodes need a look because of it.

    Each node is measured against what its anchors held when it was last saved or confirmed. What was reported
    before and not acted on is only counted; --all lists it again.
    """
    from quire.verbs.graph.changes import sync

    project = session.project()
    found, warnings = sync(project, dry_run=dry_run)
    if session.as_json:
        from quire.fields.graph import synced_fields

        answer(project, synced_fields(found), warnings)
    else:
        _report(found, everything, dry_run)
        warn(warnings)
    return 1 if check and found.findings else 0


def _report(found: Synced, everything: bool, dry_run: bool) -> None:
    say(_summary(found))
    if found.hidden_files_count:
        say(f"{found.hidden_files_count} files are outside of the sparse checkout; git's index stands for them.")
    shown = everything or found.full_verification
    changed = [node for node in found.changed if shown or node.new]
    moved = [node for node in found.moved if shown or node.new]
    orphaned = [node for node in found.orphaned if shown or node.new]
    most = None if everything else _LISTED
    for title, nodes in (("Moved", moved), ("Changed", changed), ("Orphaned", orphaned)):
        _section(title, [f"{node.id} — {node.title} — {node.because}" for node in nodes], most)
    gaps = [gap for gap in found.coverage_gaps if shown or gap.new]
    if shown:
        unverifiable = [f"{node.id} — {node.because}" for node in found.unverifiable]
        _section("Could not be checked (`memory confirm` after a look)", unverifiable, most)
    _section("Code that no feature covers", list(map(_gap_line, gaps)), most)
    if shown:
        _section("Without anchors", found.unanchored, most)
    else:
        _rest(found, len(changed) + len(moved) + len(orphaned))
    if changed or moved or orphaned:
        _prompt(found, {node.id for node in changed} | {node.id for node in moved} | {node.id for node in orphaned})
    if found.marker_advanced:
        say(f"Synced to {(found.head_commit or '')[:9]}.")
    elif dry_run:
        say("Dry run: the marker stays where it is.")
    elif found.head_commit:
        say("The marker stays where it is.")
    else:
        say("There is no commit yet, so there is no marker to set.")


def _summary(found: Synced) -> str:
    counts = [f"{len(found.fresh)} fresh"]
    for name in ("changed", "moved", "orphaned", "unverifiable", "unanchored"):
        number = len(getattr(found, name))
        if number:
            counts.append(f"{number} {name}")
    since = f"{_counted(found.changed_files_count)} changed since {(found.base_commit or '')[:9]}"
    if found.full_verification:
        since = f"every anchor verified, because {found.reason}"
    return f"Sync: {since}. Nodes: {', '.join(counts)}."


def _counted(number: int) -> str:
    return f"{number} {'file' if number == 1 else 'files'}"


def _rest(found: Synced, listed: int) -> None:
    """What was reported before, in a line."""
    known = found.findings - listed
    notes = [f"to look at since earlier: {known}"] if known else []
    folders = [gap.dir for gap in found.coverage_gaps if not gap.new]
    notes += [f"folders with code and no feature: {_few(folders)}"] if folders else []
    notes += [f"without anchors: {_few(found.unanchored)}"] if found.unanchored else []
    if notes:
        say()
        say(f"{' · '.join(notes)}. `memory sync --all` lists everything.")


def _few(names: list[str]) -> str:
    """The first of many names, and how many there are besides."""
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return one_line(", ".join(names[:_NAMED])) + rest


def _gap_line(gap: Gap) -> str:
    return f"{gap.dir} — {_counted(gap.files_count)}: {one_line(', '.join(gap.examples))}"


def _section(title: str, entries: list[str], most: int | None) -> None:
    """A list with its title; of a long one the beginning, unless all of it was asked for."""
    if not entries:
        return
    say()
    say(f"{title}:")
    for entry in entries[:most]:
        say(f"- {entry}")
    if most and len(entries) > most:
        say(f"- and {len(entries) - most} more: `memory sync --all`")


def _prompt(found: Synced, shown: set[str]) -> None:
    """The task for an agent, with a save for the nodes that are listed above it."""
    skeleton = {
        name: [item for item in part if item["id"] in shown] if isinstance(part, list) else part
        for name, part in found.save_skeleton.items()
    }
    say()
    say("For the agent:")
    say("```")
    say(
        "Look at the code behind these nodes of the project memory. Moved ones have their new anchors filled in:\n"
        "keep them if they are right. For a changed one, write the body as it is true now; if the old body still\n"
        'holds, take the node out of "nodes" and put {"id": "…"} into "confirm". For an orphaned one, say why it is\n'
        "stale, or give it new anchors. Leave out what you did not look at. Then send the rest in one call:"
    )
    say()
    say(f"memory save --stdin <<'JSON'\n{msgspec.json.encode(skeleton).decode()}\nJSON")
    say("```")


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    options=(
        Option(name="--dry-run", into="dry_run", help="Report only: leave the marker and the map as they are."),
        Option(
            name="--all",
            into="everything",
            help="List also what was reported before, or cannot be checked.",
        ),
        Option(name="--check", into="check", help="Exit 1 when a node is changed, moved or orphaned."),
    ),
)
