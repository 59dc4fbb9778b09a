"""Fields of what a look at the installation found, and of what was mended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quire.fields.envelope import all_fields

if TYPE_CHECKING:
    from quire.upkeep.findings import State
    from quire.verbs.admin.doctor import Doctored

_STATES: tuple[State, ...] = ("ok", "note", "warning", "error")


def doctored_fields(found: Doctored) -> dict[str, Any]:
    """Every finding, how many there are of each state, what was mended."""
    states = [finding.state for finding in found.findings]
    return {
        "healthy": found.is_healthy,
        "findings": [all_fields(finding) for finding in found.findings],
        "counts": {state: states.count(state) for state in _STATES},
        "fixed": [all_fields(item) for item in found.fixed],
    }
