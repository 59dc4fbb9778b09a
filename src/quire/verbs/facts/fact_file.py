"""Change the file of facts, show a fact, choose whose facts are meant: shared by the verbs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from quire.layers.facts.layout import FILE, FOLDER
from quire.model import limits
from quire.model.errors import Conflict, QuireError
from quire.model.records import Record, weight_at
from quire.verbs.facts.results import FactView

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.facts.drafts import FactsDraft
    from quire.layers.facts.types import Fact
    from quire.model.sources import Patch
    from quire.project import Project
    from quire.verbs.facts.fact_lookup import KnownFacts

Result = TypeVar("Result")
_ATTEMPTS = 3


def facts_ready(project: Project) -> None:
    """The memory is ready, and its facts can be read: a file that cannot be must not pass for an empty one."""
    from quire.layers.facts.source import refuse_unreadable

    project.ready()
    refuse_unreadable(project.root)


def change_facts(
    project: Project,
    operation: str,
    plan: Callable[[FactsDraft, Index], Result],
    *,
    dry_run: bool = False,
    layers: Sequence[str] = ("facts",),
) -> Result:
    """Plan a change and write it, all or nothing; planned again where someone else was faster.

    Of other layers the plan sees what the index knew last, unless it names them: a look at all their files would
    cost more than the change.
    """
    from quire.files.write_access import write_access
    from quire.index.open_index import change_with_index, with_index
    from quire.layers.facts.source import stamp_now
    from quire.upkeep.fold import fold_due

    facts_ready(project)
    sources = [source for source in project.sources() if source.layer in layers]
    if dry_run:
        return with_index(project.index_folder(), sources, lambda index: _planned(project, index, plan))[0]
    with write_access(project.root, FOLDER, project.world, operation):
        fold_due(project, "facts")
        for _ in range(_ATTEMPTS):
            patches: list[Patch] = []

            def write(planned: tuple[Result, FactsDraft, str], done: list[Patch] = patches) -> Patch | None:
                _, draft, seen = planned
                if not draft.is_empty and stamp_now(project.root) == seen:
                    done.append(_write(project, draft))
                    return done[0]
                return None

            with contextlib.suppress(Conflict):
                planned = change_with_index(
                    project.index_folder(), sources, lambda index: _planned(project, index, plan), write
                )
                if patches or planned[1].is_empty:
                    prepare_facts(project)
                    return planned[0]
    raise Conflict(
        f"`{FOLDER}/{FILE}` keeps being changed by another program.",
        hint="Wait until it has finished, then run the command again.",
    )


def _write(project: Project, draft: FactsDraft) -> Patch:
    """Write a draft to the file; what the index is to make of it."""
    from quire.files.branches import writes_fragments
    from quire.layers.facts.store import commit
    from quire.model.sources import Patch

    is_plain = draft.is_plain
    done = commit(project.root, project.world, draft, apart=writes_fragments(project))
    # With no stamp to hold it against, the index reads the file and takes over what is different.
    after = done.after if is_plain and done.is_plain else ""
    return Patch(layer="facts", path=FILE, before=done.before, after=after, gone=draft.gone, items=draft.items())


def _planned(
    project: Project, index: Index, plan: Callable[[FactsDraft, Index], Result]
) -> tuple[Result, FactsDraft, str]:
    from quire.layers.facts.drafts import FactsDraft
    from quire.verbs.facts.fact_lookup import KnownFacts

    draft = FactsDraft(KnownFacts(index), project.world.now())
    result = plan(draft, index)
    rejections = None if draft.is_empty else project.rejections()
    if rejections is not None:
        for field, text in draft.told:
            rejections.refuse({field: text})
    return result, draft, index.stamp("facts", FILE)


def prepare_facts(project: Project) -> None:
    """On first use: git merges the file line by line, and ignores the index. Nothing where there is no file."""
    from quire.layers.facts.source import stamp_now
    from quire.layers.facts.store import ensure_attribute
    from quire.upkeep.ignore import ensure_ignored

    if not stamp_now(project.root):
        return
    # Neither is worth refusing a fact for; `memory init` and `memory check` say what is in the way.
    with contextlib.suppress(QuireError, OSError):
        ensure_attribute(project.root, project.world)
    if project.git.available:
        with contextlib.suppress(QuireError, OSError):
            ensure_ignored(project.root, project.world)


def nothing_stored(index: Index, mind: str | None) -> str:
    """Why there is no fact at all."""
    if unread_lines(index):
        return "No line of the file could be read as a fact; `memory check` shows why."
    if mind is not None:
        return f"The mind `{mind}` has no facts."
    return 'No facts are stored yet. `memory facts store Architecture "…"` keeps the first.'


def known_facts(index: Index) -> KnownFacts:
    from quire.verbs.facts.fact_lookup import KnownFacts

    return KnownFacts(index)


def ask_facts(project: Project, work: Callable[[Index], Result]) -> Result:
    """Ask the index, after what every reading begins with."""
    facts_ready(project)
    return project.with_index(work)


def unread_lines(index: Index) -> int:
    """How many lines could not be read, as far as they are reported one by one."""
    return sum(layer == "facts" for layer, _, _, _ in index.problems())


def scope_in(index: Index, mind: str | None) -> str:
    """The scope of a mind: none for the one that is meant where none is named."""
    home = known_facts(index).overview.mind
    return "" if mind is None or mind == home else mind


def scope_of(project: Project, mind: str | None) -> str:
    """The same, where nothing else is asked of the index."""
    return "" if mind is None else ask_facts(project, lambda index: scope_in(index, mind))


def record_view(project: Project, record: Record, now: datetime, **fields: object) -> FactView:
    from quire.layers.facts.records import held_of

    return fact_view(project, held_of(record).fact, now, **fields)


def fact_view(project: Project, fact: Fact, now: datetime, **fields: object) -> FactView:
    from quire.layers.facts.records import FactWithTwins, fact_record

    record = fact_record(FactWithTwins(fact), fact.mind)
    artifact = fact.extra.get("artifact")
    same = ("id", "section", "content", "status", "created_at", "source", "tags", "reason", "supersedes", "mind")
    known: dict[str, object] = {
        **{name: getattr(fact, name) for name in same},
        "ref": record.ref,
        "title": record.title,
        "confidence": round(weight_at(record, now, project.accessed().get(fact.id, "")), 4),
        "put_away_at": fact.archived_at or fact.superseded_at,
        "artifact": artifact if isinstance(artifact, dict) else None,
        "reinforcements": fact.reinforcement_count,
    }
    return FactView(**{**known, **fields})  # type: ignore[arg-type]


def short_token(project: Project) -> str:
    return project.world.token()[-12:]


def limit_within(number: int | None, name: str, usual: int, most: int) -> int:
    return limits.within(usual if number is None else number, name, 1, most)
