"""How a view of the page is declared, its preconditions, and the verdicts it shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec

from quire.index.catalog import Index
from quire.model.errors import InvalidStore, NotInitialized
from quire.model.records import Problem, as_warning
from quire.project import Project
from quire.upkeep.verdicts import Verdicts
from quire.upkeep.views.record_list import Verify
from quire.upkeep.views.shared_verdicts import KnownVerdicts

PageRef = Annotated[str, msgspec.Meta(max_length=4_000)]


class PageArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a question or an action of the page takes, by the names that the page sends."""


class PageView(msgspec.Struct, frozen=True):
    """A question that the page asks."""

    takes: type[msgspec.Struct]
    run: Callable[[Project, Any], Any]
    has_body: bool = False
    """Whether the answer has a `body` in Markdown, which the page gets as a tree, too."""


def ready_to_view(project: Project) -> list[Problem]:
    """There is something to look at; a configuration that cannot be read is reported, and stops nobody."""
    project.recover()
    try:
        project.need_config()
    except NotInitialized:
        if not project.has_profile() and not project.has_journal():
            raise
    except InvalidStore as error:
        return [as_warning(error)]
    return []


def new_verdicts() -> KnownVerdicts:
    """What a process that stays alive hands to every project that it opens, as long as nothing changes."""
    return KnownVerdicts()


def verify_for_page(project: Project, index: Index) -> Verify:
    """Verdicts for views: those that such a process has at hand, the others as everybody gets them."""
    verify = Verdicts(project.root, project.git, index)
    return verify if project.known_verdicts is None else project.known_verdicts.sharing(verify)
