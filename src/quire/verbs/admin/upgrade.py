"""`memory upgrade`: say whether the storage needs an upgrade, and how to upgrade Quire."""

from __future__ import annotations

from quire.project import Project
from quire.upkeep.upgrade_command import upgrade_advice
from quire.verbs.verb import Arguments, Lines, Result, Verb


class UpgradeAdvice(Result, kw_only=True):
    message: str
    upgraded: bool = False
    """This storage version needs no upgrade."""
    advice: str


def upgrade(project: Project, _given: Arguments) -> UpgradeAdvice:
    """Show whether the storage needs an upgrade, and what to do.

    Storage of another version is not read or changed, only archived by `memory reset`: the error says which version
    was found and how to go on. For a newer Quire, it names the command that fits how this one was installed.
    """
    project.ready()
    version = project.graph.config().version
    message = f"Storage version {version} is current. Nothing to upgrade."
    return UpgradeAdvice(message=message, advice=upgrade_advice())


def lines(done: UpgradeAdvice) -> Lines:
    yield done.message
    yield "For a newer Quire:"
    yield f"  {done.advice}"


VERB = Verb(run=upgrade, lines=lines, examples="Example:\n  memory upgrade\n")
