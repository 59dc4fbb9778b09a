"""Render the product map of a project from its index."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quire.project import Project


def product_map(project: Project) -> str:
    """The map as it is now."""
    from quire.upkeep.product_map import render_map

    return project.with_index(lambda index: render_map(index, project.root, project.git))
