"""`memory facts restore`: restore archived facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from quire.layers.facts.archive import restore_facts
from quire.verbs.facts.archive import ArchiveChanged, outcome_lines
from quire.verbs.facts.fact_file import change_facts
from quire.verbs.facts.options import DryRun, Refs
from quire.verbs.verb import Arguments, Verb, Word

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.facts.drafts import FactsDraft
    from quire.project import Project


class Restore(Arguments, frozen=True, kw_only=True):
    fact_ids: Annotated[Refs, Word(name="facts")]
    dry_run: DryRun = False


def restore(project: Project, given: Restore) -> ArchiveChanged:
    """Bring facts back from the archive, or accept those that were only proposed. A connection comes by edge:…."""

    def plan(draft: FactsDraft, _index: Index) -> ArchiveChanged:
        outcomes = restore_facts(draft, given.fact_ids)
        return ArchiveChanged(outcomes=outcomes, changed=sum(item.done for item in outcomes), dry_run=given.dry_run)

    return change_facts(project, "restore facts", plan, dry_run=given.dry_run)


VERB = Verb(
    takes=Restore,
    run=restore,
    lines=outcome_lines,
    writes=True,
    examples="Example:\n  memory facts restore 57afd07611e9\n",
)
