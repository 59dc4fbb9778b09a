"""Tickets that admit a browser once: its link is visible to anybody who can list processes."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from time import monotonic

from quire.model.errors import NotFound

_SECONDS = 120.0
_PARTS = 3


class Tickets:
    """One ticket at a time, good for one token, for a short while."""

    def __init__(self, token: str, ticket: str, random: Callable[[], str]) -> None:
        self._token = token
        self._random = random
        self._ticket = ticket
        self._until = monotonic() + _SECONDS

    def issue(self) -> str:
        """Another ticket, for whoever has the token already."""
        self._ticket = "".join(self._random() for _ in range(_PARTS))
        self._until = monotonic() + _SECONDS
        return self._ticket

    def redeem(self, given: object) -> str:
        """The token for a ticket; the ticket is used up with that."""
        good = isinstance(given, str) and hmac.compare_digest(
            given.encode("utf-8", "surrogatepass"), self._ticket.encode() or b"-"
        )
        if not self._ticket or not good or monotonic() > self._until:
            raise NotFound("This link was already used, or has expired.", hint="Run `memory view --open` again.")
        self._ticket = ""
        return self._token
