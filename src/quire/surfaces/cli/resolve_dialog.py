"""Show and ask on a terminal for `memory resolve`: each contested field with its values."""

from __future__ import annotations

import msgspec

from quire.model.contested import ContestedField
from quire.surfaces.cli.commands import Session
from quire.surfaces.cli.declared import run_verb
from quire.surfaces.cli.input import asked, edited
from quire.surfaces.cli.output import say
from quire.verbs.team.resolve import Resolve, as_given, contested_lines, resolve
from quire.verbs.verb import Verb


def on_terminal(session: Session, verb: Verb, given: Resolve) -> int | None:
    """Ask which value is right; an empty line leaves a field as it is."""
    if given.ours or given.theirs or given.both or given.value is not None or given.dry_run:
        return None
    plain = msgspec.structs.replace(given, edit=False)
    done = resolve(session.project(), plain)
    for path in done.files_changed:
        say(f"Merged {path}. `git add` it.")
    for field in done.contested:
        value = _edited(field) if given.edit else _asked(field)
        if value is not None:
            chosen = msgspec.structs.replace(plain, ref=field.ref, field=field.field, value=value)
            run_verb(session, verb, chosen)
    if not done.contested and not done.files_changed:
        say("Branches disagree on nothing.")
    return 0


def _asked(field: ContestedField) -> str | None:
    for line in contested_lines(field):
        say(str(getattr(line, "text", line)))
    values = field.values[::-1]
    while True:
        word = asked(f"Which one is right? e to edit, Enter to skip [1-{len(values)}]").strip()
        if word == "e":
            return _edited(field)
        if word.isdigit() and 1 <= int(word) <= len(values):
            return as_given(field, values[int(word) - 1])
        if not word:
            return None


def _edited(field: ContestedField) -> str | None:
    values = "\n\n".join(as_given(field, value) for value in reversed(field.values))
    text = edited(values, "Nothing was settled.", "with --value")
    return None if text is None else text.rstrip("\n")
