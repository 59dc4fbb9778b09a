"""`memory profile reflect`, `export`, `private`"""

from __future__ import annotations

import sys
from typing import Any

from quire.model.errors import UsageError
from quire.surfaces.cli.commands import Argument, Command, Option, Session
from quire.surfaces.cli.output import answer, say


def reflect(session: Session, apply: list[str], only: list[str], dry_run: bool) -> None:
    """Show what nobody reads, what could be archived, and whose confidence should change.

    Nothing is changed unless --apply says which: archive, confidence, or all. No two proposals contradict each other.
    """
    from quire.verbs.profile.overview import profile_reflect

    project = session.project()
    kinds = ["archive", "confidence"] if "all" in apply else apply
    found = profile_reflect(project, apply=kinds, only=only, dry_run=dry_run)
    if session.as_json:
        from quire.fields.profile import profile_reflect_fields

        answer(project, profile_reflect_fields(found))
        return
    if kinds:
        said = "Would be changed" if dry_run else "Changed"
        say(f"{said}: {', '.join(found.applied)}." if found.applied else "Nothing to change.")
        return
    for item in found.archival_candidates:
        say(f"archive     {item.category}.{item.key}: {item.reason}")
    for item in found.confidence_updates:
        change = f"{item.current_confidence:g} -> {item.proposed_confidence:g}"
        say(f"confidence  {item.category}.{item.key}: {change}, {item.reason}")
    for item in found.stale_entries:
        say(f"stale       {item.category}.{item.key}: {item.reason}")
    if found.archival_candidates or found.confidence_updates:
        say("`memory profile reflect --apply all` makes these changes; stale entries are for you to judge.")
    elif not found.stale_entries:
        say("Nothing to tidy up.")


def export(session: Session, output_format: str, everything: bool, no_private: bool) -> None:
    """Print everything, to be read elsewhere: as Markdown what is active, as JSON the document as it is stored."""
    from quire.verbs.profile.overview import profile_export

    project = session.project()
    done = profile_export(project, output_format, everything=everything, private=not no_private)
    if session.as_json:
        from quire.fields.profile import profile_export_fields

        answer(project, profile_export_fields(done))
        return
    # JSON must stay JSON, whatever the texts in it hold.
    if done.format == "json":
        from quire.guard.hostile_text import escape_controls

        sys.stdout.buffer.write(escape_controls(done.content).encode("utf-8"))
        sys.stdout.buffer.flush()
    else:
        say(done.content.rstrip("\n"))


_PLACES = {"here": "here", "home": "home", "shared": "shared", "off": "shared"}


def private(session: Session, place: str | None, prefer: str | None, yes: bool) -> None:
    """Keep the categories user and relationships out of the shared document.

    PLACE is here (a twin in .ai-state/local/, which git never sees), home (one document of yours for all your projects)
    or shared, or off (back into the repository). Without --yes it only shows what would move; without a place, where
    they are.
    """
    from quire.verbs.profile.overview import profile_private

    project = session.project()
    if place is None:
        _say_where(session, project)
        return
    if place not in _PLACES:
        raise UsageError(f"`{place[:40]}` is no place.", hint="It is here, home or shared.")
    done = profile_private(project, _PLACES[place], apply=yes, prefer=prefer or "")
    if session.as_json:
        from quire.fields.profile import profile_private_fields

        answer(project, profile_private_fields(done))
        return
    _say_move(done, yes, prefer)


def _say_where(session: Session, project: Any) -> None:
    from quire.verbs.profile.overview import profile_status

    found = profile_status(project)
    if session.as_json:
        from quire.fields.profile import profile_where_fields

        answer(project, profile_where_fields(found))
    elif found.private == "shared":
        say("Everything is in the shared document. `memory profile private here` shows what could be kept out of it.")
    else:
        say(f"user and relationships are private, in {found.private_path}; entries there: {found.private_entries}.")


def _say_move(done: Any, yes: bool, prefer: str | None) -> None:
    if done.before == done.after and not done.moved and not done.copied:
        say("That is where they are; nothing to move.")
        return
    if done.moved or not done.copied:
        said = ", ".join(done.moved) or "nothing; new entries will go there"
        say(f"{'Moved' if yes else 'Would move'} to {done.target}: {said}")
    if done.copied:
        said = ", ".join(done.copied)
        kept = "left" if yes else "leave"
        say(f"{'Copied' if yes else 'Would copy'} to {done.target}, and {kept} in your home for other projects: {said}")
    if done.differing:
        holds = f"the {prefer}'s hold" if prefer else "--prefer target or source says which hold"
        say(f"In both, and not the same: {', '.join(done.differing)}; {holds}.")
    if done.linked:
        say(f"These stay in the shared document and name one that goes: {', '.join(done.linked)}")
    if done.committed and done.before == "shared" and done.after != "shared" and done.moved:
        say("What was committed stays in git's history; commit the shared document to take it out of the next version.")
    if not yes:
        say("Nothing was written. Run it again with --yes.")


TENDING = {
    "reflect": Command(
        run=reflect,
        examples="Examples:\n  memory profile reflect\n  memory profile reflect --apply all --only tools.shell\n",
        options=(
            Option(
                name="--apply",
                into="apply",
                metavar="KIND",
                many=True,
                choices=("archive", "confidence", "all"),
                help="Make these changes: archive, confidence or all.",
            ),
            Option(name="--only", into="only", metavar="ENTRY", many=True, help="Only to this entry, category.key."),
            Option(name="--dry-run", into="dry_run", help="Show what would be done; write nothing."),
        ),
    ),
    "export": Command(
        run=export,
        examples="Examples:\n  memory profile export\n  memory profile export --format json > profile.json\n",
        options=(
            Option(
                name="--format",
                into="output_format",
                metavar="FORMAT",
                choices=("markdown", "json"),
                default="markdown",
                help="markdown (by default) or json.",
            ),
            Option(name="--all", into="everything", help="In Markdown also what is archived or superseded."),
            Option(name="--no-private", into="no_private", help="Leave out what is not in the shared document."),
        ),
    ),
    "private": Command(
        run=private,
        examples="""Examples:
  memory profile private                              where they are
  memory profile private here                         what would move to a twin that git never sees
  memory profile private here --yes                   move it
  memory profile private shared --yes                 and back
""",
        arguments=(Argument(name="place", required=False),),
        options=(
            Option(
                name="--prefer",
                into="prefer",
                metavar="SIDE",
                choices=("target", "source"),
                help="Whose entry holds where both documents have one: target or source.",
            ),
            Option(name="--yes", into="yes", help="Do it."),
        ),
    ),
}
