"""`memory note`"""

from __future__ import annotations

from quire.guard.admission import effect_warnings
from quire.surfaces.cli.commands import Argument, Command, Session
from quire.surfaces.cli.notes import show_notes
from quire.surfaces.cli.output import answer, say, warn
from quire.surfaces.cli.reading import read_text

_EXAMPLES = """Examples:
  memory note "look at the flaky upload test"
  memory notes
"""


def run(session: Session, words: tuple[str, ...]) -> None:
    """Jot something down for later, without leaving what you are doing.

    Notes stay on this machine, in .memory/local/notes.md. Without a text, shows them; with `-` it is read from standard
    input.
    """
    from quire.verbs.facts.notes import note

    if not words:
        show_notes(session)
        return
    text = read_text("the note") if words == ("-",) else " ".join(words)
    project = session.project()
    count = note(project, text)
    if session.as_json:
        from quire.fields.facts import note_fields

        answer(project, note_fields(text, count), effect_warnings(text, "text"))
        return
    say(f"Noted. ({count} {'entry' if count == 1 else 'entries'})")
    warn(effect_warnings(text, "text"))


COMMAND = Command(run=run, examples=_EXAMPLES, arguments=(Argument(name="words", many=True, required=False),), paths=())
