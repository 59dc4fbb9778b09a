"""Who sets right what a check found: a repair that loses nothing, a person, or nobody, since it mends itself."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from quire.layers.protocol import Site
from quire.layers.table import HOMES
from quire.model.records import Problem
from quire.upkeep.repair.leftovers import LEFTOVERS
from quire.upkeep.repair.local_state import repairs_itself
from quire.upkeep.repair.plan import MAP_STALE, REPAIR, plan_home

PERSON, ITSELF = "person", "itself"


def with_who_repairs(site: Site, problems: Sequence[Problem]) -> list[Problem]:
    """The problems, each with who mends it. What has a name already keeps it."""
    unknown = [problem for problem in problems if not problem.mend]
    if not unknown:
        return list(problems)
    # Of a folder of which no problem is open, nothing has to be planned.
    asked = [home for home in HOMES if any(problem.path.startswith(f"{home.folder}/") for problem in unknown)]
    plans = [plan_home(site, home, problems) for home in asked]
    mended = {(mend.code, mend.path, mend.line, mend.field) for plan in plans for mend in plan.mends}
    gone = {f"{plan.folder}/{change.path}" for plan in plans for change in plan.changes if change.data is None}

    def who(problem: Problem) -> str:
        place = (problem.code, problem.path, problem.line, problem.field)
        if place in mended or problem.path in gone or problem.code in (LEFTOVERS, MAP_STALE):
            return REPAIR
        return ITSELF if repairs_itself(problem) else PERSON

    return [problem if problem.mend else msgspec.structs.replace(problem, mend=who(problem)) for problem in problems]
