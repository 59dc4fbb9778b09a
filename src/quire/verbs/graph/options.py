"""Options that several verbs of the graph take."""

from __future__ import annotations

from typing import Annotated

from quire.model.vocabulary import ACTORS, Actor
from quire.verbs.verb import Option

Who = Annotated[
    Actor, Option(metavar="WHO", choices=ACTORS, show_default=True, help="Who makes this change.", tool=False)
]

FROM_TOOL = {"actor": "mcp"}
