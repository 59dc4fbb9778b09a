"""A project read as it lies there: a first look, the memory that can be made of it, and what sessions add to it."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.capture.repository.bundle import Validation, build_bundle
    from quire.capture.repository.consolidation import consolidate, consolidated, told_by
    from quire.capture.repository.manifests import declared_name
    from quire.capture.repository.scan import Scan, scan_repository, scan_value
    from quire.capture.repository.scripts import find_checks

__all__ = [
    "Scan",
    "Validation",
    "build_bundle",
    "consolidate",
    "consolidated",
    "declared_name",
    "find_checks",
    "scan_repository",
    "scan_value",
    "told_by",
]

# Which module holds what.
_HOMES = {
    "Scan": "scan",
    "Validation": "bundle",
    "build_bundle": "bundle",
    "consolidate": "consolidation",
    "consolidated": "consolidation",
    "declared_name": "manifests",
    "find_checks": "scripts",
    "scan_repository": "scan",
    "scan_value": "scan",
    "told_by": "consolidation",
}

__getattr__ = loader(__name__, _HOMES)
