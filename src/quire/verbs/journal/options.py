"""Options that several verbs of the journal take."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from quire.layers.journal.layout import PREFERENCES
from quire.verbs.verb import Option

Name = Annotated[str, Meta(min_length=1, max_length=200)]

DryRun = Annotated[bool, Option(help="Show what would be done; write nothing.")]
Yes = Annotated[bool, Option(short="-y", help="Do not ask.", tool=False)]
ShowDiff = Annotated[bool, Option(help="Show every file that changes, line by line.", tool=False)]
Archived = Annotated[bool, Option(help="Also what was put into the archive.")]
Checks = Annotated[bool, Option(help="Run the commands that tell whether the project is well, and keep how.")]
Provider = Annotated[
    str | None,
    Option(
        metavar="NAME",
        choices=PREFERENCES,
        help="Who proposes: ours, which needs no model (by default), or a model that is asked by name.",
        tool=False,
    ),
]
Quiet = Annotated[bool, Option(short="-q", help="Print nothing.", tool=False)]
