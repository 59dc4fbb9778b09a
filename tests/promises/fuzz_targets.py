"""Every parser of the package as a target: one table."""

from __future__ import annotations

import fuzz_branches
import fuzz_capture
import fuzz_doors
import fuzz_edits
import fuzz_layers
import fuzz_machine
import fuzz_records
import fuzz_texts
from fuzz_engine import Target

__all__ = ["TARGETS"]

_ALL = (
    *fuzz_layers.TARGETS,
    *fuzz_records.TARGETS,
    *fuzz_edits.TARGETS,
    *fuzz_texts.TARGETS,
    *fuzz_machine.TARGETS,
    *fuzz_doors.TARGETS,
    *fuzz_capture.TARGETS,
    *fuzz_branches.TARGETS,
)
TARGETS: dict[str, Target] = {target.name: target for target in _ALL}
assert len(TARGETS) == len(_ALL), "two targets have one name"
