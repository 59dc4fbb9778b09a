"""`memory notes`"""

from __future__ import annotations

from typing import Any

from quire.guard.effects import effects_of, words_of
from quire.model.errors import UsageError
from quire.surfaces.cli.commands import Argument, Command, Session
from quire.surfaces.cli.output import answer, say, warn

_EXAMPLES = """Examples:
  memory notes
  memory notes done 2
  memory notes promote 1 "Known Issues"
"""


def show_notes(session: Session) -> None:
    from quire.verbs.facts.notes import notes

    project = session.project()
    found, problems = notes(project)
    if session.as_json:
        from quire.fields.facts import notes_fields

        answer(project, notes_fields(found, len(found)), problems)
        return
    if not found:
        say('No notes wait. `memory note "text"` keeps one for later.')
    for note in found:
        text = note.text.replace("\n", "\n     ")
        effects = effects_of(note.text)
        flagged = f" (flagged: {words_of(effects)})" if effects else ""
        say(f"{note.number:3}. [{note.at}]{flagged} {text}")
    warn(problems)


def run(session: Session) -> None:
    """Show the notes that wait, take them off the list, or make facts of them."""
    show_notes(session)


def done(session: Session, numbers: tuple[str, ...]) -> None:
    """Take these notes off the list."""
    from quire.verbs.facts.notes import notes_done

    project = session.project()
    _gone(session, project, notes_done(project, [_number(text) for text in numbers]), "Done")


def clear(session: Session) -> None:
    """Take all notes off the list. `memory notes undo` brings them back."""
    from quire.verbs.facts.notes import notes_done

    project = session.project()
    _gone(session, project, notes_done(project, None), "Cleared")


def undo(session: Session) -> None:
    """Bring back what was taken off the list last."""
    from quire.verbs.facts.notes import notes_undo

    project = session.project()
    _gone(session, project, notes_undo(project), "Brought back")


def _gone(session: Session, project: Any, found: list[Any], verb: str) -> None:
    from quire.verbs.facts.notes import notes

    left, problems = notes(project)
    if session.as_json:
        from quire.fields.facts import notes_fields

        answer(project, notes_fields(found, len(left)), problems)
        return
    if not found:
        say("There is nothing to bring back." if verb == "Brought back" else "No notes wait.")
        return
    say(f"{verb}: {len(found)}. {len(left)} wait.")
    for note in found:
        say("  " + note.text.replace("\n", "\n     "))


def promote(session: Session, number: str, section: str) -> None:
    """Make a fact of a note, in SECTION, and take it off the list."""
    from quire.verbs.facts.notes import notes_promote

    project = session.project()
    stored = notes_promote(project, _number(number), section)
    if session.as_json:
        from quire.fields.facts import notes_promote_fields

        answer(project, notes_promote_fields(stored), stored.warnings)
        return
    lead = "Stored in" if stored.action == "stored" else "Known already in"
    say(f"{lead} {stored.fact.section}: {stored.fact.content}")
    say(f"  {stored.fact.ref}")
    warn(stored.warnings)


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"`{text[:40]}` is no number of a note.", hint="`memory notes` shows them.") from None


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    alone=True,
    subcommands={
        "done": Command(
            run=done,
            examples="Example:\n  memory notes done 2 3\n",
            arguments=(Argument(name="numbers", many=True),),
        ),
        "clear": Command(run=clear, examples="Example:\n  memory notes clear\n"),
        "undo": Command(run=undo, examples="Example:\n  memory notes undo\n"),
        "promote": Command(
            run=promote,
            examples='Example:\n  memory notes promote 1 "Known Issues"\n',
            arguments=(Argument(name="number"), Argument(name="section")),
        ),
    },
)
