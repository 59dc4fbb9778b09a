"""Read the history of the repository as a source of an import: what is wished of it, and what is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.model.errors import InputError
from quire.model.limits import within
from quire.model.text import cut
from quire.model.times import instant, timestamp

if TYPE_CHECKING:
    from quire.capture.history.findings import Wish
    from quire.capture.hosts.types import HostRead, HostSource
    from quire.project import Project

HISTORY = "git"
SOURCES = ("decision", "fix", "revert", "comment", "changelog", "together", "people")
LIMIT_MOST = 500


def wish_of(limit: int | None = None, since: str | None = None, kinds: list[str] | None = None) -> Wish:
    """What is wished of a history, by the options of a command."""
    from quire.capture.history.findings import KINDS, LIMIT, Wish

    moment = instant(since) if since else None
    if since and moment is None:
        raise InputError(
            f"`{cut(since, 40)}` is not a date.", hint="Give one such as 2026-03-02.", details={"field": "since"}
        )
    day = moment.date().isoformat() if moment else ""
    most = LIMIT if limit is None else within(limit, "limit", 1, LIMIT_MOST)
    return Wish(limit=most, since=day, kinds=tuple(kinds or KINDS))


def read_repository(project: Project, source: HostSource, wish: Wish) -> HostRead:
    """What the history says."""
    from quire.capture.history.propose import read_history
    from quire.capture.hosts.types import HostRead

    now = timestamp(project.world.now())
    found = read_history(project.git, wish, now, known_origins(project), project.progress)
    return HostRead(source=source, proposals=found.proposals, problems=found.problems, known=found.known)


def known_origins(project: Project) -> set[str]:
    """Where records come from that were made of the history, and proposals of it that are pending or were settled.

    A record may say it in other words by now, and a commit is still the same in every clone.
    """
    from quire.capture.history.findings import ORIGIN
    from quire.inbox.rejections import read_rejections
    from quire.inbox.store import read_inbox

    if not project.graph.exists():
        return set()
    named = [item.origin for item in read_inbox(project.root).proposals if item.status != "withdrawn"]
    named += [item.origin for item in read_rejections(project.root).standing.values()]
    named += [node.node.origin.locator for node in project.graph.nodes()[0] if node.node.origin]
    named += [record.origin for record in project.with_index(lambda index: index.records("facts"))]
    return {origin for origin in named if origin.startswith(ORIGIN)}
