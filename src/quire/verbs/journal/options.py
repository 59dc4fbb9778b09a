"""Options that several verbs of the journal take."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from quire.layers.journal.layout import PREFERENCES
from quire.verbs.verb import Option

Name = Annotated[str, Meta(min_length=1, max_length=200)]

DryRun = Annotated[bool, Option(help="Show what would change, write nothing.")]
Yes = Annotated[bool, Option(short="-y", help="Do not ask.", tool=False)]
ShowDiff = Annotated[bool, Option(help="Show every file that changes, line by line.", tool=False)]
Archived = Annotated[bool, Option(help="Include what was archived.")]
Checks = Annotated[bool, Option(help="Run the project's validation commands and record the results.")]
Provider = Annotated[
    str | None,
    Option(
        metavar="NAME",
        choices=PREFERENCES,
        help="Who writes proposals: `local` (the default, needs no model) or the name of a model provider.",
        tool=False,
    ),
]
Quiet = Annotated[bool, Option(short="-q", help="Print nothing.", tool=False)]
