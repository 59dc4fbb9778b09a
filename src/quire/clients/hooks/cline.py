"""Cline: its hooks are modules of its own kit for plugins, so there is no command to wire and no payload to read."""

from __future__ import annotations

from quire.clients.hooks.types import Dialect

DIALECT = Dialect(
    name="Cline",
    natives={},
    refusal="Cline has no shell hooks that Quire could read: its hooks are plugins, and its rules and MCP are wired.",
)
