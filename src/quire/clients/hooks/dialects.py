"""Map each client to the module that parses its hooks; only the one that is asked for is imported."""

from __future__ import annotations

from importlib import import_module

from quire.clients.hooks.types import CLIENTS, Dialect


def dialect_of(client: str) -> Dialect:
    """How a client speaks. Raises ValueError for one that nobody knows."""
    if client not in CLIENTS:
        raise ValueError(f"{client[:40]!r} is not a client with hooks. Clients with hooks: {', '.join(CLIENTS)}.")
    dialect: Dialect = import_module(f"quire.clients.hooks.{client}").DIALECT
    return dialect
