"""`memory inbox lift`: lift a rejection."""

from __future__ import annotations

from functools import partial

import msgspec

from quire.files.write_access import write_access
from quire.inbox.layout import FOLDER
from quire.inbox.rejections import named_rejection, read_rejections, write_rejection
from quire.model.errors import UsageError
from quire.model.times import timestamp
from quire.project import Project
from quire.verbs.inbox.inbox_file import write_settled
from quire.verbs.inbox.options import Ids
from quire.verbs.inbox.results import Settled, settled_lines
from quire.verbs.verb import Arguments, Verb


class Lift(Arguments, frozen=True, kw_only=True):
    ids: Ids = []


def lift(project: Project, given: Lift) -> Settled:
    """Undo a rejection. A rejected proposal becomes pending again."""
    if not given.ids:
        raise UsageError("No rejection is named.", hint="`memory inbox rejected` lists them with their ids.")
    project.ready()
    now = timestamp(project.world.now())
    done = Settled()
    with write_access(project.root, FOLDER, project.world, "lift a rejection"):
        rejections = read_rejections(project.root)
        for item in [named_rejection(rejections, name) for name in given.ids]:
            # That it was rejected, and when that ended, stays on record.
            lifted = msgspec.structs.replace(item, lifted_at=item.lifted_at or now)
            done.rejections.append(lifted)
            done.files.append(write_rejection(project.root, lifted, project.world.token()))
    return write_settled(project, done, lifted={item.id for item in done.rejections})


VERB = Verb(
    takes=Lift,
    run=lift,
    lines=partial(settled_lines, verb="Lifted"),
    writes=True,
    examples="Example:\n  memory inbox lift in-77b0\n",
)
