"""Who sets right what a check found: a repair that loses nothing, a person, or nobody, since it mends itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from quire.files.git import Git
from quire.layers.graph.store import GraphStore
from quire.model.records import Problem
from quire.upkeep.repair.leftovers import LEFTOVERS
from quire.upkeep.repair.local_state import repairs_itself
from quire.upkeep.repair.plan import MAP_STALE, REPAIR, plan_memory, plan_profile

PERSON, ITSELF = "person", "itself"


def with_who_repairs(store: GraphStore, git: Git, problems: Sequence[Problem], now: datetime) -> list[Problem]:
    """The problems, each with who mends it. What is sorted already stays so."""
    if all(problem.mend for problem in problems):
        return list(problems)
    plans = (plan_memory(store, git, problems, now), plan_profile(store.root, problems, now))
    mended = {(mend.code, mend.path, mend.line, mend.field) for plan in plans for mend in plan.mends}
    gone = {f"{plan.folder}/{change.path}" for plan in plans for change in plan.changes if change.data is None}

    def who(problem: Problem) -> str:
        place = (problem.code, problem.path, problem.line, problem.field)
        if place in mended or problem.path in gone or problem.code in (LEFTOVERS, MAP_STALE):
            return REPAIR
        return ITSELF if repairs_itself(problem) else PERSON

    return [problem if problem.mend else msgspec.structs.replace(problem, mend=who(problem)) for problem in problems]
