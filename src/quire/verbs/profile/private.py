"""`memory profile private`: keep personal entries out of the shared document."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from quire.layers.profile.layout import FILE, FOLDER
from quire.layers.profile.privacy import carry_out, plan_move, refuse_undecided, retarget
from quire.layers.profile.store import migrate
from quire.model.errors import GitRequired, UsageError
from quire.project import Project
from quire.verbs.profile.document import prepare_profile, profile_locked
from quire.verbs.profile.status import profile_status
from quire.verbs.verb import Arguments, Lines, Option, Result, Verb, Word

_PLACES = {"here": "here", "home": "home", "shared": "shared", "off": "shared"}


class KeepPrivate(Arguments, frozen=True, kw_only=True):
    place: Annotated[str | None, Word(required=False)] = None
    prefer: Annotated[
        str,
        Option(
            metavar="SIDE",
            choices=("target", "source"),
            help="Which record to keep if both documents have one: target or source.",
        ),
    ] = ""
    apply: Annotated[bool, Option(name="--yes", help="Do it.")] = False


class PrivatePlace(Result, kw_only=True):
    """Where the private entries are."""

    private: str
    path: str
    entries: int


class EntriesMoved(Result, kw_only=True):
    """What moved to another document, or would."""

    NOT_IN_JSON: ClassVar[tuple[str, ...]] = ("prefer",)

    before: str
    after: str
    target: str
    moved: list[str]
    copied: list[str]
    differing: list[str]
    linked: list[str]
    committed: bool
    """Whether the last commit holds the shared document: its history keeps what leaves it."""
    applied: bool
    prefer: str = ""


def keep_private(project: Project, given: KeepPrivate) -> PrivatePlace | EntriesMoved:
    """Keep the categories user and relationships out of the shared document.

    PLACE is here (a document in .ai-state/local/, which git ignores), home (one document for all your projects), or
    shared or off (back into the repository). Without --yes it only shows what would move; without PLACE it shows where
    the records are.
    """
    if given.place is None:
        found = profile_status(project, Arguments())
        return PrivatePlace(private=found.private, path=found.private_path, entries=found.private_entries)
    if given.place not in _PLACES:
        raise UsageError(f"Unknown place `{given.place[:40]}`.", hint="Use here, home or shared.")
    return _moved(project, _PLACES[given.place], given)


def _moved(project: Project, place: str, given: KeepPrivate) -> EntriesMoved:
    project.recover()
    places = project.profile_places()
    # Also before it is done: what is refused must leave nothing behind.
    move = plan_move(places, project.world, place)
    if given.apply:
        refuse_undecided(move, given.prefer)
    if given.apply and (move.before != move.after or move.moved or move.copied):
        with profile_locked(project, "move the private records", place) as places:
            migrate(places, project.world)
            migrate(retarget(places, place), project.world)
            move = carry_out(places, project.world, place, given.prefer)
        prepare_profile(project)
    return EntriesMoved(
        **msgspec.structs.asdict(move),
        committed=_is_committed(project),
        applied=given.apply,
        prefer=given.prefer,
    )


def _is_committed(project: Project) -> bool:
    """Whether the last commit holds the shared document."""
    try:
        return bool(project.git.available and project.git.committed([f"{FOLDER}/{FILE}"]))
    except GitRequired:
        return False


def lines(done: PrivatePlace | EntriesMoved) -> Lines:
    if isinstance(done, EntriesMoved):
        yield from _move_lines(done)
    elif done.private == "shared":
        yield "Everything is in the shared document. `memory profile private here` shows what you could keep out of it."
    else:
        yield f"user and relationships are private, in {done.path}; records there: {done.entries}."


def _move_lines(done: EntriesMoved) -> Lines:
    if done.before == done.after and not done.moved and not done.copied:
        yield "They are already there; nothing to move."
        return
    if done.moved or not done.copied:
        said = ", ".join(done.moved) or "nothing; new records go there from now on"
        yield f"{'Moved' if done.applied else 'Would move'} to {done.target}: {said}"
    if done.copied:
        copied, left = ("Copied", "left") if done.applied else ("Would copy", "leave")
        names = ", ".join(done.copied)
        yield f"{copied} to {done.target}, and {left} in your home for other projects: {names}"
    if done.differing:
        holds = f"the {done.prefer}'s hold" if done.prefer else "choose with --prefer target or source"
        yield f"In both, with different texts: {', '.join(done.differing)}; {holds}."
    if done.linked:
        yield f"These records stay in the shared document and link to one that moves: {', '.join(done.linked)}"
    if done.committed and done.before == "shared" and done.after != "shared" and done.moved:
        yield "Committed records stay in git history; commit the shared document to leave them out from now on."
    if not done.applied:
        yield "Nothing was written. Run the command again with --yes."


VERB = Verb(
    takes=KeepPrivate,
    run=keep_private,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory profile private                              where they are
  memory profile private here                         what would move to a private document that git ignores
  memory profile private here --yes                   move it
  memory profile private shared --yes                 and back
""",
)
