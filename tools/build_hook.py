"""What happens when the package is built: the local page is made of its sources, and goes into the wheel."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))


class ViewerHook(BuildHookInterface):
    """Builds the page for wheels, editable installs and source distributions; those always hold it."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        from build_viewer import build_or_say

        said = build_or_say(required=self.target_name == "sdist")
        if said:
            self.app.display_warning(said)
