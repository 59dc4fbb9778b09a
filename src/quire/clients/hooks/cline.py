"""Hooks of Cline: modules of its own plugin kit, so there is no command to configure and no payload to parse."""

from __future__ import annotations

from quire.clients.hooks.types import Dialect

DIALECT = Dialect(
    name="Cline",
    natives={},
    refusal="Cline has no shell hooks, only plugins. Quire connects its rules and MCP.",
)
