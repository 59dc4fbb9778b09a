"""The opencode plugin: a small module that runs `quire hook opencode`, since there are no shell hooks."""

from __future__ import annotations

import os

OPENCODE_PLUGIN_PATH = "plugins/quire-memory.js"
"""Where it lies below `.opencode/`, or below opencode's folder in the home."""
_SOURCE = "opencode_plugin.js"


def opencode_plugin_text() -> str:
    """The whole of the module, as it stands beside this one."""
    from quire.files.paths import read_bytes

    return read_bytes(os.path.join(os.path.dirname(os.path.abspath(__file__)), _SOURCE)).decode("utf-8")
