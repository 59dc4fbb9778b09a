"""Whether there is something that the page can show."""

from __future__ import annotations

from quire.model.errors import InvalidStore, NotInitialized
from quire.model.records import Problem
from quire.project import Project, as_warning


def ready_to_view(project: Project) -> list[Problem]:
    """There is something to look at; a configuration that cannot be read is told of, and stops nobody."""
    project.recover()
    try:
        project.need_config()
    except NotInitialized:
        if not project.has_profile() and not project.has_journal():
            raise
    except InvalidStore as error:
        return [as_warning(error)]
    return []
