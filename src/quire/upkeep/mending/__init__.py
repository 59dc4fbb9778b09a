"""What can be mended without losing anything: planned by what a check found, copied first, taken back exactly."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.upkeep.mending.carrying_out import carry_out, changed_since, put_back, refuse_changed, still_changed
    from quire.upkeep.mending.copies import (
        KEPT,
        Kept,
        find_kept,
        named_repair,
        new_name,
        place_of_copies,
        prune_copies,
        remove_copies,
    )
    from quire.upkeep.mending.differences import Difference, differences_of
    from quire.upkeep.mending.leftovers import LEFTOVERS, around_problems, leftover_problems
    from quire.upkeep.mending.local_state import local_problems
    from quire.upkeep.mending.planning import (
        MAP_STALE,
        NOT_IGNORED,
        PARTS,
        REPAIR,
        Part,
        Plan,
        plan_around,
        plan_journal,
        plan_memory,
        plan_profile,
        planned_mending,
    )
    from quire.upkeep.mending.sorting import ITSELF, PERSON, sorted_problems

# Which module holds what.
_HOMES = {
    "ITSELF": "sorting",
    "KEPT": "copies",
    "LEFTOVERS": "leftovers",
    "MAP_STALE": "planning",
    "NOT_IGNORED": "planning",
    "PARTS": "planning",
    "PERSON": "sorting",
    "REPAIR": "planning",
    "Difference": "differences",
    "Kept": "copies",
    "Part": "planning",
    "Plan": "planning",
    "around_problems": "leftovers",
    "carry_out": "carrying_out",
    "changed_since": "carrying_out",
    "differences_of": "differences",
    "find_kept": "copies",
    "leftover_problems": "leftovers",
    "local_problems": "local_state",
    "named_repair": "copies",
    "new_name": "copies",
    "place_of_copies": "copies",
    "plan_around": "planning",
    "plan_journal": "planning",
    "plan_memory": "planning",
    "plan_profile": "planning",
    "planned_mending": "planning",
    "prune_copies": "copies",
    "put_back": "carrying_out",
    "refuse_changed": "carrying_out",
    "remove_copies": "copies",
    "sorted_problems": "sorting",
    "still_changed": "carrying_out",
}

__all__ = [
    "ITSELF",
    "KEPT",
    "LEFTOVERS",
    "MAP_STALE",
    "NOT_IGNORED",
    "PARTS",
    "PERSON",
    "REPAIR",
    "Difference",
    "Kept",
    "Part",
    "Plan",
    "around_problems",
    "carry_out",
    "changed_since",
    "differences_of",
    "find_kept",
    "leftover_problems",
    "local_problems",
    "named_repair",
    "new_name",
    "place_of_copies",
    "plan_around",
    "plan_journal",
    "plan_memory",
    "plan_profile",
    "planned_mending",
    "prune_copies",
    "put_back",
    "refuse_changed",
    "remove_copies",
    "sorted_problems",
    "still_changed",
]

__getattr__ = loader(__name__, _HOMES)
